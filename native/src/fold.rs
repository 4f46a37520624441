//! The fold: from the calls of a conversation to the inputs of its rows.
//!
//! `scoring/fold.py`, with the lists of `scoring/ranked_lists.py` and the counts of
//! `scoring/duplicate_rows.py` and `scoring/data_counts.py`.

use indexmap::IndexMap;
use rustc_hash::{FxBuildHasher, FxHashSet};

use crate::best_labels::BestLabels;
use crate::call_counts::{CallCounts, call_counts};
use crate::call_lists::{CallList, call_lists};
use crate::delivery::deliver;
use crate::document_labels::{DocumentLabels, relabel};
use crate::duplicate_rows::DuplicateTable;
use crate::duplicates::{Deduplicator, Duplicate};
use crate::evidence::{Evidence, Layout, Number};
use crate::exclusions::leave_out;
use crate::given_labels::{LabelCounts, label_results};
use crate::id_checks::IdChecks;
use crate::key_names::{KeyNames, NamedKeys, numbered};
use crate::records::SEARCH;
use crate::unpacking::{Call, Frame, FrameResult};
use crate::usage::{UsageCounts, Usages};
use crate::verification::{PairRules, STEPS, contents_differ};

pub const UNJUDGED: i64 = -1;
pub const HELD_COPY: i64 = -2;
const GAINS: usize = 5;

/// What the fold depends on besides the conversation.
pub struct FoldSettings {
    pub rules: PairRules,
    pub named_keys: NamedKeys,
    pub good_gain_threshold: i64,
    /// Whether a document has the best label so far, not that of its first occurrence.
    pub best_label: bool,
    /// Whether later copies keep their places in the ranked list.
    pub hold_slot: bool,
    /// Whether documents opened or cited matter.
    pub usage: bool,
    /// Whether search calls that failed are left out.
    pub without_failed: bool,
    /// Whether to make a row for each duplicate.
    pub keep_duplicates: bool,
    /// Whether to also make the ranked list of each search call.
    pub per_call: bool,
}

/// Counts of one iteration.
#[derive(Default)]
pub struct IterationCounts {
    pub iteration: i64,
    pub calls: usize,
    pub results: usize,
    pub unique: usize,
    pub good: usize,
    pub gain: i64,
    pub unlabelled: usize,
    pub unlabelled_documents: usize,
}

/// A folded conversation.
pub struct Folded<'p> {
    pub last_turn: Option<i64>,
    pub calls: usize,
    /// Number of records of documents opened or cited in the last turn.
    pub usages: usize,
    pub earlier_records: usize,
    pub redelivered: usize,
    pub conflicting: usize,
    pub rejected_records: i64,
    pub times: Vec<i64>,
    pub attributes: CallAttributes<'p>,
    pub call_counts: CallCounts<'p>,
    /// By name, the last outcome of the records of the last turn.
    pub outcomes: IndexMap<&'p str, f64, FxBuildHasher>,
    pub iterations: Vec<IterationCounts>,
    pub labelled_copies: usize,
    pub label_conflicts: usize,
    /// Conflicts in which the texts of the two differ, too.
    pub conflicts_between_texts: usize,
    /// By iteration, the costs of its calls.
    pub costs: Vec<Vec<Vec<(&'p str, f64)>>>,
    /// The ranked list.
    pub labels: Vec<i64>,
    pub scores: Vec<Option<f64>>,
    /// The last rank of each call.
    pub call_ends: Vec<usize>,
    /// Gains of the labelled documents.
    pub judged: Vec<i64>,
    /// What copies raised in the ranked list: their iteration, from 1, the place, the label before.
    pub raised: Vec<(usize, usize, i64)>,
    /// Number of documents whose judgments label earlier ones; None without external judgments.
    pub met_again: Option<usize>,
    /// Number of results and of duplicates by name of the type.
    pub by_type: Vec<(String, usize, usize)>,
    pub by_step: [u64; STEPS],
    pub near_misses: [u64; STEPS],
    pub cut: u64,
    /// Number of results by label.
    pub by_gain: [usize; GAINS],
    pub unidentified: usize,
    pub id_checks: IdChecks,
    /// None if they were not asked for.
    pub duplicates: Option<DuplicateTable>,
    /// None if they were not asked for.
    pub call_lists: Option<Vec<CallList>>,
    /// What became of labels of single results; None without any.
    pub labelled: Option<LabelCounts>,
    /// None if nothing was opened or cited, or that does not matter.
    pub usage: Option<UsageCounts>,
    /// Number of results that were left out; None without exclusions.
    pub excluded: Option<usize>,
}

