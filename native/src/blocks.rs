//! Adds blocks of Avro to a packer, several by threads. It mirrors no Python file, since Python packs
//! blocks one by one.

use std::sync::mpsc::sync_channel;
use std::thread::{Builder, scope};

use pyo3::PyResult;
use pyo3::exceptions::PyValueError;
use pyo3::pybacked::PyBackedBytes;

use crate::avro::{Found, read_block};
use crate::avro_codecs::decompress;
use crate::avro_schema::Plan;
use crate::call_packing::{CallPacker, Made};
use crate::packing::{Buffer, Packed, Packer};
use crate::python::RecordReader;
use crate::record_encoding::decode_call;
use crate::records::{Arena, SearchCall};
use crate::times::{Times, UNTIMED};

/// Blocks that a thread hands over at once, since threads that wait for each other cost CPU.
const TOGETHER: usize = 8;

/// How many times `TOGETHER` blocks may wait for the calling thread, for each thread.
const AHEAD: usize = 1;

/// Bytes of payloads after which a call ends, so that the caller can pass them on.
const MOST_GIVEN: usize = 1 << 23;

/// A compressed block, and the Python function that reads its odd records.
pub struct Block {
    pub data: PyBackedBytes,
    pub count: usize,
    pub reader: RecordReader,
}

/// A record of a block.
enum Record {
    Call(Made),
    /// The bytes of an odd record.
    Odd(Vec<u8>),
}

/// Add a call that msgspec encoded as MessagePack.
pub fn add_encoded(
    calls: &mut CallPacker,
    buffer: &mut Buffer,
    encoded: &[u8],
    at_of: impl FnOnce(&SearchCall) -> Option<i64>,
    out: &mut Vec<Packed>,
) -> PyResult<()> {
    let mut arena = Arena::for_bytes(encoded.len());
    let call = decode_call(encoded, &mut arena)?;
    let at = at_of(&call).ok_or_else(|| PyValueError::new_err("a call without a timestamp"))?;
    buffer.add(calls.pack(&call, &arena)?, at, out);
    Ok(())
}

/// Add all records of a block; false if Python must read the whole block.
pub fn add_block(
    packer: &mut Packer,
    plan: &Plan,
    content: &[u8],
    count: usize,
    reader: &RecordReader,
    times: &mut Times,
    out: &mut Vec<Packed>,
) -> PyResult<bool> {
    let mut arena = Arena::for_bytes(content.len());
    let Some(records) = read_block(plan, content, count, &mut arena) else {
        return Ok(false);
    };
    let Packer { calls, buffer, .. } = packer;
    for (index, Found { bytes, call }) in records.iter().enumerate() {
        let call = call.as_ref().filter(|call| !calls.leaves_to_python(call));
        match call.and_then(|call| Some((call, times.of(call)?))) {
            Some((call, at)) => buffer.add(calls.pack(call, &arena)?, at, out),
            None => {
                if let Some(encoded) = reader.record(index, bytes)? {
                    add_encoded(calls, buffer, &encoded, |call| times.of(call), out)?;
                }
            }
        }
    }
    Ok(true)
}

/// Add blocks up to the first that Python must read, or that has a record which Python leaves out:
/// it may have to add that before the next block. Also ends when payloads take `MOST_GIVEN`. What
/// each block gives is appended to `out`.
///
/// The threads of the packer decompress, decode and pack in turns; this thread joins their records
/// in order, so that they give the same as on one thread. Each thread holds at most `AHEAD + 1`
/// times `TOGETHER` blocks, and this one `TOGETHER`.
pub fn add_blocks(
    packer: &mut Packer,
    plan: &Plan,
    codec: &str,
    blocks: &[Block],
    most: usize,
    out: &mut Vec<Vec<Packed>>,
) -> PyResult<()> {
    let Packer { calls, of_threads, buffer } = packer;
    let threads = of_threads.len();
    scope(|scope| {
        let mut receivers = Vec::with_capacity(threads);
        for (first, calls) in of_threads.iter_mut().enumerate() {
            let (sender, receiver) = sync_channel(AHEAD);
            let work = move || {
                let mut room = Vec::new();
                for some in blocks.chunks(TOGETHER).skip(first).step_by(threads) {
                    let packed: Vec<_> = some
                        .iter()
                        .map(|one| pack_block(calls, plan, codec, one, &mut room, most))
                        .collect();
                    if sender.send(packed).is_err() {
                        break;
                    }
                }
            };
            if Builder::new().spawn_scoped(scope, work).is_err() {
                return Ok(()); // without enough threads, each block goes through `add_block`
            }
            receivers.push(receiver);
        }
        // Nothing comes from a thread that panicked; `scope` then panics, too.
        let mut given_bytes = 0;
        let packed = receivers.iter().cycle().map_while(|one| one.recv().ok()).flatten();
        for (Block { reader, .. }, records) in blocks.iter().zip(packed) {
            let Some(records) = records else {
                break;
            };
            let (mut given, mut left_out) = (Vec::new(), false);
            for (index, record) in records.into_iter().enumerate() {
                match record? {
                    Record::Call(call) => buffer.add(call, UNTIMED, &mut given),
                    Record::Odd(bytes) => match reader.record(index, &bytes)? {
                        Some(encoded) => {
                            add_encoded(calls, buffer, &encoded, |_| Some(UNTIMED), &mut given)?;
                        }
                        None => left_out = true,
                    },
                }
            }
            given_bytes += given.iter().map(|one| one.payload.len()).sum::<usize>();
            out.push(given);
            if left_out || given_bytes > MOST_GIVEN {
                break;
            }
        }
        Ok(())
    })
}

/// The records of a compressed block up to an error; None if Python must read the block. The content
/// of blocks is decompressed into `room`.
fn pack_block(
    calls: &mut CallPacker,
    plan: &Plan,
    codec: &str,
    Block { data, count, .. }: &Block,
    room: &mut Vec<u8>,
    most: usize,
) -> Option<Vec<PyResult<Record>>> {
    let content: &[u8] = if codec == "null" {
        data
    } else {
        let length = decompress(codec, data, room, most)?;
        &room[..length]
    };
    if content.len() > most {
        return None;
    }
    let mut arena = Arena::for_bytes(content.len());
    let found = read_block(plan, content, *count, &mut arena)?;
    let mut records = Vec::with_capacity(found.len());
    for one in &found {
        let record = pack(calls, one, &arena);
        let failed = record.is_err();
        records.push(record);
        if failed {
            break;
        }
    }
    Some(records)
}

fn pack(calls: &mut CallPacker, found: &Found, arena: &Arena) -> PyResult<Record> {
    Ok(match &found.call {
        Some(call) if !calls.leaves_to_python(call) => Record::Call(calls.pack(call, arena)?),
        _ => Record::Odd(found.bytes.to_vec()),
    })
}
