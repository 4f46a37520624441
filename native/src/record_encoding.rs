//! A record as msgspec encodes it in MessagePack, and its digest: `records/record_encoding.py`.

use pyo3::PyResult;
use pyo3::exceptions::PyValueError;
use xxhash_rust::xxh3::xxh3_128;

use crate::msgpack::{
    Malformed, Reader, write_array, write_bool, write_float, write_int, write_map, write_null,
    write_optional_int, write_optional_text, write_text,
};
use crate::records::{
    Arena, CALL_FIELDS, Number, OneOrMany, RESULT_FIELDS, SearchCall, SearchResult, Span,
};

/// Append a number or null.
pub fn write_optional_number(out: &mut Vec<u8>, number: Option<Number>) {
    match number {
        Some(number) => write_number(out, number),
        None => write_null(out),
    }
}

fn write_number(out: &mut Vec<u8>, number: Number) {
    match number {
        Number::Int(number) => write_int(out, number),
        Number::Float(number) => write_float(out, number),
    }
}

/// A 128-bit digest of a record's encoding.
pub fn record_digest(encoded: &[u8]) -> [u8; 16] {
    xxh3_128(encoded).to_be_bytes()
}

/// Append a call as msgspec encodes it with `order="deterministic"`: maps sorted by key.
pub fn encode_call(out: &mut Vec<u8>, call: &SearchCall, arena: &Arena) {
    let mut names = CALL_FIELDS.iter();
    let mut name = |out: &mut Vec<u8>| write_text(out, names.next().unwrap_or(&""));
    write_map(out, CALL_FIELDS.len());
    name(out);
    write_text(out, call.conversation_id);
    name(out);
    write_int(out, call.iteration);
    name(out);
    write_int(out, call.turn);
    name(out);
    write_optional_int(out, call.call);
    name(out);
    write_optional_text(out, call.record_id);
    name(out);
    write_optional_int(out, call.timestamp);
    name(out);
    write_optional_text(out, call.query);
    name(out);
    write_optional_text(out, call.tool);
    name(out);
    write_optional_int(out, call.turn_count);
    name(out);
    write_bool(out, call.is_final);
    name(out);
    write_text(out, call.action);
    name(out);
    write_optional_text(out, call.error);
    name(out);
    encode_sorted(out, arena.pairs_of(call.attributes), arena);
    name(out);
    encode_sorted(out, arena.costs_of(call.costs), arena);
    name(out);
    let results = arena.results_of(call.results);
    write_array(out, results.len());
    for result in results {
        encode_result(out, result, arena);
    }
}

fn encode_result(out: &mut Vec<u8>, result: &SearchResult, arena: &Arena) {
    // Constant: a map of 11 fields, and each name with its header byte.
    out.extend_from_slice(b"\x8b\xabentity_type");
    write_optional_text(out, result.entity_type);
    out.extend_from_slice(b"\xa2id");
    write_optional_text(out, result.id);
    out.extend_from_slice(b"\xa3ids");
    encode_sorted(out, arena.pairs_of(result.ids), arena);
    out.extend_from_slice(b"\xa3url");
    write_optional_text(out, result.url);
    out.extend_from_slice(b"\xa5title");
    write_optional_text(out, result.title);
    out.extend_from_slice(b"\xa7snippet");
    write_optional_text(out, result.snippet);
    out.extend_from_slice(b"\xa7content");
    write_optional_text(out, result.content);
    out.extend_from_slice(b"\xa6fields");
    encode_sorted(out, arena.pairs_of(result.fields), arena);
    out.extend_from_slice(b"\xa4gain");
    write_optional_int(out, result.gain);
    out.extend_from_slice(b"\xa5score");
    write_optional_number(out, result.score);
    out.extend_from_slice(b"\xacreference_id");
    write_optional_text(out, result.reference_id);
}

fn encode_sorted<V: Value>(out: &mut Vec<u8>, pairs: &[(&str, V)], arena: &Arena) {
    if pairs.is_sorted_by_key(|pair| pair.0) {
        encode_pairs(out, pairs.iter(), arena);
    } else {
        let mut sorted: Vec<_> = pairs.iter().collect();
        sorted.sort_unstable_by_key(|pair| pair.0);
        encode_pairs(out, sorted.into_iter(), arena);
    }
}

/// A value in a map.
pub trait Value {
    /// Append the value.
    fn encode(&self, out: &mut Vec<u8>, arena: &Arena);
}

impl Value for OneOrMany<'_> {
    fn encode(&self, out: &mut Vec<u8>, arena: &Arena) {
        match self {
            OneOrMany::One(text) => write_text(out, text),
            OneOrMany::Many(span) => {
                let texts = arena.texts_of(*span);
                write_array(out, texts.len());
                for text in texts {
                    write_text(out, text);
                }
            }
        }
    }
}

impl Value for Number {
    fn encode(&self, out: &mut Vec<u8>, _: &Arena) {
        write_number(out, *self);
    }
}

