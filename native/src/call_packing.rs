//! Packs single calls, the part of `scoring/packing.py` that needs no other record: threads can do it.

use std::collections::BTreeSet;
use std::sync::Arc;

use pyo3::PyResult;
use rustc_hash::FxHashSet;
use xxhash_rust::xxh3::xxh3_64;

use crate::characters::stripped;
use crate::external_labels::{LabelKeys, LabelRequest};
use crate::fingerprint::{Fingerprinter, Names};
use crate::msgpack::{
    write_array, write_bool, write_bytes, write_int, write_map, write_null, write_optional_int,
    write_optional_text, write_text,
};
use crate::normalise::normalise_ascii_query;
use crate::python::Fallback;
use crate::record_encoding::{encode_call, encode_pairs, record_digest};
use crate::records::{Arena, Number, SEARCH, SearchCall};
use crate::rules::RuleTable;
use crate::sketch::sketch_of;

/// Bytes of codes and of digests that most results have at most.
const USUAL_CODES: usize = 16;
const USUAL_DIGESTS: usize = 96;

/// How records are packed.
pub struct Packing {
    pub rules: Arc<RuleTable>,
    pub python: Fallback,
    pub keep_records: bool,
    pub label_keys: Option<LabelKeys>,
    pub output: Output,
}

/// What becomes of calls.
pub enum Output {
    /// Payloads, from which conversations are scored.
    Payloads,
    /// A sketch of each call.
    Sketches,
    /// Nothing but their conversations; the calls of these are left to Python.
    AllBut(FxHashSet<String>),
}

/// What was made of a call.
pub enum Made {
    /// A part of a payload.
    Part(Box<PackedCall>),
    /// All that there is to know of it.
    Whole { conversation_id: String, content: Vec<u8> },
}

/// A packed call, and what joins it with others of its conversation.
pub struct PackedCall {
    pub conversation_id: String,
    pub call: Call,
    pub results: Vec<PackedResult>,
    /// Codes and digests of all results.
    pub codes: Vec<u8>,
    pub digests: Vec<u8>,
    pub label_request: Option<LabelRequest>,
}

/// A packed call.
pub struct Call {
    pub attributes: Vec<u8>,
    /// Its `CallFingerprint` without attributes and results.
    pub fingerprint: Vec<u8>,
    /// Size of the record in bytes.
    pub size: usize,
}

/// A result: its label, and where its fingerprint ends.
pub struct PackedResult {
    pub gain: Option<i64>,
    pub score: Option<Number>,
    /// The distinct digests of its aspects, sorted and joined.
    pub aspects: Option<Box<[u8]>>,
    pub codes_end: usize,
    pub digests_end: usize,
}

/// Packs calls, on one thread at a time.
pub struct CallPacker {
    packing: Arc<Packing>,
    fingerprinter: Fingerprinter,
    /// The last call as encoded by msgspec.
    record: Vec<u8>,
    /// The normal form of the last query.
    query: Vec<u8>,
}

impl CallPacker {
    pub fn new(packing: Arc<Packing>) -> Self {
        let fingerprinter = Fingerprinter::new(packing.rules.clone(), packing.python.clone());
        CallPacker { packing, fingerprinter, record: Vec::new(), query: Vec::new() }
    }

    /// Whether Python asked for a call as it is.
    pub fn leaves_to_python(&self, call: &SearchCall) -> bool {
        matches!(&self.packing.output, Output::AllBut(wanted) if wanted.contains(call.conversation_id))
    }

