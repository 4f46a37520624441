//! Reads the records of lines of JSON: `files/jsonl_reader.py`, with the values that `records/parsing.py`
//! accepts.
//!
//! A line is odd, and left to Python, if anything in it is unusual: damage, a repeated key, a
//! number that is long or of another type, half of a surrogate pair, deep nesting.

use bumpalo::Bump;
use memchr::memchr2;

use crate::names::RecordNames;
use crate::records::{Arena, OneOrMany, SearchCall, SearchResult, Span};
use crate::source::{Entries, Odd, Source, complete, millis_of_text};

/// Greatest nesting of values.
const DEEPEST: usize = 64;
/// Where values of results are nested, counted from the record.
const SKIPPED_DEPTH: usize = 3;
/// Most characters of a number; the value of a longer one depends on rounding.
const LONGEST_NUMBER: usize = 20;
/// Most digits of an exponent.
const LONGEST_EXPONENT: usize = 2;

type Read<T> = Result<T, Odd>;

/// Whether a line is blank, like Python's `isspace`.
pub fn is_blank(line: &[u8]) -> bool {
    line.iter().all(|byte| matches!(byte, b'\t'..=b'\r' | b' '))
}

/// How records are read.
#[derive(Clone, Copy)]
pub struct Reading<'a> {
    pub names: &'a RecordNames,
    /// Most results of a record.
    pub most_results: usize,
    /// Takes strings with escapes.
    pub unescaped: &'a Bump,
}

/// The record of a line.
pub fn read_line<'a>(
    line: &'a [u8],
    reading: Reading<'a>,
    arena: &mut Arena<'a>,
) -> Read<SearchCall<'a>> {
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    if has_control_characters(line) { Err(Odd) } else { read_object(line, reading, arena) }
}

/// The record of an object without control characters in its strings.
pub fn read_object<'a>(
    object: &'a [u8],
    reading: Reading<'a>,
    arena: &mut Arena<'a>,
) -> Read<SearchCall<'a>> {
    let text = std::str::from_utf8(object).map_err(|_| Odd)?;
    let mut reader = ObjectReader { text, at: 0, reading };
    let call = reader.call(arena)?;
    reader.pass_spaces();
    if reader.at == text.len() { Ok(call) } else { Err(Odd) }
}

/// A full pass without early exit, which compiles to vector instructions.
pub fn has_control_characters(bytes: &[u8]) -> bool {
    bytes.iter().fold(false, |found, byte| found | (*byte < b' '))
}

/// The offset of the first byte from `at` on that is not white space.
pub fn pass_space(bytes: &[u8], mut at: usize) -> usize {
    while matches!(bytes.get(at), Some(b' ' | b'\n' | b'\r' | b'\t')) {
        at += 1;
    }
    at
}

struct ObjectReader<'a> {
    text: &'a str,
    at: usize,
    reading: Reading<'a>,
}

