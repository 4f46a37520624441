//! Defines plain values: those that `records/parsing.py` accepts unchanged or with little coercion.
//!
//! Formats differ in the places and encodings of values; `Source` is their common interface.

use crate::names::Target;
use crate::normalise::{normalise_plain_time, trim};
use crate::records::{
    ACTIONS, Arena, EARLIEST_MILLIS, GREATEST_GAIN, LARGEST_COST, LARGEST_INT, LATEST_MILLIS,
    Number, OneOrMany, SEARCH, SearchCall, SearchResult, Span,
};

/// Numbers of fields: `ITERATION_FROM_0` is behind those of `CALL_FIELDS`.
const OUTCOMES: usize = 12;
const ATTRIBUTES: usize = 13;
const COSTS: usize = 14;
const ITERATION_FROM_0: usize = 16;
const IDS: usize = 2;
const FIELDS: usize = 7;

/// Python must check a value, and so its record.
#[derive(Debug)]
pub struct Odd;

/// Reads the values of records one after another.
pub trait Source<'a> {
    /// The place of a value.
    type Place: Copy;
    /// Why a record cannot be read in native code.
    type Stop: From<Odd>;

    fn text(&mut self, place: Self::Place) -> Result<Option<&'a str>, Self::Stop>;

    fn whole(&mut self, place: Self::Place) -> Result<Option<i64>, Self::Stop>;

    fn flag(&mut self, place: Self::Place) -> Result<bool, Self::Stop>;

    fn number(&mut self, place: Self::Place) -> Result<Option<f64>, Self::Stop>;

    /// A time in milliseconds, of any size.
    fn millis(&mut self, place: Self::Place) -> Result<Option<i128>, Self::Stop>;

    fn results(&mut self, place: Self::Place, arena: &mut Arena<'a>) -> Result<Span, Self::Stop>;

    /// The value of an id or a field; None if it counts as absent.
    fn one_or_many(
        &mut self,
        place: Self::Place,
        arena: &mut Arena<'a>,
        lists: bool,
    ) -> Result<Option<OneOrMany<'a>>, Self::Stop>;

    /// The texts of a list, without nulls.
    fn texts(
        &mut self,
        place: Self::Place,
        arena: &mut Arena<'a>,
    ) -> Result<Option<Span>, Self::Stop>;

    /// Call `take` with each key of an object and the place of its value.
    fn object(
        &mut self,
        place: Self::Place,
        take: impl FnMut(&mut Self, &'a str, Self::Place) -> Result<(), Self::Stop>,
    ) -> Result<(), Self::Stop>;

    /// Like `object`, but for an object whose values are not entries of a map.
    fn inside(
        &mut self,
        place: Self::Place,
        take: impl FnMut(&mut Self, &'a str, Self::Place) -> Result<(), Self::Stop>,
    ) -> Result<(), Self::Stop> {
        self.object(place, take)
    }

    fn skip(&mut self, place: Self::Place) -> Result<(), Self::Stop>;

    /// A map of strings, and of lists of strings if `lists`.
    fn pairs(
        &mut self,
        place: Self::Place,
        arena: &mut Arena<'a>,
        lists: bool,
    ) -> Result<Span, Self::Stop> {
        let start = arena.pairs.len();
        let mut without_value = Vec::new();
        self.object(place, |source, key, value| {
            match source.one_or_many(value, arena, lists)? {
                Some(value) => arena.pairs.push((key, value)),
                None => without_value.push(key),
            }
            Ok(())
        })?;
        Ok(arena.pairs_from(start, &without_value).ok_or(Odd)?)
    }

    /// The costs or the outcomes by name; entries without a value are left out.
    fn numbers(
        &mut self,
        field: usize,
        place: Self::Place,
        arena: &mut Arena<'a>,
    ) -> Result<Span, Self::Stop> {
        let mut numbers = Vec::new();
        self.object(place, |source, name, value| {
            numbers.push((name, source.number_of(field, value)?));
            Ok(())
        })?;
        Ok(arena.add_numbers(numbers).ok_or(Odd)?)
    }

    /// A cost or an outcome.
    fn number_of(
        &mut self,
        field: usize,
        place: Self::Place,
    ) -> Result<Option<Number>, Self::Stop> {
        if field == COSTS { self.cost(place) } else { self.finite(place) }
    }

    /// Put a value where it goes; entries of maps into `entries`.
    #[inline]
    fn put<R: Record<'a>>(
        &mut self,
        record: &mut R,
        target: &'a Target,
        place: Self::Place,
        arena: &mut Arena<'a>,
        entries: &mut Entries<'a>,
    ) -> Result<(), Self::Stop> {
        match target {
            Target::Field(field) => record.put(self, *field, place, arena),
            Target::Entry(field @ (OUTCOMES | COSTS), key, order) => {
                let number = self.number_of(*field, place)?;
                entries.numbers.push((*order, (*field, key, number)));
                Ok(())
            }
            Target::Entry(map, key, order) => {
                let value = self.one_or_many(place, arena, R::LISTS)?;
                entries.pairs.push((*order, (*map, key, value)));
                Ok(())
            }
            Target::Inside(names) => {
                let mut seen = 0;
                self.inside(place, |source, key, value| match names.first(key, &mut seen)? {
                    Some(target) => source.put(record, target, value, arena, entries),
                    None => source.skip(value),
                })
            }
            Target::Python => Err(Odd.into()),
        }
    }

    fn bounded(
        &mut self,
        place: Self::Place,
        least: i64,
        most: i64,
    ) -> Result<Option<i64>, Self::Stop> {
        match self.whole(place)? {
            Some(value) if !(least..=most).contains(&value) => Err(Odd.into()),
            value => Ok(value),
        }
    }

    fn action(&mut self, place: Self::Place) -> Result<&'static str, Self::Stop> {
        match self.text(place)? {
            Some(text) => Ok(ACTIONS.into_iter().find(|one| *one == text).ok_or(Odd)?),
            None => Ok(SEARCH),
        }
    }

    fn finite(&mut self, place: Self::Place) -> Result<Option<Number>, Self::Stop> {
        match self.number(place)? {
            Some(number) if !number.is_finite() => Err(Odd.into()),
            number => Ok(number.map(Number::Float)),
        }
    }

    fn cost(&mut self, place: Self::Place) -> Result<Option<Number>, Self::Stop> {
        match self.number(place)? {
            Some(cost) if !(0.0..=LARGEST_COST).contains(&cost) => Err(Odd.into()),
            cost => Ok(cost.map(Number::Float)),
        }
    }

    /// A blank id does not identify.
    fn record_id(&mut self, place: Self::Place) -> Result<Option<&'a str>, Self::Stop> {
        match self.text(place)? {
            Some(text) if has_graphic(text) => Ok(Some(text)),
            Some(text) if !text.is_ascii() || !trim(text).is_empty() => Err(Odd.into()),
            _ => Ok(None),
        }
    }

    fn timestamp(&mut self, place: Self::Place) -> Result<Option<i64>, Self::Stop> {
        let Some(millis) = self.millis(place)? else {
            return Ok(None);
        };
        match i64::try_from(millis) {
            Ok(millis @ EARLIEST_MILLIS..=LATEST_MILLIS) => Ok(Some(millis)),
            _ => Err(Odd.into()),
        }
    }
}

