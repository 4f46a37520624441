//! Packs the records of text files: `files/jsonl_reader.py` and `files/json_array_reader.py`.

use bumpalo::Bump;
use memchr::{memchr, memchr2};
use pyo3::PyResult;

use crate::json::{Reading, has_control_characters, is_blank, pass_space, read_line, read_object};
use crate::names::RecordNames;
use crate::packing::{Packed, Packer};
use crate::records::{Arena, MOST_ROOM, SearchCall};
use crate::times::Times;

/// Elements of an array that are added in one call take about so many bytes, so that payloads do not
/// pile up.
const TOGETHER: usize = 1 << 18;

/// Records with more bytes or results are left to Python.
#[derive(Clone, Copy)]
pub struct Limits {
    pub bytes: usize,
    pub results: usize,
}

/// Adds the records of a text to a packer.
pub struct TextPacker<'a> {
    pub packer: &'a mut Packer,
    pub names: &'a RecordNames,
    pub limits: Limits,
    pub times: &'a mut Times,
}

impl TextPacker<'_> {
    /// Add lines from an offset; returns the offset of the first one that Python must read.
    pub fn add_lines(
        &mut self,
        lines: &[u8],
        mut from: usize,
        out: &mut Vec<Packed>,
    ) -> PyResult<Option<usize>> {
        let unescaped = Bump::new();
        let reading = self.reading(&unescaped);
        let mut arena = Arena::for_bytes(lines.len().min(MOST_ROOM));
        while let Some(rest) = lines.get(from..) {
            let line = &rest[..memchr(b'\n', rest).unwrap_or(rest.len())];
            if line.len() > self.limits.bytes {
                return Ok(Some(from));
            }
            if !is_blank(line) {
                let call = read_line(line, reading, &mut arena).ok();
                if !self.add(call, &arena, out)? {
                    return Ok(Some(from));
                }
                arena.truncate([0; 4]);
            }
            from += line.len() + 1;
        }
        Ok(None)
    }

    /// Add some elements of an array from an offset; returns the offset of the next one, whether
    /// Python must read that, and how many were added.
    pub fn add_elements(
        &mut self,
        array: &[u8],
        mut from: usize,
        out: &mut Vec<Packed>,
    ) -> PyResult<(Option<usize>, bool, usize)> {
        let mut unescaped = Bump::new();
        let mut added = 0;
        let until = from.saturating_add(TOGETHER);
        while let Some(rest) = array.get(from..) {
            unescaped.reset();
            let length = length_of_object(rest).filter(|length| *length <= self.limits.bytes);
            let Some(length) = length else {
                break;
            };
            let end = pass_space(rest, length);
            let is_last = rest.get(end) == Some(&b']') && pass_space(rest, end + 1) == rest.len();
            if !is_last && rest.get(end) != Some(&b',') {
                break;
            }
            let mut arena = Arena::for_bytes(length.min(MOST_ROOM));
            let call = read_object(&rest[..length], self.reading(&unescaped), &mut arena).ok();
            if !self.add(call, &arena, out)? {
                break;
            }
            added += 1;
            if is_last {
                return Ok((None, false, added));
            }
            from += pass_space(rest, end + 1);
            if from > until {
                return Ok((Some(from), false, added));
            }
        }
        Ok((Some(from), true, added))
    }

    fn reading<'b>(&self, unescaped: &'b Bump) -> Reading<'b>
    where
        Self: 'b,
    {
        Reading { names: self.names, most_results: self.limits.results, unescaped }
    }

    /// Whether a call could be added.
    fn add<'b>(
        &mut self,
        call: Option<SearchCall<'b>>,
        arena: &Arena<'b>,
        out: &mut Vec<Packed>,
    ) -> PyResult<bool> {
        let call = call.filter(|call| !self.packer.calls.leaves_to_python(call));
        let Some((call, at)) = call.and_then(|call| Some((call, self.times.of(&call)?))) else {
            return Ok(false);
        };
        self.packer.add(&call, arena, at, out)?;
        Ok(true)
    }
}

/// The length of the object that begins here; None if there is none, if it has no end, or if its
/// strings have control characters.
fn length_of_object(content: &[u8]) -> Option<usize> {
    if content.first() != Some(&b'{') {
        return None;
    }
    let (mut depth, mut at) = (0_usize, 0);
    loop {
        match content.get(at)? {
            b'"' => at += 1 + length_of_string(&content[at + 1..])?,
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth -= 1,
            _ => (),
        }
        at += 1;
        if depth == 0 {
            return Some(at);
        }
    }
}

/// The length of the string that begins here, after its first quotation mark.
fn length_of_string(content: &[u8]) -> Option<usize> {
    let mut at = 0;
    loop {
        let end = at + memchr2(b'"', b'\\', content.get(at..)?)?;
        if has_control_characters(&content[at..end]) {
            return None;
        }
        if content[end] == b'"' {
            return Some(end);
        }
        at = end + 2; // what is escaped is checked when the string is read
    }
}
