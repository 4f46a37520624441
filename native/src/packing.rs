//! Packs records into payloads: `scoring/packing.py`.

use std::collections::VecDeque;

use pyo3::PyResult;
use rustc_hash::FxHashMap;

use crate::canonical_encoding::{canonical_encoding, canonical_encoding_of};
use crate::delivery::{Delivery, tied};
use crate::external_labels::{LabelKeys, LabelRequest};
use crate::fingerprint::{Fingerprinter, Names};
use crate::msgpack::{
    write_array, write_bool, write_bytes, write_int, write_map, write_null, write_optional_int,
    write_optional_text, write_text,
};
use crate::payload::Frame;
use crate::python::Fallback;
use crate::record_encoding::{encode_call, encode_pairs, record_digest};
use crate::records::{Arena, SearchCall, SearchResult};
use crate::rules::RuleTable;

/// Bytes of a record that take as much memory as a result: `_BYTES_PER_RESULT` of `packing.py`.
const BYTES_PER_RESULT: usize = 1 << 14;

/// Records of one conversation.
pub struct Packed {
    pub conversation_id: String,
    pub payload: Vec<u8>,
    pub calls: usize,
    pub earliest: i64,
    pub label_request: Option<LabelRequest>,
}

/// Fingerprints records and joins those of one conversation.
pub struct Packer {
    fingerprinter: Fingerprinter,
    python: Fallback,
    keep_encodings: bool,
    label_keys: Option<LabelKeys>,
    most_buffered: usize,
    buffered: FxHashMap<String, Buffered>,
    /// Conversations in the order in which they were seen, with a sequence number; only the last
    /// occurrence counts.
    seen: VecDeque<(u64, String)>,
    next_number: u64,
    results: usize,
    /// Size of the last encoded call; the next one is likely to be similar.
    last_length: usize,
}

/// The buffered data of one conversation.
#[derive(Default)]
struct Buffered {
    frame: Frame,
    calls: Vec<Call>,
    deliveries: Vec<Delivery>,
    label_request: Option<LabelRequest>,
    rejected_records: i64,
    earliest: i64,
    size: usize,
    last_seen: u64,
}

/// A packed call: the parts before and after its canonical encoding.
struct Call {
    before: Vec<u8>,
    attributes: Vec<u8>,
    encoding: Option<Vec<u8>>,
    after: Vec<u8>,
    /// The call as encoded by msgspec.
    whole: Box<[u8]>,
}

impl Packer {
    /// Buffer at most about `most_buffered` results.
    pub fn new(
        rules: RuleTable,
        python: Fallback,
        keep_encodings: bool,
        label_keys: Option<LabelKeys>,
        most_buffered: usize,
    ) -> Self {
        Packer {
            fingerprinter: Fingerprinter::new(rules, python.clone_ref()),
            python,
            keep_encodings,
            label_keys,
            most_buffered,
            buffered: FxHashMap::default(),
            seen: VecDeque::new(),
            next_number: 0,
            results: 0,
            last_length: 0,
        }
    }

    /// Add one call with its time `at`. If the buffer is full, return the least recently seen
    /// conversations.
    pub fn add(
        &mut self,
        call: &SearchCall,
        arena: &Arena,
        at: i64,
        given: &mut Vec<Packed>,
    ) -> PyResult<()> {
        let mut whole = Vec::with_capacity(self.last_length + self.last_length / 4);
        encode_call(&mut whole, call, arena);
        self.last_length = whole.len();
        let whole = whole.into_boxed_slice();
        let record_digest = record_digest(&whole);
        let encoding = self.keep_encodings.then(|| canonical_encoding(call, arena));
        let results = arena.results_of(call.results);
        // A call without results takes memory too, and so do long texts.
        let size = 1 + results.len() + whole.len() / BYTES_PER_RESULT;
        let mut buffered = self.take(call.conversation_id, at);
        let names = self.add_results(results, arena, &mut buffered.frame)?;
        if let Some(keys) = &self.label_keys {
            let label_request = buffered.label_request.get_or_insert_default();
            label_request.add(call, record_digest, arena, keys, &self.python)?;
        }
        buffered.calls.push(Call {
            before: packed_before(call, &record_digest),
            attributes: packed_attributes(call, arena),
            encoding,
            after: packed_after(&names, call, arena),
            whole,
        });
        buffered.deliveries.push(Delivery {
            turn: call.turn,
            iteration: call.iteration,
            call: call.call,
            timestamp: call.timestamp,
            record_id: call.record_id.map(Box::from),
            record_digest,
        });
        buffered.size += size;
        self.results += size;
        self.put(call.conversation_id, buffered);
        self.give_when_full(given)
    }