/// A call or a result, whose fields are put into it one after another.
pub trait Record<'a> {
    /// Whether its maps have lists.
    const LISTS: bool;

    /// Put the value of a field by its number.
    fn put<S: Source<'a> + ?Sized>(
        &mut self,
        source: &mut S,
        field: usize,
        place: S::Place,
        arena: &mut Arena<'a>,
    ) -> Result<(), S::Stop>;

    /// The map in a field; None if the field is none.
    fn map(&mut self, field: usize) -> Option<&mut Span>;
}

impl<'a> Record<'a> for SearchCall<'a> {
    const LISTS: bool = false;

    fn put<S: Source<'a> + ?Sized>(
        &mut self,
        source: &mut S,
        field: usize,
        place: S::Place,
        arena: &mut Arena<'a>,
    ) -> Result<(), S::Stop> {
        match field {
            0 => self.conversation_id = source.text(place)?.ok_or(Odd)?,
            1 => self.iteration = source.bounded(place, 1, LARGEST_INT)?.ok_or(Odd)?,
            2 => self.turn = source.bounded(place, 1, LARGEST_INT)?.unwrap_or(1),
            3 => self.call = source.bounded(place, 0, LARGEST_INT)?,
            4 => self.record_id = source.record_id(place)?,
            5 => self.timestamp = source.timestamp(place)?,
            6 => self.query = source.text(place)?,
            7 => self.tool = source.text(place)?,
            8 => self.turn_count = source.bounded(place, 0, LARGEST_INT)?,
            9 => self.is_final = source.flag(place)?,
            10 => self.action = source.action(place)?,
            11 => self.error = source.text(place)?,
            ATTRIBUTES => self.attributes = source.pairs(place, arena, Self::LISTS)?,
            OUTCOMES => self.outcomes = source.numbers(OUTCOMES, place, arena)?,
            COSTS => self.costs = source.numbers(COSTS, place, arena)?,
            15 => self.results = source.results(place, arena)?,
            ITERATION_FROM_0 => {
                self.iteration = source.bounded(place, 0, LARGEST_INT - 1)?.ok_or(Odd)? + 1;
            }
            _ => return Err(Odd.into()),
        }
        Ok(())
    }

    fn map(&mut self, field: usize) -> Option<&mut Span> {
        (field == ATTRIBUTES).then_some(&mut self.attributes)
    }
}

