//! Fingerprints results: `dedup/fingerprint.py`, and attributes: `dedup/attribute_names.py`,
//! `dedup/attribute_parts.py`.

use std::borrow::Cow;
use std::io::Write;
use std::sync::Arc;

use indexmap::IndexMap;
use pyo3::PyResult;
use rustc_hash::FxBuildHasher;
use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

use crate::characters::normalise_other;
use crate::normalise::{
    normalise_ascii, normalise_ascii_id, normalise_plain_time, normalise_plain_url, trim,
};
use crate::python::Fallback;
use crate::records::{Arena, OneOrMany, SearchResult, Span};
use crate::rules::{
    CONTENT, GENERIC_ID, KEY, RuleTable, SNIPPET, TITLE, UNKNOWN_FIELD, UNKNOWN_ID, UNKNOWN_TYPE,
    URL, URL_QUERY, digest,
};

/// Names of types and ids of a call that the rules do not know, by their encoded numbers, in order
/// of occurrence.
pub type Names = IndexMap<Vec<u8>, String, FxBuildHasher>;

/// How a fingerprint encodes the name of an id or a field.
struct Name {
    /// Sort key for the names of a result: the byte, then the digest of an unknown name.
    number: u128,
    code: u8,
    /// Digest of the name if the rules do not know it.
    digest: Option<u64>,
    seed: u64,
}

/// One value of an id or field: its digest, and that of its key if it differs.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Part {
    value: u64,
    key: Option<u64>,
}

/// Turns results into fingerprints.
pub struct Fingerprinter {
    rules: Arc<RuleTable>,
    python: Fallback,
    seeds: Vec<u64>,
    text: Vec<u8>,
    name: String,
    /// Names of a map in the order of their numbers, with their positions in the map.
    order: Vec<(Name, usize)>,
    /// The fingerprint of the last result.
    pub codes: Vec<u8>,
    pub digests: Vec<u8>,
}

impl Fingerprinter {
    pub fn new(rules: Arc<RuleTable>, python: Fallback) -> Self {
        let seeds = (0..KEY).map(|number| digest(&format!("attribute {number}"))).collect();
        Fingerprinter {
            rules,
            python,
            seeds,
            text: Vec::new(),
            name: String::new(),
            order: Vec::new(),
            codes: Vec::new(),
            digests: Vec::new(),
        }
    }

    fn seed(&self, attribute: u8) -> u64 {
        self.seeds[usize::from(attribute & !KEY)]
    }

    /// Write the fingerprint of one result to `codes` and `digests`, and unknown names to `names`.
    pub fn add(&mut self, result: &SearchResult, arena: &Arena, names: &mut Names) -> PyResult<()> {
        self.codes.clear();
        self.digests.clear();
        let type_number = self.add_type(result.entity_type, names)?;
        let has_definitive = self.add_ids(result.ids, arena, type_number, names)?;
        if let (Some(id), false) = (result.id, has_definitive) {
            let seed = self.seed(GENERIC_ID);
            if let Some(part) = self.id_part("id", id, seed)? {
                self.push_part(GENERIC_ID, None, part);
            }
        }
        if let Some(url) = result.url {
            self.add_url(url)?;
        }
        if let Some(title) = result.title {
            self.add_keyed_text(title, TITLE)?;
        }
        if let Some(snippet) = result.snippet {
            self.add_keyed_text(snippet, SNIPPET)?;
        }
        if let Some(content) = result.content {
            self.add_keyed_text(content, CONTENT)?;
        }
        self.add_fields(result.fields, arena)
    }

    /// The number of the type in the rules; 0 = not in the rules.
    fn add_type(&mut self, written: Option<&str>, names: &mut Names) -> PyResult<u8> {
        let written = written.unwrap_or("");
        self.name.clear();
        if written.is_ascii() {
            self.name.push_str(trim(written));
            self.name.make_ascii_lowercase();
        } else {
            self.name.push_str(&self.python.entity_type(written)?);
        }
        let number = self.rules.type_numbers.get(&self.name).copied().unwrap_or(0);
        if number > 0 || self.name.is_empty() {
            self.codes.push(number);
        } else {
            self.codes.push(UNKNOWN_TYPE);
            self.codes.extend(digest(&self.name).to_be_bytes());
            remember(names, &self.codes, &self.name);
        }
        Ok(number)
    }

