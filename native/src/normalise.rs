//! Normal forms of plain texts, times, ids and URLs: `dedup/normalise.py`. Only ASCII is handled
//! here. `None` means that a string is not plain. Then Python normalises it, so that tables of
//! characters are needed only there.

use std::borrow::Cow;

use memchr::memchr2;

use crate::rules::UrlRules;

/// The pairs of a URL's query that identify the document, sorted.
pub type Query<'u> = Vec<(Cow<'u, str>, Cow<'u, str>)>;

/// ASCII white space as in Python's `str.split`.
pub fn is_space(byte: u8) -> bool {
    matches!(byte, b'\t'..=b'\r' | 0x1c..=0x20)
}

/// An ASCII text without leading and trailing white space.
pub fn trim(text: &str) -> &str {
    let bytes = text.as_bytes();
    if let ([b'!'..=b'~', ..], [.., b'!'..=b'~']) = (bytes, bytes) {
        return text; // the usual case
    }
    text.trim_matches(|character: char| character.is_ascii() && is_space(character as u8))
}

/// Write an ASCII text's normal form to `out`: lower case, white space folded and trimmed.
pub fn normalise_ascii(text: &str, out: &mut Vec<u8>) {
    out.clear();
    out.extend_from_slice(text.as_bytes());
    out.make_ascii_lowercase();
    fold_spaces(out);
}

/// Write an ASCII query's normal form to `out`: that of a text without the punctuation of Unicode's
/// category P.
pub fn normalise_ascii_query(query: &str, out: &mut Vec<u8>) {
    let is_symbol =
        |byte: u8| matches!(byte, b'$' | b'+' | b'<'..=b'>' | b'^' | b'`' | b'|' | b'~');
    let kept = |byte: &u8| !byte.is_ascii_punctuation() || is_symbol(*byte);
    out.clear();
    out.extend(query.bytes().filter(kept));
    out.make_ascii_lowercase();
    fold_spaces(out);
}

/// Fold runs of ASCII white space to one space and trim them at the ends.
pub fn fold_spaces(text: &mut Vec<u8>) {
    if !has_odd_spaces(text) {
        return;
    }
    let mut length = 0;
    let mut pending = false;
    for at in 0..text.len() {
        let byte = text[at];
        if is_space(byte) {
            pending = length > 0;
            continue;
        }
        if pending {
            text[length] = b' ';
            length += 1;
            pending = false;
        }
        text[length] = byte;
        length += 1;
    }
    text.truncate(length);
}

fn has_odd_spaces(text: &[u8]) -> bool {
    let (Some(first), Some(last)) = (text.first(), text.last()) else {
        return false;
    };
    // No early exit, so that this compiles to vector instructions.
    let found = text.iter().zip(&text[1..]).fold(false, |found, (one, next)| {
        found | (*one < b' ') | ((*one == b' ') & (*next == b' '))
    });
    found | (*first == b' ') | (*last <= b' ')
}

const MICROS: i64 = 1_000_000;

/// A plain timestamp in microseconds since 1970 UTC. Plain timestamps are `2024-01-31` and
/// `2024-01-31T23:59:59` (or with a space), the latter with 3 or 6 decimals or none, and `Z` or
/// `+01:00` at the end.
pub fn normalise_plain_time(text: &str) -> Option<i64> {
    let bytes = trim(text).as_bytes();
    let (date, rest) = bytes.split_at_checked(10)?;
    let days = days_of(date)?;
    let Some((separator, clock)) = rest.split_first() else {
        return Some(days * 86_400 * MICROS);
    };
    if !matches!(separator, b'T' | b' ') {
        return None;
    }
    let (clock, rest) = clock.split_at_checked(8)?;
    if clock[2] != b':' || clock[5] != b':' {
        return None;
    }
    let hour = number(&clock[..2], 23)?;
    let minute = number(&clock[3..5], 59)?;
    let second = number(&clock[6..], 59)?;
    let (fraction, zone) = match rest.split_first() {
        Some((b'.', rest)) => {
            let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
            let (fraction, zone) = rest.split_at(digits);
            match digits {
                3 => (number(fraction, 999)? * 1_000, zone),
                6 => (number(fraction, 999_999)?, zone),
                _ => return None,
            }
        }
        _ => (0, rest),
    };
    let offset = offset_of(zone)?;
    let seconds = days * 86_400 + hour * 3_600 + minute * 60 + second - offset;
    Some(seconds * MICROS + fraction)
}

