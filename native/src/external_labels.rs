//! How external judgments are matched to results: `judgments/judgment.py` and
//! `judgments/external_labels.py`.

use std::collections::BTreeSet;
use std::slice;

use indexmap::IndexMap;
use pyo3::PyResult;
use rustc_hash::FxBuildHasher;
use xxhash_rust::xxh3::xxh3_64;

use crate::characters::stripped;
use crate::msgpack::{write_array, write_bytes, write_map};
use crate::python::Fallback;
use crate::records::{Arena, OneOrMany, SearchCall, SearchResult, Span};

/// How judgments are matched to results.
pub struct LabelKeys {
    /// The named id that holds the document name.
    pub id_name: String,
    /// The attribute that holds the topic; None if the conversation_id is the topic.
    pub topic_attribute: Option<String>,
}

impl LabelKeys {
    /// The topic of a call; empty if it has none.
    fn topic<'a>(
        &self,
        call: &SearchCall<'a>,
        arena: &Arena<'a>,
        python: &Fallback,
    ) -> PyResult<&'a str> {
        let written = match &self.topic_attribute {
            None => call.conversation_id,
            Some(name) => values(call.attributes, name, arena).first().unwrap_or(&""),
        };
        stripped(written, python)
    }

    /// Put the trimmed document names of a result into `names`; usually one, possibly none.
    fn documents<'a>(
        &self,
        result: &SearchResult<'a>,
        arena: &Arena<'a>,
        python: &Fallback,
        names: &mut Vec<&'a str>,
    ) -> PyResult<()> {
        names.clear();
        for written in [values(result.ids, &self.id_name, arena), result.id.as_slice()] {
            for value in written {
                names.push(stripped(value, python)?);
            }
            names.retain(|name| !name.is_empty());
            if !names.is_empty() {
                break;
            }
        }
        Ok(())
    }
}

/// The values under a key of a map.
fn values<'r, 'a>(map: Span, key: &str, arena: &'r Arena<'a>) -> &'r [&'a str] {
    match arena.pairs_of(map).iter().find(|(name, _)| *name == key) {
        Some((_, OneOrMany::One(value))) => slice::from_ref(value),
        Some((_, OneOrMany::Many(several))) => arena.texts_of(*several),
        None => &[],
    }
}

/// The judgments requested by some records of one conversation: Python's `LabelRequest`, and the
/// `ExternalLabels` that will match them to results.
#[derive(Default)]
pub struct LabelRequest {
    /// By topic, in the order of first occurrences.
    by_topic: IndexMap<String, BTreeSet<String>, FxBuildHasher>,
    without_topic: usize,
    without_name: usize,
    /// By record_digest: the encoded list of each result's document digests.
    digests: IndexMap<[u8; 16], Vec<u8>, FxBuildHasher>,
}

/// Sorted document names by topic, records without a topic, results without a name.
pub type PlainLabelRequest = (Vec<(String, Vec<String>)>, usize, usize);

impl LabelRequest {
    /// Add a call.
    pub fn add(
        &mut self,
        call: &SearchCall,
        record_digest: [u8; 16],
        arena: &Arena,
        keys: &LabelKeys,
        python: &Fallback,
    ) -> PyResult<()> {
        let mut encoded = Vec::new();
        let topic = keys.topic(call, arena, python)?;
        if topic.is_empty() {
            self.without_topic += 1;
            write_array(&mut encoded, 0);
        } else {
            let results = arena.results_of(call.results);
            let requested = self.by_topic.entry(topic.to_owned()).or_default();
            let mut text = format!("{topic}\n").into_bytes();
            let of_topic = text.len();
            let (mut names, mut digests) = (Vec::new(), Vec::new());
            write_array(&mut encoded, results.len());
            for result in results {
                keys.documents(result, arena, python, &mut names)?;
                self.without_name += usize::from(names.is_empty());
                digests.clear();
                for name in &names {
                    text.truncate(of_topic);
                    text.extend_from_slice(name.as_bytes());
                    digests.extend(xxh3_64(&text).to_be_bytes());
                    if !requested.contains(*name) {
                        requested.insert((*name).to_owned());
                    }
                }
                write_bytes(&mut encoded, &digests);
            }
        }
        self.digests.insert(record_digest, encoded);
        Ok(())
    }

    /// Append an encoded `ExternalLabels`, still without labels and pools.
    pub fn write_external(&self, out: &mut Vec<u8>) {
        write_array(out, 3);
        write_map(out, self.digests.len());
        for (record_digest, encoded) in &self.digests {
            write_bytes(out, record_digest);
            out.extend_from_slice(encoded);
        }
        write_map(out, 0);
        write_map(out, 0);
    }

    /// What Python needs for its `LabelRequest`.
    pub fn into_plain(self) -> PlainLabelRequest {
        let by_topic =
            self.by_topic.into_iter().map(|(topic, names)| (topic, names.into_iter().collect()));
        (by_topic.collect(), self.without_topic, self.without_name)
    }
}
