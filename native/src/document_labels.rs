//! The external judgments of a conversation, and the labels that its documents have by them:
//! `judgments/external_labels.py`.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::duplicates::Duplicate;
use crate::msgpack::{Malformed, Reader};
use crate::unpacking::{Frame, FrameResult};

pub const DIGEST_BYTES: usize = 8;
/// Judged documents of a topic; more are left to Python.
const MOST_IN_POOL: i64 = 1 << 24;

/// The judgments in the payloads of a conversation, merged.
#[derive(Default)]
pub struct ExternalLabels<'p> {
    /// By record_digest, for each result the concatenated digests of its document names.
    pub documents: FxHashMap<&'p [u8], Vec<&'p [u8]>>,
    /// By topic, the gains of judged documents by digest.
    labels: FxHashMap<&'p str, FxHashMap<&'p [u8], i64>>,
    /// By topic, how many documents are judged with each gain.
    pools: FxHashMap<&'p str, Vec<i64>>,
}

impl<'p> ExternalLabels<'p> {
    /// Add an encoded part.
    pub fn add(&mut self, read: &mut Reader<'p>) -> Result<(), Malformed> {
        if read.array()? != 3 {
            return Err(Malformed);
        }
        for _ in 0..read.map()? {
            let record_digest = read.bytes()?;
            let of_results = (0..read.array()?).map(|_| read.bytes()).collect::<Result<_, _>>()?;
            self.documents.insert(record_digest, of_results);
        }
        for _ in 0..read.map()? {
            let labels = self.labels.entry(read.text()?).or_default();
            for _ in 0..read.map()? {
                labels.insert(read.bytes()?, read.int()?);
            }
        }
        for _ in 0..read.map()? {
            let topic = read.text()?;
            let pool = (0..read.array()?).map(|_| read.int()).collect::<Result<Vec<_>, _>>()?;
            if pool.iter().any(|documents| *documents > MOST_IN_POOL) {
                return Err(Malformed);
            }
            self.pools.insert(topic, pool);
        }
        Ok(())
    }
}

impl<'p> ExternalLabels<'p> {
    /// For each result of a call of the frame, its names with a judgment of the topic, in order;
    /// None if the names are not those of its results.
    fn judged_names(&self, topic: &str, frame: &Frame, at: usize) -> Option<Vec<Vec<&'p [u8]>>> {
        let results = frame.calls[at].results.len();
        let Some(named) = self.documents.get(&frame.deliveries[at].record_digest[..]) else {
            return Some(vec![Vec::new(); results]);
        };
        let gains = self.labels.get(topic);
        let judged = |names: &&'p [u8]| {
            let is_judged = |name: &&[u8]| gains.is_some_and(|gains| gains.contains_key(*name));
            (*names).chunks(DIGEST_BYTES).filter(is_judged).collect()
        };
        (named.len() == results).then(|| named.iter().map(judged).collect())
    }
}

/// Label each result of some calls of the frame by the first judged one of its own names, as
/// `relabel_calls` does; None if the judgments are not those of the results.
pub fn relabel(frame: &mut Frame, topic: &str, calls: &[usize]) -> Option<()> {
    for at in calls {
        let names = frame.external.judged_names(topic, frame, *at)?;
        let gains = frame.external.labels.get(topic);
        let gain = |names: Vec<&[u8]>| gains?.get(*names.first()?).copied();
        let gains: Vec<Option<i64>> = names.into_iter().map(gain).collect();
        for (result, gain) in frame.results[frame.calls[*at].results.clone()].iter_mut().zip(gains)
        {
            result.gain = gain;
        }
    }
    Some(())
}

/// The labels of a turn by the judgments of its topic.
pub struct DocumentLabels {
    /// By place in the turn, the label of the document there.
    pub labels: Vec<Option<i64>>,
    /// Number of documents without a label because earlier ones have all of their judgments.
    pub met_again: usize,
    /// Gains of the judged documents of the topic.
    pub pool: Vec<i64>,
}

impl DocumentLabels {
    /// Label the documents of a turn, and each result by the first judged one of its own names.
    ///
    /// None if the judgments are not those of the results. `turn` has the indexes of the turn's
    /// calls in the frame.
    pub fn of(
        topic: &str,
        frame: &Frame,
        turn: &[usize],
        results: &mut [FrameResult],
        duplicates: &[Option<Duplicate>],
    ) -> Option<Self> {
        let nothing = FxHashMap::default();
        let gains = frame.external.labels.get(topic).unwrap_or(&nothing);
        let document_at =
            |place: usize| duplicates[place].as_ref().map_or(place, |copy| copy.first);
        // By the place of a document's first occurrence, the judged names of its occurrences.
        let mut judged: Vec<Vec<&[u8]>> = vec![Vec::new(); results.len()];
        let mut start = 0;
        for at in turn {
            for names in frame.external.judged_names(topic, frame, *at)? {
                results[start].gain = names.first().map(|name| gains[*name]);
                judged[document_at(start)].extend(names);
                start += 1;
            }
        }
        let mut taken = FxHashSet::default();
        let mut labels = vec![None; results.len()];
        let mut met_again = 0;
        for place in 0..results.len() {
            let names = &judged[place]; // of a copy there are none
            if let Some(name) = names.iter().find(|name| !taken.contains(*name)) {
                taken.insert(*name);
                labels[place] = Some(gains[*name]);
            } else {
                met_again += usize::from(!names.is_empty());
            }
        }
        let labels = (0..results.len()).map(|place| labels[document_at(place)]).collect();
        let counted = frame.external.pools.get(topic).map_or(&[][..], Vec::as_slice);
        let pool = (0..).zip(counted).flat_map(|(gain, documents)| {
            std::iter::repeat_n(gain, usize::try_from(*documents).unwrap_or(0))
        });
        Some(DocumentLabels { labels, met_again, pool: pool.collect() })
    }
}
