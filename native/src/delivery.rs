//! Decides which deliveries of a conversation count, and in what order, as `scoring/delivery.py`
//! does.

use rustc_hash::FxHashMap;

/// What decides the identity of a delivery, and its place in the order of SPEC 3.
pub struct Delivery<'p> {
    pub turn: i64,
    pub iteration: i64,
    pub call: Option<i64>,
    pub action: &'p str,
    pub timestamp: Option<i64>,
    pub record_id: Option<&'p str>,
    pub record_digest: [u8; 16],
}

#[derive(PartialEq, Eq, Hash)]
enum Identity<'d> {
    RecordId(&'d str),
    Call(i64, i64, i64, &'d str),
    Record(&'d [u8; 16]),
}

/// What calls are ordered by: turn, iteration, call, timestamp, record_id, record_digest (SPEC 3).
type Place<'d> = (i64, i64, i64, Option<i64>, Option<&'d str>, &'d [u8; 16]);

impl Delivery<'_> {
    fn identity(&self) -> Identity<'_> {
        match (self.record_id, self.call) {
            (Some(record_id), _) => Identity::RecordId(record_id),
            (None, Some(call)) => Identity::Call(self.turn, self.iteration, call, self.action),
            (None, None) => Identity::Record(&self.record_digest),
        }
    }

    fn place(&self) -> Place<'_> {
        let call = self.call.unwrap_or(0);
        (self.turn, self.iteration, call, self.timestamp, self.record_id, &self.record_digest)
    }

    /// Of several deliveries, that with the greatest counts.
    fn precedence(&self) -> (Option<i64>, &[u8; 16]) {
        (self.timestamp, &self.record_digest)
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

/// Remove redeliveries and sort the rest.
pub fn deliver(deliveries: &[Delivery]) -> Delivered {
    let mut by_identity: FxHashMap<Identity, usize> = FxHashMap::default();
    let mut kept: Vec<usize> = Vec::new();
    for (at, delivery) in deliveries.iter().enumerate() {
        let group = *by_identity.entry(delivery.identity()).or_insert(kept.len());
        match kept.get_mut(group) {
            Some(winner) if delivery.precedence() > deliveries[*winner].precedence() => {
                *winner = at
            }
            Some(_) => (),
            None => kept.push(at),
        }
    }
    let differs = |delivery: &&Delivery| {
        let winner = kept[by_identity[&delivery.identity()]];
        delivery.record_digest != deliveries[winner].record_digest
    };
    let conflicting = deliveries.iter().filter(differs).count();
    kept.sort_by(|one, other| deliveries[*one].place().cmp(&deliveries[*other].place()));
    Delivered { redelivered: deliveries.len() - kept.len(), conflicting, kept }
}