impl<'a> Record<'a> for SearchResult<'a> {
    const LISTS: bool = true;

    fn put<S: Source<'a> + ?Sized>(
        &mut self,
        source: &mut S,
        field: usize,
        place: S::Place,
        arena: &mut Arena<'a>,
    ) -> Result<(), S::Stop> {
        match field {
            0 => self.entity_type = source.text(place)?,
            1 => self.id = source.text(place)?,
            IDS => self.ids = source.pairs(place, arena, Self::LISTS)?,
            3 => self.url = source.text(place)?,
            4 => self.title = source.text(place)?,
            5 => self.snippet = source.text(place)?,
            6 => self.content = source.text(place)?,
            FIELDS => self.fields = source.pairs(place, arena, Self::LISTS)?,
            8 => self.gain = source.bounded(place, 0, GREATEST_GAIN)?,
            9 => self.score = source.finite(place)?,
            10 => self.aspects = source.texts(place, arena)?,
            11 => self.reference_id = source.text(place)?,
            _ => return Err(Odd.into()),
        }
        Ok(())
    }

    fn map(&mut self, field: usize) -> Option<&mut Span> {
        match field {
            IDS => Some(&mut self.ids),
            FIELDS => Some(&mut self.fields),
            _ => None,
        }
    }
}

/// The number of the field with a map, a key of it, and the value.
type Pair<'a> = (usize, &'a str, Option<OneOrMany<'a>>);
/// The same for a map of numbers.
type NumberPair<'a> = (usize, &'a str, Option<Number>);

/// Entries of maps that stand under names of their own, outside of the maps, each after its place
/// among them.
#[derive(Default)]
pub struct Entries<'a> {
    pairs: Vec<(usize, Pair<'a>)>,
    numbers: Vec<(usize, NumberPair<'a>)>,
}

impl<'a> Entries<'a> {
    /// Add the entries to the maps of a record.
    pub fn add_to<R: Record<'a>>(
        mut self,
        record: &mut R,
        arena: &mut Arena<'a>,
    ) -> Result<(), Odd> {
        if self.pairs.is_empty() {
            return Ok(()); // nearly always
        }
        self.pairs.sort_by_key(|(order, _)| *order);
        for field in [IDS, FIELDS, ATTRIBUTES] {
            if !self.pairs.iter().any(|(_, (map, ..))| *map == field) {
                continue;
            }
            let map = record.map(field).ok_or(Odd)?;
            let start = arena.pairs.len();
            arena.pairs.extend_from_within(map.start..map.end);
            let mut without_value = Vec::new();
            for (_, (_, key, value)) in self.pairs.iter().filter(|(_, (map, ..))| *map == field) {
                match value {
                    Some(value) => arena.pairs.push((key, *value)),
                    None => without_value.push(*key),
                }
            }
            *map = arena.pairs_from(start, &without_value).ok_or(Odd)?;
        }
        Ok(())
    }

    /// Add the entries to the maps of a call.
    pub fn add_to_call(
        mut self,
        call: &mut SearchCall<'a>,
        arena: &mut Arena<'a>,
    ) -> Result<(), Odd> {
        if !self.numbers.is_empty() {
            self.numbers.sort_by_key(|(order, _)| *order);
            for (field, map) in [(OUTCOMES, &mut call.outcomes), (COSTS, &mut call.costs)] {
                *map = self.with_numbers(field, *map, arena)?;
            }
        }
        self.add_to(call, arena)
    }

    /// A map of numbers with the entries that belong to it.
    fn with_numbers(&self, field: usize, map: Span, arena: &mut Arena<'a>) -> Result<Span, Odd> {
        let of_field = self.numbers.iter().filter(|(_, (of, ..))| *of == field);
        let known = arena.numbers_of(map).iter().map(|(name, number)| (*name, Some(*number)));
        let all = known.chain(of_field.map(|(_, (_, name, number))| (*name, *number))).collect();
        arena.add_numbers(all).ok_or(Odd)
    }
}

/// The call, if it has all required fields.
pub fn complete(call: SearchCall) -> Result<SearchCall, Odd> {
    if call.iteration < 1 || !has_graphic(call.conversation_id) { Err(Odd) } else { Ok(call) }
}

/// A time in a plain format, in milliseconds.
pub fn millis_of_text(text: &str) -> Result<i128, Odd> {
    let micros = text.is_ascii().then(|| normalise_plain_time(text)).flatten();
    Ok(i128::from(micros.ok_or(Odd)?.div_euclid(1_000)))
}

/// Whether a string has a visible ASCII character, so is not blank.
fn has_graphic(text: &str) -> bool {
    text.bytes().any(|byte| byte.is_ascii_graphic())
}
