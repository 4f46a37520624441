//! The codec of nearly all files: deflate, as in `files/avro_codecs.py`.
//!
//! The other codecs are left to Python, where they are compiled code, too.

use flate2::{Decompress, FlushDecompress, Status};

const FIRST_ROOM: usize = 64 * 1024;

/// The content of raw deflate data; None if it is damaged or longer than `most` bytes.
pub fn inflate(data: &[u8], most: usize) -> Option<Vec<u8>> {
    let mut content = Vec::with_capacity(FIRST_ROOM.max(data.len().saturating_mul(4)).min(most));
    let mut inflater = Decompress::new(false);
    loop {
        let read = inflater.total_in() as usize;
        let before = (read, content.len());
        let status =
            inflater.decompress_vec(&data[read..], &mut content, FlushDecompress::Finish).ok()?;
        // Trailing bytes are not damage: some writers leave part of a checksum there.
        if status == Status::StreamEnd {
            return (content.len() <= most).then_some(content);
        }
        if content.len() >= most {
            return None;
        }
        if content.len() == content.capacity() {
            content.reserve((content.len()).min(most - content.len()).max(1));
        } else if before == (inflater.total_in() as usize, content.len()) {
            return None;
        }
    }
}
