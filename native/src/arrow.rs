//! Reads rows of Arrow columns: `files/parquet_reader.py` with `files/arrow_values.py`.
//!
//! Python describes the columns (`files/native_columns.py`). Its description is not trusted: a
//! position outside a buffer makes a row odd, and so do values that are not plain.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::PyTuple;
use rustc_hash::FxHashSet;

use crate::names::RecordNames;
use crate::records::{Arena, OneOrMany, SearchCall, SearchResult, Span};
use crate::source::{Entries, Odd, Source, complete, millis_of_text};

/// Greatest nesting of columns.
const DEEPEST: usize = 64;
/// Beyond this not every whole number is a double.
const LARGEST_EXACT: f64 = 9_007_199_254_740_992.0;

type Read<T> = Result<T, Odd>;

/// A column, or the rows as a whole.
pub struct Column {
    /// Offset of its first row in its buffers.
    offset: usize,
    /// One bit per row; None if every row has a value.
    validity: Option<PyBackedBytes>,
    kind: Kind,
}

enum Kind {
    Null,
    /// One bit per row.
    Flag(PyBackedBytes),
    Whole(Numbers),
    Float(Numbers),
    /// Factor and divisor to milliseconds, rounded down.
    Time(Numbers, i64, i64),
    Text(Numbers, PyBackedBytes),
    List(Numbers, Box<Column>),
    /// Keys and values.
    Map(Numbers, Box<Column>, Box<Column>),
    Struct(Vec<Field>),
}

/// Numbers of one width, little-endian like Arrow on all machines that pyarrow supports.
struct Numbers {
    bytes: PyBackedBytes,
    width: usize,
    signed: bool,
}

struct Field {
    name: String,
    column: Column,
    /// The number of its name in the names of records.
    call_name: Option<usize>,
    /// The number of its name in the names of results.
    result_name: Option<usize>,
}

impl Numbers {
    fn bytes_at(&self, at: usize) -> Read<&[u8]> {
        let start = at.checked_mul(self.width).ok_or(Odd)?;
        self.bytes.get(start..).and_then(|rest| rest.get(..self.width)).ok_or(Odd)
    }

    fn whole(&self, at: usize) -> Read<i64> {
        let mut wide = [0; 8];
        wide[..self.width].copy_from_slice(self.bytes_at(at)?);
        let unused = 64 - 8 * self.width as u32;
        let bits = u64::from_le_bytes(wide) << unused;
        if self.signed {
            Ok(bits as i64 >> unused)
        } else {
            i64::try_from(bits >> unused).map_err(|_| Odd)
        }
    }

    fn float(&self, at: usize) -> Read<f64> {
        let bytes = self.bytes_at(at)?;
        match (bytes.try_into(), bytes.try_into()) {
            (Ok(bytes), _) => Ok(f64::from_le_bytes(bytes)),
            (_, Ok(bytes)) => Ok(f64::from(f32::from_le_bytes(bytes))),
            _ => Err(Odd),
        }
    }

    /// The range of a row's items, if these numbers are offsets.
    fn extent(&self, at: usize) -> Read<std::ops::Range<usize>> {
        let begin = usize::try_from(self.whole(at)?).map_err(|_| Odd)?;
        let end = usize::try_from(self.whole(at.checked_add(1).ok_or(Odd)?)?).map_err(|_| Odd)?;
        Ok(begin..end)
    }
}

impl Column {
    /// Check and store Python's description of a column.
    ///
    /// `described` has the kind, the width of numbers or offsets, factor and divisor of a time, the
    /// offset, the buffers, and the child columns, each after its name.
    pub fn new(described: &Bound<PyAny>, names: &RecordNames, depth: usize) -> PyResult<Self> {
        type Described<'py> = (
            String,
            usize,
            (i64, i64),
            usize,
            Vec<Option<PyBackedBytes>>,
            Vec<(String, Bound<'py, PyAny>)>,
        );
        let (kind, width, (factor, divisor), offset, buffers, children): Described =
            described.cast::<PyTuple>()?.extract()?;
        let wrong = || PyValueError::new_err("not the description of a column");
        if depth > DEEPEST || divisor < 1 || !matches!(width, 1 | 2 | 4 | 8) {
            return Err(wrong());
        }
        let mut buffers = buffers.into_iter();
        let validity = buffers.next().flatten();
        let empty = || PyBackedBytes::from(pyo3::types::PyBytes::new(described.py(), b""));
        let mut buffer = || buffers.next().flatten().unwrap_or_else(empty);
        let mut numbers = |signed| Numbers { bytes: buffer(), width, signed };
        let mut columns = Vec::new();
        for (name, child) in children {
            columns.push((name, Column::new(&child, names, depth + 1)?));
        }
        let mut inner = {
            let mut columns = columns.into_iter();
            move || columns.next()
        };
        let column = |next: Option<(String, Column)>| {
            next.map(|(_, column)| Box::new(column)).ok_or_else(wrong)
        };
        let kind = match kind.as_str() {
            "null" => Kind::Null,
            "flag" => Kind::Flag(numbers(false).bytes),
            "whole" => Kind::Whole(numbers(true)),
            "unsigned" => Kind::Whole(numbers(false)),
            "float" => Kind::Float(numbers(true)),
            "time" => Kind::Time(numbers(true), factor, divisor),
            "text" => Kind::Text(numbers(true), buffer()),
            "list" => Kind::List(numbers(true), column(inner())?),
            "map" => Kind::Map(numbers(true), column(inner())?, column(inner())?),
            "struct" => {
                let mut seen = FxHashSet::default();
                let mut fields = Vec::new();
                while let Some((name, column)) = inner() {
                    if !seen.insert(name.clone()) {
                        return Err(wrong());
                    }
                    fields.push(Field {
                        call_name: names.call.number(&name),
                        result_name: names.result.number(&name),
                        name,
                        column,
                    });
                }
                Kind::Struct(fields)
            }
            _ => return Err(wrong()),
        };
        Ok(Column { offset, validity, kind })
    }

