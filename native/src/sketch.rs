//! Sketches of calls, by which traces are described without being scored: `scoring/sketches.py`.

use pyo3::PyResult;

use crate::call_packing::packed_attributes;
use crate::fingerprint::{Fingerprinter, Names};
use crate::msgpack::{
    write_array, write_bool, write_bytes, write_int, write_optional_int, write_optional_text,
    write_text,
};
use crate::records::{Arena, OneOrMany, SearchCall, SearchResult, Span};

/// A `CallSketch` in MessagePack; each of its results is one `ResultSketch`, as bytes.
pub fn sketch_of(
    call: &SearchCall,
    record_digest: &[u8; 16],
    arena: &Arena,
    fingerprinter: &mut Fingerprinter,
) -> PyResult<Vec<u8>> {
    let mut out = Vec::new();
    write_array(&mut out, 10);
    write_text(&mut out, call.conversation_id);
    write_int(&mut out, call.turn);
    write_int(&mut out, call.iteration);
    write_optional_int(&mut out, call.call);
    write_text(&mut out, call.action);
    write_optional_text(&mut out, call.record_id);
    write_optional_int(&mut out, call.timestamp);
    write_bytes(&mut out, record_digest);
    out.extend_from_slice(&packed_attributes(call, arena));
    let results = arena.results_of(call.results);
    write_array(&mut out, results.len());
    let (mut names, mut one) = (Names::default(), Vec::new());
    for result in results {
        fingerprinter.add(result, arena, &mut names)?;
        one.clear();
        write_result(&mut one, result, &fingerprinter.codes, arena);
        write_bytes(&mut out, &one);
    }
    Ok(out)
}

fn write_result(out: &mut Vec<u8>, result: &SearchResult, codes: &[u8], arena: &Arena) {
    write_array(out, 6);
    write_optional_text(out, result.entity_type);
    write_optional_int(out, result.gain);
    write_bool(out, result.score.is_some());
    write_bytes(out, codes);
    write_names(out, result.ids, arena);
    write_names(out, result.fields, arena);
}

fn write_names(out: &mut Vec<u8>, span: Span, arena: &Arena) {
    let pairs: &[(&str, OneOrMany)] = arena.pairs_of(span);
    write_array(out, pairs.len());
    for (name, _) in pairs {
        write_text(out, name);
    }
}
