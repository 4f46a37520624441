//! Where the fields of a producer's records go: `records/renames.py`, `records/adaptation.py`.
//!
//! Python compiles the names (`records/compiled_names.py`), those of a record without an adaptation too.

use std::sync::Arc;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyAny;

use crate::source::Odd;

/// Most names at one level, since `first` takes a bit for each.
const MOST_NAMES: usize = u64::BITS as usize;
/// Greatest nesting of levels.
const DEEPEST: usize = 16;

/// The names in objects at one level of a record.
#[derive(Default)]
pub struct Names {
    names: Vec<String>,
    targets: Vec<Target>,
}

/// Where the value under a name goes.
pub enum Target {
    /// To the field with this number.
    Field(usize),
    /// Into the map in the field with this number, under a key, which has a place among all keys.
    Entry(usize, String, usize),
    /// It is an object with values of its own.
    Inside(Names),
    /// What it means depends on other values, so Python reads the record.
    Python,
}

/// The names of records and of their results.
pub struct RecordNames {
    pub call: Names,
    pub result: Names,
}

/// Names that Python compiled.
#[pyclass(frozen)]
pub struct CompiledNames(pub Arc<RecordNames>);

#[pymethods]
impl CompiledNames {
    #[new]
    fn new(call: &Bound<PyAny>, result: &Bound<PyAny>) -> PyResult<Self> {
        let (call, result) = (Names::new(call, 0)?, Names::new(result, 0)?);
        Ok(CompiledNames(Arc::new(RecordNames { call, result })))
    }
}

impl Names {
    /// From a list of names, each with the number of a field or None, the key and place of an entry
    /// or None, and the names inside of it or None.
    fn new(described: &Bound<PyAny>, depth: usize) -> PyResult<Self> {
        type Described<'py> =
            (String, Option<usize>, Option<(String, usize)>, Option<Bound<'py, PyAny>>);
        let mut level = Names::default();
        for one in described.try_iter()? {
            let (name, field, entry, inside): Described = one?.extract()?;
            let target = match (field, entry, inside) {
                (Some(field), None, None) => Target::Field(field),
                (Some(field), Some((key, place)), None) => Target::Entry(field, key, place),
                (None, None, Some(names)) => Target::Inside(Names::new(&names, depth + 1)?),
                _ => Target::Python,
            };
            level.names.push(name);
            level.targets.push(target);
        }
        if depth > DEEPEST || level.names.len() > MOST_NAMES {
            return Err(PyValueError::new_err("too many names"));
        }
        Ok(level)
    }

    /// The number of a name here; None if it is not one of them.
    pub fn number(&self, name: &str) -> Option<usize> {
        self.names.iter().position(|known| known == name)
    }

    /// Where the value under the name with this number goes.
    pub fn target(&self, number: usize) -> &Target {
        &self.targets[number]
    }

    /// Where the value under a name goes; None if nowhere. `seen` has a bit for each name, since a
    /// name must not be repeated.
    pub fn first(&self, name: &str, seen: &mut u64) -> Result<Option<&Target>, Odd> {
        // Most records have their names in this order.
        let behind_the_last = (u64::BITS - seen.leading_zeros()) as usize;
        let (before, behind) = self.names.split_at(behind_the_last);
        let found = behind.iter().position(|known| known == name).map(|at| behind_the_last + at);
        let Some(number) = found.or_else(|| before.iter().position(|known| known == name)) else {
            return Ok(None);
        };
        let before = *seen;
        *seen |= 1 << number;
        if before == *seen { Err(Odd) } else { Ok(Some(self.target(number))) }
    }
}