    pub fn pack(&mut self, call: &SearchCall, arena: &Arena) -> PyResult<Made> {
        if let Output::AllBut(_) = self.packing.output {
            return Ok(whole(call, Vec::new()));
        }
        self.record.clear();
        encode_call(&mut self.record, call, arena);
        let record_digest = record_digest(&self.record);
        if let Output::Sketches = self.packing.output {
            let sketch = sketch_of(call, &record_digest, arena, &mut self.fingerprinter)?;
            return Ok(whole(call, sketch));
        }
        let query_digest = self.query_digest(call)?;
        let failed = match call.error {
            Some(error) => !stripped(error, &self.packing.python)?.is_empty(),
            None => false,
        };
        let record = self.packing.keep_records.then_some(&self.record[..]);
        let mut names = Names::default();
        let found = arena.results_of(call.results);
        let mut codes = Vec::with_capacity(found.len() * USUAL_CODES);
        let mut digests = Vec::with_capacity(found.len() * USUAL_DIGESTS);
        let mut results = Vec::with_capacity(found.len());
        for result in found {
            self.fingerprinter.add(result, arena, &mut names)?;
            codes.extend_from_slice(&self.fingerprinter.codes);
            digests.extend_from_slice(&self.fingerprinter.digests);
            results.push(PackedResult {
                gain: result.gain,
                score: result.score,
                aspects: result.aspects.map(|span| aspect_digests(arena.texts_of(span))),
                codes_end: codes.len(),
                digests_end: digests.len(),
            });
        }
        let label_request = match &self.packing.label_keys {
            Some(keys) => {
                Some(LabelRequest::of(call, record_digest, arena, keys, &self.packing.python)?)
            }
            None => None,
        };
        Ok(Made::Part(Box::new(PackedCall {
            conversation_id: call.conversation_id.to_owned(),
            call: Call {
                attributes: packed_attributes(call, arena),
                fingerprint: packed_fingerprint(
                    call,
                    &record_digest,
                    record,
                    &names,
                    query_digest,
                    failed,
                    arena,
                ),
                size: self.record.len(),
            },
            results,
            codes,
            digests,
            label_request,
        })))
    }

    /// The digest of a search's query in its normal form, without punctuation.
    fn query_digest(&mut self, call: &SearchCall) -> PyResult<Option<[u8; 8]>> {
        let Some(query) = call.query.filter(|_| call.action == SEARCH) else {
            return Ok(None);
        };
        if query.is_ascii() {
            normalise_ascii_query(query, &mut self.query);
        } else {
            self.query = self.packing.python.query(query)?;
        }
        Ok((!self.query.is_empty()).then(|| xxh3_64(&self.query).to_be_bytes()))
    }
}

fn whole(call: &SearchCall, content: Vec<u8>) -> Made {
    Made::Whole { conversation_id: call.conversation_id.to_owned(), content }
}

/// A `CallFingerprint` without its attributes and results.
fn packed_fingerprint(
    call: &SearchCall,
    record_digest: &[u8; 16],
    record: Option<&[u8]>,
    names: &Names,
    query_digest: Option<[u8; 8]>,
    failed: bool,
    arena: &Arena,
) -> Vec<u8> {
    let mut out = Vec::new();
    write_array(&mut out, 18);
    write_int(&mut out, call.turn);
    write_int(&mut out, call.iteration);
    write_optional_int(&mut out, call.call);
    write_optional_int(&mut out, call.timestamp);
    write_optional_text(&mut out, call.record_id);
    write_optional_int(&mut out, call.turn_count);
    write_bool(&mut out, call.is_final);
    write_text(&mut out, call.action);
    write_map(&mut out, 0);
    write_bytes(&mut out, record_digest);
    match record {
        Some(record) => write_bytes(&mut out, record),
        None => write_null(&mut out),
    }
    write_map(&mut out, names.len());
    for (codes, name) in names {
        write_bytes(&mut out, codes);
        write_text(&mut out, name);
    }
    write_array(&mut out, 0);
    encode_pairs(&mut out, arena.numbers_of(call.costs).iter(), arena);
    write_bool(&mut out, failed);
    match query_digest {
        Some(digest) => write_bytes(&mut out, &digest),
        None => write_null(&mut out),
    }
    encode_pairs(&mut out, arena.numbers_of(call.outcomes).iter(), arena);
    write_optional_text(&mut out, call.tool);
    out
}

/// The distinct digests of aspects, sorted and joined.
fn aspect_digests(aspects: &[&str]) -> Box<[u8]> {
    let digests = aspects.iter().map(|aspect| xxh3_64(aspect.as_bytes()).to_be_bytes());
    digests.collect::<BTreeSet<_>>().into_iter().flatten().collect()
}

/// Attributes in MessagePack, in the order of the record.
pub fn packed_attributes(call: &SearchCall, arena: &Arena) -> Vec<u8> {
    let mut out = Vec::new();
    encode_pairs(&mut out, arena.pairs_of(call.attributes).iter(), arena);
    out
}
