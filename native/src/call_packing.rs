//! Packs single calls, the part of `scoring/packing.py` that needs no other record: threads can do it.

use std::sync::Arc;

use pyo3::PyResult;

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
    pub keep_records: bool,
    pub label_keys: Option<LabelKeys>,
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
    pub codes_end: usize,
    pub digests_end: usize,
}

/// Packs calls, on one thread at a time.
pub struct CallPacker {
    packing: Arc<Packing>,
    fingerprinter: Fingerprinter,
    /// The last call as encoded by msgspec.
    record: Vec<u8>,
}

impl CallPacker {
    pub fn new(packing: Arc<Packing>) -> Self {
        let fingerprinter = Fingerprinter::new(packing.rules.clone(), packing.python.clone());
        CallPacker { packing, fingerprinter, record: Vec::new() }
    }

    pub fn pack(&mut self, call: &SearchCall, arena: &Arena) -> PyResult<PackedCall> {
        self.record.clear();
        encode_call(&mut self.record, call, arena);
        let record_digest = record_digest(&self.record);
        let record = self.packing.keep_records.then_some(&self.record[..]);
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
                attributes: packed_attributes(call, arena),
                fingerprint: packed_fingerprint(call, &record_digest, record, &names, arena),
                size: self.record.len(),
            },
            results,
            codes,
            digests,
            label_request,
        })
    }
}

/// A `CallFingerprint` without its attributes and results.
fn packed_fingerprint(
    call: &SearchCall,
    record_digest: &[u8; 16],
    record: Option<&[u8]>,
    names: &Names,
    arena: &Arena,
) -> Vec<u8> {
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
    encode_pairs(&mut out, arena.costs_of(call.costs).iter(), arena);
    out
}

fn packed_attributes(call: &SearchCall, arena: &Arena) -> Vec<u8> {
    let mut out = Vec::new();
    encode_pairs(&mut out, arena.pairs_of(call.attributes).iter(), arena);
    out
}
