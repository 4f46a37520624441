//! Decodes payloads of a conversation, as `unpack` of `scoring/payload.py` does.

use std::ops::Range;

use rustc_hash::FxHashMap;

use crate::delivery::Delivery;
use crate::document_labels::ExternalLabels;
use crate::given_labels::GivenLabel;
use crate::msgpack::{Malformed, Reader};

const LENGTH_BYTES: usize = 4;
const DIGEST_BYTES: usize = 8;
const COMPRESSED: u32 = 1 << 31;

/// A result: the index of its evidence in the frame, its label and its score.
#[derive(Clone, Copy)]
pub struct FrameResult {
    pub evidence: u32,
    pub gain: Option<i64>,
    pub score: Option<f64>,
}

/// A call without what its `Delivery`, at the same index in the frame, holds.
pub struct Call<'p> {
    pub turn_count: Option<i64>,
    /// The index of its attributes in the frame's.
    pub attributes: usize,
    pub names: Vec<(&'p [u8], &'p str)>,
    pub costs: Vec<(&'p str, f64)>,
    pub failed: bool,
    /// The digest of its query; None if that is empty, or it is no search.
    pub query: Option<&'p [u8]>,
    pub outcomes: Vec<(&'p str, f64)>,
    pub tool: Option<&'p str>,
    /// The range of its results in the frame's.
    pub results: Range<usize>,
}

/// The attributes of calls.
pub struct Attributes<'p> {
    pub encoded: &'p [u8],
    pub pairs: Vec<(&'p str, &'p str)>,
}

