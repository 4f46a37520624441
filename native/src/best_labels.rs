//! The labels of documents that the best of their occurrences decides: `scoring/label_rises.py`.

use crate::fold::{FoldSettings, Folded};

/// The greatest labels of documents so far.
pub struct BestLabels {
    /// By place of the first occurrence; None where no occurrence has a label, and at copies.
    pub labels: Vec<Option<i64>>,
    /// By place, that of the document in the ranked list.
    ranks: Vec<usize>,
}

impl BestLabels {
    pub fn of(results: usize) -> Self {
        BestLabels { labels: vec![None; results], ranks: vec![0; results] }
    }

    /// Let a result, the last in the ranked list if it is the first of its document, raise its
    /// label.
    pub fn add(
        &mut self,
        gain: Option<i64>,
        place: usize,
        first: usize,
        folded: &mut Folded,
        settings: &FoldSettings,
    ) -> Option<()> {
        if place == first {
            self.ranks[place] = folded.labels.len().checked_sub(1)?;
        }
        let before = self.labels[first];
        let Some(label) = gain.filter(|gain| before.is_none_or(|before| *gain > before)) else {
            return Some(());
        };
        self.labels[first] = Some(label);
        let i = folded.iterations.len();
        let rank = self.ranks[first];
        let shown = folded.labels.get_mut(rank)?;
        if place != first {
            folded.raised.push((i, rank, *shown));
        }
        *shown = label;
        let counts = folded.iterations.last_mut()?;
        if label >= settings.good_gain_threshold {
            let good = before.filter(|before| *before >= settings.good_gain_threshold);
            counts.good += usize::from(good.is_none());
            counts.gain += label - good.unwrap_or(0);
        }
        Some(())
    }
}
