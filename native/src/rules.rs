//! The part of the compiled rules that fingerprints need: `dedup/rules.py`.

use aho_corasick::AhoCorasick;
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

/// Names of query parameters.
pub struct ParameterNames {
    pub names: FxHashSet<String>,
    pub prefixes: Vec<String>,
}

impl ParameterNames {
    /// Whether a casefolded name is one of them.
    pub fn contains(&self, name: &str) -> bool {
        self.names.contains(name)
            || self.prefixes.iter().any(|prefix| name.starts_with(prefix.as_str()))
    }
}

/// What the rules say of URLs: `dedup/url_rules.py`. Aliases are left to Python.
pub struct UrlRules {
    pub ignored: ParameterNames,
    /// By domain.
    pub ignored_on: Vec<(String, ParameterNames)>,
    /// Finds one of the texts that every URL contains to which an alias may apply.
    pub needles: AhoCorasick,
}

impl UrlRules {
    /// Whether a casefolded name names no document on a host in lower case.
    pub fn ignores(&self, host: &[u8], name: &str) -> bool {
        self.ignored.contains(name)
            || self
                .ignored_on
                .iter()
                .any(|(domain, names)| is_of(host, domain.as_bytes()) && names.contains(name))
    }
}

fn is_of(host: &[u8], domain: &[u8]) -> bool {
    host.strip_suffix(domain).is_some_and(|rest| matches!(rest, [] | [.., b'.']))
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
    pub urls: UrlRules,
    /// Names of the ids from whose values Python removes something first.
    pub stripped: FxHashSet<String>,
    /// Attribute number by name of an identifying URL parameter.
    pub url_parameters: FxHashMap<String, u8>,
    /// Names of the fields compared as times.
    pub time_fields: FxHashSet<String>,
    /// By attribute number.
    pub text_keys: FxHashMap<u8, TextKey>,
}