    /// Add the ids that have a value; returns whether one of them is definitive.
    fn add_ids(
        &mut self,
        span: Span,
        arena: &Arena,
        type_number: u8,
        names: &mut Names,
    ) -> PyResult<bool> {
        let mut has_definitive = false;
        let order = self.in_order(span, arena, true);
        for (name, at) in &order {
            let (text, value) = arena.pairs_of(span)[*at];
            let mut parts = Vec::new(); // for several values
            let mut any = false;
            match value {
                OneOrMany::One(value) => {
                    if let Some(part) = self.id_part(text, value, name.seed)? {
                        self.push_part(name.code, name.digest, part);
                        any = true;
                    }
                }
                OneOrMany::Many(values) => {
                    for value in arena.texts_of(values) {
                        parts.extend(self.id_part(text, value, name.seed)?);
                    }
                    // In the order of their bytes: codes, which are longer with a key, then
                    // digests.
                    parts.sort_unstable_by_key(|part: &Part| {
                        (part.key.is_some(), part.value, part.key)
                    });
                    parts.dedup();
                }
            }
            for part in parts {
                self.push_part(name.code, name.digest, part);
                any = true;
            }
            if !any {
                continue;
            }
            let definitive = self.rules.definitive.get(usize::from(type_number));
            if definitive.is_some_and(|names| names.contains(text)) {
                has_definitive = true;
            } else if let Some(digest) = name.digest {
                let mut codes = vec![name.code];
                codes.extend(digest.to_be_bytes());
                remember(names, &codes, text);
            }
        }
        self.order = order;
        Ok(has_definitive)
    }

    fn add_fields(&mut self, span: Span, arena: &Arena) -> PyResult<()> {
        let order = self.in_order(span, arena, false);
        for (name, at) in &order {
            let (text, value) = arena.pairs_of(span)[*at];
            let timed = self.rules.time_fields.contains(text);
            let found = match value {
                OneOrMany::One(value) => self.field_digest(value, timed, name.seed)?,
                OneOrMany::Many(values) => {
                    let mut found = Vec::new();
                    for value in arena.texts_of(values) {
                        found.extend(self.field_digest(value, timed, name.seed)?);
                    }
                    digest_of_set(found)
                }
            };
            if let Some(value) = found {
                self.push_part(name.code, name.digest, Part { value, key: None });
            }
        }
        self.order = order;
        Ok(())
    }

    /// The names of a map in the order of their numbers, which is the order in a fingerprint. Takes
    /// the buffer of `self.order`; callers put it back.
    fn in_order(&mut self, span: Span, arena: &Arena, are_ids: bool) -> Vec<(Name, usize)> {
        let mut order = std::mem::take(&mut self.order);
        order.clear();
        let names = arena.pairs_of(span).iter().enumerate();
        order.extend(
            names
                .filter(|(_, (name, _))| {
                    are_ids || !matches!(*name, "title" | "snippet" | "content")
                })
                .map(|(at, (name, _))| (self.name(name, are_ids), at)),
        );
        order.sort_by_key(|(name, _)| name.number);
        order
    }

    fn name(&self, text: &str, is_id: bool) -> Name {
        let (known, unknown) =
            if is_id { (&self.rules.ids, UNKNOWN_ID) } else { (&self.rules.fields, UNKNOWN_FIELD) };
        match known.get(text) {
            Some(code) => Name {
                number: u128::from(*code),
                code: *code,
                digest: None,
                seed: self.seed(*code),
            },
            None => {
                let digest = digest(text);
                Name {
                    number: u128::from(unknown) << 64 | u128::from(digest),
                    code: unknown,
                    digest: Some(digest),
                    seed: digest,
                }
            }
        }
    }

    fn push_part(&mut self, code: u8, name: Option<u64>, part: Part) {
        self.codes.push(code);
        if let Some(name) = name {
            self.codes.extend(name.to_be_bytes());
        }
        self.digests.extend(part.value.to_be_bytes());
        if let Some(key) = part.key {
            self.codes.push(code | KEY);
            self.digests.extend(key.to_be_bytes());
        }
    }

    /// An id, and its casefolded form as key if it differs; None if it is blank.
    fn id_part(&mut self, name: &str, raw: &str, seed: u64) -> PyResult<Option<Part>> {
        let stripped = !self.rules.stripped.is_empty() && self.rules.stripped.contains(name);
        if stripped || !raw.is_ascii() {
            let (value, folded) = self.python.identifier(name, raw)?;
            if value.is_empty() {
                return Ok(None);
            }
            let found = xxh3_64_with_seed(value.as_bytes(), seed);
            let key = (folded != value).then(|| xxh3_64_with_seed(folded.as_bytes(), seed));
            return Ok(Some(Part { value: found, key }));
        }
        normalise_ascii_id(raw, &mut self.text);
        if self.text.is_empty() {
            return Ok(None);
        }
        let value = xxh3_64_with_seed(&self.text, seed);
        let key = if self.text.iter().any(u8::is_ascii_uppercase) {
            self.text.make_ascii_lowercase();
            Some(xxh3_64_with_seed(&self.text, seed))
        } else {
            None
        };
        Ok(Some(Part { value, key }))
    }

