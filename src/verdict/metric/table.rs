//! The table of metrics.

use super::conversations;
use super::{Basis, MetricEntry, MetricForm, Takes, Unit, UsedBy};
use crate::stats;
use crate::verdict::gate::{
    ACCURACY, CORRECTED, DIFFICULTY_DROP, DROP, ERROR_RATE, FAILURE_RATE, LATENCY_MAX,
    LATENCY_PERCENTILE, MACRO_F1, MAJORITY, MEAN, MIN_SAMPLES, NO_CHANGE, NO_DECREASE, NO_INCREASE,
    NO_REGRESSION, OWN, PASS_AT, PASS_HAT, REVIEWED, Suffix,
};
use crate::verdict::summary::StepFigures;

/// The defaults of an entry: a share computed from verdicts, of which more is better, for runs and slices.
pub(super) const ENTRY: MetricEntry = MetricEntry {
    name: "",
    alias: None,
    takes: Takes::Nothing,
    forms: &[],
    unit: Unit::Share,
    less_is_better: false,
    basis: Basis::Verdicts,
    whole_run: None,
    needs_samples: false,
    used_by: UsedBy::Both,
    measure: |_, gate| Err(format!("`{}` takes no threshold", gate.metric)),
    line: None,
    slice: None,
};

/// Latency in seconds.
const LATENCY: MetricEntry = MetricEntry {
    unit: Unit::Seconds,
    less_is_better: true,
    basis: Basis::SoFar,
    ..ENTRY
};

/// A sum over all answers.
const SUM: MetricEntry = MetricEntry {
    unit: Unit::Count,
    less_is_better: true,
    basis: Basis::Sum,
    ..ENTRY
};

/// Reviews of items by people.
const REVIEW: MetricEntry = MetricEntry {
    name: REVIEWED,
    basis: Basis::SoFar,
    whole_run: Some("leave the slice out"),
    measure: |figures, gate| figures.reviewed(gate),
    ..ENTRY
};

/// A comparison with the baseline.
const COMPARISON: MetricEntry = MetricEntry {
    takes: Takes::Options,
    unit: Unit::Amount("p"),
    basis: Basis::Answers,
    needs_samples: true,
    used_by: UsedBy::Gates,
    ..ENTRY
};

/// The entry of a metric that is not in the table.
pub(super) const UNKNOWN: &MetricEntry = &ENTRY;

