//! MessagePack as msgspec writes it: the shortest form of every length and number.
//!
//! It mirrors no Python file, since Python uses msgspec itself.

/// Append an integer.
pub fn write_int(out: &mut Vec<u8>, number: i64) {
    match number {
        0..=0x7f => out.push(number as u8),
        0x80..=0xff => out.extend([0xcc, number as u8]),
        0x100..=0xffff => write_be(out, 0xcd, &(number as u16).to_be_bytes()),
        0x1_0000..=0xffff_ffff => write_be(out, 0xce, &(number as u32).to_be_bytes()),
        0x1_0000_0000..=i64::MAX => write_be(out, 0xcf, &(number as u64).to_be_bytes()),
        -0x20..=-1 => out.push(number as u8),
        -0x80..=-0x21 => out.extend([0xd0, number as u8]),
        -0x8000..=-0x81 => write_be(out, 0xd1, &(number as i16).to_be_bytes()),
        -0x8000_0000..=-0x8001 => write_be(out, 0xd2, &(number as i32).to_be_bytes()),
        _ => write_be(out, 0xd3, &number.to_be_bytes()),
    }
}

/// Append an integer or null.
pub fn write_optional_int(out: &mut Vec<u8>, number: Option<i64>) {
    match number {
        Some(number) => write_int(out, number),
        None => write_null(out),
    }
}

/// Append a double.
pub fn write_float(out: &mut Vec<u8>, number: f64) {
    write_be(out, 0xcb, &number.to_be_bytes());
}

/// Append null.
pub fn write_null(out: &mut Vec<u8>) {
    out.push(0xc0);
}

/// Append true or false.
pub fn write_bool(out: &mut Vec<u8>, value: bool) {
    out.push(if value { 0xc3 } else { 0xc2 });
}

/// Append a string.
pub fn write_text(out: &mut Vec<u8>, text: &str) {
    let length = text.len();
    match length {
        0..=0x1f => out.push(0xa0 | length as u8),
        0x20..=0xff => out.extend([0xd9, length as u8]),
        0x100..=0xffff => write_be(out, 0xda, &(length as u16).to_be_bytes()),
        _ => write_be(out, 0xdb, &(length as u32).to_be_bytes()),
    }
    out.extend_from_slice(text.as_bytes());
}

/// Append a string or null.
pub fn write_optional_text(out: &mut Vec<u8>, text: Option<&str>) {
    match text {
        Some(text) => write_text(out, text),
        None => write_null(out),
    }
}

/// Append bytes.
pub fn write_bytes(out: &mut Vec<u8>, bytes: &[u8]) {
    let length = bytes.len();
    match length {
        0..=0xff => out.extend([0xc4, length as u8]),
        0x100..=0xffff => write_be(out, 0xc5, &(length as u16).to_be_bytes()),
        _ => write_be(out, 0xc6, &(length as u32).to_be_bytes()),
    }
    out.extend_from_slice(bytes);
}

/// Append the header of an array.
pub fn write_array(out: &mut Vec<u8>, length: usize) {
    write_container(out, 0x90, 0xdc, length);
}

/// Append the header of a map.
pub fn write_map(out: &mut Vec<u8>, length: usize) {
    write_container(out, 0x80, 0xde, length);
}

fn write_container(out: &mut Vec<u8>, short: u8, long: u8, length: usize) {
    match length {
        0..=0xf => out.push(short | length as u8),
        0x10..=0xffff => write_be(out, long, &(length as u16).to_be_bytes()),
        _ => write_be(out, long + 1, &(length as u32).to_be_bytes()),
    }
}

fn write_be(out: &mut Vec<u8>, code: u8, bytes: &[u8]) {
    out.push(code);
    out.extend_from_slice(bytes);
}

/// Unexpected bytes, for which the interface raises ValueError.
#[derive(Debug)]
pub struct Malformed;

type Read<T> = Result<T, Malformed>;

