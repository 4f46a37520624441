//! The texts in the dictionary of a Parquet column: `files/parquet_dictionary.py`.

const LENGTH_BYTES: usize = 4;

/// The bytes of the longest of some texts, each after its length; None if there are not `count` of
/// them, or bytes are left.
pub fn longest_text(texts: &[u8], count: u64) -> Option<usize> {
    let (mut rest, mut longest, mut seen) = (texts, 0, 0);
    while let Some((length, after)) = rest.split_first_chunk::<LENGTH_BYTES>() {
        let length = u32::from_le_bytes(*length) as usize;
        rest = after.get(length..)?;
        longest = longest.max(length);
        seen += 1;
    }
    (rest.is_empty() && seen == count).then_some(longest)
}
