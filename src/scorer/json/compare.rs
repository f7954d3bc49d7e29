//! `Comparison`: finds where two JSON values differ.

use std::collections::{BTreeSet, VecDeque};

use serde_json::{Number, Value};

use super::Json;
use crate::text::snippet;

/// Limit of comparisons while elements of lists are paired, which takes a fraction of a second.
const MAX_STEPS: u64 = 10_000_000;

/// Why a comparison ended early.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum EarlyEnd {
    /// A difference was found.
    Differs,
    /// There are too many ways to pair the elements of lists.
    TooComplex,
}

/// Compares two values, and describes the difference.
pub(super) struct Comparison<'a> {
    rule: &'a Json,
    /// The path of the values being compared.
    path: Vec<PathStep<'a>>,
    difference: String,
    /// Whether list elements are being tried out: then differences are not described.
    is_trial: bool,
    steps: u64,
}

#[derive(Clone, Copy)]
enum PathStep<'a> {
    Key(&'a str),
    Index(usize),
}

type Compared = Result<(), EarlyEnd>;

impl<'a> Comparison<'a> {
    pub(super) fn new(rule: &'a Json) -> Self {
        Self {
            rule,
            path: Vec::new(),
            difference: String::new(),
            is_trial: false,
            steps: MAX_STEPS,
        }
    }

    /// The first difference, in words.
    pub(super) fn difference(self) -> String {
        self.difference
    }

    pub(super) fn compare(&mut self, got: &'a Value, expected: &'a Value) -> Compared {
        if self.is_trial {
            self.steps = self.steps.checked_sub(1).ok_or(EarlyEnd::TooComplex)?;
        }
        let is_equal = match (got, expected) {
            (Value::Object(_), Value::Object(_)) => return self.objects(got, expected),
            (Value::Array(got), Value::Array(expected)) => return self.lists(got, expected),
            (Value::Number(got), Value::Number(expected)) => self.is_number(got, expected),
            (got, expected) => got == expected,
        };
        if is_equal {
            return Ok(());
        }
        self.differs(|| format!("got {}, expected {}", display(got), display(expected)))
    }

    fn objects(&mut self, got: &'a Value, expected: &'a Value) -> Compared {
        let (Value::Object(got), Value::Object(expected)) = (got, expected) else {
            return Ok(());
        };
        let rule = self.rule;
        let counts = |key: &String| !rule.ignore_keys.contains(key);
        for (key, expected) in expected.iter().filter(|entry| counts(entry.0)) {
            self.path.push(PathStep::Key(key));
            match got.get(key) {
                Some(got) => self.compare(got, expected)?,
                None => self.differs(|| format!("missing, expected {}", display(expected)))?,
            }
            self.path.pop();
        }
        if rule.subset {
            return Ok(());
        }
        let mut others = got.iter().filter(|entry| counts(entry.0));
        match others.find(|entry| !expected.contains_key(entry.0)) {
            None => Ok(()),
            Some((key, value)) => {
                self.path.push(PathStep::Key(key));
                self.differs(|| format!("got {}, expected no such key", display(value)))
            }
        }
    }

    fn lists(&mut self, got: &'a [Value], expected: &'a [Value]) -> Compared {
        if got.len() != expected.len() {
            let (got, expected) = (got.len(), expected.len());
            return self.differs(|| format!("got a list of {got}, expected one of {expected}"));
        }
        if self.rule.unordered_lists && got.len() > 1 {
            return match self.pair_off(got, expected)? {
                None => Ok(()),
                Some(left) => self.differs(|| format!("no element left equals {}", display(left))),
            };
        }
        for (place, (got, expected)) in got.iter().zip(expected).enumerate() {
            self.path.push(PathStep::Index(place));
            self.compare(got, expected)?;
            self.path.pop();
        }
        Ok(())
    }

