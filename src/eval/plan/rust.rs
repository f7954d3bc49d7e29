//! Hints for evals built in Rust, where a key of a spec is a method call.

use crate::error::Error;

/// Keys in hints, and the same in Rust.
const CALLS: &[(&str, &str)] = &[
    (
        "use `prompt: concise`, `prompt: none` or a template",
        "use `.prompt(Prompt::Concise)`, `.prompt(Prompt::None)` or a template",
    ),
    (
        "remove `prompt` for instructions of ours",
        "remove `.prompt(…)` for instructions of ours",
    ),
    (
        "write `prompt: { template: \"Answer briefly: {prompt}\" }`",
        "write `.prompt(Prompt::Template(\"Answer briefly: {prompt}\".into()))`",
    ),
    ("`epochs: ", "`.epochs("),
    (
        "loosen `benchmark.levels`, `benchmark.ids` or `benchmark.split`",
        "loosen `.levels(…)`, `.ids(…)` or `.split(…)` of the benchmark",
    ),
    (
        "set `limits.limit` to at least 1",
        "give `.limit(…)` at least 1",
    ),
    ("raise `limits.limit`", "raise `.limit(…)`"),
    (
        "`scorer: { type: exact, labels: true }`",
        "an `Exact` whose `labels` are `LabelSet::Any`",
    ),
];

/// The error with its hint in Rust.
pub(super) fn rephrase(error: Error) -> Error {
    let Some(hint) = error.hint_text() else {
        return error;
    };
    let mut hint = hint.to_owned();
    for (key, call) in CALLS {
        if let Some((before, after)) = hint.clone().split_once(key) {
            // A key's value ends at the quote, a call's with a parenthesis.
            let after = if call.ends_with('(') {
                after.replacen('`', ")`", 1)
            } else {
                after.to_owned()
            };
            hint = format!("{before}{call}{after}");
        }
    }
    error.hint(hint)
}

#[cfg(test)]
mod tests {
    use crate::data::{AgentError, Output, Task};
    use crate::eval::Eval;
    use crate::eval::plan::{BaselineUse, Plan};
    use crate::{Gate, Qa};

    #[test]
    fn rust_eval_hint_names_method() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("q.csv");
        std::fs::write(&path, "question,answer\nOne?,1\n").unwrap();
        let eval = || {
            let agent = |_: &Task| -> Result<Output, AgentError> { Ok("1".into()) };
            let eval = Eval::new(Qa::open(&path).unwrap(), agent);
            eval.snapshots(folder.path().join("snapshots"))
        };
        let check = |eval: Eval, expect: &str| {
            let Err(error) = Plan::load(&eval, BaselineUse::Ignore) else {
                panic!("no error for {expect}");
            };
            let hint = error.hint_text().unwrap_or_default();
            assert!(hint.contains(expect), "{expect}: {hint}");
            assert!(!hint.contains(": {") && !hint.contains("limits."), "{hint}");
        };
        check(
            eval().epochs(0),
            "`.epochs(3)` asks every sample three times",
        );
        let gate = |text: &str| text.parse::<Gate>().unwrap();
        check(eval().gate(gate("pass@3 >= 0.5")), "write `.epochs(3)`");
        check(eval().limit(0), "`.limit(…)` at least 1");
        check(
            eval().prompt(crate::Prompt::Official),
            "`.prompt(Prompt::Concise)`",
        );
    }
}
