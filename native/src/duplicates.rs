//! Finds duplicates in order: `dedup/duplicates.py`.

use std::collections::hash_map::Entry;

use rustc_hash::FxHashMap;

use crate::evidence::{Evidence, Number};
use crate::key_names::{EQUAL_EVIDENCE, KeyNames};
use crate::verification::{PairRules, Policy, STEPS, Step, texts_differ, verify};

/// Why a result is a duplicate: the place of its first occurrence, and the step that decided.
#[derive(Clone, Copy)]
pub struct Duplicate {
    pub first: usize,
    pub step: Step,
    pub clause: Option<usize>,
    /// The attribute of the key that proposed it; `EQUAL_EVIDENCE` if keys have no names here.
    pub key: Number,
    /// If ids decided, whether URL and title differ; None if one of them cannot be compared.
    pub contradicted: Option<bool>,
}

/// Candidates that verification rejected, by the step that did.
type Misses = [u64; STEPS];

/// What is known about one distinct piece of evidence.
struct Known {
    occurrence: u32,
    /// The decision for further results with the same evidence; None if not yet known.
    repeat: Option<Duplicate>,
    /// Candidates rejected before `repeat` was found; None if there are none.
    near_misses: Option<Box<Misses>>,
}

enum Bucket {
    One(u32),
    Many(Vec<u32>),
}

/// Finds the duplicates within one turn, result by result.
pub struct Deduplicator<'e> {
    rules: &'e PairRules,
    /// None if nobody asks by which key a duplicate was found.
    names: Option<&'e KeyNames<'e>>,
    /// All distinct evidence of the turn; results refer to it by number.
    evidence: &'e [Evidence<'e>],
    known: Vec<Option<Known>>,
    index: FxHashMap<u64, Bucket>,
    /// By occurrence, its evidence and the place of its first occurrence.
    occurrences: Vec<(u32, usize)>,
    candidates: Vec<u32>,
    place: usize,
    pub near_misses: Misses,
    /// Registrations left out because a key had `max_candidates` already.
    pub cut: u64,
}

