//! Decides whether two results are the same document: `dedup/verification.py`, `dedup/agreement.py`.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::evidence::{Evidence, Number};
use crate::rules::{
    CONTENT, GENERIC_ID, SNIPPET, TITLE, UNKNOWN_FIELD, UNKNOWN_ID, URL, URL_QUERY,
};

const NO_TYPE: Number = 0;
const FIELDS: std::ops::Range<Number> = 32..96;
const IDS: std::ops::Range<Number> = 96..126;

/// The step that decided about a pair, in the order of Python's `Step`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Step {
    Type,
    Passage,
    Ids,
    Url,
    UrlIdentity,
    UrlText,
    Fields,
    GenericId,
    NamedId,
    Identical,
    Inconclusive,
}

pub const STEPS: usize = 11;

/// Which part of the rules is applied.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Policy {
    Full,
    Ids,
    Nothing,
}

/// Part of a clause: at least this many of the attributes must be equal.
pub struct Need {
    pub least: usize,
    pub of: Vec<Number>,
}

/// Points for equal fields.
pub struct Confidence {
    pub points: FxHashMap<Number, i64>,
    pub other: i64,
    pub needed: i64,
    pub needed_with_context: i64,
}

/// The rules for pairs of one entity type.
pub struct TypeRules {
    pub is_default: bool,
    /// The definitive and the container ids, each with whether it is definitive.
    pub ids: Vec<(Number, bool)>,
    /// None for all fields.
    pub reject_on: Option<Vec<Number>>,
    pub clauses: Vec<Vec<Need>>,
    pub confidence: Option<Confidence>,
}

/// The compiled rules for pairs.
pub struct PairRules {
    /// By type number; those of `default` at 0.
    pub types: Vec<TypeRules>,
    pub containers: FxHashSet<Number>,
    pub url_parameters: Vec<Number>,
    pub max_candidates: usize,
    pub policy: Policy,
    /// The ids that tell passages apart; None if results are documents.
    pub passage_ids: Option<Vec<Number>>,
}

impl PairRules {
    fn of_type(&self, number: Number) -> &TypeRules {
        let known = usize::try_from(number).ok().and_then(|number| self.types.get(number));
        known.unwrap_or(&self.types[0])
    }
}

/// The decision about a pair.
#[derive(Clone, Copy)]
pub struct Verdict {
    pub duplicate: bool,
    pub step: Step,
    /// The clause that applied, from 1; for points, 1 or 2. None if no clause decided.
    pub clause: Option<usize>,
}

fn different(step: Step) -> Option<Verdict> {
    Some(Verdict { duplicate: false, step, clause: None })
}

fn duplicate(step: Step) -> Option<Verdict> {
    Some(Verdict { duplicate: true, step, clause: None })
}

fn by_clause(clause: usize) -> Option<Verdict> {
    Some(Verdict { duplicate: true, step: Step::Fields, clause: Some(clause) })
}

fn is_field(attribute: Number) -> bool {
    FIELDS.contains(&attribute) || attribute >> 64 == Number::from(UNKNOWN_FIELD)
}

pub fn is_named_id(attribute: Number) -> bool {
    IDS.contains(&attribute) || attribute >> 64 == Number::from(UNKNOWN_ID)
}

/// Decide about a pair by the first step that can; symmetric in the two.
pub fn verify(first: Evidence, second: Evidence, rules: &PairRules) -> Verdict {
    let (mine, theirs) = (first.layout.type_number, second.layout.type_number);
    let type_number = if mine == NO_TYPE { theirs } else { mine };
    if theirs != NO_TYPE && theirs != type_number {
        return Verdict { duplicate: false, step: Step::Type, clause: None };
    }
    if let Some(ids) = &rules.passage_ids
        && are_two_passages(first, second, ids)
    {
        return Verdict { duplicate: false, step: Step::Passage, clause: None };
    }
    let applicable = rules.of_type(type_number);
    let found = if rules.policy == Policy::Ids {
        by_ids(first, second, applicable).or_else(|| by_weak_ids(first, second, applicable, rules))
    } else {
        by_ids(first, second, applicable)
            .or_else(|| by_url(first, second, rules))
            .or_else(|| by_fields(first, second, applicable, rules))
            .or_else(|| by_weak_ids(first, second, applicable, rules))
            .or_else(|| by_identity(first, second))
    };
    found.unwrap_or(Verdict { duplicate: false, step: Step::Inconclusive, clause: None })
}

