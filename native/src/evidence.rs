//! Decodes the evidence of a result from its fingerprint: `dedup/evidence.py`.

use rustc_hash::FxHashMap;

/// The number of an attribute or type: its byte, followed by the digest of an unknown name.
pub type Number = u128;

/// The number of the key of two fields together, which no attribute has (`dedup/keys.py`).
pub const START_AND_END: Number = 31;
/// Multiplies the first of two digests that are a key together (`start_and_end_key`).
const APART: u64 = 0x9e37_79b9_7f4a_7c15;
const NONE: u32 = u32::MAX;
const OF_ONE_BYTE: usize = 128;

/// The positions of digests in a fingerprint; made by Python, once for equal codes.
pub struct Layout {
    pub type_number: Number,
    /// The name of the type in counts; None if it is only in the calls.
    pub type_name: Option<String>,
    values: Vec<(Number, Vec<u32>)>,
    known: [u32; OF_ONE_BYTE],
    unknown: FxHashMap<Number, u32>,
    /// Attributes and positions of digests.
    keys: Vec<(Number, u32)>,
    start_and_end: Option<(u32, u32)>,
    pub identifies_alone: bool,
    /// Whether there is an id that counts, a URL, or a text that proposes candidates.
    pub identifies: bool,
    /// Number of digests.
    pub digests: usize,
}

impl Layout {
    /// `values` and `keys` are attributes and positions of digests.
    #[expect(clippy::too_many_arguments)]
    pub fn new(
        type_number: Number,
        type_name: Option<String>,
        values: Vec<(Number, u32)>,
        keys: Vec<(Number, u32)>,
        start_and_end: Option<(u32, u32)>,
        identifies_alone: bool,
        identifies: bool,
        digests: usize,
    ) -> Self {
        let mut layout = Layout {
            type_number,
            type_name,
            values: Vec::new(),
            known: [NONE; OF_ONE_BYTE],
            unknown: FxHashMap::default(),
            keys,
            start_and_end,
            identifies_alone,
            identifies,
            digests,
        };
        for (attribute, position) in values {
            match layout.place_of(attribute) {
                Some(place) => layout.values[place].1.push(position),
                None => {
                    let place = layout.values.len() as u32;
                    layout.values.push((attribute, vec![position]));
                    match layout.known.get_mut(attribute as usize) {
                        Some(known) if attribute < OF_ONE_BYTE as Number => *known = place,
                        _ => drop(layout.unknown.insert(attribute, place)),
                    }
                }
            }
        }
        layout
    }

    /// Whether all positions are within the digests.
    pub fn fits(&self) -> bool {
        let values = self.values.iter().flat_map(|(_, positions)| positions);
        let both = self.start_and_end.iter().flat_map(|(start, end)| [start, end]);
        values
            .chain(self.keys.iter().map(|(_, position)| position))
            .chain(both)
            .all(|position| (*position as usize) < self.digests)
    }

    fn place_of(&self, attribute: Number) -> Option<usize> {
        if attribute < OF_ONE_BYTE as Number {
            let place = self.known[attribute as usize];
            return (place != NONE).then_some(place as usize);
        }
        self.unknown.get(&attribute).map(|place| *place as usize)
    }
}

/// The attributes of one result as numbers.
#[derive(Clone, Copy)]
pub struct Evidence<'e> {
    pub layout: &'e Layout,
    pub digests: &'e [u64],
}

/// The values of one attribute; an id may have several.
#[derive(Clone, Copy)]
pub struct Value<'e> {
    positions: &'e [u32],
    digests: &'e [u64],
}

impl<'e> Evidence<'e> {
    pub fn get(self, attribute: Number) -> Option<Value<'e>> {
        let (_, positions) = &self.layout.values[self.layout.place_of(attribute)?];
        Some(Value { positions, digests: self.digests })
    }

    /// All attributes with their values.
    pub fn values(self) -> impl Iterator<Item = (Number, Value<'e>)> {
        let digests = self.digests;
        self.layout
            .values
            .iter()
            .map(move |(attribute, positions)| (*attribute, Value { positions, digests }))
    }

    /// Whether both have the same attributes with the same values.
    pub fn has_values_of(self, other: Evidence) -> bool {
        self.layout.values.len() == other.layout.values.len()
            && self.values().all(|(attribute, value)| {
                other.get(attribute).is_some_and(|theirs| value.equals(theirs))
            })
    }

    /// The attribute of each of `keys`.
    pub fn key_attributes(self) -> impl Iterator<Item = Number> {
        let both = self.layout.start_and_end.map(|_| START_AND_END);
        self.layout.keys.iter().map(|(attribute, _)| *attribute).chain(both)
    }

    /// Its candidate keys.
    pub fn keys(self) -> impl Iterator<Item = u64> {
        let both = self.layout.start_and_end.map(|(start, end)| {
            let start = self.digests[start as usize].wrapping_mul(APART);
            start.wrapping_add(self.digests[end as usize])
        });
        self.layout
            .keys
            .iter()
            .map(move |(_, position)| self.digests[*position as usize])
            .chain(both)
    }
}

impl Value<'_> {
    fn all(&self) -> impl Iterator<Item = u64> {
        self.positions.iter().map(|position| self.digests[*position as usize])
    }

    fn has(&self, digest: u64) -> bool {
        self.all().any(|one| one == digest)
    }

    /// Whether both are the same value or set of values.
    pub fn equals(&self, other: Value) -> bool {
        self.positions.len() == other.positions.len() && self.all().all(|one| other.has(one))
    }

    /// Whether they have a value in common.
    pub fn shares(&self, other: Value) -> bool {
        self.all().any(|one| other.has(one))
    }
}
