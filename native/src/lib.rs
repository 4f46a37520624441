//! Native reading, fingerprints and folds: turns bytes of trace files into the same payloads as
//! Python, and payloads into the parts of conversation rows. Tests check that both give the same
//! bytes. Each file mirrors the Python files named at its top, or says why there is none. This one
//! has none: it is the interface that `scoring/native_packing.py` calls.

mod arrow;
mod avro;
mod avro_codecs;
mod avro_schema;
mod avro_values;
mod best_labels;
mod blocks;
mod call_counts;
mod call_lists;
mod call_packing;
mod characters;
mod delivery;
mod document_labels;
mod duplicate_rows;
mod duplicates;
mod evidence;
mod exclusions;
mod external_labels;
mod fingerprint;
mod fold;
mod folder;
mod given_labels;
mod id_checks;
mod json;
mod key_names;
mod lines;
mod msgpack;
mod names;
mod normalise;
mod packing;
mod parquet_dictionary;
mod payload;
mod python;
mod record_encoding;
mod records;
mod rules;
mod sketch;
mod source;
mod times;
mod unpacking;
mod usage;
mod verification;

use std::cell::RefCell;
use std::sync::Arc;

use aho_corasick::{AhoCorasick, AhoCorasickKind};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::PyBytes;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::arrow::RowReader;
use crate::call_packing::{Output, Packing};
use crate::external_labels::{LabelKeys, LabelRequest, PlainLabelRequest};
use crate::lines::{Limits, TextPacker};
use crate::names::{CompiledNames, RecordNames};
use crate::packing::Packed;
use crate::python::{Fallback, RecordReader};
use crate::records::Arena;
use crate::rules::{ParameterNames, RuleTable, TextKey, UrlRules};
use crate::times::Times;

/// Increment it together with `FORMAT` in transforms/core/native.py if the bytes or the functions
/// change.
const FORMAT: u32 = 29;

/// Larger buffers for the content of a block are not kept for the next one.
const MOST_KEPT: usize = 1 << 20;

/// Conversation, payload, number of calls, the earliest time of a record, and the judgments that the
/// calls need.
type Given<'py> = Vec<(String, Bound<'py, PyBytes>, usize, i64, Option<PlainLabelRequest>)>;

/// Packed records, the timestamps of all that were read, and where reading stopped.
type Added<'py, T> = (Given<'py>, Vec<i64>, T);

/// How the blocks of a file are encoded.
#[pyclass(frozen)]
struct Plan(avro_schema::Plan);

#[pymethods]
impl Plan {
    #[new]
    fn new(
        types: &Bound<PyAny>,
        top: usize,
        scale: (i64, i64),
        most_results: usize,
        names: &CompiledNames,
    ) -> PyResult<Self> {
        avro_schema::Plan::new(types, top, scale, most_results, names.0.clone()).map(Plan)
    }
}

/// Rows whose columns are in Arrow's buffers.
#[pyclass(frozen)]
struct Rows {
    rows: arrow::Column,
    count: usize,
    names: Arc<RecordNames>,
}

#[pymethods]
impl Rows {
    /// Keep `count` rows that Python described.
    #[new]
    fn new(described: &Bound<PyAny>, count: usize, names: &CompiledNames) -> PyResult<Self> {
        let rows = arrow::Column::new(described, &names.0, 0)?;
        Ok(Rows { rows, count, names: names.0.clone() })
    }
}

/// Fingerprints records and joins those of one conversation.
#[pyclass]
struct Packer(packing::Packer);

