//! The trace record, borrowed from its bytes: `records/search_call.py`.
//!
//! Strings are not copied; maps, lists and results of a block of records are in one `Arena`.

pub const LARGEST_INT: i64 = i32::MAX as i64;
pub const GREATEST_GAIN: i64 = 4;
pub const LARGEST_COST: f64 = 1e100;
pub const EARLIEST_MILLIS: i64 = -62_135_596_800_000;
pub const LATEST_MILLIS: i64 = 253_402_300_799_999;

/// The fields of a search call in the order of `SearchCall`.
pub const CALL_FIELDS: [&str; 16] = [
    "conversation_id",
    "iteration",
    "turn",
    "call",
    "record_id",
    "timestamp",
    "query",
    "tool",
    "turn_count",
    "is_final",
    "action",
    "error",
    "outcomes",
    "attributes",
    "costs",
    "results",
];

/// The fields of a result in the order of `Result`.
pub const RESULT_FIELDS: [&str; 12] = [
    "entity_type",
    "id",
    "ids",
    "url",
    "title",
    "snippet",
    "content",
    "fields",
    "gain",
    "score",
    "aspects",
    "reference_id",
];

/// The action of search calls, and all actions.
pub const SEARCH: &str = "search";
pub const ACTIONS: [&str; 3] = [SEARCH, "open", "cite"];

/// Initial capacity for records of unknown size, in bytes.
pub const MOST_ROOM: usize = 1 << 15;
/// Entries of a map, some of which have no value.
const MOST_WITH_GAPS: usize = 100;

/// A range in one of the lists of an `Arena`.
#[derive(Clone, Copy, Default)]
pub struct Span {
    pub start: usize,
    pub end: usize,
}

/// The value of an id or a field: one string, or several in `Arena::texts`.
#[derive(Clone, Copy)]
pub enum OneOrMany<'a> {
    One(&'a str),
    Many(Span),
}

/// Shared storage for the maps, lists and results of several records.
#[derive(Default)]
pub struct Arena<'a> {
    pub pairs: Vec<(&'a str, OneOrMany<'a>)>,
    pub texts: Vec<&'a str>,
    /// Costs and outcomes.
    pub numbers: Vec<(&'a str, Number)>,
    pub results: Vec<SearchResult<'a>>,
}

impl<'a> Arena<'a> {
    /// Storage for records of this size; growing costs more than the first allocation.
    pub fn for_bytes(bytes: usize) -> Self {
        Arena {
            pairs: Vec::with_capacity(bytes / 64),
            texts: Vec::new(),
            numbers: Vec::with_capacity(8),
            results: Vec::with_capacity(bytes / 512),
        }
    }

    /// The current sizes, for `truncate`.
    pub fn lengths(&self) -> [usize; 4] {
        [self.pairs.len(), self.texts.len(), self.numbers.len(), self.results.len()]
    }

    /// Remove what was added later.
    pub fn truncate(&mut self, [pairs, texts, numbers, results]: [usize; 4]) {
        self.pairs.truncate(pairs);
        self.texts.truncate(texts);
        self.numbers.truncate(numbers);
        self.results.truncate(results);
    }

    /// The strings of a list from `start` on; a list of one is equal to a plain string.
    pub fn one_or_many_from(&mut self, start: usize) -> Option<OneOrMany<'a>> {
        match self.texts[start..] {
            [] => None,
            [one] => {
                self.texts.truncate(start);
                Some(OneOrMany::One(one))
            }
            _ => Some(OneOrMany::Many(Span { start, end: self.texts.len() })),
        }
    }

    /// The pairs from `start` on, without keys that have no value.
    ///
    /// None if a key is repeated: then the last counts, even if it has no value.
    pub fn pairs_from(&self, start: usize, without_value: &[&str]) -> Option<Span> {
        let pairs = &self.pairs[start..];
        // Few enough to compare each with each.
        if !without_value.is_empty() && pairs.len() + without_value.len() > MOST_WITH_GAPS {
            return None;
        }
        let twice = has_twins(pairs) || pairs.iter().any(|(key, _)| without_value.contains(key));
        (!twice).then_some(Span { start, end: self.pairs.len() })
    }

    /// Add the costs or outcomes of a record that have a value; None if a name is repeated.
    pub fn add_numbers(&mut self, numbers: Vec<(&'a str, Option<Number>)>) -> Option<Span> {
        if has_twins(&numbers) {
            return None;
        }
        let start = self.numbers.len();
        self.numbers.extend(numbers.into_iter().filter_map(|(name, one)| Some((name, one?))));
        Some(Span { start, end: self.numbers.len() })
    }

    pub fn pairs_of(&self, span: Span) -> &[(&'a str, OneOrMany<'a>)] {
        &self.pairs[span.start..span.end]
    }

    pub fn texts_of(&self, span: Span) -> &[&'a str] {
        &self.texts[span.start..span.end]
    }

    pub fn numbers_of(&self, span: Span) -> &[(&'a str, Number)] {
        &self.numbers[span.start..span.end]
    }

    pub fn results_of(&self, span: Span) -> &[SearchResult<'a>] {
        &self.results[span.start..span.end]
    }
}

/// A number as it was written: an integer and an equal double have different encodings.
#[derive(Clone, Copy)]
pub enum Number {
    Int(i64),
    Float(f64),
}

/// One retrieved item and its label.
#[derive(Clone, Copy, Default)]
pub struct SearchResult<'a> {
    pub entity_type: Option<&'a str>,
    pub id: Option<&'a str>,
    pub ids: Span,
    pub url: Option<&'a str>,
    pub title: Option<&'a str>,
    pub snippet: Option<&'a str>,
    pub content: Option<&'a str>,
    pub fields: Span,
    pub gain: Option<i64>,
    pub score: Option<Number>,
    /// In `Arena::texts`.
    pub aspects: Option<Span>,
    pub reference_id: Option<&'a str>,
}

/// One search invocation of an agent.
#[derive(Clone, Copy)]
pub struct SearchCall<'a> {
    pub conversation_id: &'a str,
    pub iteration: i64,
    pub turn: i64,
    pub call: Option<i64>,
    pub record_id: Option<&'a str>,
    pub timestamp: Option<i64>,
    pub query: Option<&'a str>,
    pub tool: Option<&'a str>,
    pub turn_count: Option<i64>,
    pub is_final: bool,
    pub action: &'a str,
    pub error: Option<&'a str>,
    pub outcomes: Span,
    pub attributes: Span,
    pub costs: Span,
    pub results: Span,
}

impl SearchCall<'_> {
    /// A call with only defaults.
    pub fn empty() -> Self {
        SearchCall {
            conversation_id: "",
            iteration: 0,
            turn: 1,
            call: None,
            record_id: None,
            timestamp: None,
            query: None,
            tool: None,
            turn_count: None,
            is_final: false,
            action: SEARCH,
            error: None,
            outcomes: Span::default(),
            attributes: Span::default(),
            costs: Span::default(),
            results: Span::default(),
        }
    }
}

/// Whether a key is repeated.
pub fn has_twins<V>(pairs: &[(&str, V)]) -> bool {
    if pairs.len() < 12 {
        return pairs.iter().enumerate().any(|(at, one)| pairs[..at].iter().any(|o| o.0 == one.0));
    }
    let mut keys: Vec<_> = pairs.iter().map(|pair| pair.0).collect();
    keys.sort_unstable();
    keys.windows(2).any(|two| two[0] == two[1])
}
