//! The canonical encoding of a record (SPEC 3): `canonical_encoding` of `records/search_call.py`.
//!
//! JSON with sorted keys and no white space, with numbers and escapes as msgspec writes them.

use std::io::Write;

use pyo3::PyResult;

use crate::record_encoding::decode_call;
use crate::records::{Arena, Number, OneOrMany, SearchCall, SearchResult};

const HEX: &[u8; 16] = b"0123456789abcdef";

/// The canonical encoding of a call.
pub fn canonical_encoding(call: &SearchCall, arena: &Arena) -> Vec<u8> {
    let mut out = Vec::new();
    let to = &mut out;
    to.extend_from_slice(b"{\"action\":");
    write_text(to, call.action);
    to.extend_from_slice(b",\"attributes\":");
    write_map(to, arena.pairs_of(call.attributes), |to, value| write_texts(to, value, arena));
    to.extend_from_slice(b",\"call\":");
    write_optional(to, call.call, write_int);
    to.extend_from_slice(b",\"conversation_id\":");
    write_text(to, call.conversation_id);
    to.extend_from_slice(b",\"costs\":");
    write_map(to, arena.costs_of(call.costs), |to, cost| write_number(to, *cost));
    to.extend_from_slice(b",\"error\":");
    write_optional(to, call.error, write_text);
    to.extend_from_slice(b",\"is_final\":");
    to.extend_from_slice(if call.is_final { b"true" } else { b"false" });
    to.extend_from_slice(b",\"iteration\":");
    write_int(to, call.iteration);
    to.extend_from_slice(b",\"query\":");
    write_optional(to, call.query, write_text);
    to.extend_from_slice(b",\"record_id\":");
    write_optional(to, call.record_id, write_text);
    to.extend_from_slice(b",\"results\":");
    write_list(to, arena.results_of(call.results), |to, result| write_result(to, result, arena));
    to.extend_from_slice(b",\"timestamp\":");
    write_optional(to, call.timestamp, write_int);
    to.extend_from_slice(b",\"tool\":");
    write_optional(to, call.tool, write_text);
    to.extend_from_slice(b",\"turn\":");
    write_int(to, call.turn);
    to.extend_from_slice(b",\"turn_count\":");
    write_optional(to, call.turn_count, write_int);
    to.push(b'}');
    out
}

/// The canonical encoding of a call, from its `record_encoding`.
pub fn canonical_encoding_of(encoded: &[u8]) -> PyResult<Vec<u8>> {
    let mut arena = Arena::for_bytes(encoded.len());
    let call = decode_call(encoded, &mut arena)?;
    Ok(canonical_encoding(&call, &arena))
}

fn write_result(to: &mut Vec<u8>, result: &SearchResult, arena: &Arena) {
    to.extend_from_slice(b"{\"content\":");
    write_optional(to, result.content, write_text);
    to.extend_from_slice(b",\"entity_type\":");
    write_optional(to, result.entity_type, write_text);
    to.extend_from_slice(b",\"fields\":");
    write_map(to, arena.pairs_of(result.fields), |to, value| write_texts(to, value, arena));
    to.extend_from_slice(b",\"gain\":");
    write_optional(to, result.gain, write_int);
    to.extend_from_slice(b",\"id\":");
    write_optional(to, result.id, write_text);
    to.extend_from_slice(b",\"ids\":");
    write_map(to, arena.pairs_of(result.ids), |to, value| write_texts(to, value, arena));
    to.extend_from_slice(b",\"reference_id\":");
    write_optional(to, result.reference_id, write_text);
    to.extend_from_slice(b",\"score\":");
    write_optional(to, result.score, write_number);
    to.extend_from_slice(b",\"snippet\":");
    write_optional(to, result.snippet, write_text);
    to.extend_from_slice(b",\"title\":");
    write_optional(to, result.title, write_text);
    to.extend_from_slice(b",\"url\":");
    write_optional(to, result.url, write_text);
    to.push(b'}');
}

fn write_map<V>(to: &mut Vec<u8>, pairs: &[(&str, V)], write_value: impl Fn(&mut Vec<u8>, &V)) {
    let mut sorted: Vec<_> = pairs.iter().collect();
    sorted.sort_unstable_by_key(|pair| pair.0);
    to.push(b'{');
    for (place, (key, value)) in sorted.into_iter().enumerate() {
        if place > 0 {
            to.push(b',');
        }
        write_text(to, key);
        to.push(b':');
        write_value(to, value);
    }
    to.push(b'}');
}

fn write_list<V>(to: &mut Vec<u8>, values: &[V], write_value: impl Fn(&mut Vec<u8>, &V)) {
    to.push(b'[');
    for (place, value) in values.iter().enumerate() {
        if place > 0 {
            to.push(b',');
        }
        write_value(to, value);
    }
    to.push(b']');
}

fn write_texts(to: &mut Vec<u8>, value: &OneOrMany, arena: &Arena) {
    match value {
        OneOrMany::One(text) => write_text(to, text),
        OneOrMany::Many(span) => {
            write_list(to, arena.texts_of(*span), |to, text| write_text(to, text));
        }
    }
}

fn write_optional<V>(to: &mut Vec<u8>, value: Option<V>, write: impl Fn(&mut Vec<u8>, V)) {
    match value {
        Some(value) => write(to, value),
        None => to.extend_from_slice(b"null"),
    }
}

fn write_int(to: &mut Vec<u8>, number: i64) {
    // To write into a vector cannot fail.
    let _ = write!(to, "{number}");
}

fn write_number(to: &mut Vec<u8>, number: Number) {
    match number {
        Number::Int(number) => write_int(to, number),
        Number::Float(number) => write_float(to, number),
    }
}

/// The shortest digits that give the number back, the even ones of two; null if it is not finite.
fn write_float(to: &mut Vec<u8>, number: f64) {
    if number.is_finite() {
        to.extend_from_slice(ryu::Buffer::new().format_finite(number).as_bytes());
    } else {
        to.extend_from_slice(b"null");
    }
}

fn write_text(to: &mut Vec<u8>, text: &str) {
    to.push(b'"');
    let mut rest = text.as_bytes();
    while let Some(place) = rest.iter().position(|byte| needs_escape(*byte)) {
        to.extend_from_slice(&rest[..place]);
        write_escaped(to, rest[place]);
        rest = &rest[place + 1..];
    }
    to.extend_from_slice(rest);
    to.push(b'"');
}

fn needs_escape(byte: u8) -> bool {
    byte < 0x20 || byte == b'"' || byte == b'\\'
}

fn write_escaped(to: &mut Vec<u8>, byte: u8) {
    match byte {
        b'"' | b'\\' => to.extend([b'\\', byte]),
        0x08 => to.extend_from_slice(b"\\b"),
        b'\t' => to.extend_from_slice(b"\\t"),
        b'\n' => to.extend_from_slice(b"\\n"),
        0x0c => to.extend_from_slice(b"\\f"),
        b'\r' => to.extend_from_slice(b"\\r"),
        _ => {
            to.extend_from_slice(b"\\u00");
            to.extend([HEX[usize::from(byte >> 4)], HEX[usize::from(byte & 0xf)]]);
        }
    }
}
