//! The rows of `duplicates` of a turn, packed: `scoring/duplicate_rows.py` and
//! `scoring/duplicate_table.py`.

use indexmap::IndexMap;
use rustc_hash::FxBuildHasher;

use crate::duplicates::Duplicate;
use crate::evidence::{Layout, Number};
use crate::key_names::KeyNames;
use crate::unpacking::{Frame, FrameResult};

const NO_TYPE: Number = 0;
const NONE: i32 = -1;

/// The duplicates of a turn.
#[derive(Default)]
pub struct DuplicateTable {
    /// The names of types and keys in the rows, in the order of their first use.
    pub names: Vec<String>,
    /// The numbers of each row, in the order of `COLUMNS` in Python, as bytes.
    pub packed: Vec<u8>,
    /// The size of each number.
    pub number_bytes: usize,
}

/// The place of a result: i and the position of its call in it, and its rank in the call.
type Place = [i32; 3];

/// What has a name in a row.
#[derive(PartialEq, Eq, Hash)]
enum Named {
    Type(Number),
    Key(Number),
}

impl DuplicateTable {
    /// The table of a turn; None if a name or a number is left to Python.
    ///
    /// `turn` has the indexes of its calls in the frame, `first_label` gives the label of a document
    /// by the place of its first occurrence.
    pub fn of(
        frame: &Frame,
        turn: &[usize],
        results: &[FrameResult],
        duplicates: &[Option<Duplicate>],
        first_label: impl Fn(usize) -> Option<i64>,
        layouts: &[&Layout],
        names: &KeyNames,
    ) -> Option<Self> {
        let places = places(frame, turn, results.len())?;
        let mut numbers: IndexMap<Named, String, FxBuildHasher> = IndexMap::default();
        let mut table: Vec<i32> = Vec::new();
        for (at, duplicate) in duplicates.iter().enumerate() {
            let Some(duplicate) = duplicate else {
                continue;
            };
            let layout = layouts[results[at].evidence as usize];
            let entity_type = match layout.type_number {
                NO_TYPE => NONE,
                number => {
                    number_of(&mut numbers, Named::Type(number), || names.entity_type(layout))?
                }
            };
            let key =
                number_of(&mut numbers, Named::Key(duplicate.key), || names.key(duplicate.key))?;
            let rest = [
                entity_type,
                label(results[at].gain)?,
                label(first_label(duplicate.first))?,
                key,
                duplicate.step as i32,
                duplicate.clause.map_or(Some(NONE), |clause| clause.try_into().ok())?,
            ];
            table.extend(places[at]);
            table.extend(places[duplicate.first]);
            table.extend(rest);
        }
        let names = numbers.into_values().collect();
        let (packed, number_bytes) = pack(&table);
        Some(DuplicateTable { names, packed, number_bytes })
    }
}

/// Numbers as bytes, and the size of each: one byte if that is enough for all, else four.
fn pack(numbers: &[i32]) -> (Vec<u8>, usize) {
    match numbers.iter().map(|number| i8::try_from(*number)).collect::<Result<Vec<_>, _>>() {
        Ok(small) => (small.into_iter().map(|number| number as u8).collect(), 1),
        Err(_) => (numbers.iter().flat_map(|number| number.to_le_bytes()).collect(), 4),
    }
}

/// The number of a name, which is added if it is new.
fn number_of(
    numbers: &mut IndexMap<Named, String, FxBuildHasher>,
    named: Named,
    name: impl FnOnce() -> Option<String>,
) -> Option<i32> {
    let number = match numbers.get_index_of(&named) {
        Some(number) => number,
        None => numbers.insert_full(named, name()?).0,
    };
    number.try_into().ok()
}

fn label(gain: Option<i64>) -> Option<i32> {
    gain.map_or(Some(NONE), |gain| gain.try_into().ok())
}

fn places(frame: &Frame, turn: &[usize], results: usize) -> Option<Vec<Place>> {
    let mut places = Vec::with_capacity(results);
    for (i, position, at) in call_places(frame, turn) {
        let (i, position) = (i.try_into().ok()?, position.try_into().ok()?);
        for rank in 1..=frame.calls[at].results.len() {
            places.push([i, position, rank.try_into().ok()?]);
        }
    }
    Some(places)
}

/// i and the position in it, from 0, of each call of a turn, with its index in the frame.
pub fn call_places<'t>(
    frame: &'t Frame,
    turn: &'t [usize],
) -> impl Iterator<Item = (usize, usize, usize)> + 't {
    let (mut i, mut position, mut before) = (0, 0, None);
    turn.iter().map(move |at| {
        let iteration = Some(frame.deliveries[*at].iteration);
        (i, position) = if iteration == before { (i, position + 1) } else { (i + 1, 0) };
        before = iteration;
        (i, position, *at)
    })
}