/// The offset of a zone from UTC in seconds.
fn offset_of(zone: &[u8]) -> Option<i64> {
    match zone {
        [] | [b'Z' | b'z'] => Some(0),
        [sign @ (b'+' | b'-'), hours @ .., b':', m1, m2] if hours.len() == 2 => {
            let seconds = number(hours, 23)? * 3_600 + number(&[*m1, *m2], 59)? * 60;
            Some(if *sign == b'-' { -seconds } else { seconds })
        }
        _ => None,
    }
}

/// Days since 1970-01-01 of `YYYY-MM-DD`.
fn days_of(date: &[u8]) -> Option<i64> {
    if date[4] != b'-' || date[7] != b'-' {
        return None;
    }
    let year = number(&date[..4], 9_999)?;
    let month = number(&date[5..7], 12)?;
    let day = number(&date[8..], 31)?;
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let longest = match month {
        2 if leap => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    };
    if year < 1 || month < 1 || day < 1 || day > longest {
        return None;
    }
    // If years begin in March, the leap day is their last day.
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let days_before_month = (153 * month + 2) / 5;
    let of_years = 365 * year + year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400);
    Some(of_years + days_before_month + day - 1 - 719_468)
}

/// A number of digits only, if it is at most `most`.
fn number(digits: &[u8], most: i64) -> Option<i64> {
    let mut value = 0;
    for digit in digits {
        if !digit.is_ascii_digit() {
            return None;
        }
        value = value * 10 + i64::from(digit - b'0');
    }
    (value <= most).then_some(value)
}

/// An ASCII id: trimmed; case is folded in GUIDs and in ids that contain `@`.
pub fn normalise_ascii_id(value: &str, out: &mut Vec<u8>) {
    let value = trim(value);
    out.clear();
    out.extend_from_slice(value.as_bytes());
    if value.contains('@') || is_guid(value.as_bytes()) {
        out.make_ascii_lowercase();
    }
}

fn is_guid(value: &[u8]) -> bool {
    value.len() == 36
        && value.iter().enumerate().all(|(at, byte)| match at {
            8 | 13 | 18 | 23 => *byte == b'-',
            _ => byte.is_ascii_hexdigit(),
        })
}

/// Write host and path of a plain http(s) URL to `place`, separated by a line feed; returns its
/// query. A plain URL matches `_PLAIN_URL`, unescapes to UTF-8, and has no alias.
pub fn normalise_plain_url<'u>(
    url: &'u str,
    rules: &UrlRules,
    place: &mut Vec<u8>,
) -> Option<Query<'u>> {
    let bytes = url.as_bytes();
    let rest = bytes.strip_prefix(b"http")?;
    let rest = rest.strip_prefix(b"s").unwrap_or(rest).strip_prefix(b"://")?;
    let (host, rest) = split_while(rest, is_host);
    if host.is_empty() {
        return None;
    }
    let rest = without_port(rest);
    let (path, rest) = match rest.first() {
        Some(b'/') => split_while(rest, is_path),
        _ => (&rest[..0], rest),
    };
    let (query, rest) = match rest.split_first() {
        Some((b'?', rest)) => split_while(rest, |byte| is_path(byte) || byte == b'?'),
        _ => (&rest[..0], rest),
    };
    let plain_end = match rest.split_first() {
        None => true,
        Some((b'#', fragment)) => fragment.iter().all(|byte| (b'!'..=b'~').contains(byte)),
        _ => false,
    };
    if !plain_end {
        return None;
    }
    place.clear();
    place.extend_from_slice(host);
    place.make_ascii_lowercase();
    if place.starts_with(b"www.") {
        place.drain(..4);
    }
    let host = place.len();
    let path = unescaped(path, false)?;
    match path.trim_end_matches('/') {
        "" => place.push(b'/'),
        path => place.extend_from_slice(path.as_bytes()),
    }
    let query = retained_pairs(query, &place[..host], rules)?;
    if may_have_alias(place, &query, rules) {
        return None;
    }
    place.insert(host, b'\n');
    Some(query)
}

