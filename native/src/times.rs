//! The times at which records are added to a packer.
//!
//! It mirrors no Python file: in Python, `stamped` of the sources of streams does this.

use crate::records::SearchCall;

const MICROS: i64 = 1_000; // of a millisecond

/// The time of all records of batch.
pub const UNTIMED: i64 = 0;

/// Gives each record its own timestamp, clipped to bounds in milliseconds; without bounds, gives all
/// `UNTIMED`.
pub struct Times {
    bounds: Option<(i64, i64)>,
    /// The timestamps, before clipping.
    pub timestamps: Vec<i64>,
}

impl Times {
    pub fn new(bounds: Option<(i64, i64)>) -> Self {
        Times { bounds, timestamps: Vec::new() }
    }

    /// The time of a call in microseconds; None if it needs a timestamp, but has none.
    pub fn of(&mut self, call: &SearchCall) -> Option<i64> {
        let Some((earliest, latest)) = self.bounds else {
            return Some(UNTIMED);
        };
        let timestamp = call.timestamp?;
        self.timestamps.push(timestamp);
        // The watermark, `earliest`, may be ahead of the clock, `latest`.
        Some(timestamp.min(latest).max(earliest) * MICROS)
    }
}