/// Whether two results are different passages, be it of one document.
fn are_two_passages(mine: Evidence, theirs: Evidence, passage_ids: &[Number]) -> bool {
    let differs = |attribute: &Number| match (mine.get(*attribute), theirs.get(*attribute)) {
        (Some(one), Some(other)) => !one.shares(other),
        _ => false,
    };
    passage_ids.iter().any(differs) || contents_differ(mine, theirs)
}

/// Whether the contents differ or, where not both have one, the snippets.
pub fn contents_differ(mine: Evidence, theirs: Evidence) -> bool {
    compared(mine, theirs, CONTENT.into()).or_else(|| compared(mine, theirs, SNIPPET.into()))
        == Some(false)
}

fn by_ids(mine: Evidence, theirs: Evidence, applicable: &TypeRules) -> Option<Verdict> {
    let mut definitive = false;
    for (attribute, is_definitive) in &applicable.ids {
        let (Some(one), Some(other)) = (mine.get(*attribute), theirs.get(*attribute)) else {
            continue;
        };
        if !one.shares(other) {
            return different(Step::Ids);
        }
        definitive |= is_definitive;
    }
    if definitive { duplicate(Step::Ids) } else { None }
}

/// Whether both URL and title differ; None if one of them cannot be compared.
pub fn texts_differ(mine: Evidence, theirs: Evidence) -> Option<bool> {
    let url = compared(mine, theirs, URL.into())?;
    let title = compared(mine, theirs, TITLE.into())?;
    Some(!url && !title)
}

/// The first definitive id by which two results of one type agree.
pub fn agreeing_id(first: Evidence, second: Evidence, rules: &PairRules) -> Option<Number> {
    let number = first.layout.type_number.max(second.layout.type_number);
    let agrees = |attribute| {
        matches!((first.get(attribute), second.get(attribute)),
            (Some(one), Some(other)) if one.shares(other))
    };
    let ids = rules.of_type(number).ids.iter();
    ids.filter(|(_, definitive)| *definitive)
        .map(|(attribute, _)| *attribute)
        .find(|attribute| agrees(*attribute))
}

/// If both have an attribute, whether it is equal.
fn compared(mine: Evidence, theirs: Evidence, attribute: Number) -> Option<bool> {
    Some(mine.get(attribute)?.equals(theirs.get(attribute)?))
}

fn by_url(mine: Evidence, theirs: Evidence, rules: &PairRules) -> Option<Verdict> {
    if !compared(mine, theirs, URL.into())? {
        return different(Step::Url);
    }
    let query = Number::from(URL_QUERY);
    let same_query = match (mine.get(query), theirs.get(query)) {
        (Some(one), Some(other)) => one.equals(other),
        (None, None) => true,
        _ => false,
    };
    if same_query {
        return duplicate(Step::Url);
    }
    let mut parameters = rules.url_parameters.iter();
    if parameters.any(|parameter| compared(mine, theirs, *parameter) == Some(false)) {
        return different(Step::UrlIdentity);
    }
    let texts = [SNIPPET, CONTENT].map(|text| compared(mine, theirs, text.into()));
    if texts.contains(&Some(false)) {
        return different(Step::UrlText);
    }
    if texts.contains(&Some(true)) { duplicate(Step::UrlText) } else { None }
}