/// Whether the URL as patterns see it contains one of the needles.
fn may_have_alias(place: &mut Vec<u8>, query: &Query, rules: &UrlRules) -> bool {
    let length = place.len();
    for (at, (name, value)) in query.iter().enumerate() {
        place.push(if at == 0 { b'?' } else { b'&' });
        place.extend_from_slice(name.as_bytes());
        place.push(b'=');
        place.extend_from_slice(value.as_bytes());
    }
    let found = rules.needles.is_match(&*place);
    place.truncate(length);
    found
}

fn split_while(bytes: &[u8], belongs: impl Fn(u8) -> bool) -> (&[u8], &[u8]) {
    let length = bytes.iter().position(|byte| !belongs(*byte)).unwrap_or(bytes.len());
    bytes.split_at(length)
}

fn is_host(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-')
}

fn is_path(byte: u8) -> bool {
    OF_PATH[usize::from(byte)]
}

/// A table, since every byte of a URL is looked up.
const OF_PATH: [bool; 256] = {
    let mut table = [false; 256];
    let mut byte = 0;
    while byte < 256 {
        table[byte] = matches!(
            byte as u8,
            b'!' | b'$'..=b';' | b'=' | b'@'..=b'Z' | b'_' | b'a'..=b'z' | b'~'
        );
        byte += 1;
    }
    table
};

/// The rest after a default port, if only a path, query or fragment follows.
fn without_port(rest: &[u8]) -> &[u8] {
    let behind = rest.strip_prefix(b":443").or_else(|| rest.strip_prefix(b":80"));
    behind.unwrap_or(rest)
}

/// Unescapes percent signs and, in a query, plus signs, as `urllib.parse` does.
fn unescaped(text: &[u8], plus_is_space: bool) -> Option<Cow<'_, str>> {
    if memchr2(b'%', b'+', text).is_none() {
        return std::str::from_utf8(text).map(Cow::Borrowed).ok();
    }
    let mut plain = Vec::with_capacity(text.len());
    let mut at = 0;
    while at < text.len() {
        match text[at] {
            b'%' => match (hex(text.get(at + 1)), hex(text.get(at + 2))) {
                (Some(high), Some(low)) => {
                    plain.push(high << 4 | low);
                    at += 2;
                }
                _ => plain.push(b'%'),
            },
            b'+' if plus_is_space => plain.push(b' '),
            byte => plain.push(byte),
        }
        at += 1;
    }
    String::from_utf8(plain).map(Cow::Owned).ok()
}

fn hex(digit: Option<&u8>) -> Option<u8> {
    char::from(*digit?).to_digit(16).map(|value| value as u8)
}

fn retained_pairs<'u>(query: &'u [u8], host: &[u8], rules: &UrlRules) -> Option<Query<'u>> {
    let mut pairs = Vec::new();
    for pair in query.split(|byte| *byte == b'&') {
        if pair.is_empty() {
            continue;
        }
        let equals = pair.iter().position(|byte| *byte == b'=');
        let (name, value) = match equals {
            Some(at) => (&pair[..at], &pair[at + 1..]),
            None => (pair, &pair[..0]),
        };
        let mut name = unescaped(name, true)?;
        if !name.is_ascii() {
            return None;
        }
        if name.bytes().any(|byte| byte.is_ascii_uppercase()) {
            name.to_mut().make_ascii_lowercase();
        }
        if !rules.ignores(host, &name) {
            pairs.push((name, unescaped(value, true)?));
        }
    }
    pairs.sort_unstable();
    Some(pairs)
}