#[pymethods]
impl Packer {
    #[new]
    fn new(
        rules: &Bound<PyAny>,
        fallback: Py<PyAny>,
        keep_records: bool,
        label_keys: Option<(String, Option<String>)>,
        most_buffered: usize,
        threads: usize,
        output: (bool, Option<Vec<String>>),
    ) -> PyResult<Self> {
        let packing = Packing {
            rules: read_rules(rules)?.into(),
            python: Fallback(fallback.into()),
            keep_records,
            label_keys: label_keys
                .map(|(id_name, topic_attribute)| LabelKeys { id_name, topic_attribute }),
            output: match output {
                (_, Some(all_but)) => Output::AllBut(all_but.into_iter().collect()),
                (true, None) => Output::Sketches,
                (false, None) => Output::Payloads,
            },
        };
        Ok(Packer(packing::Packer::new(packing, most_buffered, threads)))
    }

    /// Add a call that msgspec encoded as MessagePack.
    fn add<'py>(&mut self, py: Python<'py>, encoded: &[u8], at: i64) -> PyResult<Given<'py>> {
        let packing::Packer { calls, buffer, .. } = &mut self.0;
        let add = |out: &mut _| blocks::add_encoded(calls, buffer, encoded, |_| Some(at), out);
        Ok(given(py, add)?.0)
    }

    /// Add rejected records of a conversation.
    fn add_rejected<'py>(
        &mut self,
        py: Python<'py>,
        conversation_id: &str,
        records: i64,
        at: i64,
    ) -> PyResult<Given<'py>> {
        let buffer = &mut self.0.buffer;
        let add = |out: &mut _| {
            buffer.add_rejected(conversation_id, records, at, out);
            Ok(())
        };
        Ok(given(py, add)?.0)
    }

    /// Add lines from an offset up to the first one that Python must read; returns its offset, or
    /// None. These include records with more bytes or results than `limits`.
    ///
    /// With bounds, here and below, each record is at its own timestamp, clipped to them, in
    /// milliseconds, and Python must also read records without one. Also returns the timestamps, as
    /// they are in the records.
    fn add_lines<'py>(
        &mut self,
        py: Python<'py>,
        lines: &[u8],
        from: usize,
        limits: (usize, usize),
        names: &CompiledNames,
        bounds: Option<(i64, i64)>,
    ) -> PyResult<Added<'py, Option<usize>>> {
        self.add_text(py, limits, names, bounds, |packer, out| packer.add_lines(lines, from, out))
    }

    /// Add some elements of a JSON array from an offset like lines. Returns the offset of the next
    /// one, or None, whether Python must read that, and how many were added.
    fn add_elements<'py>(
        &mut self,
        py: Python<'py>,
        array: &[u8],
        from: usize,
        limits: (usize, usize),
        names: &CompiledNames,
        bounds: Option<(i64, i64)>,
    ) -> PyResult<Added<'py, (Option<usize>, bool, usize)>> {
        self.add_text(py, limits, names, bounds, |packer, out| {
            packer.add_elements(array, from, out)
        })
    }

    /// Add rows from a number up to the first one that Python must read; returns its number, or
    /// None.
    fn add_rows<'py>(
        &mut self,
        py: Python<'py>,
        rows: &Rows,
        from: usize,
        most_results: usize,
        bounds: Option<(i64, i64)>,
    ) -> PyResult<Added<'py, Option<usize>>> {
        let packer = &mut self.0;
        let mut times = Times::new(bounds);
        let (given, odd) =
            given(py, |out| add_rows(packer, rows, from, most_results, &mut times, out))?;
        Ok((given, times.timestamps, odd))
    }

    /// Add the records of a decompressed Avro block; or add nothing and return None. `read` takes
    /// the index and the bytes of a record that Python must read. It returns the encoded call, or
    /// None to leave the record out.
    fn add_block<'py>(
        &mut self,
        py: Python<'py>,
        plan: &Plan,
        content: &[u8],
        count: usize,
        read: Py<PyAny>,
        bounds: Option<(i64, i64)>,
    ) -> PyResult<Option<(Given<'py>, Vec<i64>)>> {
        let packer = &mut self.0;
        let reader = RecordReader(read);
        let mut times = Times::new(bounds);
        let (given, taken) = given(py, |out| {
            blocks::add_block(packer, &plan.0, content, count, &reader, &mut times, out)
        })?;
        Ok(taken.then_some((given, times.timestamps)))
    }

    /// Add blocks like `add_block` without bounds, but compressed, and by several threads. Each is
    /// its data, its number of records and `read`. Stops before a block that Python must read or
    /// that has more than `most` bytes, after one with a record that `read` leaves out, and at an
    /// error, which is returned beside what the blocks before it gave.
    fn add_blocks<'py>(
        &mut self,
        py: Python<'py>,
        plan: &Plan,
        codec: &str,
        blocks: Vec<(PyBackedBytes, usize, Py<PyAny>)>,
        most: usize,
    ) -> (Vec<Given<'py>>, Option<PyErr>) {
        let packer = &mut self.0;
        let blocks: Vec<_> = blocks
            .into_iter()
            .map(|(data, count, read)| blocks::Block { data, count, reader: RecordReader(read) })
            .collect();
        let mut out = Vec::new();
        let added =
            py.detach(|| blocks::add_blocks(packer, &plan.0, codec, &blocks, most, &mut out));
        (out.into_iter().map(|packed| rows(py, packed)).collect(), added.err())
    }

    /// One payload for each buffered conversation.
    fn rest<'py>(&mut self, py: Python<'py>) -> PyResult<Given<'py>> {
        let buffer = &mut self.0.buffer;
        let rest = |out: &mut _| {
            buffer.rest(out);
            Ok(())
        };
        Ok(given(py, rest)?.0)
    }
}

