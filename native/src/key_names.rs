//! Names of keys and types: `key_name` of `dedup/keys.py`, and what `scoring/duplicate_rows.py` adds.

use rustc_hash::FxHashMap;

use crate::evidence::{Layout, Number};
use crate::verification::is_named_id;

/// The number of the key of results with equal evidence, which no attribute has.
pub const EQUAL_EVIDENCE: Number = 0;

/// The names that the rules give.
pub struct NamedKeys {
    /// The names of the ids with a number in the rules.
    pub ids: FxHashMap<Number, String>,
    /// The other keys with their names, in the order in which they count.
    pub kinds: Vec<(Number, String)>,
}

/// The names of the keys in a turn.
pub struct KeyNames<'n> {
    pub of_rules: &'n NamedKeys,
    /// The names that only its calls have, by number.
    pub of_calls: FxHashMap<Number, &'n str>,
}

/// The names that a call has, by number.
pub fn numbered<'p>(names: &[(&[u8], &'p str)]) -> impl Iterator<Item = (Number, &'p str)> {
    names.iter().map(|(code, name)| {
        (code.iter().fold(0, |number, byte| number << 8 | Number::from(*byte)), *name)
    })
}

impl KeyNames<'_> {
    /// Of the attributes whose keys proposed a pair, the one that names the key.
    pub fn first_of(&self, attributes: impl Iterator<Item = Number>) -> Number {
        let rank = |attribute: Number| {
            let kinds = &self.of_rules.kinds;
            let kind = kinds.iter().position(|(kind, _)| *kind == attribute);
            (kind, if kind.is_none() { self.id(attribute) } else { None })
        };
        attributes.min_by_key(|attribute| rank(*attribute)).unwrap_or(EQUAL_EVIDENCE)
    }

    /// The name of the key of an attribute; None if it is unknown.
    pub fn key(&self, attribute: Number) -> Option<String> {
        if is_named_id(attribute) {
            return Some(format!("id:{}", self.id(attribute)?));
        }
        let mut kinds = self.of_rules.kinds.iter();
        kinds.find(|(kind, _)| *kind == attribute).map(|(_, name)| name.clone())
    }

    /// The name of the type of results; None if it is unknown.
    pub fn entity_type(&self, layout: &Layout) -> Option<String> {
        match &layout.type_name {
            Some(name) => Some(name.clone()),
            None => self.of_calls.get(&layout.type_number).map(|name| (*name).to_owned()),
        }
    }

    fn id(&self, attribute: Number) -> Option<&str> {
        let known = self.of_rules.ids.get(&attribute).map(String::as_str);
        known.or_else(|| self.of_calls.get(&attribute).copied())
    }
}
