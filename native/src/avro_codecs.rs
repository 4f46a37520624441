//! The codecs of Avro blocks: `files/avro_codecs.py`.
//!
//! Python decompresses what is refused here, or says what is wrong with it. lz4 and xz, which few
//! files have, are left to it altogether.

use libdeflater::{Crc, DecompressionError, Decompressor};
use zstd_safe::{DCtx, InBuffer, OutBuffer};

const FIRST_ROOM: usize = 64 * 1024;
/// Text is seldom compressed further by deflate.
const USUAL_RATIO: usize = 8;
const CHECKSUM_BYTES: usize = 4;

/// Reads from its first argument and appends to the spare capacity of the second. Returns how many
/// bytes it read, and whether the stream has ended; None if the data are damaged.
type Step<'s> = dyn FnMut(&[u8], &mut Vec<u8>) -> Option<(usize, bool)> + 's;

/// Decompress a block into the beginning of `content`, a buffer that serves for many blocks.
///
/// Returns the length of the block's content; None if it is left to Python, as if it is damaged or
/// longer than `most` bytes.
pub fn decompress(codec: &str, data: &[u8], content: &mut Vec<u8>, most: usize) -> Option<usize> {
    if codec == "deflate" {
        return inflate(data, content, most);
    }
    *content = match codec {
        "bzip2" => bunzip(data, most),
        "snappy" => unsnap(data, most),
        "zstandard" => unzstd(data, most),
        _ => None,
    }?;
    (content.len() <= most).then_some(content.len())
}

/// Trailing bytes are not damage: some writers leave part of a checksum there.
///
/// libdeflate takes the two lengths that the format reserves for the longest one, where zlib calls
/// the data damaged. Most damage is found by neither, but only by decoding the records, since deflate
/// has no checksum.
fn inflate(data: &[u8], content: &mut Vec<u8>, most: usize) -> Option<usize> {
    let mut decompressor = Decompressor::new();
    let mut room = data.len().saturating_mul(USUAL_RATIO).max(FIRST_ROOM).max(content.len());
    loop {
        room = room.min(most);
        if content.len() < room {
            content.resize(room, 0);
        }
        match decompressor.deflate_decompress(data, &mut content[..room]) {
            Ok(length) => return Some(length),
            Err(DecompressionError::InsufficientSpace) if room < most => {
                room = room.saturating_mul(2);
            }
            Err(_) => return None,
        }
    }
}

/// Several streams, or bytes after one, are left to Python.
fn bunzip(data: &[u8], most: usize) -> Option<Vec<u8>> {
    let mut decoder = bzip2::Decompress::new(false);
    let step = &mut |data: &[u8], content: &mut Vec<u8>| {
        let before = decoder.total_in();
        let status = decoder.decompress_vec(data, content).ok()?;
        let read = decoder.total_in() - before;
        Some((read as usize, status == bzip2::Status::StreamEnd))
    };
    let (content, read) = first_stream(data, most, None, step)?;
    (read == data.len()).then_some(content)
}

/// A block is one frame, which may declare the length of its content.
fn unzstd(data: &[u8], most: usize) -> Option<Vec<u8>> {
    let declared = match zstd_safe::get_frame_content_size(data).ok()? {
        Some(size) => Some(usize::try_from(size).ok().filter(|size| *size <= most)?),
        None => None,
    };
    let mut decoder = DCtx::try_create()?;
    let step = &mut |data: &[u8], content: &mut Vec<u8>| {
        let mut input = InBuffer::around(data);
        let end = content.len();
        let mut output = OutBuffer::around_pos(content, end);
        let left = decoder.decompress_stream(&mut output, &mut input).ok()?;
        Some((input.pos(), left == 0))
    };
    let (content, read) = first_stream(data, most, declared, step)?;
    (read == data.len()).then_some(content)
}

/// The content of the stream at the beginning of the data, and how many bytes of these it takes;
/// None if it is damaged, incomplete or longer than `most` bytes.
fn first_stream(
    data: &[u8],
    most: usize,
    declared: Option<usize>,
    step: &mut Step,
) -> Option<(Vec<u8>, usize)> {
    // One byte more shows that there are too many.
    let limit = most.saturating_add(1);
    let room = declared.unwrap_or_else(|| FIRST_ROOM.max(data.len().saturating_mul(4)));
    let mut content = Vec::with_capacity(room.min(limit));
    let mut read = 0;
    loop {
        let before = content.len();
        let (taken, ended) = step(&data[read..], &mut content)?;
        read += taken;
        if ended {
            return Some((content, read));
        }
        if content.len() > most {
            return None;
        }
        if content.len() == content.capacity() {
            content.reserve(content.len().max(1).min(limit - content.len()));
        } else if taken == 0 && content.len() == before {
            return None;
        }
    }
}

/// Raw snappy, and the CRC-32 of the content.
fn unsnap(data: &[u8], most: usize) -> Option<Vec<u8>> {
    let (data, checksum) = data.split_at_checked(data.len().checked_sub(CHECKSUM_BYTES)?)?;
    if snap::raw::decompress_len(data).ok()? > most {
        return None;
    }
    let content = snap::raw::Decoder::new().decompress_vec(data).ok()?;
    let mut sum = Crc::new();
    sum.update(&content);
    (sum.sum().to_be_bytes() == checksum).then_some(content)
}
