//! The ranked list of each search call: `call_lists` of `scoring/ranked_lists.py`.

use rustc_hash::FxHashMap;

use crate::duplicate_rows::call_places;
use crate::duplicates::Duplicate;
use crate::fold::{FoldSettings, HELD_COPY, UNJUDGED};
use crate::unpacking::{Frame, FrameResult};

/// A search call of a turn, and its ranked list.
pub struct CallList {
    pub i: usize,
    pub iteration: i64,
    /// From 0, its place within its iteration.
    pub position: usize,
    /// The producer's number.
    pub call: Option<i64>,
    /// Number of its results.
    pub results: usize,
    pub labels: Vec<i64>,
    pub scores: Vec<Option<f64>>,
}

/// The lists of the calls of a turn, whose indexes in the frame `turn` has.
///
/// `label` gives the label of the document at a place.
pub fn call_lists(
    frame: &Frame,
    turn: &[usize],
    results: &[FrameResult],
    duplicates: &[Option<Duplicate>],
    label: impl Fn(usize) -> Option<i64>,
    settings: &FoldSettings,
) -> Vec<CallList> {
    let mut start = 0;
    call_places(frame, turn)
        .map(|(i, position, at)| {
            let count = frame.calls[at].results.len();
            let mut list = CallList {
                i,
                iteration: frame.deliveries[at].iteration,
                position,
                call: frame.deliveries[at].call,
                results: count,
                labels: Vec::with_capacity(count),
                scores: Vec::with_capacity(count),
            };
            // By document, its rank in the list, from 0.
            let mut ranks: FxHashMap<usize, usize> = FxHashMap::default();
            for place in start..start + count {
                let document = duplicates[place].map_or(place, |duplicate| duplicate.first);
                let next = list.labels.len();
                let rank = *ranks.entry(document).or_insert(next);
                if rank == next {
                    let of_document = if settings.best_label { None } else { label(document) };
                    list.labels.push(of_document.unwrap_or(UNJUDGED));
                    list.scores.push(results[place].score);
                } else if settings.hold_slot {
                    list.labels.push(HELD_COPY);
                    list.scores.push(results[place].score);
                }
                if settings.best_label {
                    let own = results[place].gain.unwrap_or(UNJUDGED);
                    list.labels[rank] = list.labels[rank].max(own);
                }
            }
            start += count;
            list
        })
        .collect()
}
