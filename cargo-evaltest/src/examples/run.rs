//! Examples of `run`.

use super::CliExample;

/// Of `run`.
pub(super) const RUN: &[CliExample] = &[
    ("run evals/gaia.yaml", "one eval"),
    (
        "run evals/gaia.yaml --limit 5 --agent echo",
        "five questions, another agent",
    ),
    (
        "run --set snapshot.assert=exact --json",
        "every eval, one key changed; JSON",
    ),
    ("run --resume RUN_DIR", "go on where a run was interrupted"),
    (
        "run --tier quick",
        "a part that the spec names; its gates count",
    ),
    (
        "run --progressive",
        "one part after the other, while it can become green",
    ),
    (
        "run --shard 2/8",
        "the second of eight parts, for `merge`; others run elsewhere",
    ),
    ("run --history", "a line more in the history of every eval"),
];