/// Attributes of calls in order, without repetitions.
pub type CallAttributes<'p> = Vec<Vec<(&'p str, &'p str)>>;

/// The topic of a conversation with these attributes; None if it is left to Python.
pub type TopicOf<'f> = &'f dyn Fn(&CallAttributes) -> Option<String>;

/// The digests of names that are excluded from such a conversation; None if it is left to Python.
pub type ExcludedOf<'f> = &'f dyn Fn(&CallAttributes) -> Option<FxHashSet<Vec<u8>>>;

/// Fold a conversation whose distinct evidence has these layouts; None if it is left to Python.
///
/// With `topic_of`, external judgments replace the labels of the traces; with `excluded_of`, results
/// are left out.
pub fn fold<'p>(
    mut frame: Frame<'p>,
    layouts: &[&Layout],
    settings: &FoldSettings,
    topic_of: Option<TopicOf>,
    excluded_of: Option<ExcludedOf>,
) -> Option<Folded<'p>> {
    let delivered = deliver(&frame.deliveries);
    let labelled = match frame.labels.len() {
        0 => None,
        _ => Some(label_results(&mut frame, &delivered.kept)?),
    };
    let turn_of =
        |at: &usize| frame.deliveries[*at].turn.max(frame.calls[*at].turn_count.unwrap_or(0));
    let last_turn = delivered.kept.iter().map(turn_of).max();
    let in_turn = |at: &&usize| Some(frame.deliveries[**at].turn) == last_turn;
    let (turn, usages): (Vec<usize>, Vec<usize>) = delivered
        .kept
        .iter()
        .filter(in_turn)
        .copied()
        .partition(|at| frame.deliveries[*at].action == SEARCH);
    let (failed, turn): (Vec<usize>, Vec<usize>) =
        turn.into_iter().partition(|at| settings.without_failed && frame.calls[*at].failed);
    let attributes = attributes(&delivered.kept, &frame);
    let excluded = match excluded_of {
        Some(excluded_of) => {
            let before = number_of_results(&frame, &turn);
            leave_out(&mut frame, &delivered.kept, &excluded_of(&attributes)?)?;
            Some(before - number_of_results(&frame, &turn))
        }
        None => None,
    };
    let topic = match topic_of {
        Some(topic_of) => Some(topic_of(&attributes)?),
        None => None,
    };
    if let Some(topic) = &topic
        && settings.usage
    {
        relabel(&mut frame, topic, &usages)?;
    }
    let evidence: Vec<Evidence> = frame
        .evidence
        .iter()
        .zip(layouts)
        .map(|((_, digests), layout)| {
            let digests = &frame.digests[digests.clone()];
            (digests.len() == layout.digests).then_some(Evidence { layout, digests })
        })
        .collect::<Option<_>>()?;
    let mut results: Vec<FrameResult> = turn
        .iter()
        .flat_map(|at| frame.results[frame.calls[*at].results.clone()].iter().copied())
        .collect();
    let names = KeyNames {
        of_rules: &settings.named_keys,
        of_calls: turn.iter().flat_map(|at| numbered(&frame.calls[*at].names)).collect(),
    };
    let asked_names = settings.keep_duplicates.then_some(&names);
    let mut deduplicator = Deduplicator::new(&settings.rules, &evidence, asked_names);
    let duplicates: Vec<Option<Duplicate>> =
        results.iter().map(|result| deduplicator.add(result.evidence)).collect();
    let external = match &topic {
        Some(topic) => Some(DocumentLabels::of(topic, &frame, &turn, &mut results, &duplicates)?),
        None => None,
    };
    let label = |place: usize| match &external {
        Some(external) => external.labels[place],
        None => results[place].gain,
    };
    let table = match asked_names {
        Some(names) => {
            Some(DuplicateTable::of(&frame, &turn, &results, &duplicates, label, layouts, names)?)
        }
        None => None,
    };
    let lists = settings
        .per_call
        .then(|| call_lists(&frame, &turn, &results, &duplicates, label, settings));
    let mut folded = Folded {
        last_turn,
        calls: turn.len() + failed.len(),
        usages: usages.len(),
        earlier_records: delivered.kept.len() - turn.len() - failed.len() - usages.len(),
        redelivered: delivered.redelivered,
        conflicting: delivered.conflicting,
        rejected_records: frame.rejected_records,
        times: delivered.kept.iter().filter_map(|at| frame.deliveries[*at].timestamp).collect(),
        attributes,
        call_counts: call_counts(&turn, &frame),
        outcomes: delivered
            .kept
            .iter()
            .filter(|at| Some(frame.deliveries[**at].turn) == last_turn)
            .flat_map(|at| frame.calls[*at].outcomes.iter().copied())
            .chain(frame.given_outcomes.iter().copied())
            .collect(),
        iterations: Vec::new(),
        labelled_copies: 0,
        label_conflicts: 0,
        conflicts_between_texts: 0,
        costs: Vec::new(),
        labels: Vec::new(),
        scores: Vec::new(),
        call_ends: Vec::new(),
        judged: Vec::new(),
        raised: Vec::new(),
        met_again: external.as_ref().map(|external| external.met_again),
        by_type: by_type(&results, &duplicates, layouts, &names)?,
        by_step: [0; STEPS],
        near_misses: deduplicator.near_misses,
        cut: deduplicator.cut,
        by_gain: [0; GAINS],
        unidentified: results
            .iter()
            .filter(|result| !layouts[result.evidence as usize].identifies)
            .count(),
        id_checks: IdChecks::of(&frame, &turn, &results, &duplicates, &evidence, &settings.rules),
        duplicates: table,
        call_lists: lists,
        labelled,
        usage: None,
        excluded,
    };
    let mut best = BestLabels::of(results.len());
    let mut start = 0;
    for at in turn {
        let end = start + frame.calls[at].results.len();
        folded.begin_call(frame.deliveries[at].iteration, &frame.calls[at]);
        for place in start..end {
            let first = duplicates[place].map(|duplicate| &results[duplicate.first]);
            let labelled = external.as_ref().map(|external| external.labels[place]);
            folded.add(&results[place], first, labelled, settings, &evidence)?;
            if settings.best_label {
                let first = duplicates[place].map_or(place, |duplicate| duplicate.first);
                best.add(results[place].gain, place, first, &mut folded, settings)?;
            }
        }
        folded.call_ends.push(folded.labels.len());
        start = end;
    }
    if settings.usage && !usages.is_empty() {
        let label =
            |place: usize| if settings.best_label { best.labels[place] } else { label(place) };
        let of_turn = Usages::new(&frame, &deduplicator);
        folded.usage = Some(of_turn.count(&usages, label, settings.good_gain_threshold));
    }
    folded.judged.extend(best.labels.into_iter().flatten());
    if let Some(external) = external {
        folded.judged = external.pool;
    }
    for duplicate in duplicates.iter().flatten() {
        folded.by_step[duplicate.step as usize] += 1;
    }
    Some(folded)
}

