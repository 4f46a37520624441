//! Calls Python for strings and records that are not plain.

use std::sync::OnceLock;

use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::characters::Characters;
use crate::normalise::Query;

// One per process, since a process has one Python.
static CHARACTERS: OnceLock<Characters> = OnceLock::new();

/// The Python object for strings and records that are not plain (`scoring/native_packing.py`).
pub struct Fallback(pub Py<PyAny>);

/// The outcome of a record that native code leaves to Python.
pub enum HandedBack {
    /// A usable call, encoded by msgspec.
    Usable(Vec<u8>),
    /// A rejected record, and the conversation that it names.
    Rejected(Option<String>),
}

impl Fallback {
    pub fn clone_ref(&self) -> Self {
        Python::attach(|py| Fallback(self.0.clone_ref(py)))
    }

    /// The table of characters, made on first use.
    pub fn characters(&self) -> PyResult<&'static Characters> {
        if let Some(made) = CHARACTERS.get() {
            return Ok(made);
        }
        let forms: Vec<Option<String>> =
            Python::attach(|py| self.0.call_method0(py, "characters")?.extract(py))?;
        Ok(CHARACTERS.get_or_init(|| Characters::new(&forms)))
    }

    pub fn text(&self, text: &str) -> PyResult<String> {
        Python::attach(|py| self.0.call_method1(py, "text", (text,))?.extract(py))
    }

    /// The id and its casefolded form.
    pub fn identifier(&self, value: &str) -> PyResult<(String, String)> {
        Python::attach(|py| self.0.call_method1(py, "identifier", (value,))?.extract(py))
    }

    pub fn instant(&self, text: &str) -> PyResult<Option<i64>> {
        Python::attach(|py| self.0.call_method1(py, "instant", (text,))?.extract(py))
    }

    pub fn entity_type(&self, written: &str) -> PyResult<String> {
        Python::attach(|py| self.0.call_method1(py, "entity_type", (written,))?.extract(py))
    }

    /// See `normalise_plain_url`.
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

    /// The canonical encoding of a call that was encoded by msgspec.
    pub fn encoding(&self, encoded: &[u8]) -> PyResult<Vec<u8>> {
        Python::attach(|py| {
            self.0.call_method1(py, "encoding", (PyBytes::new(py, encoded),))?.extract(py)
        })
    }
}

/// Reads the records of a block that are left to Python.
pub struct RecordReader(pub Py<PyAny>);

impl RecordReader {
    /// Let Python read the record at these bytes of a block.
    pub fn record(&self, index: usize, content: &[u8]) -> PyResult<HandedBack> {
        Python::attach(|py| {
            let answer = self.0.call1(py, (index, PyBytes::new(py, content)))?;
            if let Ok(encoded) = answer.cast_bound::<PyBytes>(py) {
                return Ok(HandedBack::Usable(encoded.as_bytes().to_vec()));
            }
            Ok(HandedBack::Rejected(answer.extract(py)?))
        })
    }
}
