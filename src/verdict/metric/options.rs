//! The options of gates, for help and documentation.

/// What may stand in the parentheses of a gate, with its meaning and an example.
pub const GATE_OPTIONS: &[(&str, &str, &str)] = &[
    (
        "alpha",
        "of `no_regression`: how often an unchanged agent may fail, above 0 and below 1; default 0.05",
        "no_regression(alpha=0.01)",
    ),
    (
        "by",
        "of gates on a figure: the allowed change, as a share of the baseline's value, or in points of a scorer; default 0",
        "no_increase(tokens, by=10%)",
    ),
    (
        "of",
        "of gates on a figure: `correct` compares samples that are correct in both runs (default for `steps` and `tool_calls`), `all` compares all",
        "no_increase(tokens, of=correct)",
    ),
    (
        "max_drop",
        "of `no_regression`: also fails if accuracy drops by more than this share, even by chance; no limit by default",
        "no_regression(max_drop=0.02)",
    ),
    (
        "min_pairs",
        "of `no_regression`: inconclusive if a smaller share of the baseline's samples can be compared; default 0.9",
        "no_regression(min_pairs=0.8)",
    ),
    (
        "exact",
        "of `no_regression`: `conditional` takes the number of changed questions as given and detects less with few questions; \
         default `unconditional` with one answer per question in both runs",
        "no_regression(exact=conditional)",
    ),
    (
        "mid_p",
        "of `no_regression`: outcomes as likely as the observed one count half; detects a little more with several \
         answers; false alarms can slightly exceed alpha; default `false`",
        "no_regression(mid_p=true)",
    ),
    (
        "early_stop",
        "of `no_regression`: up to four interim analyses; the run ends as soon as all gates are decided; default `false`",
        "no_regression(early_stop=true)",
    ),
    (
        "confidence",
        "of `accuracy` and `corrected`, after the number: fails only if the whole interval of this confidence is on the wrong side; of `drop`, where it can only be 0.95: passes only if the whole interval is on the right side",
        "accuracy >= 0.6 (confidence=0.95)",
    ),
    (
        "min_scored",
        "of an accuracy or a mean, after the number: inconclusive if a smaller share of the answers has a ground truth; \
         default 0.9",
        "accuracy >= 0.6 (min_scored=0.5)",
    ),
];
