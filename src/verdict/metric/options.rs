//! The options of gates, for help and documentation.

/// What may stand in the parentheses of a gate, with its meaning and an example.
pub const GATE_OPTIONS: &[(&str, &str, &str)] = &[
    (
        "alpha",
        "of `no_regression`: how often an unchanged agent may be red at most, above 0 and below 1; 0.05 by default",
        "no_regression(alpha=0.01)",
    ),
    (
        "by",
        "of gates on a figure: how much it may change, a share of the baseline's value, or points of a scorer; 0 by default",
        "no_increase(tokens, by=10%)",
    ),
    (
        "of",
        "of gates on a figure: `correct` for right answers on both sides, as `steps` and `tool_calls` have it by default, or `all`",
        "no_increase(tokens, of=correct)",
    ),
    (
        "max_drop",
        "of `no_regression`: also red for a larger drop of accuracy than this share, luck or not; any by default",
        "no_regression(max_drop=0.02)",
    ),
    (
        "min_pairs",
        "of `no_regression`: inconclusive with a smaller share of the baseline's samples than this; 0.9 by default",
        "no_regression(min_pairs=0.8)",
    ),
    (
        "exact",
        "of `no_regression`: `conditional` takes the number of changed questions as given, and sees less with few questions; \
         `unconditional` by default where there is one answer to a question on each side",
        "no_regression(exact=conditional)",
    ),
    (
        "mid_p",
        "of `no_regression`: outcomes just as likely as the one seen count half; sees a little more where there are several \
         answers; false alarms can slightly exceed alpha; `false` by default",
        "no_regression(mid_p=true)",
    ),
    (
        "early_stop",
        "of `no_regression`: up to four looks, and an end as soon as all gates are sure; `false` by default",
        "no_regression(early_stop=true)",
    ),
    (
        "confidence",
        "of `accuracy` and `corrected`, after the number: fails only if the whole interval of this confidence is on the wrong side; of `drop`, 0.95 by default: passes only if the whole interval is on the right side",
        "accuracy >= 0.6 (confidence=0.95)",
    ),
    (
        "min_scored",
        "of an accuracy or a mean, after the number: inconclusive if a smaller share of the answers has a ground truth; \
         0.9 by default",
        "accuracy >= 0.6 (min_scored=0.5)",
    ),
];
