//! The data exchanged between workers: `scoring/payload.py`.

use std::hash::BuildHasher;

use hashbrown::HashTable;
use indexmap::IndexMap;
use rustc_hash::FxBuildHasher;

use crate::call_packing::PackedCall;
use crate::external_labels::LabelRequest;
use crate::msgpack::{write_array, write_bytes, write_int, write_null, write_optional_int};
use crate::record_encoding::write_optional_number;

/// A frame under construction: data that its results share are stored once.
#[derive(Default)]
pub struct Frame {
    /// Codes, with the length of their digests.
    shapes: IndexMap<Box<[u8]>, usize, FxBuildHasher>,
    evidence: EvidenceSet,
    results: Vec<u8>,
    gains: Vec<u8>,
    scores: Vec<u8>,
}

/// Distinct shapes with their digests, in the order in which they were added. The digests are
/// concatenated, since one allocation for each would cost more than the rest of a result.
#[derive(Default)]
struct EvidenceSet {
    digests: Vec<u8>,
    /// The shape, and its range in `digests`.
    entries: Vec<(usize, usize, usize)>,
    indexes: HashTable<usize>,
}

impl EvidenceSet {
    /// The index of a shape with its digests, which is added if it is new.
    fn index_of(&mut self, shape: usize, digests: &[u8]) -> usize {
        let Self { digests: all, entries, indexes } = self;
        let entry = indexes.entry(
            hash_of(shape, digests),
            |index| {
                let (of, begin, end) = entries[*index];
                of == shape && all[begin..end] == *digests
            },
            |index| {
                let (of, begin, end) = entries[*index];
                hash_of(of, &all[begin..end])
            },
        );
        let added = entries.len();
        let index = *entry.or_insert(added).get();
        if index == added {
            entries.push((shape, all.len(), all.len() + digests.len()));
            all.extend_from_slice(digests);
        }
        index
    }
}

fn hash_of(shape: usize, digests: &[u8]) -> u64 {
    FxBuildHasher.hash_one((shape, digests))
}

impl Frame {
    /// Add the results of a call.
    pub fn add_call(&mut self, packed: &PackedCall) {
        let count = packed.results.len();
        let judged = packed.results.iter().any(|result| result.aspects.is_some());
        write_array(&mut self.results, 4);
        for column in [&mut self.results, &mut self.gains, &mut self.scores] {
            write_array(column, count);
        }
        let (mut codes_start, mut digests_start) = (0, 0);
        for result in &packed.results {
            let codes = &packed.codes[codes_start..result.codes_end];
            let digests = &packed.digests[digests_start..result.digests_end];
            (codes_start, digests_start) = (result.codes_end, result.digests_end);
            let shape = match self.shapes.get_index_of(codes) {
                Some(shape) => shape,
                None => self.shapes.insert_full(codes.into(), digests.len()).0,
            };
            let index = self.evidence.index_of(shape, digests);
            write_int(&mut self.results, index as i64);
            write_optional_int(&mut self.gains, result.gain);
            write_optional_number(&mut self.scores, result.score);
        }
        self.results.append(&mut self.gains);
        self.results.append(&mut self.scores);
        if !judged {
            write_null(&mut self.results);
            return;
        }
        write_array(&mut self.results, count);
        for result in &packed.results {
            match &result.aspects {
                Some(aspects) => write_bytes(&mut self.results, aspects),
                None => write_null(&mut self.results),
            }
        }
    }

    /// The payload of everything that was added. `attributes` and `fingerprints` are those of its
    /// calls, packed; the fingerprints without attributes and results.
    pub fn payload<'c>(
        &self,
        attributes: impl ExactSizeIterator<Item = &'c [u8]>,
        fingerprints: impl ExactSizeIterator<Item = &'c [u8]>,
        rejected_records: i64,
        label_request: Option<&LabelRequest>,
    ) -> Vec<u8> {
        let mut out = vec![0; 4];
        write_array(&mut out, 9);
        write_array(&mut out, self.shapes.len());
        for (codes, length) in &self.shapes {
            write_array(&mut out, 2);
            write_bytes(&mut out, codes);
            write_int(&mut out, *length as i64);
        }
        write_array(&mut out, self.evidence.entries.len());
        for (shape, ..) in &self.evidence.entries {
            write_int(&mut out, *shape as i64);
        }
        write_bytes(&mut out, &self.evidence.digests);
        write_array(&mut out, fingerprints.len());
        out.extend_from_slice(&self.results);
        write_array(&mut out, attributes.len());
        let mut before = None;
        for of_call in attributes {
            match before == Some(of_call) {
                true => write_null(&mut out),
                false => out.extend_from_slice(of_call),
            }
            before = Some(of_call);
        }
        write_array(&mut out, fingerprints.len());
        fingerprints.for_each(|fingerprint| out.extend_from_slice(fingerprint));
        write_int(&mut out, rejected_records);
        match label_request {
            Some(label_request) => label_request.write_external(&mut out),
            None => write_null(&mut out),
        }
        write_array(&mut out, 0); // labels given separately from the traces
        let length = (out.len() - 4) as u32;
        out[..4].copy_from_slice(&length.to_be_bytes());
        out
    }
}
