//! The interface for folds: from a conversation's payloads to the inputs of its rows.
//!
//! It mirrors no Python file: `scoring/score_payloads.py` calls it.

use std::sync::Arc;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyTuple};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::call_lists::CallList;
use crate::evidence::{Layout, Number};
use crate::fold::{CallAttributes, ExcludedOf, FoldSettings, Folded, TopicOf, fold};
use crate::key_names::NamedKeys;
use crate::unpacking::Frame;
use crate::usage::UseCounts;
use crate::verification::{Confidence, Need, PairRules, Policy, TypeRules};

const MOST_LAYOUTS: usize = 10_000;

/// Folds conversations.
#[pyclass]
pub struct Folder {
    settings: FoldSettings,
    /// The Python function that reads codes.
    layout_of: Py<PyAny>,
    layouts: FxHashMap<Box<[u8]>, Arc<Layout>>,
}

/// Type, type name, values, keys, start and end, identifies alone, identifies.
type PlainLayout = (
    Number,
    Option<String>,
    Vec<(Number, u32)>,
    Vec<(Number, u32)>,
    Option<(u32, u32)>,
    bool,
    bool,
    usize,
);

#[pymethods]
impl Folder {
    #[new]
    fn new(
        rules: &Bound<PyAny>,
        layout_of: Py<PyAny>,
        good_gain_threshold: i64,
        options: &Bound<PyAny>,
    ) -> PyResult<Self> {
        let is_on = |name: &str| -> PyResult<bool> { options.get_item(name)?.extract() };
        let settings = FoldSettings {
            rules: read_rules(rules)?,
            named_keys: NamedKeys {
                ids: rules
                    .get_item("ids")?
                    .extract::<Vec<(Number, String)>>()?
                    .into_iter()
                    .collect(),
                kinds: rules.get_item("kinds_of_keys")?.extract()?,
            },
            good_gain_threshold,
            best_label: is_on("best_label")?,
            hold_slot: is_on("hold_slot")?,
            usage: is_on("usage")?,
            without_failed: is_on("without_failed")?,
            keep_duplicates: is_on("keep_duplicates")?,
            per_call: is_on("per_call")?,
        };
        Ok(Folder { settings, layout_of, layouts: FxHashMap::default() })
    }

    /// Fold the conversation of these payloads; None if it is left to Python.
    ///
    /// With a topic, documents are labelled by its judgments. `excluded` finds the digests of names
    /// that are left out, by the attributes of the calls in order.
    #[pyo3(signature = (payloads, topic = None, excluded = None))]
    fn fold<'py>(
        &mut self,
        py: Python<'py>,
        payloads: Vec<Bound<'py, PyBytes>>,
        topic: Option<Topic>,
        excluded: Option<Py<PyAny>>,
    ) -> PyResult<Option<Bound<'py, PyTuple>>> {
        let payloads: Vec<&[u8]> = payloads.iter().map(|payload| payload.as_bytes()).collect();
        match py.detach(|| self.folded(&payloads, topic.as_ref(), excluded.as_ref()))? {
            Some(folded) => to_python(py, folded).map(Some),
            None => Ok(None),
        }
    }
}

impl Folder {
    fn folded<'p>(
        &mut self,
        payloads: &[&'p [u8]],
        topic: Option<&Topic>,
        excluded: Option<&Py<PyAny>>,
    ) -> PyResult<Option<Folded<'p>>> {
        let Ok(frame) = Frame::read(payloads) else {
            return Ok(None);
        };
        let mut layouts = Vec::with_capacity(frame.evidence.len());
        for (codes, _) in &frame.evidence {
            layouts.push(self.layout(codes)?);
        }
        let layouts: Vec<&Layout> = layouts.iter().map(Arc::as_ref).collect();
        let topic_of = topic.map(|topic| move |calls: &CallAttributes| topic.of(calls));
        let topic_of = topic_of.as_ref().map(|topic_of| topic_of as TopicOf);
        let excluded_of = excluded.map(|function| {
            move |calls: &CallAttributes| {
                let names: Vec<Vec<u8>> = called(function, calls)?;
                Some(names.into_iter().collect::<FxHashSet<_>>())
            }
        });
        let excluded_of = excluded_of.as_ref().map(|excluded_of| excluded_of as ExcludedOf);
        Ok(fold(frame, &layouts, &self.settings, topic_of, excluded_of))
    }

    fn layout(&mut self, codes: &[u8]) -> PyResult<Arc<Layout>> {
        if let Some(layout) = self.layouts.get(codes) {
            return Ok(layout.clone());
        }
        let layout: PlainLayout =
            Python::attach(|py| self.layout_of.call1(py, (PyBytes::new(py, codes),))?.extract(py))?;
        let (type_number, name, values, keys, start_and_end, alone, identifies, digests) = layout;
        let layout =
            Layout::new(type_number, name, values, keys, start_and_end, alone, identifies, digests);
        if !layout.fits() {
            return Err(PyValueError::new_err("a layout has positions beyond its digests"));
        }
        let layout = Arc::new(layout);
        if self.layouts.len() >= MOST_LAYOUTS {
            self.layouts.clear();
        }
        self.layouts.insert(codes.into(), layout.clone());
        Ok(layout)
    }
}

/// The topic of a conversation, or the Python function that finds it by the attributes of the calls
/// in order.
#[derive(FromPyObject)]
enum Topic {
    Known(String),
    Function(Py<PyAny>),
}

