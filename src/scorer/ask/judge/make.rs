//! Makes the judge from a spec.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;

use super::identity;
use super::rubric::Grading;
use super::sees::Sees;
use super::{Judge, NAME};
use crate::data::calibration::Calibration;
use crate::error::{Error, Result};
use crate::scorer::ask::client::RequestPolicy;
use crate::scorer::ask::requester::ScorerAgent;
use crate::scorer::{Entry, Example, OptionReader, Scorer};
use crate::system::file::absolute;

/// The maximum number of repeats.
const MOST_REPEATS: u64 = 100;
/// The maximum of the timeout option, in seconds.
const LONGEST_TIMEOUT: f64 = 86_400.0;

/// An option with its description, shared by all scorers that ask a judge.
type SharedOption = (&'static str, &'static str);

pub(in crate::scorer::ask) const AGENT: SharedOption = (
    "agent",
    "the judge, as `agent` of a spec: `{ type: openai, base_url: …, model: …, temperature: 0 }`",
);
pub(in crate::scorer::ask) const CALIBRATION: SharedOption = (
    "calibration",
    "the file that `cargo evaltest judge calibrate` wrote, from the spec's folder; `uncalibrated` without it",
);
pub(in crate::scorer::ask) const RETRIES: SharedOption = (
    "retries",
    "how often a failed request is repeated; as `limits.retries` by default",
);
pub(in crate::scorer::ask) const TIMEOUT_S: SharedOption = (
    "timeout_s",
    "seconds that a request may take; as `limits.timeout_s` by default",
);
pub(in crate::scorer::ask) const REQUESTS_PER_MINUTE: SharedOption = (
    "requests_per_minute",
    "requests that may begin in a minute; any number by default",
);
pub(in crate::scorer::ask) const TOKENS_PER_MINUTE: SharedOption = (
    "tokens_per_minute",
    "tokens that replies may take in a minute; any number by default",
);

pub(crate) const ENTRY: Entry = Entry {
    name: NAME,
    summary: "a model grades the answer by a rubric (aime, qa, code, creative_writing, technical_docs, your own) or by choices; \
              `--explain judge` has the smallest spec of each",
    rule: include_str!("../judge.md"),
    options: &[
        AGENT,
        (
            "rubric",
            "`aime`, `qa`, `code`, `creative_writing`, `technical_docs`, a YAML file, or a map with `dimensions`",
        ),
        (
            "choices",
            "verdicts with their values from 0 to 1, instead of a rubric: `{ correct: 1, partial: 0.5, wrong: 0 }`",
        ),
        (
            "pass",
            "the total that is correct, 3.5 by default; with `choices` the value, 1 by default",
        ),
        ("excellent", "the total that is excellent, 4.5 by default"),
        (
            "sees",
            "what the judge is shown: `prompt`, `prediction`, `ground_truth`, `files`, fields of the item; \
             `[prompt, prediction]` by default, with `qa` the ground truth, too, where there is one; of items, which the \
             agent `none` shows, the item alone",
        ),
        (
            "repeats",
            "how often each answer is judged; the first verdict counts; 1 by default",
        ),
        CALIBRATION,
        RETRIES,
        TIMEOUT_S,
        REQUESTS_PER_MINUTE,
        TOKENS_PER_MINUTE,
    ],
    examples: &[
        Example {
            options: r#"{ choices: { correct: 1, wrong: 0 }, sees: [prediction],
                agent: { type: command, command: [sh, -c, 'cat > /dev/null; echo "VERDICT: correct"'] } }"#,
            prediction: "Paris",
            ground_truth: "Paris",
            correct: true,
            note: "a program that always says `correct`",
        },
        Example {
            options: r#"{ rubric: { dimensions: [{ name: clarity }] }, sees: [prediction],
                agent: { type: command, command: [sh, -c, 'cat > /dev/null; echo "{\"clarity\": 3}"'] } }"#,
            prediction: "Paris",
            ground_truth: "Paris",
            correct: false,
            note: "3 of 5 points are less than the 3.5 that pass",
        },
    ],
    make,
};

