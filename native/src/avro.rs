//! Reads the records of an Avro block, as `files/avro_decoder.py` does.
//!
//! Records whose values need no conversion become search calls. The others are called odd: they
//! are well-formed, but Python must convert or reject them (`records/parsing.py`). A block that
//! does not fit its schema is left to Python as a whole.

use crate::avro_schema::{Field, Plan, Type, TypeNumber};
use crate::avro_values::{BlockReader, Read, Stop};
use crate::records::{Arena, OneOrMany, SearchCall, SearchResult, Span};
use crate::source::{Entries, Source, complete, millis_of_text};

/// Where values of results are nested, counted from the record.
const SKIPPED_DEPTH: usize = 3;

/// A record of a block.
pub struct Found<'a> {
    pub bytes: &'a [u8],
    /// None if the record is odd.
    pub call: Option<SearchCall<'a>>,
}

/// The records of a decompressed block; None if it is left to Python.
pub fn read_block<'a>(
    plan: &'a Plan,
    content: &'a [u8],
    count: usize,
    arena: &mut Arena<'a>,
) -> Option<Vec<Found<'a>>> {
    if count > content.len() {
        return None;
    }
    let mut reader = BlockReader { plan, rest: content };
    let mut found = Vec::new();
    for _ in 0..count {
        let start = reader.rest;
        let held = arena.lengths();
        let call = match reader.call(arena) {
            Ok(call) => Some(call),
            Err(Stop::Broken) => return None,
            Err(Stop::Odd) => {
                arena.truncate(held);
                reader.rest = start;
                for field in plan.top_fields() {
                    reader.skip_value(field.of, 1).ok()?;
                }
                None
            }
        };
        found.push(Found { bytes: &start[..start.len() - reader.rest.len()], call });
    }
    reader.rest.is_empty().then_some(found)
}