    /// The index of a row in the buffers; None if it has no value.
    fn place(&self, row: usize) -> Read<Option<usize>> {
        let at = self.offset.checked_add(row).ok_or(Odd)?;
        match &self.validity {
            Some(bits) if !bit(bits, at)? => Ok(None),
            _ => Ok(Some(at)),
        }
    }

    /// Like `place`, for a column of single values; Python has no None for other missing ones.
    fn scalar(&self, row: usize) -> Read<Option<usize>> {
        match self.kind {
            Kind::List(..) | Kind::Map(..) | Kind::Struct(..) => Err(Odd),
            _ => self.place(row),
        }
    }

    fn text(&self, at: usize) -> Read<&str> {
        match &self.kind {
            Kind::Text(offsets, data) => {
                let bytes = data.get(offsets.extent(at)?).ok_or(Odd)?;
                std::str::from_utf8(bytes).map_err(|_| Odd)
            }
            _ => Err(Odd),
        }
    }
}

fn bit(bits: &[u8], at: usize) -> Read<bool> {
    Ok(bits.get(at / 8).ok_or(Odd)? >> (at % 8) & 1 == 1)
}

/// A value: its column and its row.
type Place<'a> = (&'a Column, usize);

/// Reads rows of columns.
pub struct RowReader<'a> {
    pub names: &'a RecordNames,
    pub most_results: usize,
}

impl<'a> RowReader<'a> {
    /// The call in a row.
    pub fn call(
        &mut self,
        rows: &'a Column,
        row: usize,
        arena: &mut Arena<'a>,
    ) -> Read<SearchCall<'a>> {
        let (Kind::Struct(fields), Some(_)) = (&rows.kind, rows.place(row)?) else {
            return Err(Odd);
        };
        let mut call = SearchCall::empty();
        let mut entries = Entries::default();
        for Field { column, call_name, .. } in fields {
            if let Some(name) = call_name {
                let target = self.names.call.target(*name);
                self.put(&mut call, target, (column, row), arena, &mut entries)?;
            }
        }
        entries.add_to_call(&mut call, arena)?;
        complete(call)
    }

    fn result(&mut self, (items, row): Place<'a>, arena: &mut Arena<'a>) -> Read<SearchResult<'a>> {
        let (Kind::Struct(fields), Some(_)) = (&items.kind, items.place(row)?) else {
            return Err(Odd);
        };
        let mut result = SearchResult::default();
        let mut entries = Entries::default();
        for Field { column, result_name, .. } in fields {
            if let Some(name) = result_name {
                let target = self.names.result.target(*name);
                self.put(&mut result, target, (column, row), arena, &mut entries)?;
            }
        }
        entries.add_to(&mut result, arena)?;
        Ok(result)
    }
}