fn by_fields(
    mine: Evidence,
    theirs: Evidence,
    applicable: &TypeRules,
    rules: &PairRules,
) -> Option<Verdict> {
    let rejects = match &applicable.reject_on {
        Some(attributes) => {
            attributes.iter().any(|attribute| compared(mine, theirs, *attribute) == Some(false))
        }
        None => mine.values().any(|(attribute, one)| {
            is_field(attribute) && theirs.get(attribute).is_some_and(|other| !one.equals(other))
        }),
    };
    if rejects {
        return different(Step::Fields);
    }
    if let Some(confidence) = &applicable.confidence {
        return by_points(mine, theirs, confidence, rules);
    }
    let holds = |clause: &Vec<Need>| {
        clause.iter().all(|need| count_equal(mine, theirs, &need.of) >= need.least)
    };
    by_clause(applicable.clauses.iter().position(holds)? + 1)
}

fn count_equal(mine: Evidence, theirs: Evidence, attributes: &[Number]) -> usize {
    let equal = |attribute: &&Number| match (mine.get(**attribute), theirs.get(**attribute)) {
        (Some(one), Some(other)) => {
            one.equals(other) || (is_named_id(**attribute) && one.shares(other))
        }
        _ => false,
    };
    attributes.iter().filter(equal).count()
}

fn by_points(
    mine: Evidence,
    theirs: Evidence,
    confidence: &Confidence,
    rules: &PairRules,
) -> Option<Verdict> {
    let points: i64 = mine
        .values()
        .filter(|(attribute, one)| {
            is_field(*attribute) && theirs.get(*attribute).is_some_and(|other| one.equals(other))
        })
        .map(|(attribute, _)| confidence.points.get(&attribute).unwrap_or(&confidence.other))
        .sum();
    if points >= confidence.needed {
        return by_clause(1);
    }
    let enough = points >= confidence.needed_with_context && has_id_context(mine, theirs, rules);
    if enough { by_clause(2) } else { None }
}

/// Whether the generic id, a named id that is not a container, or host and path are equal.
fn has_id_context(mine: Evidence, theirs: Evidence, rules: &PairRules) -> bool {
    generic_id_agrees(mine, theirs)
        || some_named_id_agrees(mine, theirs, rules)
        || compared(mine, theirs, URL.into()) == Some(true)
}

/// Decide by ids that do not identify on their own, if no other attribute conflicts.
fn by_weak_ids(
    mine: Evidence,
    theirs: Evidence,
    applicable: &TypeRules,
    rules: &PairRules,
) -> Option<Verdict> {
    let step = if generic_id_agrees(mine, theirs) {
        Step::GenericId
    } else if applicable.is_default && some_named_id_agrees(mine, theirs, rules) {
        Step::NamedId
    } else {
        return None;
    };
    if compared(mine, theirs, URL.into()).is_some() || attribute_conflicts(mine, theirs) {
        return None;
    }
    duplicate(step)
}

fn generic_id_agrees(mine: Evidence, theirs: Evidence) -> bool {
    compared(mine, theirs, GENERIC_ID.into()) == Some(true)
}

/// Whether a named id that no type lists as a container has a value in common.
fn some_named_id_agrees(mine: Evidence, theirs: Evidence, rules: &PairRules) -> bool {
    mine.values().any(|(attribute, one)| {
        is_named_id(attribute)
            && !rules.containers.contains(&attribute)
            && theirs.get(attribute).is_some_and(|other| one.shares(other))
    })
}

/// Whether both have some named id or field, with different values.
fn attribute_conflicts(mine: Evidence, theirs: Evidence) -> bool {
    mine.values().any(|(attribute, one)| {
        let Some(other) = theirs.get(attribute) else {
            return false;
        };
        if is_named_id(attribute) {
            !one.shares(other)
        } else {
            is_field(attribute) && !one.equals(other)
        }
    })
}

fn by_identity(first: Evidence, second: Evidence) -> Option<Verdict> {
    let identical = first.layout.type_number == second.layout.type_number
        && first.layout.identifies_alone
        && first.has_values_of(second);
    if identical { duplicate(Step::Identical) } else { None }
}