/// Reads values one after another.
pub struct Reader<'a> {
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    pub fn new(bytes: &'a [u8]) -> Self {
        Reader { rest: bytes }
    }

    /// Whether everything has been read.
    pub fn at_end(&self) -> bool {
        self.rest.is_empty()
    }

    /// The number of remaining bytes, which bounds the items of a container.
    pub fn remaining(&self) -> usize {
        self.rest.len()
    }

    fn take(&mut self, length: usize) -> Read<&'a [u8]> {
        let (taken, rest) = self.rest.split_at_checked(length).ok_or(Malformed)?;
        self.rest = rest;
        Ok(taken)
    }

    fn byte(&mut self) -> Read<u8> {
        Ok(self.take(1)?[0])
    }

    fn unsigned(&mut self, bytes: usize) -> Read<u64> {
        Ok(self.take(bytes)?.iter().fold(0, |number, byte| number << 8 | u64::from(*byte)))
    }

    /// Consume a null, if it is next.
    pub fn null(&mut self) -> bool {
        if self.rest.first() == Some(&0xc0) {
            self.rest = &self.rest[1..];
            return true;
        }
        false
    }

    /// A value that may be null.
    pub fn optional<T>(&mut self, read: impl FnOnce(&mut Self) -> Read<T>) -> Read<Option<T>> {
        if self.null() { Ok(None) } else { read(self).map(Some) }
    }

    pub fn boolean(&mut self) -> Read<bool> {
        match self.byte()? {
            0xc2 => Ok(false),
            0xc3 => Ok(true),
            _ => Err(Malformed),
        }
    }

    pub fn int(&mut self) -> Read<i64> {
        let code = self.byte()?;
        match code {
            0..=0x7f => Ok(i64::from(code)),
            0xe0..=0xff => Ok(i64::from(code as i8)),
            0xcc => Ok(self.unsigned(1)? as i64),
            0xcd => Ok(self.unsigned(2)? as i64),
            0xce => Ok(self.unsigned(4)? as i64),
            0xcf => i64::try_from(self.unsigned(8)?).map_err(|_| Malformed),
            0xd0 => Ok(i64::from(self.unsigned(1)? as i8)),
            0xd1 => Ok(i64::from(self.unsigned(2)? as i16)),
            0xd2 => Ok(i64::from(self.unsigned(4)? as i32)),
            0xd3 => Ok(self.unsigned(8)? as i64),
            _ => Err(Malformed),
        }
    }

    pub fn float(&mut self) -> Read<f64> {
        match self.byte()? {
            0xcb => Ok(f64::from_bits(self.unsigned(8)?)),
            _ => Err(Malformed),
        }
    }

    pub fn text(&mut self) -> Read<&'a str> {
        let code = self.byte()?;
        let length = match code {
            0xa0..=0xbf => usize::from(code & 0x1f),
            0xd9 => self.unsigned(1)? as usize,
            0xda => self.unsigned(2)? as usize,
            0xdb => self.unsigned(4)? as usize,
            _ => return Err(Malformed),
        };
        std::str::from_utf8(self.take(length)?).map_err(|_| Malformed)
    }

    pub fn bytes(&mut self) -> Read<&'a [u8]> {
        let length = match self.byte()? {
            0xc4 => self.unsigned(1)?,
            0xc5 => self.unsigned(2)?,
            0xc6 => self.unsigned(4)?,
            _ => return Err(Malformed),
        };
        self.take(length as usize)
    }

    /// A double, which may be encoded as an integer.
    pub fn number(&mut self) -> Read<f64> {
        if self.is_float() { self.float() } else { self.int().map(|number| number as f64) }
    }

    /// The bytes that a function reads, and its result.
    pub fn spanned<T>(&mut self, read: impl FnOnce(&mut Self) -> Read<T>) -> Read<(&'a [u8], T)> {
        let before = self.rest;
        let value = read(self)?;
        Ok((&before[..before.len() - self.rest.len()], value))
    }

    /// The number of items of an array, at most the remaining bytes.
    pub fn array(&mut self) -> Read<usize> {
        self.container(0x90, 0xdc)
    }

    /// An integer that is an index or a length.
    pub fn index(&mut self) -> Read<usize> {
        usize::try_from(self.int()?).map_err(|_| Malformed)
    }

    /// The number of pairs of a map, at most the remaining bytes.
    pub fn map(&mut self) -> Read<usize> {
        self.container(0x80, 0xde)
    }

    /// Whether an array is next.
    pub fn is_array(&self) -> bool {
        matches!(self.rest.first(), Some(0x90..=0x9f | 0xdc | 0xdd))
    }

    /// Whether a double is next.
    pub fn is_float(&self) -> bool {
        self.rest.first() == Some(&0xcb)
    }

    fn container(&mut self, short: u8, long: u8) -> Read<usize> {
        let code = self.byte()?;
        let length = if code & 0xf0 == short {
            usize::from(code & 0xf)
        } else if code == long {
            self.unsigned(2)? as usize
        } else if code == long + 1 {
            self.unsigned(4)? as usize
        } else {
            return Err(Malformed);
        };
        if length > self.remaining() { Err(Malformed) } else { Ok(length) }
    }
}