/// The content of some payloads, merged into one frame.
#[derive(Default)]
pub struct Frame<'p> {
    pub deliveries: Vec<Delivery<'p>>,
    pub calls: Vec<Call<'p>>,
    pub results: Vec<FrameResult>,
    pub attributes: Vec<Attributes<'p>>,
    /// Distinct evidence: its codes, and the range of its digests in `digests`.
    pub evidence: Vec<(&'p [u8], Range<usize>)>,
    pub digests: Vec<u64>,
    pub rejected_records: i64,
    /// The outcomes that were given beside the records.
    pub given_outcomes: Vec<(&'p str, f64)>,
    pub external: ExternalLabels<'p>,
    /// Labels of single results, given beside the records.
    pub labels: Vec<GivenLabel<'p>>,
    numbers: FxHashMap<(&'p [u8], &'p [u8]), u32>,
}

impl<'p> Frame<'p> {
    /// Read all frames. Those that only Python decodes, with compression, also count as malformed.
    pub fn read(payloads: &[&'p [u8]]) -> Result<Self, Malformed> {
        let mut frame = Frame::default();
        for payload in payloads {
            let mut rest = *payload;
            while !rest.is_empty() {
                let (length, behind) = rest.split_first_chunk::<LENGTH_BYTES>().ok_or(Malformed)?;
                let length = u32::from_be_bytes(*length);
                if length & COMPRESSED != 0 {
                    return Err(Malformed);
                }
                let (content, behind) =
                    behind.split_at_checked(length as usize).ok_or(Malformed)?;
                frame.add(&mut Reader::new(content))?;
                rest = behind;
            }
        }
        Ok(frame)
    }

    fn add(&mut self, read: &mut Reader<'p>) -> Result<(), Malformed> {
        let parts = read.array()?;
        if !(9..=10).contains(&parts) {
            return Err(Malformed);
        }
        let shapes = listed(read, |read| {
            if read.array()? != 2 {
                return Err(Malformed);
            }
            Ok((read.bytes()?, read.index()?))
        })?;
        let evidence = listed(read, |read| shapes.get(read.index()?).ok_or(Malformed))?;
        let mut digests = read.bytes()?;
        let mut numbers = Vec::with_capacity(evidence.len());
        for (codes, length) in evidence {
            let (of_one, behind) = digests.split_at_checked(*length).ok_or(Malformed)?;
            numbers.push(self.number(codes, of_one)?);
            digests = behind;
        }
        let results = listed(read, |read| self.add_results(read, &numbers))?;
        let attributes = self.add_attributes(read)?;
        if read.array()? != results.len() || attributes.len() != results.len() {
            return Err(Malformed);
        }
        for (of_call, attributes) in results.into_iter().zip(attributes) {
            self.add_call(read, of_call, attributes)?;
        }
        self.rejected_records = self.rejected_records.saturating_add(read.int()?);
        if !read.null() {
            self.external.add(read)?;
        }
        self.labels.extend(listed(read, GivenLabel::read)?);
        if parts == 10 {
            let given = pairs(read, |read| Ok((read.text()?, read.number()?)))?;
            self.given_outcomes.extend(given);
        }
        if !read.at_end() {
            return Err(Malformed);
        }
        Ok(())
    }

    /// The index of some evidence, which is added if it is new.
    fn number(&mut self, codes: &'p [u8], packed: &'p [u8]) -> Result<u32, Malformed> {
        let next = u32::try_from(self.evidence.len()).map_err(|_| Malformed)?;
        let number = *self.numbers.entry((codes, packed)).or_insert(next);
        if number == next {
            if packed.len() % DIGEST_BYTES != 0 {
                return Err(Malformed);
            }
            let start = self.digests.len();
            let read =
                |digest: &[u8]| digest.iter().fold(0, |all, byte| all << 8 | u64::from(*byte));
            self.digests.extend(packed.chunks_exact(DIGEST_BYTES).map(read));
            self.evidence.push((codes, start..self.digests.len()));
        }
        Ok(number)
    }

    fn add_results(
        &mut self,
        read: &mut Reader<'p>,
        numbers: &[u32],
    ) -> Result<Range<usize>, Malformed> {
        if read.array()? != 4 {
            return Err(Malformed);
        }
        let start = self.results.len();
        for _ in 0..read.array()? {
            let evidence = *numbers.get(read.index()?).ok_or(Malformed)?;
            self.results.push(FrameResult { evidence, gain: None, score: None });
        }
        let added = &mut self.results[start..];
        column(read, added, |read, result| {
            result.gain = read.optional(Reader::int)?;
            Ok(())
        })?;
        column(read, added, |read, result| {
            result.score = read.optional(Reader::number)?;
            Ok(())
        })?;
        if !read.null() {
            column(read, added, |read, _| read.optional(Reader::bytes).map(|_| ()))?; // aspects
        }
        Ok(start..self.results.len())
    }

    /// Read the attributes of each call, null for those of the call before it; return their
    /// indexes.
    fn add_attributes(&mut self, read: &mut Reader<'p>) -> Result<Vec<usize>, Malformed> {
        let known = self.attributes.len();
        listed(read, |read| {
            if !read.null() {
                let (encoded, pairs) =
                    read.spanned(|read| pairs(read, |read| Ok((read.text()?, read.text()?))))?;
                self.attributes.push(Attributes { encoded, pairs });
            }
            match self.attributes.len() {
                added if added > known => Ok(added - 1),
                _ => Err(Malformed), // the first call has none before it
            }
        })
    }

    fn add_call(
        &mut self,
        read: &mut Reader<'p>,
        results: Range<usize>,
        attributes: usize,
    ) -> Result<(), Malformed> {
        if read.array()? != 18 {
            return Err(Malformed);
        }
        let (turn, iteration) = (read.int()?, read.int()?);
        let (call, timestamp) = (read.optional(Reader::int)?, read.optional(Reader::int)?);
        let record_id = read.optional(Reader::text)?;
        let turn_count = read.optional(Reader::int)?;
        read.boolean()?;
        let action = read.text()?;
        if read.map()? != 0 {
            return Err(Malformed);
        }
        let record_digest = read.bytes()?.try_into().map_err(|_| Malformed)?;
        read.optional(Reader::bytes)?; // the record, which only a pool needs
        let names = pairs(read, |read| Ok((read.bytes()?, read.text()?)))?;
        if read.array()? != 0 {
            return Err(Malformed);
        }
        let costs = pairs(read, |read| Ok((read.text()?, read.number()?)))?;
        let failed = read.boolean()?;
        let query = read.optional(Reader::bytes)?;
        let outcomes = pairs(read, |read| Ok((read.text()?, read.number()?)))?;
        let tool = read.optional(Reader::text)?;
        self.deliveries.push(Delivery {
            turn,
            iteration,
            call,
            action,
            timestamp,
            record_id,
            record_digest,
        });
        let of_call =
            Call { turn_count, attributes, names, costs, failed, query, outcomes, tool, results };
        self.calls.push(of_call);
        Ok(())
    }
}

fn listed<'p, T>(
    read: &mut Reader<'p>,
    mut item: impl FnMut(&mut Reader<'p>) -> Result<T, Malformed>,
) -> Result<Vec<T>, Malformed> {
    (0..read.array()?).map(|_| item(read)).collect()
}

fn pairs<'p, T>(
    read: &mut Reader<'p>,
    mut pair: impl FnMut(&mut Reader<'p>) -> Result<T, Malformed>,
) -> Result<Vec<T>, Malformed> {
    (0..read.map()?).map(|_| pair(read)).collect()
}

/// Read one value for each result.
fn column<'p>(
    read: &mut Reader<'p>,
    results: &mut [FrameResult],
    mut value: impl FnMut(&mut Reader<'p>, &mut FrameResult) -> Result<(), Malformed>,
) -> Result<(), Malformed> {
    if read.array()? != results.len() {
        return Err(Malformed);
    }
    results.iter_mut().try_for_each(|result| value(read, result))
}
