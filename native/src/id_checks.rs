//! Duplicates by ids whose URLs and titles speak against it: `scoring/id_checks.py`.

use crate::duplicates::Duplicate;
use crate::evidence::{Evidence, Number};
use crate::unpacking::{Frame, FrameResult};
use crate::verification::{PairRules, agreeing_id};

const MOST_EXAMPLES: usize = 3;

/// Raw iteration, place of the call in it from 0, and rank from 1.
type PlaceInTurn = (i64, usize, usize);

/// What URLs and titles say about the duplicates of a turn that ids decided.
#[derive(Default)]
pub struct IdChecks {
    /// Duplicates with both to compare, and those where both differ.
    pub compared: usize,
    pub contradicted: usize,
    /// The first of the latter: an id, their place and that of their first occurrence.
    pub examples: Vec<(Number, PlaceInTurn, PlaceInTurn)>,
}

impl IdChecks {
    /// Check the duplicates of a turn; `turn` has the indexes of its calls in the frame.
    pub fn of(
        frame: &Frame,
        turn: &[usize],
        results: &[FrameResult],
        duplicates: &[Option<Duplicate>],
        evidence: &[Evidence],
        rules: &PairRules,
    ) -> Self {
        let mut checks = IdChecks::default();
        let evidence_at = |place: usize| evidence[results[place].evidence as usize];
        for (place, duplicate) in duplicates.iter().enumerate() {
            let Some(Duplicate { first, contradicted: Some(contradicted), .. }) = *duplicate else {
                continue;
            };
            checks.compared += 1;
            if !contradicted {
                continue;
            }
            checks.contradicted += 1;
            if checks.examples.len() == MOST_EXAMPLES {
                continue;
            }
            if let Some(id) = agreeing_id(evidence_at(first), evidence_at(place), rules) {
                let place_of = |place| place_of(place, turn, frame);
                checks.examples.push((id, place_of(place), place_of(first)));
            }
        }
        checks
    }
}

fn place_of(mut place: usize, turn: &[usize], frame: &Frame) -> PlaceInTurn {
    let (mut iteration, mut position) = (0, 0);
    for at in turn {
        let of_call = frame.deliveries[*at].iteration;
        position = if of_call == iteration { position + 1 } else { 0 };
        iteration = of_call;
        let results = frame.calls[*at].results.len();
        if place < results {
            break;
        }
        place -= results;
    }
    (iteration, position, place + 1)
}
