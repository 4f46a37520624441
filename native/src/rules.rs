//! The part of the compiled rules that fingerprints need: `dedup/rules.py`.

use rustc_hash::{FxHashMap, FxHashSet};
use xxhash_rust::xxh3::xxh3_64;

pub const GENERIC_ID: u8 = 1;
pub const URL: u8 = 2;
pub const URL_QUERY: u8 = 3;
pub const TITLE: u8 = 32;
pub const SNIPPET: u8 = 33;
pub const CONTENT: u8 = 34;
pub const UNKNOWN_FIELD: u8 = 126;
pub const UNKNOWN_ID: u8 = 127;
pub const KEY: u8 = 0x80;
pub const UNKNOWN_TYPE: u8 = 255;

/// The 64-bit digest of a normalised text, id or name.
pub fn digest(text: &str) -> u64 {
    xxh3_64(text.as_bytes())
}

/// Query parameters of URLs that do not affect the document.
pub struct IgnoredParameters {
    pub names: FxHashSet<String>,
    pub prefixes: Vec<String>,
}

impl IgnoredParameters {
    /// Whether a casefolded name is ignored.
    pub fn contains(&self, name: &str) -> bool {
        self.names.contains(name)
            || self.prefixes.iter().any(|prefix| name.starts_with(prefix.as_str()))
    }
}

/// The key of a text: its first `prefix` characters, if it has a minimum length.
pub struct TextKey {
    pub prefix: usize,
    pub keyed_from: usize,
}

/// The compiled rules for fingerprints.
pub struct RuleTable {
    /// Number by casefolded type name or alias.
    pub type_numbers: FxHashMap<String, u8>,
    /// By type number, the names of the definitive ids; those of `default` at 0.
    pub definitive: Vec<FxHashSet<String>>,
    /// Attribute numbers of the names with a one-byte number.
    pub fields: FxHashMap<String, u8>,
    pub ids: FxHashMap<String, u8>,
    pub ignored_parameters: IgnoredParameters,
    /// Attribute number by name of an identifying URL parameter.
    pub url_parameters: FxHashMap<String, u8>,
    /// Names of the fields compared as times.
    pub time_fields: FxHashSet<String>,
    /// By attribute number.
    pub text_keys: FxHashMap<u8, TextKey>,
}
