//! Decides which deliveries of a conversation count, and in what order, as `scoring/delivery.py`
//! does.

use std::collections::BTreeSet;
use std::hash::Hash;

use rustc_hash::FxHashMap;

/// What decides the identity of a delivery, and its place in the order of SPEC 3.
pub struct Delivery<Text = Box<str>> {
    pub turn: i64,
    pub iteration: i64,
    pub call: Option<i64>,
    pub action: Text,
    pub timestamp: Option<i64>,
    pub record_id: Option<Text>,
    pub record_digest: [u8; 16],
}

#[derive(PartialEq, Eq, Hash)]
enum Identity<'d> {
    RecordId(&'d str),
    Call(i64, i64, i64, &'d str),
    Record(&'d [u8; 16]),
}

/// What calls are ordered by: turn, iteration, call, timestamp, record_id (SPEC 3).
type Place<'d> = (i64, i64, i64, Option<i64>, Option<&'d str>);

impl<Text: AsRef<str>> Delivery<Text> {
    fn identity(&self) -> Identity<'_> {
        match (&self.record_id, self.call) {
            (Some(record_id), _) => Identity::RecordId(record_id.as_ref()),
            (None, Some(call)) => {
                Identity::Call(self.turn, self.iteration, call, self.action.as_ref())
            },
            (None, None) => Identity::Record(&self.record_digest),
        }
    }

    fn place(&self) -> Place<'_> {
        let call = self.call.unwrap_or(0);
        (
            self.turn,
            self.iteration,
            call,
            self.timestamp,
            self.record_id.as_ref().map(AsRef::as_ref),
        )
    }
}

/// The indexes of deliveries that differ although they have equal identity and time, or equal
/// places. Only their canonical encodings decide between them.
pub fn tied(deliveries: &[Delivery]) -> BTreeSet<usize> {
    let mut found = BTreeSet::new();
    if deliveries.len() > 1 {
        add_tied(deliveries, |one| (one.identity(), one.timestamp), &mut found);
        add_tied(deliveries, Delivery::place, &mut found);
    }
    found
}

fn add_tied<'d, K: Hash + Eq>(
    deliveries: &'d [Delivery],
    key_of: impl Fn(&'d Delivery) -> K,
    found: &mut BTreeSet<usize>,
) {
    let mut groups: FxHashMap<K, Vec<usize>> = FxHashMap::default();
    for (at, delivery) in deliveries.iter().enumerate() {
        groups.entry(key_of(delivery)).or_default().push(at);
    }
    for group in groups.into_values() {
        let first = &deliveries[group[0]].record_digest;
        if group.iter().any(|at| deliveries[*at].record_digest != *first) {
            found.extend(group);
        }
    }
}

/// Which deliveries of a conversation count.
pub struct Delivered {
    /// Indexes of those that count, in the order of SPEC 3.
    pub kept: Vec<usize>,
    pub redelivered: usize,
    /// Number of redeliveries that differ from the one that counts.
    pub conflicting: usize,
}

/// Remove redeliveries and sort the rest; None if the order depends on a missing encoding.
pub fn deliver<'e, Text: AsRef<str>>(
    deliveries: &[Delivery<Text>],
    encoding: impl Fn(usize) -> Option<&'e [u8]>,
) -> Option<Delivered> {
    let mut by_identity: FxHashMap<Identity, usize> = FxHashMap::default();
    let mut groups: Vec<Vec<usize>> = Vec::new();
    for (at, delivery) in deliveries.iter().enumerate() {
        let group = *by_identity.entry(delivery.identity()).or_insert(groups.len());
        match groups.get_mut(group) {
            Some(group) => group.push(at),
            None => groups.push(vec![at]),
        }
    }
    let mut delivered = Delivered { kept: Vec::new(), redelivered: 0, conflicting: 0 };
    for group in groups {
        let winner = winner(deliveries, &group, &encoding)?;
        let digest = &deliveries[winner].record_digest;
        let differs = |at: &&usize| deliveries[**at].record_digest != *digest;
        delivered.redelivered += group.len() - 1;
        delivered.conflicting += group.iter().filter(differs).count();
        delivered.kept.push(winner);
    }
    sort(deliveries, &mut delivered.kept, &encoding)?;
    Some(delivered)
}

fn winner<'e, Text: AsRef<str>>(
    deliveries: &[Delivery<Text>],
    group: &[usize],
    encoding: &impl Fn(usize) -> Option<&'e [u8]>,
) -> Option<usize> {
    let latest = group.iter().map(|at| deliveries[*at].timestamp).max()?;
    let mut candidates = group.iter().copied().filter(|at| deliveries[*at].timestamp == latest);
    let mut winner = candidates.next()?;
    let rest: Vec<usize> = candidates.collect();
    let first = &deliveries[winner].record_digest;
    if rest.iter().any(|at| deliveries[*at].record_digest != *first) {
        for at in rest {
            if encoding(at)? > encoding(winner)? {
                winner = at;
            }
        }
    }
    Some(winner)
}

fn sort<'e, Text: AsRef<str>>(
    deliveries: &[Delivery<Text>],
    kept: &mut [usize],
    encoding: &impl Fn(usize) -> Option<&'e [u8]>,
) -> Option<()> {
    kept.sort_by(|one, other| deliveries[*one].place().cmp(&deliveries[*other].place()));
    let same_place =
        |one: &usize, other: &usize| deliveries[*one].place() == deliveries[*other].place();
    for group in kept.chunk_by_mut(same_place).filter(|group| group.len() > 1) {
        if group.iter().any(|at| encoding(*at).is_none()) {
            return None;
        }
        group.sort_by(|one, other| encoding(*one).cmp(&encoding(*other)));
    }
    Some(())
}
