//! Counts of the search calls of a turn: `_call_counts` of `scoring/tally.py`.

use indexmap::IndexMap;
use rustc_hash::{FxBuildHasher, FxHashSet};

use crate::unpacking::Frame;

/// Counts of the search calls of a turn.
#[derive(Default)]
pub struct CallCounts<'p> {
    pub empty: usize,
    pub failed: usize,
    /// Number of calls with the query of an earlier one.
    pub repeated: usize,
    /// By name of the tool, number of calls, and of those that failed.
    pub by_tool: IndexMap<&'p str, (usize, usize), FxBuildHasher>,
}

/// Counts of search calls, by their indexes in order.
pub fn call_counts<'p>(calls: &[usize], frame: &Frame<'p>) -> CallCounts<'p> {
    let mut counts = CallCounts::default();
    let mut queries = FxHashSet::default();
    for call in calls.iter().map(|at| &frame.calls[*at]) {
        counts.empty += usize::from(call.results.is_empty());
        counts.failed += usize::from(call.failed);
        if let Some(tool) = call.tool {
            let (of_tool, failed) = counts.by_tool.entry(tool).or_default();
            *of_tool += 1;
            *failed += usize::from(call.failed);
        }
        counts.repeated += usize::from(call.query.is_some_and(|query| !queries.insert(query)));
    }
    counts
}
