//! Results that a benchmark leaves out of a topic: `judgments/exclusions.py`.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::document_labels::DIGEST_BYTES;
use crate::unpacking::Frame;

/// Take the results out of calls, whose indexes `kept` has, that have one of these names.
///
/// None if the names in the payloads are not those of the results.
pub fn leave_out(frame: &mut Frame, kept: &[usize], excluded: &FxHashSet<Vec<u8>>) -> Option<()> {
    let mut documents: FxHashMap<_, Vec<_>> = FxHashMap::default();
    for at in kept {
        let results = frame.calls[*at].results.clone();
        let Some((digest, names)) =
            frame.external.documents.get_key_value(&frame.deliveries[*at].record_digest[..])
        else {
            continue;
        };
        if names.is_empty() {
            continue;
        }
        if names.len() != results.len() {
            return None;
        }
        let mut left = Vec::with_capacity(names.len());
        let mut end = results.start;
        for (place, name) in results.clone().zip(names) {
            if !name.chunks(DIGEST_BYTES).any(|one| excluded.contains(one)) {
                frame.results[end] = frame.results[place];
                left.push(*name);
                end += 1;
            }
        }
        frame.calls[*at].results = results.start..end;
        documents.insert(*digest, left);
    }
    frame.external.documents = documents;
    Some(())
}
