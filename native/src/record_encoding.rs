//! A record as msgspec encodes it in MessagePack, and its digest: `records/record_encoding.py`.

use pyo3::PyResult;
use pyo3::exceptions::PyValueError;
use xxhash_rust::xxh3::xxh3_128;

use crate::msgpack::{
    Malformed, Reader, write_array, write_bool, write_float, write_int, write_map, write_null,
    write_optional_int, write_optional_text, write_text,
};
use crate::records::{Arena, CALL_FIELDS, Number, OneOrMany, SearchCall, SearchResult, Span};

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

/// Append a call as msgspec encodes it with `order="sorted"`: a map by field name, all keys sorted.
pub fn encode_call(out: &mut Vec<u8>, call: &SearchCall, arena: &Arena) {
    write_map(out, CALL_FIELDS.len());
    write_text(out, "action");
    write_text(out, call.action);
    write_text(out, "attributes");
    encode_sorted(out, arena.pairs_of(call.attributes), arena);
    write_text(out, "call");
    write_optional_int(out, call.call);
    write_text(out, "conversation_id");
    write_text(out, call.conversation_id);
    write_text(out, "costs");
    encode_sorted(out, arena.numbers_of(call.costs), arena);
    write_text(out, "error");
    write_optional_text(out, call.error);
    write_text(out, "is_final");
    write_bool(out, call.is_final);
    write_text(out, "iteration");
    write_int(out, call.iteration);
    write_text(out, "outcomes");
    encode_sorted(out, arena.numbers_of(call.outcomes), arena);
    write_text(out, "query");
    write_optional_text(out, call.query);
    write_text(out, "record_id");
    write_optional_text(out, call.record_id);
    write_text(out, "results");
    let results = arena.results_of(call.results);
    write_array(out, results.len());
    for result in results {
        encode_result(out, result, arena);
    }
    write_text(out, "timestamp");
    write_optional_int(out, call.timestamp);
    write_text(out, "tool");
    write_optional_text(out, call.tool);
    write_text(out, "turn");
    write_int(out, call.turn);
    write_text(out, "turn_count");
    write_optional_int(out, call.turn_count);
}

fn encode_result(out: &mut Vec<u8>, result: &SearchResult, arena: &Arena) {
    // Constant: a map of 12 fields, and each name with its header byte.
    out.extend_from_slice(b"\x8c\xa7aspects");
    match result.aspects {
        Some(aspects) => write_texts(out, arena.texts_of(aspects)),
        None => write_null(out),
    }
    out.extend_from_slice(b"\xa7content");
    write_optional_text(out, result.content);
    out.extend_from_slice(b"\xabentity_type");
    write_optional_text(out, result.entity_type);
    out.extend_from_slice(b"\xa6fields");
    encode_sorted(out, arena.pairs_of(result.fields), arena);
    out.extend_from_slice(b"\xa4gain");
    write_optional_int(out, result.gain);
    out.extend_from_slice(b"\xa2id");
    write_optional_text(out, result.id);
    out.extend_from_slice(b"\xa3ids");
    encode_sorted(out, arena.pairs_of(result.ids), arena);
    out.extend_from_slice(b"\xacreference_id");
    write_optional_text(out, result.reference_id);
    out.extend_from_slice(b"\xa5score");
    write_optional_number(out, result.score);
    out.extend_from_slice(b"\xa7snippet");
    write_optional_text(out, result.snippet);
    out.extend_from_slice(b"\xa5title");
    write_optional_text(out, result.title);
    out.extend_from_slice(b"\xa3url");
    write_optional_text(out, result.url);
}

