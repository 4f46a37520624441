//! Which documents of a turn the agent opened or cited: `scoring/usage.py`.

use indexmap::{IndexMap, IndexSet};
use rustc_hash::FxBuildHasher;

use crate::duplicates::Deduplicator;
use crate::unpacking::Frame;

const OPEN: &str = "open";
const CITE: &str = "cite";

/// What the metrics of openings or citations are computed from.
#[derive(Default)]
pub struct UseCounts {
    pub records: usize,
    pub documents: usize,
    pub good: usize,
    pub unsurfaced: usize,
    pub found_good: usize,
    pub found_gain: i64,
}

/// Counts of what was opened and of what was cited.
pub struct UsageCounts {
    pub opened: UseCounts,
    pub cited: UseCounts,
    pub cited_unopened: usize,
}

/// A document that was opened or cited, by the place of its first occurrence in one of three lists.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Used {
    Found(usize),
    Opened(usize),
    Cited(usize),
}

type Documents = IndexSet<Used, FxBuildHasher>;

/// Finds the documents of records that say what was opened and cited in a turn.
pub struct Usages<'f, 'e> {
    frame: &'f Frame<'f>,
    /// The duplicates among what search found.
    found: &'f Deduplicator<'e>,
    opened: Deduplicator<'e>,
    cited: Deduplicator<'e>,
    /// The labels of the records' own results, by document.
    labels: IndexMap<Used, Option<i64>, FxBuildHasher>,
}

impl<'f, 'e> Usages<'f, 'e> {
    pub fn new(frame: &'f Frame<'f>, found: &'f Deduplicator<'e>) -> Self {
        Usages {
            frame,
            found,
            opened: found.like_it(),
            cited: found.like_it(),
            labels: IndexMap::default(),
        }
    }

    /// Count the documents of some records, whose indexes in the frame `usages` has in order.
    ///
    /// `label` is the label of the document at a place of the turn, `threshold` that of good ones.
    pub fn count(
        mut self,
        usages: &[usize],
        label: impl Fn(usize) -> Option<i64>,
        threshold: i64,
    ) -> UsageCounts {
        // Openings first: a citation may be of a document that was opened later in the turn.
        let (opens, opened) = self.documents(usages, OPEN);
        let (cites, cited) = self.documents(usages, CITE);
        let counted = |records, documents: &Documents| {
            let mut counts =
                UseCounts { records, documents: documents.len(), ..UseCounts::default() };
            for document in documents {
                let of_document = match document {
                    Used::Found(place) => label(*place),
                    _ => self.labels[document],
                };
                let good = of_document.filter(|gain| *gain >= threshold);
                counts.good += usize::from(good.is_some());
                match (document, good) {
                    (Used::Found(_), Some(gain)) => {
                        counts.found_good += 1;
                        counts.found_gain += gain;
                    }
                    (Used::Found(_), None) => (),
                    _ => counts.unsurfaced += 1,
                }
            }
            counts
        };
        UsageCounts {
            cited_unopened: cited.difference(&opened).count(),
            opened: counted(opens, &opened),
            cited: counted(cites, &cited),
        }
    }

    /// The number of records of an action, and their distinct documents.
    fn documents(&mut self, usages: &[usize], action: &str) -> (usize, Documents) {
        let (mut records, mut documents) = (0, Documents::default());
        for at in usages {
            if self.frame.deliveries[*at].action != action {
                continue;
            }
            records += 1;
            for result in &self.frame.results[self.frame.calls[*at].results.clone()] {
                let document = self.document(result.evidence, action);
                documents.insert(document);
                let label = self.labels.entry(document).or_default();
                *label = label.or(result.gain);
            }
        }
        (records, documents)
    }

    /// The document with this evidence, which is added if it is in none of the lists.
    fn document(&mut self, evidence: u32, action: &str) -> Used {
        if let Some(first) = self.found.first_match(evidence) {
            return Used::Found(first);
        }
        if action == OPEN {
            return Used::Opened(self.opened.first_or_new(evidence));
        }
        match self.opened.first_match(evidence) {
            Some(first) => Used::Opened(first),
            None => Used::Cited(self.cited.first_or_new(evidence)),
        }
    }
}
