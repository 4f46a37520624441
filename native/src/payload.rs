//! What travels between workers: `scoring/payload.py`.

use indexmap::IndexSet;
use rustc_hash::FxBuildHasher;

use crate::msgpack::{
    write_array, write_bytes, write_int, write_map, write_null, write_optional_int,
};
use crate::record_encoding::write_optional_number;
use crate::records::SearchResult;

/// A frame while its calls come in: what its results have in common stands there once.
#[derive(Default)]
pub struct Frame {
    shapes: IndexSet<Box<[u8]>, FxBuildHasher>,
    evidence: IndexSet<(u32, Box<[u8]>), FxBuildHasher>,
    results: Vec<u8>,
}

impl Frame {
    /// Begin the results of a call.
    pub fn begin_call(&mut self, results: usize) {
        write_array(&mut self.results, results);
    }

    /// Add a result and its fingerprint.
    pub fn add(&mut self, result: &SearchResult, codes: &[u8], digests: &[u8]) {
        let shape = match self.shapes.get_index_of(codes) {
            Some(shape) => shape,
            None => self.shapes.insert_full(codes.into()).0,
        };
        let place = self.evidence.insert_full((shape as u32, digests.into())).0;
        write_array(&mut self.results, 3);
        write_int(&mut self.results, place as i64);
        write_optional_int(&mut self.results, result.gain);
        write_optional_number(&mut self.results, result.score);
    }

    /// The payload of all that was added.
    ///
    /// `calls` are the packed calls with their results left out.
    pub fn payload<'c>(
        &self,
        calls: impl ExactSizeIterator<Item = [&'c [u8]; 3]>,
        rejected_records: i64,
    ) -> Vec<u8> {
        let mut out = vec![0; 4];
        write_array(&mut out, 8);
        write_array(&mut out, self.shapes.len());
        for shape in &self.shapes {
            write_bytes(&mut out, shape);
        }
        write_array(&mut out, self.evidence.len());
        for (shape, digests) in &self.evidence {
            write_array(&mut out, 2);
            write_int(&mut out, i64::from(*shape));
            write_bytes(&mut out, digests);
        }
        write_array(&mut out, calls.len());
        out.extend_from_slice(&self.results);
        write_array(&mut out, calls.len());
        for call in calls {
            call.into_iter().for_each(|part| out.extend_from_slice(part));
        }
        write_int(&mut out, rejected_records);
        write_null(&mut out); // labels from outside
        write_map(&mut out, 0); // encodings of calls in other payloads
        write_array(&mut out, 0); // labels given beside the traces
        let length = (out.len() - 4) as u32;
        out[..4].copy_from_slice(&length.to_be_bytes());
        out
    }
}