impl<'p> Folded<'p> {
    fn begin_call(&mut self, iteration: i64, call: &Call<'p>) {
        if self.iterations.last().is_none_or(|last| last.iteration != iteration) {
            self.iterations.push(IterationCounts { iteration, ..IterationCounts::default() });
            self.costs.push(Vec::new());
        }
        if let (Some(counts), Some(costs)) = (self.iterations.last_mut(), self.costs.last_mut()) {
            counts.calls += 1;
            costs.push(call.costs.clone());
        }
    }

    /// Count a result of the last iteration; None if its label is invalid.
    ///
    /// `first` is the first occurrence of its document; None if this is it. `labelled` is the label
    /// of the document by external judgments; None without these.
    fn add(
        &mut self,
        result: &FrameResult,
        first: Option<&FrameResult>,
        labelled: Option<Option<i64>>,
        settings: &FoldSettings,
        evidence: &[Evidence],
    ) -> Option<()> {
        let counts = self.iterations.last_mut()?;
        counts.results += 1;
        if let Some(gain) = result.gain {
            *self.by_gain.get_mut(usize::try_from(gain).ok()?)? += 1;
        }
        counts.unlabelled += usize::from(labelled.unwrap_or(result.gain).is_none());
        let label = labelled.unwrap_or(first.unwrap_or(result).gain);
        if let Some(first) = first {
            self.labelled_copies += usize::from(result.gain.is_some());
            let conflicts =
                matches!((result.gain, label), (Some(one), Some(other)) if one != other);
            self.label_conflicts += usize::from(conflicts);
            let (mine, theirs) = (result.evidence as usize, first.evidence as usize);
            self.conflicts_between_texts += usize::from(
                conflicts
                    && labelled.is_none()
                    && contents_differ(evidence[mine], evidence[theirs]),
            );
            if settings.hold_slot {
                self.labels.push(HELD_COPY);
                self.scores.push(result.score);
            }
            return Some(());
        }
        counts.unique += 1;
        counts.unlabelled_documents += usize::from(label.is_none());
        if let Some(gain) = label
            && !settings.best_label
        {
            self.judged.push(gain);
            if gain >= settings.good_gain_threshold {
                counts.good += 1;
                counts.gain += gain;
            }
        }
        self.labels.push(label.unwrap_or(UNJUDGED));
        self.scores.push(result.score);
        Some(())
    }
}