    /// Pairs the elements of two lists of the same length. Returns an expected one that is left over, if any.
    ///
    /// If equality is strict, the first equal element is as good as any other. With a tolerance, or if additional keys
    /// are allowed, another element may need it, so pairs can be changed (augmenting paths, as in bipartite matching).
    fn pair_off(
        &mut self,
        got: &'a [Value],
        expected: &'a [Value],
    ) -> Result<Option<&'a Value>, EarlyEnd> {
        let is_strict = !self.rule.subset && self.rule.tolerance == super::Tolerance::default();
        let mut pairs = Pairs {
            free: (0..got.len()).collect(),
            expected_of: vec![0; got.len()],
            got_of: vec![None; expected.len()],
        };
        for (place, element) in expected.iter().enumerate() {
            // Try the same position first: lists are often in order.
            let same = pairs.free.get(&place);
            let mut found = None;
            for &candidate in same.into_iter().chain(&pairs.free) {
                if self.is_equal(&got[candidate], element)? {
                    found = Some(candidate);
                    break;
                }
            }
            if let Some(found) = found {
                pairs.join(found, place);
            } else if is_strict || !self.change(&mut pairs, place, got, expected)? {
                return Ok(Some(element));
            }
        }
        Ok(None)
    }

    /// Finds a partner for an expected element by re-pairing others; returns whether that is possible.
    fn change(
        &mut self,
        pairs: &mut Pairs,
        start: usize,
        got: &'a [Value],
        expected: &'a [Value],
    ) -> Result<bool, EarlyEnd> {
        let mut reached_from: Vec<Option<usize>> = vec![None; got.len()];
        let mut queue = VecDeque::from([start]);
        while let Some(place) = queue.pop_front() {
            for candidate in 0..got.len() {
                if reached_from[candidate].is_some()
                    || !self.is_equal(&got[candidate], &expected[place])?
                {
                    continue;
                }
                reached_from[candidate] = Some(place);
                if !pairs.free.contains(&candidate) {
                    queue.push_back(pairs.expected_of[candidate]);
                    continue;
                }
                // Back along the path, each takes what the previous one gives up.
                let mut next = Some(candidate);
                while let Some(candidate) = next {
                    let Some(place) = reached_from[candidate] else {
                        break;
                    };
                    next = pairs.join(candidate, place);
                }
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn is_equal(&mut self, got: &'a Value, expected: &'a Value) -> Result<bool, EarlyEnd> {
        let (depth, is_trial) = (self.path.len(), self.is_trial);
        self.is_trial = true;
        let compared = self.compare(got, expected);
        self.is_trial = is_trial;
        self.path.truncate(depth);
        match compared {
            Ok(()) => Ok(true),
            Err(EarlyEnd::Differs) => Ok(false),
            Err(stop) => Err(stop),
        }
    }

    fn is_number(&self, got: &Number, expected: &Number) -> bool {
        let is_near = || {
            let (got, expected) = (got.as_f64()?, expected.as_f64()?);
            Some(self.rule.tolerance.covers(got, expected))
        };
        is_same(got, expected) || is_near() == Some(true)
    }

    fn differs(&mut self, text: impl FnOnce() -> String) -> Compared {
        if !self.is_trial {
            self.difference = format!("{}: {}", pointer(&self.path), text());
        }
        Err(EarlyEnd::Differs)
    }
}

/// The current pairs of two lists.
struct Pairs {
    /// Elements of the prediction without a partner.
    free: BTreeSet<usize>,
    /// The partners of the other elements.
    expected_of: Vec<usize>,
    /// The partners of the expected elements.
    got_of: Vec<Option<usize>>,
}

impl Pairs {
    /// Pairs two; returns the former partner of the expected element, if any.
    fn join(&mut self, got: usize, expected: usize) -> Option<usize> {
        self.free.remove(&got);
        self.expected_of[got] = expected;
        self.got_of[expected].replace(got)
    }
}

/// Whether two numbers have the same value.
fn is_same(left: &Number, right: &Number) -> bool {
    match (left.as_i128(), right.as_i128()) {
        (Some(left), Some(right)) => left == right,
        (None, None) => left.as_f64() == right.as_f64(),
        (Some(whole), None) => is_whole(right, whole),
        (None, Some(whole)) => is_whole(left, whole),
    }
}

/// Whether a double exactly equals this integer.
#[expect(
    clippy::cast_possible_truncation,
    reason = "a double beyond the range becomes the end of it, and no number of JSON is there"
)]
fn is_whole(double: &Number, whole: i128) -> bool {
    double
        .as_f64()
        .is_some_and(|double| double.fract() == 0.0 && double as i128 == whole)
}

fn pointer(path: &[PathStep<'_>]) -> String {
    if path.is_empty() {
        return "the whole".to_owned();
    }
    let mut text = String::new();
    for place in path {
        text.push('/');
        match place {
            PathStep::Key(key) => text += &snippet(&key.replace('~', "~0").replace('/', "~1")),
            PathStep::Index(index) => text += &index.to_string(),
        }
    }
    text
}

fn display(value: &Value) -> String {
    snippet(&value.to_string())
}
