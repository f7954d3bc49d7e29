//! `PlanRows`: ways to sample, what each detects and costs, and the cheapest that detects the drop.

use evaltest::engine::stats::{SampleDesign, WantedDrop, smallest_drop_at};
use serde::Serialize;

use super::basis::{Basis, float};
use super::{PastRun, Wish};

const EPOCHS: [u32; 4] = [1, 2, 3, 5];
const BASELINE_RUNS: [u32; 3] = [1, 3, 5];

/// Minimum number of samples of a plan.
const FEWEST: u64 = 20;

/// The cost of a number of answers.
#[derive(Clone, Copy, Debug, Serialize)]
pub(super) struct Expense {
    pub(super) answers: u64,
    pub(super) time_s: Option<f64>,
    pub(super) cost_usd: Option<f64>,
    pub(super) tokens: Option<f64>,
}

/// One way to sample.
#[derive(Clone, Debug, Serialize)]
pub(super) struct PlanRow {
    /// Samples of the eval.
    pub(super) samples: u64,
    /// Epochs per run.
    pub(super) epochs: u32,
    /// Number of baseline runs, each with the same epochs.
    pub(super) baseline_runs: u32,
    /// The smallest drop that it detects, from 0 to 1; `None` if it detects none.
    pub(super) smallest_drop: Option<f64>,
    /// Whether it detects the requested drop.
    pub(super) sees: bool,
    /// Whether it needs the fewest answers of all rows that detect the drop with existing samples.
    pub(super) is_cheapest: bool,
    /// Cost of one run.
    pub(super) run: Expense,
    /// Cost of the baseline and one run.
    pub(super) in_all: Expense,
}

/// Number of samples needed to detect the drop.
#[derive(Clone, Debug, Serialize)]
pub(super) struct NeededSamples {
    pub(super) epochs: u32,
    pub(super) baseline_runs: u32,
    /// `None` if ten million are not enough.
    pub(super) samples: Option<u64>,
}

/// All ways to sample.
pub(super) struct PlanRows {
    pub(super) all: Vec<PlanRow>,
    /// Samples needed with one answer each, and with the maximum number of answers considered.
    pub(super) needed: [NeededSamples; 2],
}

impl PlanRows {
    pub(super) fn of(run: &PastRun, basis: &Basis, wish: &Wish) -> Self {
        let rows_of = RowsOf { run, basis, wish };
        let mut all = Vec::new();
        for epochs in EPOCHS {
            for baseline_runs in BASELINE_RUNS {
                all.push(rows_of.of_all(epochs, baseline_runs));
            }
        }
        let needed = [(1, 1), (5, 5)].map(|(epochs, runs)| rows_of.needed(epochs, runs));
        // Add a row with fewer samples if one answer to each is more than enough, or with more samples if it is not
        // enough.
        let few = needed[0].samples.map(|samples| samples.max(FEWEST));
        let is_enough = all[0].sees;
        let few = few.filter(|few| is_enough == (*few < basis.samples));
        all.extend(few.map(|few| rows_of.of_drawn(few)));
        let cheapest = all
            .iter_mut()
            .filter(|row| row.sees && row.samples <= basis.requested)
            .min_by_key(|row| (row.in_all.answers, row.run.answers));
        if let Some(row) = cheapest {
            row.is_cheapest = true;
        }
        Self { all, needed }
    }

    pub(super) fn cheapest(&self) -> Option<&PlanRow> {
        self.all.iter().find(|row| row.is_cheapest)
    }
}

struct RowsOf<'a> {
    run: &'a PastRun,
    basis: &'a Basis,
    wish: &'a Wish,
}

impl RowsOf<'_> {
    /// A row with all samples of the eval.
    fn of_all(&self, epochs: u32, baseline_runs: u32) -> PlanRow {
        let requested = SampleDesign {
            samples: self.basis.samples,
            before: epochs * baseline_runs,
            now: epochs,
        };
        let (alpha, power) = (self.wish.alpha, self.wish.power);
        let smallest_drop = smallest_drop_at(
            &self.basis.rates,
            &[requested],
            self.run.evidence.spread,
            alpha,
            power,
        );
        PlanRow {
            smallest_drop,
            sees: smallest_drop.is_some_and(|drop| tenths(drop) <= tenths(self.wish.drop)),
            ..self.row(self.basis.requested, epochs, baseline_runs)
        }
    }

    /// A row with one answer each to the number of samples that detects the drop.
    fn of_drawn(&self, samples: u64) -> PlanRow {
        PlanRow {
            smallest_drop: Some(self.wish.drop),
            sees: true,
            ..self.row(self.with_unjudged(samples), 1, 1)
        }
    }

    fn needed(&self, epochs: u32, baseline_runs: u32) -> NeededSamples {
        let wanted = WantedDrop {
            drop: self.wish.drop,
            alpha: self.wish.alpha,
            power: self.wish.power,
            spread: self.run.evidence.spread,
        };
        NeededSamples {
            epochs,
            baseline_runs,
            samples: wanted.samples(&self.basis.rates, epochs * baseline_runs, epochs),
        }
    }

    /// Adds the expected number of samples without a verdict.
    fn with_unjudged(&self, samples: u64) -> u64 {
        (samples * self.basis.requested).div_ceil(self.basis.samples.max(1))
    }

    /// A row with costs only, without what it detects.
    fn row(&self, samples: u64, epochs: u32, baseline_runs: u32) -> PlanRow {
        let answers = samples * u64::from(epochs);
        PlanRow {
            samples,
            epochs,
            baseline_runs,
            smallest_drop: None,
            sees: false,
            is_cheapest: false,
            run: self.expense(answers),
            in_all: self.expense(answers * (1 + u64::from(baseline_runs))),
        }
    }

    fn expense(&self, answers: u64) -> Expense {
        let of = |one: Option<f64>| one.map(|one| one * float(answers));
        let evidence = &self.run.evidence;
        Expense {
            answers,
            time_s: of(self.basis.seconds),
            cost_usd: of(evidence.price.cost_usd),
            tokens: of(evidence.price.tokens).map(f64::round),
        }
    }
}

/// Rounds a share to tenths of a point, as displayed.
fn tenths(share: f64) -> f64 {
    (share * 1000.0).round()
}