    /// The digest of one value of a field; None if it is blank.
    fn field_digest(&mut self, raw: &str, timed: bool, seed: u64) -> PyResult<Option<u64>> {
        if timed {
            let instant = match normalise_plain_time_of(raw) {
                Some(instant) => Some(instant),
                None => self.python.instant(raw)?,
            };
            if let Some(instant) = instant {
                self.text.clear();
                write!(self.text, "{instant} ")?;
                return Ok(Some(xxh3_64_with_seed(&self.text, seed)));
            }
        }
        self.normalise_text(raw)?;
        Ok((!self.text.is_empty()).then(|| xxh3_64_with_seed(&self.text, seed)))
    }

    /// Write the normal form of a text to `self.text`.
    fn normalise_text(&mut self, raw: &str) -> PyResult<()> {
        if raw.is_ascii() {
            normalise_ascii(raw, &mut self.text);
            return Ok(());
        }
        normalise_other(raw, &self.python, &mut self.text)
    }

    /// A text of a result, and its beginning as key if it is long enough.
    fn add_keyed_text(&mut self, raw: &str, attribute: u8) -> PyResult<()> {
        self.normalise_text(raw)?;
        if self.text.is_empty() {
            return Ok(());
        }
        let seed = self.seed(attribute);
        let value = xxh3_64_with_seed(&self.text, seed);
        let key = self.rules.text_keys.get(&attribute);
        let key = key.filter(|key| has_characters(&self.text, key.keyed_from)).map(|key| {
            let prefix = &self.text[..end_of_prefix(&self.text, key.prefix)];
            xxh3_64_with_seed(prefix, seed)
        });
        self.push_part(attribute, None, Part { value, key });
        Ok(())
    }

    fn add_url(&mut self, url: &str) -> PyResult<()> {
        let query = match normalise_plain_url(url, &self.rules.urls, &mut self.text) {
            Some(query) => query,
            None => match self.python.url(url, &mut self.text)? {
                Some(query) => query,
                None => return Ok(()),
            },
        };
        let place = xxh3_64_with_seed(&self.text, self.seed(URL));
        self.push_part(URL, None, Part { value: place, key: None });
        if query.is_empty() {
            return Ok(());
        }
        let value =
            self.digest_joined(query.iter().flat_map(|(name, value)| [name, value]), URL_QUERY);
        self.push_part(URL_QUERY, None, Part { value, key: None });
        // Already sorted by name, then by value.
        for of_name in query.chunk_by(|one, next| one.0 == next.0) {
            let Some(number) = self.rules.url_parameters.get(&*of_name[0].0).copied() else {
                continue;
            };
            let mut values: Vec<_> = of_name.iter().map(|(_, value)| value).collect();
            values.dedup();
            let value = self.digest_joined(values.into_iter(), number);
            self.push_part(number, None, Part { value, key: None });
        }
        Ok(())
    }

    /// The digest of concatenated texts, each preceded by its length.
    fn digest_joined<'t>(
        &mut self,
        texts: impl Iterator<Item = &'t Cow<'t, str>>,
        attribute: u8,
    ) -> u64 {
        self.text.clear();
        for text in texts {
            self.text.extend((text.len() as u32).to_be_bytes());
            self.text.extend_from_slice(text.as_bytes());
        }
        xxh3_64_with_seed(&self.text, self.seed(attribute))
    }
}

fn normalise_plain_time_of(raw: &str) -> Option<i64> {
    if raw.is_ascii() { normalise_plain_time(raw) } else { None }
}

fn remember(names: &mut Names, codes: &[u8], name: &str) {
    if !names.contains_key(codes) {
        names.insert(codes.to_vec(), name.to_owned());
    }
}

/// One digest for a set of values; for a single value, its own digest.
fn digest_of_set(mut members: Vec<u64>) -> Option<u64> {
    members.sort_unstable();
    members.dedup();
    if members.len() < 2 {
        return members.first().copied();
    }
    let bytes: Vec<u8> = members.iter().flat_map(|member| member.to_be_bytes()).collect();
    Some(xxh3_64(&bytes))
}

/// Whether UTF-8 text has at least `least` characters.
fn has_characters(text: &[u8], least: usize) -> bool {
    match text.get(..least) {
        Some(head) if head.is_ascii() => true,
        Some(_) => characters(text).nth(least - 1).is_some(),
        None => false,
    }
}

/// The offset behind the first `length` characters of UTF-8 text.
fn end_of_prefix(text: &[u8], length: usize) -> usize {
    match text.get(..length) {
        Some(head) if head.is_ascii() => length,
        Some(_) => characters(text).nth(length).unwrap_or(text.len()),
        None => text.len(),
    }
}

/// The offset of each character of UTF-8 text.
fn characters(text: &[u8]) -> impl Iterator<Item = usize> {
    let starts = text.iter().enumerate().filter(|(_, byte)| (**byte as i8) >= -0x40);
    starts.map(|(at, _)| at)
}
