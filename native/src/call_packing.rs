//! Packs single calls, the part of `scoring/packing.py` that needs no other record: threads can do it.

use std::sync::Arc;

use pyo3::PyResult;

use crate::canonical_encoding::canonical_encoding;
use crate::delivery::Delivery;
use crate::external_labels::{LabelKeys, LabelRequest};
use crate::fingerprint::{Fingerprinter, Names};
use crate::msgpack::{
    write_array, write_bool, write_bytes, write_int, write_map, write_null, write_optional_int,
    write_optional_text, write_text,
};
use crate::python::Fallback;
use crate::record_encoding::{encode_call, encode_pairs, record_digest};
use crate::records::{Arena, Number, SearchCall};
use crate::rules::RuleTable;

/// How records are packed.
pub struct Packing {
    pub rules: Arc<RuleTable>,
    pub python: Fallback,
    pub keep_encodings: bool,
    pub label_keys: Option<LabelKeys>,
}

/// A packed call, and what joins it with others of its conversation.
pub struct PackedCall {
    pub conversation_id: String,
    pub call: Call,
    pub delivery: Delivery,
    pub results: Vec<PackedResult>,
    /// Codes and digests of all results.
    pub codes: Vec<u8>,
    pub digests: Vec<u8>,
    pub label_request: Option<LabelRequest>,
}

/// A packed call: the parts before and after its canonical encoding.
pub struct Call {
    pub before: Vec<u8>,
    pub attributes: Vec<u8>,
    pub encoding: Option<Vec<u8>>,
    pub after: Vec<u8>,
    /// The call as encoded by msgspec.
    pub whole: Box<[u8]>,
}

/// A result: its label, and where its fingerprint ends.
pub struct PackedResult {
    pub gain: Option<i64>,
    pub score: Option<Number>,
    pub codes_end: usize,
    pub digests_end: usize,
}

/// Packs calls, on one thread at a time.
pub struct CallPacker {
    packing: Arc<Packing>,
    fingerprinter: Fingerprinter,
    /// Size of the last encoded call; the next one is likely to be similar.
    last_length: usize,
}

impl CallPacker {
    pub fn new(packing: Arc<Packing>) -> Self {
        let fingerprinter = Fingerprinter::new(packing.rules.clone(), packing.python.clone());
        CallPacker { packing, fingerprinter, last_length: 0 }
    }

    pub fn pack(&mut self, call: &SearchCall, arena: &Arena) -> PyResult<PackedCall> {
        let mut whole = Vec::with_capacity(self.last_length + self.last_length / 4);
        encode_call(&mut whole, call, arena);
        self.last_length = whole.len();
        let whole = whole.into_boxed_slice();
        let record_digest = record_digest(&whole);
        let encoding = self.packing.keep_encodings.then(|| canonical_encoding(call, arena));
        let (mut names, mut codes, mut digests) = (Names::default(), Vec::new(), Vec::new());
        let found = arena.results_of(call.results);
        let mut results = Vec::with_capacity(found.len());
        for result in found {
            self.fingerprinter.add(result, arena, &mut names)?;
            codes.extend_from_slice(&self.fingerprinter.codes);
            digests.extend_from_slice(&self.fingerprinter.digests);
            results.push(PackedResult {
                gain: result.gain,
                score: result.score,
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
        Ok(PackedCall {
            conversation_id: call.conversation_id.to_owned(),
            call: Call {
                before: packed_before(call, &record_digest),
                attributes: packed_attributes(call, arena),
                encoding,
                after: packed_after(&names, call, arena),
                whole,
            },
            delivery: Delivery {
                turn: call.turn,
                iteration: call.iteration,
                call: call.call,
                action: Box::from(call.action),
                timestamp: call.timestamp,
                record_id: call.record_id.map(Box::from),
                record_digest,
            },
            results,
            codes,
            digests,
            label_request,
        })
    }
}

/// A `CallFingerprint` up to and including its record_digest, without its attributes.
fn packed_before(call: &SearchCall, record_digest: &[u8; 16]) -> Vec<u8> {
    let mut out = Vec::new();
    write_array(&mut out, 14);
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
    out
}

fn packed_attributes(call: &SearchCall, arena: &Arena) -> Vec<u8> {
    let mut out = Vec::new();
    encode_pairs(&mut out, arena.pairs_of(call.attributes).iter(), arena);
    out
}

pub fn packed_encoding(encoding: Option<&[u8]>) -> Vec<u8> {
    let mut out = Vec::new();
    match encoding {
        Some(encoding) => write_bytes(&mut out, encoding),
        None => write_null(&mut out),
    }
    out
}

/// The rest of a `CallFingerprint` after its encoding: names, results (empty) and costs.
fn packed_after(names: &Names, call: &SearchCall, arena: &Arena) -> Vec<u8> {
    let mut out = Vec::new();
    write_map(&mut out, names.len());
    for (codes, name) in names {
        write_bytes(&mut out, codes);
        write_text(&mut out, name);
    }
    write_array(&mut out, 0);
    encode_pairs(&mut out, arena.costs_of(call.costs).iter(), arena);
    out
}
