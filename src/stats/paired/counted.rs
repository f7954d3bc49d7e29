//! `CountedSamples`: compared samples, counted by their answers.

use std::collections::BTreeMap;

use super::conditional::ComparedSample;

/// Compared samples by their answers. Tests of independent samples depend on nothing else, and so a million samples
/// take no more memory than a hundred.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct CountedSamples {
    kinds: BTreeMap<ComparedSample, u64>,
    count: u64,
}

impl CountedSamples {
    /// Adds `times` samples with these answers.
    pub(crate) fn add(&mut self, sample: ComparedSample, times: u64) {
        if times > 0 {
            *self.kinds.entry(sample).or_default() += times;
            self.count += times;
        }
    }

    /// How many samples there are.
    pub(crate) fn count(&self) -> u64 {
        self.count
    }

    /// The kinds of samples in a fixed order, with their counts.
    pub(crate) fn kinds(&self) -> impl Iterator<Item = (&ComparedSample, u64)> + Clone {
        self.kinds.iter().map(|(sample, times)| (sample, *times))
    }
}

impl FromIterator<ComparedSample> for CountedSamples {
    fn from_iter<I: IntoIterator<Item = ComparedSample>>(samples: I) -> Self {
        let mut counted = Self::default();
        for sample in samples {
            counted.add(sample, 1);
        }
        counted
    }
}

impl FromIterator<(ComparedSample, u64)> for CountedSamples {
    fn from_iter<I: IntoIterator<Item = (ComparedSample, u64)>>(samples: I) -> Self {
        let mut counted = Self::default();
        for (sample, times) in samples {
            counted.add(sample, times);
        }
        counted
    }
}