impl Topic {
    /// The topic; None if Python's function fails, as it will again in Python.
    fn of(&self, calls: &CallAttributes) -> Option<String> {
        match self {
            Topic::Known(topic) => Some(topic.clone()),
            Topic::Function(function) => called(function, calls),
        }
    }
}

/// What a Python function of the attributes of calls gives; None if it fails.
fn called<T>(function: &Py<PyAny>, calls: &CallAttributes) -> Option<T>
where
    T: for<'a, 'py> FromPyObject<'a, 'py>,
{
    Python::attach(|py| {
        let attributes = calls.iter().map(|pairs| dict(py, pairs.iter().copied()));
        let attributes = attributes.collect::<PyResult<Vec<_>>>().ok()?;
        function.call1(py, (attributes,)).ok()?.extract(py).ok()
    })
}

/// In the order that `_score_folded` of `score_payloads.py` expects.
fn to_python<'py>(py: Python<'py>, folded: Folded) -> PyResult<Bound<'py, PyTuple>> {
    let attributes = folded.attributes.into_iter().map(|pairs| dict(py, pairs));
    let costs = folded
        .costs
        .into_iter()
        .map(|calls| calls.into_iter().map(|pairs| dict(py, pairs)).collect::<PyResult<Vec<_>>>());
    let iterations = folded.iterations.into_iter().map(|one| {
        let labelled = (one.good, one.gain, one.unlabelled, one.unlabelled_documents);
        (one.iteration, one.calls, one.results, one.unique, labelled)
    });
    let delivered = (
        folded.last_turn,
        folded.calls,
        folded.usages,
        folded.earlier_records,
        folded.redelivered,
        folded.conflicting,
        folded.rejected_records,
        folded.times,
        attributes.collect::<PyResult<Vec<_>>>()?,
        (
            folded.call_counts.empty,
            folded.call_counts.failed,
            folded.call_counts.repeated,
            dict(py, folded.call_counts.by_tool)?,
        ),
        dict(py, folded.outcomes)?,
    );
    let turn = (
        iterations.collect::<Vec<_>>(),
        (folded.labelled_copies, folded.label_conflicts, folded.conflicts_between_texts),
        folded.labels,
        folded.scores,
        folded.call_ends,
        folded.judged,
        folded.raised,
        folded.met_again,
        costs.collect::<PyResult<Vec<_>>>()?,
    );
    let counts = (
        folded.by_type,
        folded.by_step,
        folded.near_misses,
        folded.cut,
        folded.by_gain,
        folded.unidentified,
        (folded.id_checks.compared, folded.id_checks.contradicted, folded.id_checks.examples),
    );
    let duplicates = folded
        .duplicates
        .map(|table| (table.names, PyBytes::new(py, &table.packed), table.number_bytes));
    let lists = folded.call_lists.map(|lists| {
        let plain = |one: CallList| {
            (one.i, one.iteration, one.position, one.call, one.results, one.labels, one.scores)
        };
        lists.into_iter().map(plain).collect::<Vec<_>>()
    });
    let labelled = folded.labelled.map(|counts| (counts.joined, counts.replaced, counts.repeated));
    let used = |counts: UseCounts| {
        (
            counts.records,
            counts.documents,
            counts.good,
            counts.unsurfaced,
            counts.found_good,
            counts.found_gain,
        )
    };
    let usage = folded.usage.map(|all| (used(all.opened), used(all.cited), all.cited_unopened));
    (delivered, turn, counts, (duplicates, lists, labelled, usage, folded.excluded))
        .into_pyobject(py)
}

fn dict<'py, 's>(
    py: Python<'py>,
    pairs: impl IntoIterator<Item = (&'s str, impl IntoPyObject<'py>)>,
) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    for (name, value) in pairs {
        dict.set_item(name, value)?;
    }
    Ok(dict)
}

fn read_rules(rules: &Bound<PyAny>) -> PyResult<PairRules> {
    type Clauses = Vec<Vec<(usize, Vec<Number>)>>;
    type Points = (Vec<(Number, i64)>, i64, i64, i64);
    type PlainType = (Vec<(Number, bool)>, Option<Vec<Number>>, Clauses, Option<Points>, bool);
    let mut types = Vec::new();
    for one in rules.get_item("types")?.try_iter()? {
        let (ids, reject_on, clauses, points, is_default): PlainType = one?.extract()?;
        let need = |(least, of)| Need { least, of };
        types.push(TypeRules {
            is_default,
            ids,
            reject_on,
            clauses: clauses
                .into_iter()
                .map(|clause| clause.into_iter().map(need).collect())
                .collect(),
            confidence: points.map(|(points, other, needed, needed_with_context)| Confidence {
                points: points.into_iter().collect(),
                other,
                needed,
                needed_with_context,
            }),
        });
    }
    if types.is_empty() {
        return Err(PyValueError::new_err("no rules for the type default"));
    }
    let policy: String = rules.get_item("policy")?.extract()?;
    Ok(PairRules {
        types,
        containers: rules.get_item("containers")?.extract::<Vec<Number>>()?.into_iter().collect(),
        url_parameters: rules.get_item("url_parameters")?.extract()?,
        passage_ids: rules.get_item("passage_ids")?.extract()?,
        max_candidates: rules.get_item("max_candidates")?.extract()?,
        policy: match policy.as_str() {
            "full" => Policy::Full,
            "ids" => Policy::Ids,
            "none" => Policy::Nothing,
            _ => return Err(PyValueError::new_err("not a policy")),
        },
    })
}