/// Append a map with its pairs in the order given.
pub fn encode_pairs<'p, 'a: 'p, V: Value + 'p>(
    out: &mut Vec<u8>,
    pairs: impl ExactSizeIterator<Item = &'p (&'a str, V)>,
    arena: &Arena,
) {
    write_map(out, pairs.len());
    for (key, value) in pairs {
        write_text(out, key);
        value.encode(out, arena);
    }
}

/// Read a call encoded by msgspec, with maps in any order.
pub fn decode_call<'a>(encoded: &'a [u8], arena: &mut Arena<'a>) -> PyResult<SearchCall<'a>> {
    read_call(encoded, arena).map_err(|_| PyValueError::new_err("not an encoded search call"))
}

fn read_call<'a>(encoded: &'a [u8], arena: &mut Arena<'a>) -> Result<SearchCall<'a>, Malformed> {
    let mut reader = Reader::new(encoded);
    let read = &mut reader;
    let mut call = SearchCall::empty();
    let mut fields = Fields::begin(read, &CALL_FIELDS)?;
    call.conversation_id = fields.next(read)?.text()?;
    call.iteration = fields.next(read)?.int()?;
    call.turn = fields.next(read)?.int()?;
    call.call = fields.next(read)?.optional(Reader::int)?;
    call.record_id = fields.next(read)?.optional(Reader::text)?;
    call.timestamp = fields.next(read)?.optional(Reader::int)?;
    call.query = fields.next(read)?.optional(Reader::text)?;
    call.tool = fields.next(read)?.optional(Reader::text)?;
    call.turn_count = fields.next(read)?.optional(Reader::int)?;
    call.is_final = fields.next(read)?.boolean()?;
    call.action = fields.next(read)?.text()?;
    call.error = fields.next(read)?.optional(Reader::text)?;
    call.attributes = decode_map(fields.next(read)?, arena)?;
    call.costs = decode_costs(fields.next(read)?, arena)?;
    let length = fields.next(read)?.array()?;
    call.results.start = arena.results.len();
    for _ in 0..length {
        let result = decode_result(read, arena)?;
        arena.results.push(result);
    }
    call.results.end = arena.results.len();
    if reader.at_end() { Ok(call) } else { Err(Malformed) }
}

fn decode_result<'a>(
    read: &mut Reader<'a>,
    arena: &mut Arena<'a>,
) -> Result<SearchResult<'a>, Malformed> {
    let mut fields = Fields::begin(read, &RESULT_FIELDS)?;
    Ok(SearchResult {
        entity_type: fields.next(read)?.optional(Reader::text)?,
        id: fields.next(read)?.optional(Reader::text)?,
        ids: decode_map(fields.next(read)?, arena)?,
        url: fields.next(read)?.optional(Reader::text)?,
        title: fields.next(read)?.optional(Reader::text)?,
        snippet: fields.next(read)?.optional(Reader::text)?,
        content: fields.next(read)?.optional(Reader::text)?,
        fields: decode_map(fields.next(read)?, arena)?,
        gain: fields.next(read)?.optional(Reader::int)?,
        score: fields.next(read)?.optional(decode_number)?,
        reference_id: fields.next(read)?.optional(Reader::text)?,
    })
}

/// The fields of an encoded struct, all present and in order.
struct Fields {
    names: std::slice::Iter<'static, &'static str>,
}

impl Fields {
    fn begin(read: &mut Reader, names: &'static [&'static str]) -> Result<Self, Malformed> {
        if read.map()? == names.len() { Ok(Fields { names: names.iter() }) } else { Err(Malformed) }
    }

    fn next<'r, 'a>(&mut self, read: &'r mut Reader<'a>) -> Result<&'r mut Reader<'a>, Malformed> {
        let expected = self.names.next().ok_or(Malformed)?;
        if read.text()? == *expected { Ok(read) } else { Err(Malformed) }
    }
}

fn decode_number(read: &mut Reader) -> Result<Number, Malformed> {
    if read.is_float() { read.float().map(Number::Float) } else { read.int().map(Number::Int) }
}

fn decode_costs<'a>(read: &mut Reader<'a>, arena: &mut Arena<'a>) -> Result<Span, Malformed> {
    let start = arena.costs.len();
    for _ in 0..read.map()? {
        let cost = (read.text()?, decode_number(read)?);
        arena.costs.push(cost);
    }
    Ok(Span { start, end: arena.costs.len() })
}

fn decode_map<'a>(read: &mut Reader<'a>, arena: &mut Arena<'a>) -> Result<Span, Malformed> {
    let start = arena.pairs.len();
    for _ in 0..read.map()? {
        let key = read.text()?;
        let value = if read.is_array() {
            let first = arena.texts.len();
            for _ in 0..read.array()? {
                arena.texts.push(read.text()?);
            }
            OneOrMany::Many(Span { start: first, end: arena.texts.len() })
        } else {
            OneOrMany::One(read.text()?)
        };
        arena.pairs.push((key, value));
    }
    Ok(Span { start, end: arena.pairs.len() })
}
