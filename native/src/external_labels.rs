//! How external judgments are matched to results: `judgments/judgment.py` and
//! `judgments/external_labels.py`.

use std::slice;

use indexmap::IndexMap;
use pyo3::PyResult;
use rustc_hash::FxBuildHasher;
use xxhash_rust::xxh3::xxh3_64;

use crate::characters::stripped;
use crate::msgpack::{write_array, write_bytes, write_map, write_text};
use crate::python::Fallback;
use crate::record_encoding::encode_call;
use crate::records::{Arena, OneOrMany, SearchCall, SearchResult, Span};

/// How judgments are matched to results.
pub struct LabelKeys {
    /// The named id that holds the document name.
    pub id_name: String,
    /// The attribute of a conversation that holds its topic; None if the conversation_id is it.
    pub topic_attribute: Option<String>,
}

impl LabelKeys {
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
    /// Possibly with repetitions.
    documents: Vec<String>,
    /// By record_digest, the encoded parts of records that decide attributes, if an attribute holds
    /// the topic.
    records: IndexMap<[u8; 16], Vec<u8>, FxBuildHasher>,
    without_name: usize,
    /// By record_digest: the encoded list of each result's document digests.
    digests: IndexMap<[u8; 16], Vec<u8>, FxBuildHasher>,
}

/// Sorted document names, encoded records by digest, results without a name.
pub type PlainLabelRequest = (Vec<String>, Vec<u8>, usize);

impl LabelRequest {
    /// What one call requests.
    pub fn of(
        call: &SearchCall,
        record_digest: [u8; 16],
        arena: &Arena,
        keys: &LabelKeys,
        python: &Fallback,
    ) -> PyResult<Self> {
        let mut request = LabelRequest::default();
        let results = arena.results_of(call.results);
        let (mut names, mut digests) = (Vec::new(), Vec::new());
        let mut encoded = Vec::new();
        write_array(&mut encoded, results.len());
        for result in results {
            keys.documents(result, arena, python, &mut names)?;
            request.without_name += usize::from(names.is_empty());
            digests.clear();
            for name in &names {
                digests.extend(xxh3_64(name.as_bytes()).to_be_bytes());
                request.documents.push((*name).to_owned());
            }
            write_bytes(&mut encoded, &digests);
        }
        request.digests.insert(record_digest, encoded);
        if keys.topic_attribute.is_some() {
            let deciding = SearchCall {
                query: None,
                tool: None,
                turn_count: None,
                is_final: false,
                error: None,
                outcomes: Span::default(),
                costs: Span::default(),
                results: Span::default(),
                ..*call
            };
            let mut record = Vec::new();
            encode_call(&mut record, &deciding, arena);
            request.records.insert(record_digest, record);
        }
        Ok(request)
    }

    /// Add what later calls request.
    pub fn append(&mut self, other: LabelRequest) {
        self.documents.extend(other.documents);
        self.records.extend(other.records);
        self.without_name += other.without_name;
        self.digests.extend(other.digests);
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
    pub fn into_plain(mut self) -> PlainLabelRequest {
        self.documents.sort_unstable();
        self.documents.dedup();
        let mut records = Vec::new();
        write_map(&mut records, self.records.len());
        for (record_digest, record) in self.records {
            write_text(&mut records, &format!("{:032x}", u128::from_be_bytes(record_digest)));
            records.extend(record);
        }
        (self.documents, records, self.without_name)
    }
}
