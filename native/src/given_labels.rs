//! Labels of single results, given beside the traces: `judgments/result_labels.py`.

use rustc_hash::FxHashMap;

use crate::msgpack::{Malformed, Reader};
use crate::unpacking::Frame;

/// The label of one result: `ResultLabel`.
pub struct GivenLabel<'p> {
    gain: i64,
    rank: usize,
    turn: i64,
    iteration: Option<i64>,
    call: Option<i64>,
    record_id: Option<&'p str>,
    /// Whether only the part of the record's id after the last slash must match.
    span: bool,
}

impl<'p> GivenLabel<'p> {
    pub fn read(read: &mut Reader<'p>) -> Result<Self, Malformed> {
        if read.array()? != 10 {
            return Err(Malformed);
        }
        let _file_and_row = (read.int()?, read.int()?);
        let (gain, rank) = (read.int()?, read.index()?);
        let _conversation_id = read.optional(Reader::text)?;
        Ok(GivenLabel {
            gain,
            rank,
            turn: read.int()?,
            iteration: read.optional(Reader::int)?,
            call: read.optional(Reader::int)?,
            record_id: read.optional(Reader::text)?,
            span: read.boolean()?,
        })
    }

    /// Whether it is for a result of the call with this index.
    fn is_of(&self, frame: &Frame, at: usize) -> bool {
        let call = &frame.deliveries[at];
        if let Some(record_id) = self.record_id {
            let own_id = call.record_id.unwrap_or("");
            let own_span = own_id.rsplit('/').next();
            return record_id == own_id || (self.span && Some(record_id) == own_span);
        }
        self.turn == call.turn
            && self.iteration == Some(call.iteration)
            && (self.call.is_none() || self.call == call.call)
    }
}

/// How many labels match a result, how many of them changed its gain, and how many say it again.
#[derive(Default)]
pub struct LabelCounts {
    pub joined: usize,
    pub replaced: usize,
    pub repeated: usize,
}

/// Give results their labels; None if a label matches none or contradicts another, so that Python
/// has to reject it. `kept` has the indexes of the calls that count.
pub fn label_results(frame: &mut Frame, kept: &[usize]) -> Option<LabelCounts> {
    let mut gains: FxHashMap<usize, i64> = FxHashMap::default();
    let mut counts = LabelCounts::default();
    for label in &frame.labels {
        let mut matching = kept.iter().filter(|at| label.is_of(frame, **at));
        let (at, None) = (matching.next()?, matching.next()) else {
            return None;
        };
        let results = frame.calls[*at].results.clone();
        let place = results.start + label.rank.checked_sub(1)?;
        if place >= results.end {
            return None;
        }
        match gains.insert(place, label.gain) {
            Some(other) if other != label.gain => return None,
            Some(_) => counts.repeated += 1,
            None => counts.joined += 1,
        }
    }
    for (place, gain) in gains {
        let before = frame.results[place].gain.replace(gain);
        counts.replaced += usize::from(before.is_some_and(|before| before != gain));
    }
    Some(counts)
}