/// All metrics, in the order of help and documentation.
pub static METRICS: &[MetricEntry] = &[
    MetricEntry {
        name: ACCURACY,
        takes: Takes::Scorer,
        forms: &[
            MetricForm {
                form: "accuracy",
                meaning: "the share of scored samples that are correct",
                example: "accuracy[level=1] >= 75%",
            },
            MetricForm {
                form: "accuracy(SCORER)",
                meaning: "the same by one of several scorers",
                example: "accuracy(gaia) >= 0.6",
            },
        ],
        needs_samples: true,
        measure: |figures, gate| match gate.metric.scorer() {
            None => figures.accuracy(),
            Some(scorer) => figures.share_by(scorer),
        },
        line: Some(|line, _| line.accuracy),
        slice: Some(|slice| slice.accuracy),
        ..ENTRY
    },
    MetricEntry {
        name: ERROR_RATE,
        forms: &[MetricForm {
            form: "error_rate",
            meaning: "the share of asked samples that ended in an error: outages, not wrong answers",
            example: "error_rate <= 0.02",
        }],
        less_is_better: true,
        basis: Basis::SoFar,
        measure: |figures, _| figures.error_rate(),
        line: Some(|line, _| line.error_rate),
        ..ENTRY
    },
    MetricEntry {
        name: FAILURE_RATE,
        forms: &[MetricForm {
            form: "failure_rate",
            meaning: "1 - accuracy",
            example: "failure_rate <= 40%",
        }],
        less_is_better: true,
        measure: |figures, _| figures.failure_rate(),
        line: Some(|line, _| line.accuracy.map(|share| 1.0 - share)),
        slice: Some(|slice| slice.accuracy.map(|share| 1.0 - share)),
        ..ENTRY
    },
    MetricEntry {
        name: MIN_SAMPLES,
        alias: Some("samples"),
        takes: Takes::Threshold,
        forms: &[MetricForm {
            form: "min_samples",
            meaning: "how many samples were scored; `min_samples(30)` is short for `min_samples >= 30`",
            example: "min_samples >= 100",
        }],
        unit: Unit::Count,
        basis: Basis::SoFar,
        measure: |figures, _| figures.samples(),
        // Of several epochs a line counts each answer.
        line: Some(|line, _| (line.epochs <= 1).then(|| stats::as_f64(line.scored))),
        ..ENTRY
    },
    MetricEntry {
        name: MEAN,
        takes: Takes::Name("name a detail of the scorer, or its score: `mean(f1)`, `mean(value)`"),
        forms: &[MetricForm {
            form: "mean(NAME)",
            meaning: "the mean of a figure in the details of a score, or of the score itself (`value`); `mean(SCORER.NAME)` names the scorer",
            example: "mean(f1) >= 0.7",
        }],
        unit: Unit::Any("as the figure"),
        measure: |figures, gate| figures.mean(gate.metric.argument()),
        line: Some(|line, metric| line.means.get(metric.argument()).copied()),
        ..ENTRY
    },
    MetricEntry {
        name: CORRECTED,
        takes: Takes::Name(
            "name a judge and its figure: `corrected(judge.total)`, or `corrected(judge)` for its accuracy",
        ),
        forms: &[MetricForm {
            form: "corrected(JUDGE.NAME)",
            meaning: "the mean of a judge's figure, corrected by 50 or more randomly sampled labels of this run, or by a label of each answer, see `judge calibrate`; `corrected(JUDGE)` is its accuracy",
            example: "corrected(judge.total) >= 4.0",
        }],
        unit: Unit::Any("as the figure"),
        measure: |figures, gate| figures.corrected(gate.metric.argument(), gate.slice.as_ref()),
        ..ENTRY
    },
    MetricEntry {
        name: OWN,
        takes: Takes::Name("name an aggregate of the benchmark: `metric(overall)`"),
        forms: &[MetricForm {
            form: "metric(NAME)",
            meaning: "an aggregate of the benchmark's own, such as `metric(overall)` of `bfcl`",
            example: "metric(overall) >= 0.5",
        }],
        unit: Unit::Any("as the aggregate"),
        basis: Basis::SoFar,
        whole_run: Some("a slice has `accuracy` and `mean`"),
        measure: |figures, gate| figures.own(gate.metric.argument()),
        line: Some(|line, metric| line.metrics.get(metric.argument())?.as_f64()),
        ..ENTRY
    },
    MetricEntry {
        name: MACRO_F1,
        takes: Takes::Scorer,
        forms: &[
            MetricForm {
                form: "macro_f1",
                meaning: "the mean F1 over all labels, for scorers that judge labels",
                example: "macro_f1 >= 0.5",
            },
            MetricForm {
                form: "macro_f1(SCORER)",
                meaning: "the same by one of several scorers",
                example: "macro_f1(choice) >= 0.5",
            },
        ],
        measure: |figures, gate| figures.macro_f1(gate.metric.scorer()),
        ..ENTRY
    },
    MetricEntry {
        name: PASS_AT,
        takes: Takes::Answers,
        forms: &[MetricForm {
            form: "pass@3",
            meaning: "the probability that at least one of 3 answers is correct; any number, with at least that many `epochs`; `pass@3(SCORER)` for one of several scorers",
            example: "pass@3 >= 0.8",
        }],
        measure: |figures, gate| figures.over_epochs(&gate.metric),
        ..ENTRY
    },
    MetricEntry {
        name: PASS_HAT,
        takes: Takes::Answers,
        forms: &[MetricForm {
            form: "pass^3",
            meaning: "the probability that all of 3 answers are correct; `pass^3(SCORER)`",
            example: "pass^3[level=1] >= 0.5",
        }],
        measure: |figures, gate| figures.over_epochs(&gate.metric),
        ..ENTRY
    },
    MetricEntry {
        name: MAJORITY,
        takes: Takes::Scorer,
        forms: &[MetricForm {
            form: "majority",
            meaning: "the share of samples whose most frequent answer is correct; `majority(SCORER)`",
            example: "majority >= 0.7",
        }],
        measure: |figures, gate| figures.over_epochs(&gate.metric),
        ..ENTRY
    },
    MetricEntry {
        name: LATENCY_PERCENTILE,
        takes: Takes::Percent,
        forms: &[MetricForm {
            form: "latency_p95",
            meaning: "the time within which this percentage of the answers arrived; any percentile",
            example: "latency_p95 <= 20s",
        }],
        needs_samples: true,
        measure: |figures, gate| figures.latency_percentile(gate),
        line: Some(|line, metric| {
            let latency = line.latency_s.as_ref()?;
            match metric.suffix {
                Suffix::Percent(50.0) => Some(latency.p50),
                Suffix::Percent(95.0) => Some(latency.p95),
                _ => None,
            }
        }),
        ..LATENCY
    },
    MetricEntry {
        name: "latency_mean",
        forms: &[MetricForm {
            form: "latency_mean",
            meaning: "the mean time of an answer",
            example: "latency_mean <= 5s",
        }],
        measure: |figures, _| figures.latency(|latency| latency.mean),
        line: Some(|line, _| line.latency_s.as_ref().map(|latency| latency.mean)),
        ..LATENCY
    },
    MetricEntry {
        name: LATENCY_MAX,
        forms: &[MetricForm {
            form: "latency_max",
            meaning: "the time of the slowest answer",
            example: "latency_max <= 60s",
        }],
        needs_samples: true,
        measure: |figures, _| figures.latency(|latency| latency.max),
        ..LATENCY
    },
    MetricEntry {
        name: "cost_usd",
        alias: Some("cost"),
        forms: &[MetricForm {
            form: "cost_usd",
            meaning: "the cost of all answers, as the agent reports it",
            example: "cost_usd <= 2",
        }],
        unit: Unit::Usd,
        measure: |figures, _| figures.sum(figures.usage().cost_usd, "cost_usd"),
        line: Some(|line, _| line.cost_usd),
        ..SUM
    },
    MetricEntry {
        name: "tokens",
        forms: &[MetricForm {
            form: "tokens",
            meaning: "input and output tokens of all answers, as the agent reports them",
            example: "tokens <= 9000",
        }],
        measure: |figures, _| figures.sum(figures.usage().tokens().map(stats::as_f64), "tokens"),
        line: Some(|line, _| line.tokens.map(stats::as_f64)),
        ..SUM
    },
    MetricEntry {
        name: "input_tokens",
        forms: &[MetricForm {
            form: "input_tokens",
            meaning: "input tokens of all answers",
            example: "input_tokens <= 8000",
        }],
        measure: |figures, _| {
            figures.sum(
                figures.usage().input_tokens.map(stats::as_f64),
                "input_tokens",
            )
        },
        line: Some(|line, _| line.figures.get("input_tokens").copied()),
        ..SUM
    },
    MetricEntry {
        name: "output_tokens",
        forms: &[MetricForm {
            form: "output_tokens",
            meaning: "output tokens of all answers",
            example: "output_tokens <= 1000",
        }],
        measure: |figures, _| {
            figures.sum(
                figures.usage().output_tokens.map(stats::as_f64),
                "output_tokens",
            )
        },
        line: Some(|line, _| line.figures.get("output_tokens").copied()),
        ..SUM
    },
    MetricEntry {
        name: "steps",
        forms: &[MetricForm {
            form: "steps",
            meaning: "the mean number of steps of correct answers: `steps` of a reply, or else its assistant messages that call tools; a sample without a verdict counts as 0 steps and as the longest answer",
            example: "steps <= 8",
        }],
        unit: Unit::Amount("steps"),
        less_is_better: true,
        measure: |figures, _| {
            let of = |it: StepFigures| (it.mean, it.samples, stats::as_f64(it.max));
            figures.steps(of, "steps")
        },
        line: Some(|line, _| line.steps),
        ..ENTRY
    },
    MetricEntry {
        name: "steps_ratio",
        forms: &[MetricForm {
            form: "steps_ratio",
            meaning: "the mean ratio of steps to the steps of people, over correct answers whose dataset has these: GAIA's annotators, or a column `annotated_steps`",
            example: "steps_ratio <= 2",
        }],
        unit: Unit::Amount("ratio"),
        less_is_better: true,
        measure: |figures, _| {
            let of = |it: StepFigures| (it.ratio, it.annotated, it.max_ratio);
            figures.steps(of, "annotated steps")
        },
        ..ENTRY
    },
    conversations::ENDED,
    conversations::TURNS,
    conversations::TOOL_CALLS,
    conversations::OUTPUT_LENGTH,
    conversations::FAILED_CALLS,
    conversations::REPEATED_CALLS,
    conversations::TOKENS_PER_TURN,
    MetricEntry {
        name: DIFFICULTY_DROP,
        takes: Takes::Levels,
        forms: &[MetricForm {
            form: "difficulty_drop",
            meaning: "the largest relative drop of accuracy from one level, a whole number, to the next: 0 is ideal, 0.3 is 30 % lost; `difficulty_drop(1->2)` is the drop between two levels. Only for the whole run",
            example: "difficulty_drop(1->2) <= 0.3",
        }],
        unit: Unit::Drop,
        less_is_better: true,
        whole_run: Some("two levels go into parentheses: `difficulty_drop(1->2) <= 0.3`"),
        measure: |figures, gate| figures.difficulty_drop(gate.metric.levels().as_ref()),
        ..ENTRY
    },
    MetricEntry {
        name: DROP,
        takes: Takes::Name("name a kind of `perturb`: `drop(typos)`"),
        forms: &[MetricForm {
            form: "drop(KIND)",
            meaning: "how much accuracy drops on perturbed questions, over pairs of answers to the original and the perturbed question: 0 is ideal, 0.1 is 10 points lost. Only for the whole run",
            example: "drop(typos) <= 0.1",
        }],
        unit: Unit::Drop,
        less_is_better: true,
        basis: Basis::Answers,
        whole_run: Some("leave the slice out"),
        used_by: UsedBy::Gates,
        measure: |figures, gate| figures.perturbed_drop(gate.metric.argument()),
        ..ENTRY
    },
    MetricEntry {
        name: "recovered_by_retry",
        forms: &[MetricForm {
            form: "recovered_by_retry",
            meaning: "the share of requested answers that only a retry obtained. Only for the whole run",
            example: "recovered_by_retry <= 10%",
        }],
        less_is_better: true,
        basis: Basis::Answers,
        whole_run: Some("leave the slice out"),
        measure: |figures, _| figures.recovered(),
        ..ENTRY
    },
    MetricEntry {
        takes: Takes::Word(&["approved", "share", "agreement"]),
        forms: &[
            MetricForm {
                form: "reviewed.approved",
                meaning: "the share of reviewed items that people approve, see `review`; also `reviewed.rejected` and `reviewed.needs_revision`. Only for the whole run",
                example: "reviewed.approved >= 0.9",
            },
            MetricForm {
                form: "reviewed.share",
                meaning: "the share of items that were reviewed",
                example: "reviewed.share >= 20%",
            },
            MetricForm {
                form: "reviewed.agreement",
                meaning: "the share of reviewed and judged items on which person and judge agree: approved and passed, or neither",
                example: "reviewed.agreement >= 0.8",
            },
        ],
        ..REVIEW
    },
    MetricEntry {
        takes: Takes::Word(&["rejected", "needs_revision"]),
        less_is_better: true,
        ..REVIEW
    },
    MetricEntry {
        takes: Takes::Word(&[]),
        forms: &[MetricForm {
            form: "reviewed.DIMENSION",
            meaning: "the mean of people's points in a dimension, 1 to 5; `reviewed.total` is over all dimensions",
            example: "reviewed.clarity >= 4",
        }],
        unit: Unit::Amount("points"),
        ..REVIEW
    },
    MetricEntry {
        name: NO_REGRESSION,
        forms: &[MetricForm {
            form: "no_regression",
            meaning: "not worse than the baseline: p of an exact paired test; takes options and no number",
            example: "no_regression(alpha=0.05)",
        }],
        ..COMPARISON
    },
    MetricEntry {
        name: NO_INCREASE,
        forms: &[MetricForm {
            form: "no_increase(FIGURE)",
            meaning: "a figure did not rise by more than `by` since the baseline: p of a permutation test over all answers. Figures are `tokens`, `input_tokens`, `output_tokens`, `cost_usd`, `steps`, `tool_calls`, `output_length`, `latency`, and `SCORER.NAME`; `no_regression(FIGURE)` chooses the direction that is worse",
            example: "no_increase(tokens, by=10%)",
        }],
        ..COMPARISON
    },
    MetricEntry {
        name: NO_DECREASE,
        forms: &[MetricForm {
            form: "no_decrease(FIGURE)",
            meaning: "a figure did not fall since the baseline, such as the points of a judge",
            example: "no_decrease(judge.total, by=0.2)",
        }],
        ..COMPARISON
    },
    MetricEntry {
        name: NO_CHANGE,
        forms: &[MetricForm {
            form: "no_change(trajectory)",
            meaning: "the tools and their order differ from the baseline no more than between answers of one run; needs two answers per sample in the baseline or now",
            example: "no_change(trajectory)",
        }],
        ..COMPARISON
    },
    MetricEntry {
        name: "duration_s",
        forms: &[MetricForm {
            form: "duration_s",
            meaning: "how long the run took, only for alerts",
            example: "",
        }],
        used_by: UsedBy::Alerts,
        line: Some(|line, _| line.duration_s),
        ..LATENCY
    },
];
