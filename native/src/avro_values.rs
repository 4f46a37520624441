//! Reads the values of an Avro block one after another.
//!
//! It mirrors no Python file, since Python leaves this to fastavro.

use crate::avro_schema::{Plan, Type, TypeNumber};
use crate::source::Odd;

/// Greatest nesting of types.
const DEEPEST: usize = 64;

/// Why a record could not be read here.
pub enum Stop {
    /// Python must check its values.
    Odd,
    /// Its bytes do not fit the schema, or are nested too deeply.
    Broken,
}

impl From<Odd> for Stop {
    fn from(_: Odd) -> Self {
        Stop::Odd
    }
}

pub type Read<T> = Result<T, Stop>;

/// Reads a decompressed block by the plan of its file.
pub struct BlockReader<'a> {
    pub plan: &'a Plan,
    /// The bytes not yet read.
    pub rest: &'a [u8],
}

impl<'a> BlockReader<'a> {
    fn take(&mut self, length: usize) -> Read<&'a [u8]> {
        let (taken, rest) = self.rest.split_at_checked(length).ok_or(Stop::Broken)?;
        self.rest = rest;
        Ok(taken)
    }

    /// A zigzag number of up to 64 bits.
    pub fn long(&mut self) -> Read<i64> {
        let mut value: u64 = 0;
        for (at, byte) in self.rest.iter().take(10).enumerate() {
            if at == 9 && *byte > 1 {
                return Err(Stop::Broken);
            }
            value |= u64::from(byte & 0x7f) << (7 * at);
            if *byte < 0x80 {
                self.rest = &self.rest[at + 1..];
                return Ok((value >> 1) as i64 ^ -((value & 1) as i64));
            }
        }
        Err(Stop::Broken)
    }

    fn length(&mut self) -> Read<usize> {
        usize::try_from(self.long()?).map_err(|_| Stop::Broken)
    }

    pub fn string(&mut self) -> Read<&'a str> {
        let length = self.length()?;
        std::str::from_utf8(self.take(length)?).map_err(|_| Stop::Broken)
    }

    pub fn boolean(&mut self) -> Read<bool> {
        match self.take(1)?[0] {
            0 => Ok(false),
            1 => Ok(true),
            _ => Err(Stop::Broken),
        }
    }

    pub fn double(&mut self) -> Read<f64> {
        let bytes = self.take(8)?.try_into().map_err(|_| Stop::Broken)?;
        Ok(f64::from_le_bytes(bytes))
    }

    pub fn float(&mut self) -> Read<f64> {
        let bytes = self.take(4)?.try_into().map_err(|_| Stop::Broken)?;
        Ok(f64::from(f32::from_le_bytes(bytes)))
    }

    pub fn symbol(&mut self, symbols: &'a [String]) -> Read<&'a str> {
        Ok(symbols.get(self.length()?).ok_or(Stop::Broken)?)
    }

    /// The number of items in the next stretch of an array or map; 0 at its end.
    pub fn stretch(&mut self) -> Read<usize> {
        let mut count = self.long()?;
        if count < 0 {
            self.long()?; // their size in bytes
            count = count.checked_neg().ok_or(Stop::Broken)?;
        }
        // Items that take no bytes are left to Python.
        usize::try_from(count).ok().filter(|count| *count <= self.rest.len()).ok_or(Stop::Broken)
    }

    /// The type of the next value, after choosing the branch of a union.
    pub fn branch(&mut self, number: TypeNumber) -> Read<&'a Type> {
        match self.plan.type_of(number) {
            Type::Union(branches) => {
                let at = self.length()?;
                let branch = self.plan.type_of(*branches.get(at).ok_or(Stop::Broken)?);
                if matches!(branch, Type::Union(_)) { Err(Stop::Odd) } else { Ok(branch) }
            }
            other => Ok(other),
        }
    }

    /// Skip a value, checking that it is well-formed.
    pub fn skip_value(&mut self, number: TypeNumber, depth: usize) -> Read<()> {
        if depth > DEEPEST {
            return Err(Stop::Broken);
        }
        match self.plan.type_of(number) {
            Type::Null => (),
            Type::Boolean => {
                self.boolean()?;
            }
            Type::Int => {
                self.long()?;
            }
            Type::Float => {
                self.take(4)?;
            }
            Type::Double => {
                self.take(8)?;
            }
            Type::Bytes => {
                let length = self.length()?;
                self.take(length)?;
            }
            Type::Text => {
                self.string()?;
            }
            Type::Fixed(size) => {
                self.take(*size)?;
            }
            Type::Enum(symbols) => {
                self.symbol(symbols)?;
            }
            Type::Array(items) => loop {
                let count = self.stretch()?;
                if count == 0 {
                    break;
                }
                for _ in 0..count {
                    self.skip_value(*items, depth + 1)?;
                }
            },
            Type::Map(values) => loop {
                let count = self.stretch()?;
                if count == 0 {
                    break;
                }
                for _ in 0..count {
                    self.string()?;
                    self.skip_value(*values, depth + 1)?;
                }
            },
            Type::Union(branches) => {
                let at = self.length()?;
                self.skip_value(*branches.get(at).ok_or(Stop::Broken)?, depth + 1)?;
            }
            Type::Record(fields) => {
                for field in fields {
                    self.skip_value(field.of, depth + 1)?;
                }
            }
        }
        Ok(())
    }
}
