//! Normal forms of single characters: `normalise_text` of `dedup/normalise.py` for texts that are
//! not ASCII. `scoring/native_fallback.py` makes the table, the same one in every version of Python.
//!
//! NFKC works character by character if none of them composes with the preceding one. The table has
//! the folded form of every such character of the Basic Multilingual Plane; a text with any other
//! character is left to Python.

use pyo3::PyResult;

use crate::normalise::{fold_spaces, trim};
use crate::python::Fallback;

/// Folded forms by code point.
pub struct Characters {
    /// Concatenated, in UTF-8.
    forms: Vec<u8>,
    /// Start of each form, and the end of the last.
    starts: Vec<u32>,
    /// Whether a character never composes with the preceding one.
    alone: Vec<bool>,
}

impl Characters {
    /// The table from Python's forms of the code points from 0 on; None for one that may compose.
    pub fn new(forms_of: &[Option<String>]) -> Self {
        let mut table = Characters { forms: Vec::new(), starts: vec![0], alone: Vec::new() };
        for form in forms_of {
            table.forms.extend_from_slice(form.as_deref().unwrap_or("").as_bytes());
            table.starts.push(table.forms.len() as u32);
            table.alone.push(form.is_some());
        }
        table
    }

    fn form(&self, character: char) -> Option<&[u8]> {
        let at = character as usize;
        if !*self.alone.get(at)? {
            return None;
        }
        self.forms.get(self.starts[at] as usize..self.starts[at + 1] as usize)
    }

    /// Whether it is white space for Python: only that has this form.
    fn is_space(&self, character: char) -> bool {
        self.form(character) == Some(b" ")
    }

    /// Put a text's normal form into `out`; false if it has a character that is not in the table.
    fn normalise(&self, text: &str, out: &mut Vec<u8>) -> bool {
        out.clear();
        let mut rest = text;
        while !rest.is_empty() {
            let (ascii, other) = rest.split_at(ascii_prefix(rest.as_bytes()));
            let from = out.len();
            out.extend_from_slice(ascii.as_bytes());
            out[from..].make_ascii_lowercase();
            let Some(character) = other.chars().next() else {
                break;
            };
            let Some(form) = self.form(character) else {
                return false;
            };
            out.extend_from_slice(form);
            rest = &other[character.len_utf8()..];
        }
        fold_spaces(out);
        true
    }
}

/// The length of the ASCII text at the beginning, by pieces that vector instructions check at once.
fn ascii_prefix(text: &[u8]) -> usize {
    const PIECE: usize = 16;
    let pieces = text.chunks_exact(PIECE).take_while(|piece| piece.is_ascii()).count();
    let rest = &text[pieces * PIECE..];
    pieces * PIECE + rest.iter().take_while(|byte| byte.is_ascii()).count()
}

/// A text without white space at its ends, like Python's `str.strip`.
pub fn stripped<'t>(text: &'t str, python: &Fallback) -> PyResult<&'t str> {
    if text.is_ascii() {
        return Ok(trim(text));
    }
    let table = python.characters()?;
    Ok(text.trim_matches(|character| table.is_space(character)))
}

/// Put the normal form of a text that is not ASCII into `out`.
pub fn normalise_other(text: &str, python: &Fallback, out: &mut Vec<u8>) -> PyResult<()> {
    if !python.characters()?.normalise(text, out) {
        out.clear();
        out.extend_from_slice(python.text(text)?.as_bytes());
    }
    Ok(())
}