impl Packer {
    fn add_text<'py, T: Send>(
        &mut self,
        py: Python<'py>,
        (bytes, results): (usize, usize),
        CompiledNames(names): &CompiledNames,
        bounds: Option<(i64, i64)>,
        add: impl FnOnce(&mut TextPacker, &mut Vec<Packed>) -> PyResult<T> + Send,
    ) -> PyResult<Added<'py, T>> {
        let mut times = Times::new(bounds);
        let limits = Limits { bytes, results };
        let mut packer = TextPacker { packer: &mut self.0, names, limits, times: &mut times };
        let (given, result) = given(py, |out| add(&mut packer, out))?;
        Ok((given, times.timestamps, result))
    }
}

/// Runs work without the GIL; returns its result.
fn given<T: Send>(
    py: Python<'_>,
    work: impl FnOnce(&mut Vec<Packed>) -> PyResult<T> + Send,
) -> PyResult<(Given<'_>, T)> {
    let (packed, result) = py.detach(|| {
        let mut out = Vec::new();
        work(&mut out).map(|result| (out, result))
    })?;
    Ok((rows(py, packed), result))
}

fn rows(py: Python<'_>, packed: Vec<Packed>) -> Given<'_> {
    let rows = packed.into_iter().map(|one| {
        let payload = PyBytes::new(py, &one.payload);
        (
            one.conversation_id,
            payload,
            one.calls,
            one.earliest,
            one.label_request.map(LabelRequest::into_plain),
        )
    });
    rows.collect()
}

/// Add rows from a number; returns the number of the first one that Python must read.
fn add_rows(
    packer: &mut packing::Packer,
    Rows { rows, count, names }: &Rows,
    from: usize,
    most_results: usize,
    times: &mut Times,
    out: &mut Vec<Packed>,
) -> PyResult<Option<usize>> {
    let mut arena = Arena::for_bytes(records::MOST_ROOM);
    let mut reader = RowReader { names, most_results };
    for row in from..*count {
        let Ok(call) = reader.call(rows, row, &mut arena) else {
            return Ok(Some(row));
        };
        if packer.calls.leaves_to_python(&call) {
            return Ok(Some(row));
        }
        let Some(at) = times.of(&call) else {
            return Ok(Some(row));
        };
        packer.add(&call, &arena, at, out)?;
        arena.truncate([0; 4]);
    }
    Ok(None)
}

fn read_rules(rules: &Bound<PyAny>) -> PyResult<RuleTable> {
    fn get<'py, T>(rules: &Bound<'py, PyAny>, name: &str) -> PyResult<T>
    where
        T: for<'a> FromPyObject<'a, 'py, Error: Into<PyErr>>,
    {
        rules.get_item(name)?.extract().map_err(Into::into)
    }
    let numbers = |name: &str| -> PyResult<FxHashMap<String, u8>> {
        Ok(get::<Vec<(String, u8)>>(rules, name)?.into_iter().collect())
    };
    let names = |name: &str| -> PyResult<FxHashSet<String>> {
        Ok(get::<Vec<String>>(rules, name)?.into_iter().collect())
    };
    let parameters = |(names, prefixes): (Vec<String>, Vec<String>)| ParameterNames {
        names: names.into_iter().collect(),
        prefixes,
    };
    let definitive: Vec<Vec<String>> = get(rules, "definitive")?;
    Ok(RuleTable {
        type_numbers: numbers("type_numbers")?,
        definitive: definitive.into_iter().map(|ids| ids.into_iter().collect()).collect(),
        fields: numbers("fields")?,
        ids: numbers("ids")?,
        urls: UrlRules {
            ignored: parameters(get(rules, "ignored")?),
            ignored_on: get::<Vec<(String, (Vec<String>, Vec<String>))>>(rules, "ignored_on")?
                .into_iter()
                .map(|(domain, names)| (domain, parameters(names)))
                .collect(),
            needles: AhoCorasick::builder()
                .ascii_case_insensitive(true)
                .kind(Some(AhoCorasickKind::DFA))
                .prefilter(false) // it costs more than it saves in texts as short as URLs
                .build(get::<Vec<String>>(rules, "url_needles")?)
                .map_err(|error| PyValueError::new_err(error.to_string()))?,
        },
        stripped: names("stripped")?,
        url_parameters: numbers("url_parameters")?,
        time_fields: names("time_fields")?,
        text_keys: get::<Vec<(u8, usize, usize)>>(rules, "text_keys")?
            .into_iter()
            .map(|(attribute, prefix, keyed_from)| (attribute, TextKey { prefix, keyed_from }))
            .collect(),
    })
}

