//! Defines plain values: those that `records/parsing.py` accepts unchanged or with little coercion.
//!
//! Formats differ in the places and encodings of values; `Source` is their common interface.

use crate::normalise::{normalise_plain_time, trim};
use crate::records::{
    Arena, EARLIEST_MILLIS, GREATEST_GAIN, LARGEST_COST, LARGEST_INT, LATEST_MILLIS, Number,
    SearchCall, SearchResult, Span,
};

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

    /// A map of strings, and of lists of strings if `lists`.
    fn pairs(
        &mut self,
        place: Self::Place,
        arena: &mut Arena<'a>,
        lists: bool,
    ) -> Result<Span, Self::Stop>;

    /// Costs by name; entries without a value are left out.
    fn costs(&mut self, place: Self::Place, arena: &mut Arena<'a>) -> Result<Span, Self::Stop>;

    fn results(&mut self, place: Self::Place, arena: &mut Arena<'a>) -> Result<Span, Self::Stop>;

    /// Put the value of a field, by its number in `CALL_FIELDS`, into a call.
    fn call_field(
        &mut self,
        call: &mut SearchCall<'a>,
        field: usize,
        place: Self::Place,
        arena: &mut Arena<'a>,
    ) -> Result<(), Self::Stop> {
        match field {
            0 => call.conversation_id = self.text(place)?.ok_or(Odd)?,
            1 => call.iteration = self.bounded(place, 1, LARGEST_INT)?.ok_or(Odd)?,
            2 => call.turn = self.bounded(place, 1, LARGEST_INT)?.unwrap_or(1),
            3 => call.call = self.bounded(place, 0, LARGEST_INT)?,
            4 => call.record_id = self.record_id(place)?,
            5 => call.timestamp = self.timestamp(place)?,
            6 => call.query = self.text(place)?,
            7 => call.tool = self.text(place)?,
            8 => call.turn_count = self.bounded(place, 0, LARGEST_INT)?,
            9 => call.is_final = self.flag(place)?,
            10 => call.attributes = self.pairs(place, arena, false)?,
            11 => call.costs = self.costs(place, arena)?,
            12 => call.results = self.results(place, arena)?,
            _ => return Err(Odd.into()),
        }
        Ok(())
    }

    /// Put the value of a field, by its number in `RESULT_FIELDS`, into a result.
    fn result_field(
        &mut self,
        result: &mut SearchResult<'a>,
        field: usize,
        place: Self::Place,
        arena: &mut Arena<'a>,
    ) -> Result<(), Self::Stop> {
        match field {
            0 => result.entity_type = self.text(place)?,
            1 => result.id = self.text(place)?,
            2 => result.ids = self.pairs(place, arena, true)?,
            3 => result.url = self.text(place)?,
            4 => result.title = self.text(place)?,
            5 => result.snippet = self.text(place)?,
            6 => result.content = self.text(place)?,
            7 => result.fields = self.pairs(place, arena, true)?,
            8 => result.gain = self.bounded(place, 0, GREATEST_GAIN)?,
            9 => result.score = self.score(place)?,
            10 => result.reference_id = self.text(place)?,
            _ => return Err(Odd.into()),
        }
        Ok(())
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

    fn score(&mut self, place: Self::Place) -> Result<Option<Number>, Self::Stop> {
        match self.number(place)? {
            Some(score) if !score.is_finite() => Err(Odd.into()),
            score => Ok(score.map(Number::Float)),
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