impl<'e> Deduplicator<'e> {
    pub fn new(
        rules: &'e PairRules,
        evidence: &'e [Evidence<'e>],
        names: Option<&'e KeyNames<'e>>,
    ) -> Self {
        Deduplicator {
            rules,
            names,
            evidence,
            known: evidence.iter().map(|_| None).collect(),
            index: FxHashMap::default(),
            occurrences: Vec::new(),
            candidates: Vec::new(),
            place: 0,
            near_misses: Misses::default(),
            cut: 0,
        }
    }

    /// Another one by the same rules, without results.
    pub fn like_it(&self) -> Self {
        Deduplicator::new(self.rules, self.evidence, None)
    }

    /// Add the next result; returns the place of its document's first occurrence.
    pub fn first_or_new(&mut self, number: u32) -> usize {
        let place = self.place;
        self.add(number).map_or(place, |duplicate| duplicate.first)
    }

    /// The first document that a result from elsewhere belongs to, by the place of its first
    /// occurrence; None if there is none. Nothing is added or counted.
    pub fn first_match(&self, number: u32) -> Option<usize> {
        if self.rules.policy == Policy::Nothing {
            return None;
        }
        let second = self.evidence[number as usize];
        let mut candidates = Vec::new();
        for key in second.keys() {
            match self.index.get(&key) {
                Some(Bucket::One(occurrence)) => candidates.push(*occurrence),
                Some(Bucket::Many(occurrences)) => candidates.extend(occurrences),
                None => (),
            }
        }
        if let Some(known) = &self.known[number as usize]
            && second.layout.identifies_alone
        {
            candidates.push(known.occurrence);
        }
        let first = |occurrence: &u32| self.occurrences[*occurrence as usize].1;
        candidates.sort_unstable_by_key(|occurrence| (first(occurrence), *occurrence));
        candidates.dedup();
        let verifies = |occurrence: &&u32| {
            let (candidate, _) = self.occurrences[**occurrence as usize];
            verify(self.evidence[candidate as usize], second, self.rules).duplicate
        };
        candidates.iter().find(verifies).map(first)
    }

    /// Add the next result; None if it is a first occurrence.
    pub fn add(&mut self, number: u32) -> Option<Duplicate> {
        let place = self.place;
        self.place += 1;
        if self.rules.policy == Policy::Nothing {
            return None;
        }
        if let Some(known) = self.known[number as usize].take() {
            let known = self.add_equal(number, known);
            let repeat = known.repeat;
            self.known[number as usize] = Some(known);
            return repeat;
        }
        let mut misses = Misses::default();
        self.find_candidates(number);
        let duplicate = self.first_verified(number, &mut misses);
        let first = duplicate.map_or(place, |one| one.first);
        let occurrence = self.register(number, first);
        let near_misses = boxed(misses);
        self.known[number as usize] = Some(Known { occurrence, repeat: duplicate, near_misses });
        duplicate
    }

    /// Add a result with the same evidence as an earlier one, which stays registered.
    fn add_equal(&mut self, number: u32, mut known: Known) -> Known {
        if known.repeat.is_some() {
            if let Some(misses) = &known.near_misses {
                self.count(misses);
            }
            return known;
        }
        self.find_candidates(number);
        if self.evidence[number as usize].layout.identifies_alone {
            self.candidates.push(known.occurrence);
        }
        let mut misses = Misses::default();
        known.repeat = self.first_verified(number, &mut misses);
        known.near_misses = boxed(misses);
        known
    }

    /// Gather the occurrences that share a key.
    fn find_candidates(&mut self, number: u32) {
        self.candidates.clear();
        for key in self.evidence[number as usize].keys() {
            match self.index.get(&key) {
                Some(Bucket::One(occurrence)) => self.candidates.push(*occurrence),
                Some(Bucket::Many(occurrences)) => self.candidates.extend(occurrences),
                None => (),
            }
        }
    }

    /// The first candidate that verifies; counts how many each step rejected before it.
    fn first_verified(&mut self, number: u32, misses: &mut Misses) -> Option<Duplicate> {
        self.candidates.sort_unstable();
        self.candidates.dedup();
        let second = self.evidence[number as usize];
        let mut found = None;
        for occurrence in &self.candidates {
            let (candidate, first) = self.occurrences[*occurrence as usize];
            let candidate = self.evidence[candidate as usize];
            let verdict = verify(candidate, second, self.rules);
            if verdict.duplicate {
                let by_ids = verdict.step == Step::Ids;
                let contradicted = if by_ids { texts_differ(candidate, second) } else { None };
                let key = self.names.map(|names| self.key(second, *occurrence, names));
                found = Some(Duplicate {
                    first,
                    step: verdict.step,
                    clause: verdict.clause,
                    key: key.unwrap_or(EQUAL_EVIDENCE),
                    contradicted,
                });
                break;
            }
            misses[verdict.step as usize] += 1;
        }
        self.count(misses);
        found
    }

    /// The first of the keys that proposed an occurrence.
    fn key(&self, evidence: Evidence, occurrence: u32, names: &KeyNames) -> Number {
        let keys = evidence.key_attributes().zip(evidence.keys());
        let proposers = keys.filter(|(_, key)| match self.index.get(key) {
            Some(Bucket::One(one)) => *one == occurrence,
            Some(Bucket::Many(several)) => several.binary_search(&occurrence).is_ok(),
            None => false,
        });
        names.first_of(proposers.map(|(attribute, _)| attribute))
    }

    fn count(&mut self, misses: &Misses) {
        for (sum, rejected) in self.near_misses.iter_mut().zip(misses) {
            *sum += rejected;
        }
    }

    fn register(&mut self, number: u32, first: usize) -> u32 {
        let occurrence = self.occurrences.len() as u32;
        self.occurrences.push((number, first));
        let most = self.rules.max_candidates;
        let mut cut: Vec<u64> = Vec::new();
        for key in self.evidence[number as usize].keys() {
            let bucket = match self.index.entry(key) {
                Entry::Vacant(vacant) => {
                    vacant.insert(Bucket::One(occurrence));
                    continue;
                }
                Entry::Occupied(found) => found.into_mut(),
            };
            match bucket {
                // Two spellings of an id may share a key.
                Bucket::One(one) if *one == occurrence => continue,
                Bucket::Many(several) if several.last() == Some(&occurrence) => continue,
                Bucket::One(one) => *bucket = Bucket::Many(vec![*one]),
                Bucket::Many(_) => (),
            }
            if let Bucket::Many(several) = bucket {
                if several.len() < most {
                    several.push(occurrence);
                } else if !cut.contains(&key) {
                    cut.push(key);
                }
            }
        }
        self.cut += cut.len() as u64;
        occurrence
    }
}

fn boxed(misses: Misses) -> Option<Box<Misses>> {
    (misses != Misses::default()).then(|| Box::new(misses))
}
