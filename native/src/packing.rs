//! Packs records into payloads: `scoring/packing.py`.

use std::collections::VecDeque;
use std::sync::Arc;

use pyo3::PyResult;
use rustc_hash::FxHashMap;

use crate::call_packing::{Call, CallPacker, Made, Packing};
use crate::external_labels::LabelRequest;
use crate::payload::Frame;
use crate::records::{Arena, SearchCall};

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
    pub calls: CallPacker,
    /// One for each thread that may help; none if the calling thread does everything.
    pub of_threads: Vec<CallPacker>,
    pub buffer: Buffer,
}

/// Joins packed records of one conversation.
pub struct Buffer {
    most_buffered: usize,
    buffered: FxHashMap<String, Buffered>,
    /// Conversations in the order in which they were seen, with a sequence number; only the last
    /// occurrence counts.
    seen: VecDeque<(u64, String)>,
    next_number: u64,
    results: usize,
}

/// The buffered data of one conversation.
#[derive(Default)]
struct Buffered {
    frame: Frame,
    calls: Vec<Call>,
    label_request: Option<LabelRequest>,
    rejected_records: i64,
    earliest: i64,
    size: usize,
    last_seen: u64,
}

impl Packer {
    /// Buffer at most about `most_buffered` results.
    pub fn new(packing: Packing, most_buffered: usize, threads: usize) -> Self {
        let packing = Arc::new(packing);
        let of_threads = if threads > 1 { threads } else { 0 };
        Packer {
            calls: CallPacker::new(packing.clone()),
            of_threads: (0..of_threads).map(|_| CallPacker::new(packing.clone())).collect(),
            buffer: Buffer {
                most_buffered,
                buffered: FxHashMap::default(),
                seen: VecDeque::new(),
                next_number: 0,
                results: 0,
            },
        }
    }

    /// Add one call with its time `at`; see `Buffer::add`.
    pub fn add(
        &mut self,
        call: &SearchCall,
        arena: &Arena,
        at: i64,
        given: &mut Vec<Packed>,
    ) -> PyResult<()> {
        let call = self.calls.pack(call, arena)?;
        self.buffer.add(call, at, given);
        Ok(())
    }
}

impl Buffer {
    /// Add one call with its time `at`. If the buffer is full, return the least recently seen
    /// conversations. What is whole is returned at once.
    pub fn add(&mut self, made: Made, at: i64, given: &mut Vec<Packed>) {
        let packed = match made {
            Made::Part(packed) => *packed,
            Made::Whole { conversation_id, content } => {
                return given.push(Packed {
                    conversation_id,
                    payload: content,
                    calls: 1,
                    earliest: at,
                    label_request: None,
                });
            }
        };
        // A call without results takes memory too, and so do long texts.
        let size = 1 + packed.results.len() + packed.call.size / BYTES_PER_RESULT;
        let mut buffered = self.take(&packed.conversation_id, at);
        buffered.frame.add_call(&packed);
        if let Some(label_request) = packed.label_request {
            buffered.label_request.get_or_insert_default().append(label_request);
        }
        buffered.calls.push(packed.call);
        buffered.size += size;
        self.results += size;
        self.put(&packed.conversation_id, buffered);
        self.give_when_full(given);
    }

    /// Add rejected records that name a conversation.
    pub fn add_rejected(
        &mut self,
        conversation_id: &str,
        records: i64,
        at: i64,
        given: &mut Vec<Packed>,
    ) {
        let mut buffered = self.take(conversation_id, at);
        buffered.rejected_records += records;
        let size = 1 + conversation_id.len() / BYTES_PER_RESULT;
        buffered.size += size;
        self.results += size;
        self.put(conversation_id, buffered);
        self.give_when_full(given);
    }

    /// One payload for each buffered conversation.
    pub fn rest(&mut self, given: &mut Vec<Packed>) {
        self.give(0, given);
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

    fn give_when_full(&mut self, given: &mut Vec<Packed>) {
        if self.results >= self.most_buffered {
            self.give(self.most_buffered / 2, given);
        }
    }

    /// Return payloads until fewer than `kept_results` results are left.
    fn give(&mut self, kept_results: usize, given: &mut Vec<Packed>) {
        while self.results >= kept_results {
            let Some((number, conversation_id)) = self.seen.pop_front() else {
                break;
            };
            if self.buffered.get(&conversation_id).is_none_or(|one| one.last_seen != number) {
                continue;
            }
            if let Some(buffered) = self.buffered.remove(&conversation_id) {
                self.results -= buffered.size;
                given.push(buffered.packed(conversation_id));
            }
        }
    }
}

impl Buffered {
    fn packed(self, conversation_id: String) -> Packed {
        let fingerprints = self.calls.iter().map(|call| &call.fingerprint[..]);
        let attributes = self.calls.iter().map(|call| &call.attributes[..]);
        Packed {
            conversation_id,
            payload: self.frame.payload(
                attributes,
                fingerprints,
                self.rejected_records,
                self.label_request.as_ref(),
            ),
            calls: self.calls.len(),
            earliest: self.earliest,
            label_request: self.label_request,
        }
    }
}