/// The content of an Avro block; None if it is left to Python.
#[pyfunction]
fn decompress<'py>(
    py: Python<'py>,
    codec: &str,
    data: &[u8],
    most: usize,
) -> Option<Bound<'py, PyBytes>> {
    thread_local! {
        static CONTENT: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
    }
    CONTENT.with_borrow_mut(|content| {
        let length = py.detach(|| avro_codecs::decompress(codec, data, content, most));
        let decompressed = length.map(|length| PyBytes::new(py, &content[..length]));
        if content.len() > MOST_KEPT {
            *content = Vec::new(); // also after a block that is refused for its length
        }
        decompressed
    })
}

/// The bytes of the longest of some texts in the dictionary of a Parquet column; None if there are
/// not `count` of them, or bytes are left.
#[pyfunction]
fn longest_text(py: Python<'_>, texts: &[u8], count: i64) -> Option<usize> {
    let count = u64::try_from(count).ok()?;
    py.detach(|| parquet_dictionary::longest_text(texts, count))
}

#[pymodule]
fn goodgain_native(module: &Bound<PyModule>) -> PyResult<()> {
    module.add("FORMAT", FORMAT)?;
    module.add("CALL_FIELDS", records::CALL_FIELDS.to_vec())?;
    module.add("RESULT_FIELDS", records::RESULT_FIELDS.to_vec())?;
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_function(wrap_pyfunction!(decompress, module)?)?;
    module.add_function(wrap_pyfunction!(longest_text, module)?)?;
    module.add_class::<CompiledNames>()?;
    module.add_class::<Plan>()?;
    module.add_class::<Rows>()?;
    module.add_class::<Packer>()?;
    module.add_class::<folder::Folder>()
}