impl<'a> ObjectReader<'a> {
    fn rest(&self) -> &'a [u8] {
        self.text.as_bytes().get(self.at..).unwrap_or(&[])
    }

    fn pass_spaces(&mut self) {
        self.at = pass_space(self.text.as_bytes(), self.at);
    }

    /// The next byte that is not white space, without consuming it.
    fn peek(&mut self) -> Read<u8> {
        self.pass_spaces();
        self.rest().first().copied().ok_or(Odd)
    }

    /// Consume the next byte that is not white space.
    fn byte(&mut self) -> Read<u8> {
        let byte = self.peek()?;
        self.at += 1;
        Ok(byte)
    }

    fn expect(&mut self, expected: u8) -> Read<()> {
        if self.byte()? == expected { Ok(()) } else { Err(Odd) }
    }

    fn word(&mut self, word: &str) -> Read<()> {
        if self.rest().starts_with(word.as_bytes()) {
            self.at += word.len();
            return Ok(());
        }
        Err(Odd)
    }

    /// Consume a null, if it is next.
    fn null(&mut self) -> Read<bool> {
        if self.peek()? == b'n' { self.word("null").map(|()| true) } else { Ok(false) }
    }

    fn string(&mut self) -> Read<&'a str> {
        self.expect(b'"')?;
        let start = self.at;
        let length = memchr2(b'"', b'\\', self.rest()).ok_or(Odd)?;
        self.at += length;
        if self.rest().first() == Some(&b'\\') {
            return self.string_with_escapes(start);
        }
        self.at += 1;
        self.text.get(start..start + length).ok_or(Odd)
    }

    /// The string that begins at `start`; the reader is at its first escape.
    fn string_with_escapes(&mut self, start: usize) -> Read<&'a str> {
        let mut plain_from = start;
        let mut whole = String::new();
        loop {
            self.at += memchr2(b'"', b'\\', self.rest()).ok_or(Odd)?;
            whole.push_str(self.text.get(plain_from..self.at).ok_or(Odd)?);
            let is_end = self.rest().first() == Some(&b'"');
            self.at += 1;
            if is_end {
                return Ok(self.reading.unescaped.alloc_str(&whole));
            }
            whole.push(self.escaped()?);
            plain_from = self.at;
        }
    }

    /// The character of the escape at this position, after its backslash.
    fn escaped(&mut self) -> Read<char> {
        let code = *self.rest().first().ok_or(Odd)?;
        self.at += 1;
        Ok(match code {
            b'"' | b'\\' | b'/' => char::from(code),
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'n' => '\n',
            b'r' => '\r',
            b't' => '\t',
            b'u' => {
                let mut code = self.unit()?;
                if (0xd800..0xdc00).contains(&code) {
                    self.word("\\u")?;
                    let low = self.unit()?.checked_sub(0xdc00).filter(|low| *low < 0x400);
                    code = 0x1_0000 + ((code - 0xd800) << 10) + low.ok_or(Odd)?;
                }
                char::from_u32(code).ok_or(Odd)?
            }
            _ => return Err(Odd),
        })
    }

    /// Four hexadecimal digits.
    fn unit(&mut self) -> Read<u32> {
        let digits = self.text.get(self.at..self.at + 4).ok_or(Odd)?;
        self.at += 4;
        digits.chars().try_fold(0, |unit, digit| Ok(unit << 4 | digit.to_digit(16).ok_or(Odd)?))
    }

    /// The text of a number, and whether it has neither fraction nor exponent.
    fn digits(&mut self) -> Read<(&'a str, bool)> {
        self.pass_spaces();
        let start = self.at;
        self.pass(b"-");
        let first = self.at;
        let whole = self.pass_digits();
        if whole == 0 || whole > 1 && self.text.as_bytes()[first] == b'0' {
            return Err(Odd);
        }
        let integer_end = self.at;
        if self.pass(b".") && self.pass_digits() == 0 {
            return Err(Odd);
        }
        if self.pass(b"eE") {
            self.pass(b"+-");
            if !(1..=LONGEST_EXPONENT).contains(&self.pass_digits()) {
                return Err(Odd);
            }
        }
        if self.at - start > LONGEST_NUMBER {
            return Err(Odd);
        }
        Ok((self.text.get(start..self.at).ok_or(Odd)?, self.at == integer_end))
    }

    /// Consume one of some bytes, if it is next.
    fn pass(&mut self, wanted: &[u8]) -> bool {
        let stands = self.rest().first().is_some_and(|byte| wanted.contains(byte));
        self.at += usize::from(stands);
        stands
    }

    fn pass_digits(&mut self) -> usize {
        let digits = self.rest().iter().take_while(|byte| byte.is_ascii_digit()).count();
        self.at += digits;
        digits
    }

    /// Call `take` for each key of an object.
    fn keys(&mut self, mut take: impl FnMut(&mut Self, &'a str) -> Read<()>) -> Read<()> {
        self.expect(b'{')?;
        if self.peek()? == b'}' {
            return self.expect(b'}');
        }
        loop {
            let key = self.string()?;
            self.expect(b':')?;
            take(self, key)?;
            match self.byte()? {
                b',' => self.pass_spaces(),
                b'}' => return Ok(()),
                _ => return Err(Odd),
            }
        }
    }

    /// Call `take` for each item of an array.
    fn array(&mut self, mut take: impl FnMut(&mut Self) -> Read<()>) -> Read<()> {
        self.expect(b'[')?;
        if self.peek()? == b']' {
            return self.expect(b']');
        }
        loop {
            take(self)?;
            match self.byte()? {
                b',' => (),
                b']' => return Ok(()),
                _ => return Err(Odd),
            }
        }
    }

    /// Skip a value, checking that it is well-formed.
    fn skip_value(&mut self, depth: usize) -> Read<()> {
        if depth > DEEPEST {
            return Err(Odd);
        }
        match self.peek()? {
            b'{' => self.keys(|reader, _| reader.skip_value(depth + 1)),
            b'[' => self.array(|reader| reader.skip_value(depth + 1)),
            b'"' => self.string().map(|_| ()),
            b't' => self.word("true"),
            b'f' => self.word("false"),
            b'n' => self.word("null"),
            _ => self.digits().map(|_| ()),
        }
    }

    fn call(&mut self, arena: &mut Arena<'a>) -> Read<SearchCall<'a>> {
        let mut call = SearchCall::empty();
        let mut entries = Entries::default();
        let mut seen = 0;
        let names = &self.reading.names.call;
        self.keys(|reader, key| match names.first(key, &mut seen)? {
            Some(target) => reader.put(&mut call, target, (), arena, &mut entries),
            None => reader.skip_value(1),
        })?;
        entries.add_to_call(&mut call, arena)?;
        complete(call)
    }

    fn result(&mut self, arena: &mut Arena<'a>) -> Read<SearchResult<'a>> {
        let mut result = SearchResult::default();
        let mut entries = Entries::default();
        let mut seen = 0;
        let names = &self.reading.names.result;
        self.keys(|reader, key| match names.first(key, &mut seen)? {
            Some(target) => reader.put(&mut result, target, (), arena, &mut entries),
            None => reader.skip_value(SKIPPED_DEPTH),
        })?;
        entries.add_to(&mut result, arena)?;
        Ok(result)
    }
}

impl<'a> Source<'a> for ObjectReader<'a> {
    type Place = ();
    type Stop = Odd;

    fn text(&mut self, (): ()) -> Read<Option<&'a str>> {
        if self.null()? { Ok(None) } else { self.string().map(Some) }
    }

    fn whole(&mut self, (): ()) -> Read<Option<i64>> {
        if self.null()? {
            return Ok(None);
        }
        match self.digits()? {
            (digits, true) => digits.parse().map(Some).map_err(|_| Odd),
            _ => Err(Odd),
        }
    }

    fn flag(&mut self, (): ()) -> Read<bool> {
        match self.peek()? {
            b't' => self.word("true").map(|()| true),
            b'f' => self.word("false").map(|()| false),
            _ => self.word("null").map(|()| false),
        }
    }

    fn number(&mut self, (): ()) -> Read<Option<f64>> {
        if self.null()? {
            return Ok(None);
        }
        let number: f64 = self.digits()?.0.parse().map_err(|_| Odd)?;
        // Readers differ on whether -0 is a negative zero.
        if number == 0.0 && number.is_sign_negative() { Err(Odd) } else { Ok(Some(number)) }
    }

    fn millis(&mut self, (): ()) -> Read<Option<i128>> {
        if self.peek()? == b'"' {
            return millis_of_text(self.string()?).map(Some);
        }
        Ok(self.whole(())?.map(i128::from))
    }

    fn one_or_many(
        &mut self,
        (): (),
        arena: &mut Arena<'a>,
        lists: bool,
    ) -> Read<Option<OneOrMany<'a>>> {
        if !lists || self.peek()? != b'[' {
            return Ok(self.text(())?.map(OneOrMany::One));
        }
        let start = arena.texts.len();
        self.array(|reader| {
            arena.texts.extend(reader.text(())?);
            Ok(())
        })?;
        Ok(arena.one_or_many_from(start))
    }

    fn texts(&mut self, (): (), arena: &mut Arena<'a>) -> Read<Option<Span>> {
        if self.null()? {
            return Ok(None);
        }
        let start = arena.texts.len();
        self.array(|reader| {
            arena.texts.extend(reader.text(())?);
            Ok(())
        })?;
        Ok(Some(Span { start, end: arena.texts.len() }))
    }

    fn object(
        &mut self,
        (): (),
        mut take: impl FnMut(&mut Self, &'a str, ()) -> Read<()>,
    ) -> Read<()> {
        if self.null()? { Ok(()) } else { self.keys(|reader, key| take(reader, key, ())) }
    }

    fn skip(&mut self, (): ()) -> Read<()> {
        self.skip_value(SKIPPED_DEPTH)
    }

    fn results(&mut self, (): (), arena: &mut Arena<'a>) -> Read<Span> {
        let start = arena.results.len();
        if !self.null()? {
            self.array(|reader| {
                let result = reader.result(arena)?;
                arena.results.push(result);
                let few = arena.results.len() - start <= reader.reading.most_results;
                if few { Ok(()) } else { Err(Odd) }
            })?;
        }
        Ok(Span { start, end: arena.results.len() })
    }
}