impl<'a> Source<'a> for RowReader<'a> {
    type Place = Place<'a>;
    type Stop = Odd;

    fn text(&mut self, (column, row): Place<'a>) -> Read<Option<&'a str>> {
        match (column.scalar(row)?, &column.kind) {
            (None, _) | (_, Kind::Null) => Ok(None),
            (Some(at), _) => column.text(at).map(Some),
        }
    }

    fn whole(&mut self, (column, row): Place<'a>) -> Read<Option<i64>> {
        let Some(at) = column.scalar(row)? else {
            return Ok(None);
        };
        match &column.kind {
            Kind::Null => Ok(None),
            Kind::Whole(numbers) => numbers.whole(at).map(Some),
            // Tables with missing values have doubles for whole numbers, and NaN for missing ones.
            Kind::Float(numbers) => match numbers.float(at)? {
                float if float.is_nan() => Ok(None),
                float if float.abs() < LARGEST_EXACT && float.fract() == 0.0 => {
                    Ok(Some(float as i64))
                }
                _ => Err(Odd),
            },
            _ => Err(Odd),
        }
    }

    fn flag(&mut self, (column, row): Place<'a>) -> Read<bool> {
        match (column.scalar(row)?, &column.kind) {
            (None, _) | (_, Kind::Null) => Ok(false),
            (Some(at), Kind::Flag(bits)) => bit(bits, at),
            _ => Err(Odd),
        }
    }

    fn number(&mut self, (column, row): Place<'a>) -> Read<Option<f64>> {
        match (column.scalar(row)?, &column.kind) {
            (None, _) | (_, Kind::Null) => Ok(None),
            (Some(at), Kind::Float(numbers)) => numbers.float(at).map(Some),
            (Some(at), Kind::Whole(numbers)) => Ok(Some(numbers.whole(at)? as f64)),
            _ => Err(Odd),
        }
    }

    fn millis(&mut self, place: Place<'a>) -> Read<Option<i128>> {
        let (column, row) = place;
        match (column.scalar(row)?, &column.kind) {
            (None, _) => Ok(None),
            (Some(at), Kind::Time(numbers, factor, divisor)) => {
                let stored = i128::from(numbers.whole(at)?) * i128::from(*factor);
                Ok(Some(stored.div_euclid(i128::from(*divisor))))
            }
            (Some(at), Kind::Text(..)) => millis_of_text(column.text(at)?).map(Some),
            _ => Ok(self.whole(place)?.map(i128::from)),
        }
    }

    /// A struct may stand for a map.
    fn object(
        &mut self,
        (column, row): Place<'a>,
        mut take: impl FnMut(&mut Self, &'a str, Place<'a>) -> Read<()>,
    ) -> Read<()> {
        let Some(at) = column.place(row)? else {
            return Ok(());
        };
        match &column.kind {
            Kind::Map(offsets, keys, values) => {
                for entry in offsets.extent(at)? {
                    let key = keys.text(keys.place(entry)?.ok_or(Odd)?)?;
                    take(self, key, (values, entry))?;
                }
                Ok(())
            }
            Kind::Struct(fields) => {
                fields.iter().try_for_each(|field| take(self, &field.name, (&field.column, row)))
            }
            Kind::Null => Ok(()),
            _ => Err(Odd),
        }
    }

    fn one_or_many(
        &mut self,
        place: Place<'a>,
        arena: &mut Arena<'a>,
        lists: bool,
    ) -> Read<Option<OneOrMany<'a>>> {
        let (column, row) = place;
        let Kind::List(offsets, items) = &column.kind else {
            return Ok(self.text(place)?.map(OneOrMany::One));
        };
        let Some(at) = column.place(row)? else {
            return Ok(None);
        };
        if !lists {
            return Err(Odd);
        }
        let start = arena.texts.len();
        for item in offsets.extent(at)? {
            arena.texts.extend(self.text((items, item))?);
        }
        Ok(arena.one_or_many_from(start))
    }

    fn texts(&mut self, (column, row): Place<'a>, arena: &mut Arena<'a>) -> Read<Option<Span>> {
        let Some(at) = column.place(row)? else {
            return Ok(None);
        };
        let start = arena.texts.len();
        match &column.kind {
            Kind::Null => return Ok(None),
            Kind::List(offsets, items) => {
                for item in offsets.extent(at)? {
                    arena.texts.extend(self.text((items, item))?);
                }
            }
            _ => return Err(Odd),
        }
        Ok(Some(Span { start, end: arena.texts.len() }))
    }

    /// Python makes texts of the values of maps.
    fn inside(
        &mut self,
        place: Place<'a>,
        take: impl FnMut(&mut Self, &'a str, Place<'a>) -> Read<()>,
    ) -> Read<()> {
        if matches!(place.0.kind, Kind::Map(..)) { Err(Odd) } else { self.object(place, take) }
    }

    fn skip(&mut self, _: Place<'a>) -> Read<()> {
        Ok(())
    }

    fn results(&mut self, (column, row): Place<'a>, arena: &mut Arena<'a>) -> Read<Span> {
        let start = arena.results.len();
        match (column.place(row)?, &column.kind) {
            (None, _) | (_, Kind::Null) => (),
            (Some(at), Kind::List(offsets, items)) => {
                let extent = offsets.extent(at)?;
                if extent.len() > self.most_results {
                    return Err(Odd);
                }
                for item in extent {
                    let result = self.result((items, item), arena)?;
                    arena.results.push(result);
                }
            }
            _ => return Err(Odd),
        }
        Ok(Span { start, end: arena.results.len() })
    }
}
