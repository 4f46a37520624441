//! Calls Python for strings and records that native code does not handle.
//!
//! It mirrors no Python file: `Fallback` of `scoring/native_fallback.py` is what it calls.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use pyo3::prelude::*;
use pyo3::sync::MutexExt;
use pyo3::types::PyBytes;

use crate::characters::Characters;
use crate::normalise::Query;

// One per process, since a process has one Python.
static CHARACTERS: OnceLock<Characters> = OnceLock::new();
static MAKING: Mutex<()> = Mutex::new(());

/// The Python object that handles strings which native code does not: `Fallback` of
/// `scoring/native_fallback.py`, which has the methods that are called here.
#[derive(Clone)]
pub struct Fallback(pub Arc<Py<PyAny>>);

impl Fallback {
    /// The table of the normal forms of single characters, made on first use.
    pub fn characters(&self) -> PyResult<&'static Characters> {
        if let Some(made) = CHARACTERS.get() {
            return Ok(made);
        }
        Python::attach(|py| {
            // Python may run another thread meanwhile, which needs the table, too.
            let _making = MAKING.lock_py_attached(py).unwrap_or_else(PoisonError::into_inner);
            if let Some(made) = CHARACTERS.get() {
                return Ok(made);
            }
            let forms: Vec<Option<String>> = self.0.call_method0(py, "characters")?.extract(py)?;
            Ok(CHARACTERS.get_or_init(|| Characters::new(&forms)))
        })
    }

    pub fn text(&self, text: &str) -> PyResult<String> {
        Python::attach(|py| self.0.call_method1(py, "text", (text,))?.extract(py))
    }

    /// The normal form of a query.
    pub fn query(&self, query: &str) -> PyResult<Vec<u8>> {
        Python::attach(|py| self.0.call_method1(py, "query", (query,))?.extract(py))
    }

    /// The normal form of an id of a name, and its casefolded form, by which candidates are found.
    pub fn identifier(&self, name: &str, value: &str) -> PyResult<(String, String)> {
        Python::attach(|py| self.0.call_method1(py, "identifier", (name, value))?.extract(py))
    }

    pub fn instant(&self, text: &str) -> PyResult<Option<i64>> {
        Python::attach(|py| self.0.call_method1(py, "instant", (text,))?.extract(py))
    }

    pub fn entity_type(&self, written: &str) -> PyResult<String> {
        Python::attach(|py| self.0.call_method1(py, "entity_type", (written,))?.extract(py))
    }

    /// The query of a URL; writes its host and path into `place`. See `normalise_plain_url`.
    pub fn url(&self, url: &str, place: &mut Vec<u8>) -> PyResult<Option<Query<'static>>> {
        type Parts = Option<(String, String, Vec<(String, String)>)>;
        let parts: Parts =
            Python::attach(|py| self.0.call_method1(py, "url", (url,))?.extract(py))?;
        Ok(parts.map(|(host, path, query)| {
            place.clear();
            place.extend_from_slice(host.as_bytes());
            place.push(b'\n');
            place.extend_from_slice(path.as_bytes());
            query.into_iter().map(|(name, value)| (name.into(), value.into())).collect()
        }))
    }
}

/// The Python function that reads the records of a block which native code cannot.
pub struct RecordReader(pub Py<PyAny>);

impl RecordReader {
    /// Let Python read the record at these bytes of a block: the call as encoded by msgspec, or None.
    pub fn record(&self, index: usize, content: &[u8]) -> PyResult<Option<Vec<u8>>> {
        Python::attach(|py| self.0.call1(py, (index, PyBytes::new(py, content)))?.extract(py))
    }
}