    /// Add rejected records that name a conversation.
    pub fn add_rejected(
        &mut self,
        conversation_id: &str,
        records: i64,
        at: i64,
        given: &mut Vec<Packed>,
    ) -> PyResult<()> {
        let mut buffered = self.take(conversation_id, at);
        buffered.rejected_records += records;
        let size = 1 + conversation_id.len() / BYTES_PER_RESULT;
        buffered.size += size;
        self.results += size;
        self.put(conversation_id, buffered);
        self.give_when_full(given)
    }

    /// One payload for each buffered conversation.
    pub fn rest(&mut self, given: &mut Vec<Packed>) -> PyResult<()> {
        self.give(0, given)
    }

    fn add_results(
        &mut self,
        results: &[SearchResult],
        arena: &Arena,
        frame: &mut Frame,
    ) -> PyResult<Names> {
        let mut names = Names::default();
        frame.begin_call(results.len());
        for result in results {
            self.fingerprinter.add(result, arena, &mut names)?;
            frame.add(result, &self.fingerprinter.codes, &self.fingerprinter.digests);
        }
        frame.end_call();
        Ok(names)
    }

    fn take(&mut self, conversation_id: &str, at: i64) -> Buffered {
        let mut buffered = self
            .buffered
            .remove(conversation_id)
            .unwrap_or_else(|| Buffered { earliest: at, ..Buffered::default() });
        buffered.earliest = buffered.earliest.min(at);
        buffered
    }

    fn put(&mut self, conversation_id: &str, mut buffered: Buffered) {
        self.next_number += 1;
        buffered.last_seen = self.next_number;
        self.seen.push_back((self.next_number, conversation_id.to_owned()));
        self.buffered.insert(conversation_id.to_owned(), buffered);
        if self.seen.len() > 2 * self.buffered.len() + 64 {
            let buffered = &self.buffered;
            self.seen.retain(|(number, name)| {
                buffered.get(name).is_some_and(|one| one.last_seen == *number)
            });
        }
    }

    fn give_when_full(&mut self, given: &mut Vec<Packed>) -> PyResult<()> {
        if self.results >= self.most_buffered {
            self.give(self.most_buffered / 2, given)?;
        }
        Ok(())
    }

    /// Return payloads until fewer than `kept_results` results are left.
    fn give(&mut self, kept_results: usize, given: &mut Vec<Packed>) -> PyResult<()> {
        while self.results >= kept_results {
            let Some((number, conversation_id)) = self.seen.pop_front() else {
                break;
            };
            if self.buffered.get(&conversation_id).is_none_or(|one| one.last_seen != number) {
                continue;
            }
            if let Some(mut buffered) = self.buffered.remove(&conversation_id) {
                self.results -= buffered.size;
                for place in tied(&buffered.deliveries) {
                    let call = &mut buffered.calls[place];
                    if call.encoding.is_none() {
                        call.encoding = Some(canonical_encoding_of(&call.whole)?);
                    }
                }
                given.push(buffered.packed(conversation_id));
            }
        }
        Ok(())
    }
}

impl Buffered {
    fn packed(self, conversation_id: String) -> Packed {
        let encodings: Vec<Vec<u8>> =
            self.calls.iter().map(|call| packed_encoding(call.encoding.as_deref())).collect();
        let calls = self
            .calls
            .iter()
            .zip(&encodings)
            .map(|(call, encoding)| [&call.before[..], &encoding[..], &call.after[..]]);
        let attributes = self.calls.iter().map(|call| &call.attributes[..]);
        Packed {
            conversation_id,
            payload: self.frame.payload(
                attributes,
                calls,
                self.rejected_records,
                self.label_request.as_ref(),
            ),
            calls: self.calls.len(),
            earliest: self.earliest,
            label_request: self.label_request,
        }
    }
}

/// A `CallFingerprint` up to and including its record_digest, without its attributes.
fn packed_before(call: &SearchCall, record_digest: &[u8; 16]) -> Vec<u8> {
    let mut out = Vec::new();
    write_array(&mut out, 13);
    write_int(&mut out, call.turn);
    write_int(&mut out, call.iteration);
    write_optional_int(&mut out, call.call);
    write_optional_int(&mut out, call.timestamp);
    write_optional_text(&mut out, call.record_id);
    write_optional_int(&mut out, call.turn_count);
    write_bool(&mut out, call.is_final);
    write_map(&mut out, 0);
    write_bytes(&mut out, record_digest);
    out
}

fn packed_attributes(call: &SearchCall, arena: &Arena) -> Vec<u8> {
    let mut out = Vec::new();
    encode_pairs(&mut out, arena.pairs_of(call.attributes).iter(), arena);
    out
}

fn packed_encoding(encoding: Option<&[u8]>) -> Vec<u8> {
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