fn make(options: &OptionReader<'_>) -> Result<Arc<dyn Scorer>> {
    Ok(Arc::new(judge(options)?))
}

/// Makes the judge from its options.
pub(in crate::scorer::ask) fn judge(options: &OptionReader<'_>) -> Result<Judge> {
    let agent = named_agent(options)?;
    let grading = Grading::from_options(options)?;
    let sees = Sees::of_options(options, &grading)?;
    let repeats = options.read(
        "repeats",
        &format!("a whole number from 1 to {MOST_REPEATS}"),
        |value| {
            let number = value.as_u64()?;
            let is_some = (1..=MOST_REPEATS).contains(&number);
            is_some.then(|| u32::try_from(number).ok())?
        },
    );
    let repeats = hinted(repeats, "write how often, such as `repeats: 3`")?;
    let model = model(options, agent)?;
    Ok(Judge {
        sees,
        repeats: repeats.unwrap_or(1),
        calibration: calibration(options)?,
        ..Judge::of(model, grading)
    })
}

/// The agent as given in the options.
pub(in crate::scorer::ask) fn named_agent<'a>(options: &OptionReader<'a>) -> Result<&'a Value> {
    let agent = options.value("agent");
    agent.ok_or_else(|| options.missing("agent", "the model that judges"))
}

/// The judging agent.
pub(in crate::scorer::ask) fn model(
    options: &OptionReader<'_>,
    agent: &Value,
) -> Result<ScorerAgent> {
    let policy = policy(options)?;
    let resolved = options.maker().agent(agent);
    let resolved = resolved.map_err(|error| options.of("agent", error))?;
    let mut who = identity(agent, options.folder());
    for recording in resolved.agent.recordings() {
        who.push(' ');
        who.push_str(&recording);
    }
    Ok(ScorerAgent::named(resolved, who, policy))
}

/// Retries, timeout and rate limits for the agent.
fn policy(options: &OptionReader<'_>) -> Result<RequestPolicy> {
    let rate = |key: &'static str, hint| hinted(options.number_in(key, 1e-3, f64::MAX), hint);
    let retries = options.read(
        "retries",
        &format!("a whole number from 0 to {}", u32::MAX),
        |value| u32::try_from(value.as_u64()?).ok(),
    );
    let timeout = options.number_in("timeout_s", 0.001, LONGEST_TIMEOUT);
    Ok(RequestPolicy {
        retries: hinted(retries, "write how often, such as `retries: 4`")?,
        timeout: hinted(timeout, "write seconds, such as `timeout_s: 120`")?
            .map(Duration::from_secs_f64),
        requests_per_minute: rate(
            "requests_per_minute",
            "write how many, such as `requests_per_minute: 60`",
        )?,
        tokens_per_minute: rate(
            "tokens_per_minute",
            "write how many, such as `tokens_per_minute: 100000`",
        )?,
        optional: None,
    })
}

/// The calibration file, checked for validity. Which judge it belongs to is checked once the judge has replied.
pub(crate) fn calibration(options: &OptionReader<'_>) -> Result<Option<PathBuf>> {
    const KEY: &str = "calibration";
    let Some(name) = options.text(KEY)? else {
        return Ok(None);
    };
    match calibration_file(&options.folder().join(name)) {
        Ok(path) => Ok(Some(path)),
        Err(error) => Err(options.of(KEY, error)),
    }
}

/// The absolute path of a calibration file, checked for validity.
pub(crate) fn calibration_file(path: &Path) -> Result<PathBuf> {
    if !path.exists() {
        let message = format!("there is no `{}`", path.display());
        return Err(Error::usage(message).hint(
            "leave `calibration`, and `corrected` gates, out of the first run; `cargo evaltest judge calibrate \
             RUN_DIR --labels FILE` writes the file from labels of people",
        ));
    }
    Calibration::read(path)?;
    absolute(path)
}

/// Adds a hint to the error if it has none yet.
fn hinted<T>(result: Result<T>, hint: &str) -> Result<T> {
    result.map_err(|error| match error.hint_text() {
        Some(_) => error,
        None => error.hint(hint),
    })
}