fn number_of_results(frame: &Frame, calls: &[usize]) -> usize {
    calls.iter().map(|at| frame.calls[*at].results.len()).sum()
}

/// The attributes of calls, without repetitions.
fn attributes<'p>(kept: &[usize], frame: &Frame<'p>) -> CallAttributes<'p> {
    let mut found = CallAttributes::new();
    let mut before: Option<&[u8]> = None;
    for at in kept {
        let attributes = &frame.attributes[frame.calls[*at].attributes];
        if before != Some(attributes.encoded) {
            found.push(attributes.pairs.clone());
        }
        before = Some(attributes.encoded);
    }
    found
}

/// Number of results and of duplicates by name of the type.
fn by_type(
    results: &[FrameResult],
    duplicates: &[Option<Duplicate>],
    layouts: &[&Layout],
    names: &KeyNames,
) -> Option<Vec<(String, usize, usize)>> {
    let mut counts: IndexMap<Number, (u32, usize, usize), FxBuildHasher> = IndexMap::default();
    for (result, duplicate) in results.iter().zip(duplicates) {
        let number = layouts[result.evidence as usize].type_number;
        let (_, all, copies) = counts.entry(number).or_insert((result.evidence, 0, 0));
        *all += 1;
        *copies += usize::from(duplicate.is_some());
    }
    let named = counts.into_values().map(|(evidence, all, copies)| {
        Some((names.entity_type(layouts[evidence as usize])?, all, copies))
    });
    named.collect()
}