fn write_texts(out: &mut Vec<u8>, texts: &[&str]) {
    write_array(out, texts.len());
    for text in texts {
        write_text(out, text);
    }
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
            OneOrMany::Many(span) => write_texts(out, arena.texts_of(*span)),
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

/// Read a call that msgspec encoded, with fields and maps in any order.
pub fn decode_call<'a>(encoded: &'a [u8], arena: &mut Arena<'a>) -> PyResult<SearchCall<'a>> {
    read_call(encoded, arena).map_err(|_| PyValueError::new_err("not an encoded search call"))
}

fn read_call<'a>(encoded: &'a [u8], arena: &mut Arena<'a>) -> Result<SearchCall<'a>, Malformed> {
    let mut reader = Reader::new(encoded);
    let read = &mut reader;
    let mut call = SearchCall::empty();
    for _ in 0..read.map()? {
        match read.text()? {
            "action" => call.action = read.text()?,
            "attributes" => call.attributes = decode_map(read, arena)?,
            "call" => call.call = read.optional(Reader::int)?,
            "conversation_id" => call.conversation_id = read.text()?,
            "costs" => call.costs = decode_numbers(read, arena)?,
            "error" => call.error = read.optional(Reader::text)?,
            "is_final" => call.is_final = read.boolean()?,
            "iteration" => call.iteration = read.int()?,
            "outcomes" => call.outcomes = decode_numbers(read, arena)?,
            "query" => call.query = read.optional(Reader::text)?,
            "record_id" => call.record_id = read.optional(Reader::text)?,
            "results" => call.results = decode_results(read, arena)?,
            "timestamp" => call.timestamp = read.optional(Reader::int)?,
            "tool" => call.tool = read.optional(Reader::text)?,
            "turn" => call.turn = read.int()?,
            "turn_count" => call.turn_count = read.optional(Reader::int)?,
            _ => return Err(Malformed),
        }
    }
    if reader.at_end() { Ok(call) } else { Err(Malformed) }
}

fn decode_results<'a>(read: &mut Reader<'a>, arena: &mut Arena<'a>) -> Result<Span, Malformed> {
    let start = arena.results.len();
    for _ in 0..read.array()? {
        let result = decode_result(read, arena)?;
        arena.results.push(result);
    }
    Ok(Span { start, end: arena.results.len() })
}

fn decode_result<'a>(
    read: &mut Reader<'a>,
    arena: &mut Arena<'a>,
) -> Result<SearchResult<'a>, Malformed> {
    let mut result = SearchResult::default();
    for _ in 0..read.map()? {
        match read.text()? {
            "aspects" => result.aspects = read.optional(|read| decode_texts(read, arena))?,
            "content" => result.content = read.optional(Reader::text)?,
            "entity_type" => result.entity_type = read.optional(Reader::text)?,
            "fields" => result.fields = decode_map(read, arena)?,
            "gain" => result.gain = read.optional(Reader::int)?,
            "id" => result.id = read.optional(Reader::text)?,
            "ids" => result.ids = decode_map(read, arena)?,
            "reference_id" => result.reference_id = read.optional(Reader::text)?,
            "score" => result.score = read.optional(decode_number)?,
            "snippet" => result.snippet = read.optional(Reader::text)?,
            "title" => result.title = read.optional(Reader::text)?,
            "url" => result.url = read.optional(Reader::text)?,
            _ => return Err(Malformed),
        }
    }
    Ok(result)
}

fn decode_number(read: &mut Reader) -> Result<Number, Malformed> {
    if read.is_float() { read.float().map(Number::Float) } else { read.int().map(Number::Int) }
}

fn decode_numbers<'a>(read: &mut Reader<'a>, arena: &mut Arena<'a>) -> Result<Span, Malformed> {
    let start = arena.numbers.len();
    for _ in 0..read.map()? {
        let number = (read.text()?, decode_number(read)?);
        arena.numbers.push(number);
    }
    Ok(Span { start, end: arena.numbers.len() })
}

fn decode_texts<'a>(read: &mut Reader<'a>, arena: &mut Arena<'a>) -> Result<Span, Malformed> {
    let start = arena.texts.len();
    for _ in 0..read.array()? {
        arena.texts.push(read.text()?);
    }
    Ok(Span { start, end: arena.texts.len() })
}

fn decode_map<'a>(read: &mut Reader<'a>, arena: &mut Arena<'a>) -> Result<Span, Malformed> {
    let start = arena.pairs.len();
    for _ in 0..read.map()? {
        let key = read.text()?;
        let value = if read.is_array() {
            OneOrMany::Many(decode_texts(read, arena)?)
        } else {
            OneOrMany::One(read.text()?)
        };
        arena.pairs.push((key, value));
    }
    Ok(Span { start, end: arena.pairs.len() })
}