impl<'a> Source<'a> for BlockReader<'a> {
    type Place = TypeNumber;
    type Stop = Stop;

    fn text(&mut self, number: TypeNumber) -> Read<Option<&'a str>> {
        match self.branch(number)? {
            Type::Text => self.string().map(Some),
            Type::Null => Ok(None),
            Type::Enum(symbols) => self.symbol(symbols).map(Some),
            _ => Err(Stop::Odd),
        }
    }

    fn whole(&mut self, number: TypeNumber) -> Read<Option<i64>> {
        match self.branch(number)? {
            Type::Int => self.long().map(Some),
            Type::Null => Ok(None),
            _ => Err(Stop::Odd),
        }
    }

    fn flag(&mut self, number: TypeNumber) -> Read<bool> {
        match self.branch(number)? {
            Type::Boolean => self.boolean(),
            Type::Null => Ok(false),
            _ => Err(Stop::Odd),
        }
    }

    fn number(&mut self, number: TypeNumber) -> Read<Option<f64>> {
        match self.branch(number)? {
            Type::Double => self.double().map(Some),
            Type::Float => self.float().map(Some),
            Type::Int => self.long().map(|whole| Some(whole as f64)),
            Type::Null => Ok(None),
            _ => Err(Stop::Odd),
        }
    }

    fn millis(&mut self, number: TypeNumber) -> Read<Option<i128>> {
        match self.branch(number)? {
            Type::Int => {
                let stored = i128::from(self.long()?) * i128::from(self.plan.factor);
                Ok(Some(stored.div_euclid(i128::from(self.plan.divisor))))
            }
            Type::Text => Ok(Some(millis_of_text(self.string()?)?)),
            Type::Null => Ok(None),
            _ => Err(Stop::Odd),
        }
    }

    fn results(&mut self, number: TypeNumber, arena: &mut Arena<'a>) -> Read<Span> {
        let start = arena.results.len();
        let items = match self.branch(number)? {
            Type::Array(items) => *items,
            Type::Null => return Ok(Span { start, end: start }),
            _ => return Err(Stop::Odd),
        };
        loop {
            let count = self.stretch()?;
            if count == 0 {
                break;
            }
            for _ in 0..count {
                let Type::Record(fields) = self.branch(items)? else {
                    return Err(Stop::Odd);
                };
                let result = self.result(fields, arena)?;
                arena.results.push(result);
                if arena.results.len() - start > self.plan.most_results {
                    return Err(Stop::Odd);
                }
            }
        }
        Ok(Span { start, end: arena.results.len() })
    }

    fn one_or_many(
        &mut self,
        number: TypeNumber,
        arena: &mut Arena<'a>,
        lists: bool,
    ) -> Read<Option<OneOrMany<'a>>> {
        Ok(match self.branch(number)? {
            Type::Text => Some(OneOrMany::One(self.string()?)),
            Type::Enum(symbols) => Some(OneOrMany::One(self.symbol(symbols)?)),
            Type::Array(items) if lists => {
                let start = self.items(*items, arena)?.start;
                arena.one_or_many_from(start)
            }
            Type::Null => None,
            _ => return Err(Stop::Odd),
        })
    }

    fn texts(&mut self, number: TypeNumber, arena: &mut Arena<'a>) -> Read<Option<Span>> {
        match self.branch(number)? {
            Type::Array(items) => self.items(*items, arena).map(Some),
            Type::Null => Ok(None),
            _ => Err(Stop::Odd),
        }
    }

    /// A record may stand for a map.
    fn object(
        &mut self,
        number: TypeNumber,
        mut take: impl FnMut(&mut Self, &'a str, TypeNumber) -> Read<()>,
    ) -> Read<()> {
        match self.branch(number)? {
            Type::Map(values) => loop {
                let count = self.stretch()?;
                if count == 0 {
                    return Ok(());
                }
                for _ in 0..count {
                    let key = self.string()?;
                    take(self, key, *values)?;
                }
            },
            Type::Record(fields) => {
                fields.iter().try_for_each(|field| take(self, &field.name, field.of))
            }
            Type::Null => Ok(()),
            _ => Err(Stop::Odd),
        }
    }

    fn skip(&mut self, number: TypeNumber) -> Read<()> {
        self.skip_value(number, SKIPPED_DEPTH)
    }
}

impl<'a> BlockReader<'a> {
    fn call(&mut self, arena: &mut Arena<'a>) -> Read<SearchCall<'a>> {
        let mut call = SearchCall::empty();
        let mut entries = Entries::default();
        let plan = self.plan;
        for field in plan.top_fields() {
            match field.call_name {
                Some(name) => {
                    let target = plan.names.call.target(name);
                    self.put(&mut call, target, field.of, arena, &mut entries)?;
                }
                None => self.skip_value(field.of, 1)?,
            }
        }
        entries.add_to_call(&mut call, arena)?;
        Ok(complete(call)?)
    }

    fn result(&mut self, fields: &'a [Field], arena: &mut Arena<'a>) -> Read<SearchResult<'a>> {
        let mut result = SearchResult::default();
        let mut entries = Entries::default();
        let plan = self.plan;
        for field in fields {
            match field.result_name {
                Some(name) => {
                    let target = plan.names.result.target(name);
                    self.put(&mut result, target, field.of, arena, &mut entries)?;
                }
                None => self.skip_value(field.of, SKIPPED_DEPTH)?,
            }
        }
        entries.add_to(&mut result, arena)?;
        Ok(result)
    }

    /// The strings of a list.
    fn items(&mut self, items: TypeNumber, arena: &mut Arena<'a>) -> Read<Span> {
        let start = arena.texts.len();
        loop {
            let count = self.stretch()?;
            if count == 0 {
                break;
            }
            for _ in 0..count {
                arena.texts.extend(self.text(items)?);
            }
        }
        Ok(Span { start, end: arena.texts.len() })
    }
}
