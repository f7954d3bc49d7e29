//! Makes the jury from a spec.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;

use serde_json::{Map, Value};

use super::super::jury;
use super::aggregate::{Aggregate, WORDS};
use super::built::add_juror;
use super::truth::LabelTruths;
use super::weights::JurorWeights;
use super::{Juror, Jury, MIN_JUDGES, NAME, earlier};
use crate::error::{Error, Result, Under};
use crate::scorer::ask::judge::make::{CALIBRATION, calibration};
use crate::scorer::ask::judge::rubric::Grading;
use crate::scorer::ask::judge::{self, Judge};
use crate::scorer::{Entry, Example, OptionReader, Scorer};

/// Details of a jury and its votes, which cannot be names of dimensions.
const TAKEN: [&str; 9] = [
    "correct",
    "disagreement",
    "error",
    "judges",
    "label",
    "outlier",
    "spread",
    "unread",
    "value",
];

pub(crate) const ENTRY: Entry = Entry {
    name: NAME,
    summary: "several judges grade the answer, and their median, majority or weighted verdict counts",
    rule: include_str!("../jury.md"),
    options: &[
        (
            "judges",
            "the judges, a list: each `{ type: judge, … }`, with a `name` if you like; all grade by the same dimensions or \
             choices",
        ),
        (
            "aggregate",
            "`median`, `mean`, `trimmed_mean`, `majority` or `weighted`; `median` by default, with choices `majority`",
        ),
        (
            "min_judges",
            "how many judges must give a verdict; 2 by default",
        ),
        (
            "labels",
            "what people say of the answers, a JSONL file of `id` and `label`: the summary holds each judge and the panel \
             against it",
        ),
        (
            "weights",
            "with `aggregate: weighted`, what each judge counts: `{ NAME: 1.5, … }`",
        ),
        CALIBRATION,
        (
            "weights_from",
            "with `aggregate: weighted` and `labels`, the run directory whose verdicts teach the weights",
        ),
    ],
    examples: &[
        Example {
            options: r#"{ judges: [
                { choices: { correct: 1, wrong: 0 }, sees: [prediction],
                  agent: { type: command, command: [sh, -c, 'cat > /dev/null; echo "VERDICT: correct"'] } },
                { choices: { correct: 1, wrong: 0 }, sees: [prediction],
                  agent: { type: command, command: [sh, -c, 'cat > /dev/null; echo "VERDICT: correct"; :'] } },
                { choices: { correct: 1, wrong: 0 }, sees: [prediction],
                  agent: { type: command, command: [sh, -c, 'cat > /dev/null; echo "VERDICT: wrong"'] } }] }"#,
            prediction: "Paris",
            ground_truth: "Paris",
            correct: true,
            note: "two of three programs say `correct`",
        },
        Example {
            options: r#"{ judges: [
                { rubric: { dimensions: [{ name: clarity }] }, sees: [prediction],
                  agent: { type: command, command: [sh, -c, 'cat > /dev/null; echo "{\"clarity\": 3}"'] } },
                { rubric: { dimensions: [{ name: clarity }] }, sees: [prediction],
                  agent: { type: command, command: [sh, -c, 'cat > /dev/null; echo "{\"clarity\": 2}"'] } },
                { rubric: { dimensions: [{ name: clarity }] }, sees: [prediction],
                  agent: { type: command, command: [sh, -c, 'cat > /dev/null; echo "{\"clarity\": 5}"'] } }] }"#,
            prediction: "Paris",
            ground_truth: "Paris",
            correct: false,
            note: "the median of 3, 2 and 5 points is below the 3.5 that pass",
        },
    ],
    make,
};

fn make(options: &OptionReader<'_>) -> Result<Arc<dyn Scorer>> {
    let mut jury = Jury::of(jurors(options)?);
    check_names(&jury.grading).map_err(|error| options.of("judges", error))?;
    let words = WORDS.map(|(word, _)| word);
    let aggregate = options.word("aggregate", &words)?;
    let aggregate = WORDS.iter().find(|(word, _)| aggregate == Some(word));
    if let Some((_, aggregate)) = aggregate {
        jury.aggregate = *aggregate;
    }
    jury.min_judges = min_judges(options, jury.jurors.len())?;
    jury.make_optional();
    if let Some(path) = path(options, "labels")? {
        jury = jury
            .labels(path)
            .map_err(|error| options.of("labels", error))?;
    }
    jury.weights = weights(options, jury.aggregate, jury.truths.as_ref(), &jury.names())?;
    jury.calibration = calibration(options)?;
    Ok(Arc::new(jury))
}

/// Rejects dimensions named like a detail of every jury.
pub(super) fn check_names(grading: &Grading) -> Result<()> {
    let Grading::Rubric(rubric) = grading else {
        return Ok(());
    };
    let mut names = rubric.dimensions.iter().map(|one| &*one.name);
    let Some(taken) = names.find(|name| TAKEN.contains(name)) else {
        return Ok(());
    };
    let message = format!(
        "a dimension of a jury cannot be called `{taken}`, for that is a detail of every jury"
    );
    Err(Error::usage(message).hint("choose another name"))
}

/// The named judges: at least one, all with the same grading.
fn jurors(options: &OptionReader<'_>) -> Result<Vec<Juror>> {
    let list = options.read("judges", "a list of judges", Value::as_array)?;
    let list = list.ok_or_else(|| options.missing("judges", "a list of judges"))?;
    let hint = "write `judges: [{ type: judge, agent: …, rubric: … }, …]`";
    if list.is_empty() {
        let error = Error::usage("a jury without a judge").hint(hint);
        return Err(options.of("judges", error));
    }
    let mut judges: Vec<(Option<String>, Judge)> = Vec::new();
    for (item, value) in list.iter().enumerate() {
        let made = judge_of(value, options, hint).under(item);
        let (name, judge) = made.map_err(|error| options.of("judges", error))?;
        if let Some((_, first)) = judges.first()
            && let Some(what) = jury::difference(&first.grading, &judge.grading)
        {
            let message = format!(
                "judge {} grades {what}: their verdicts cannot be combined",
                item + 1
            );
            let error = Error::usage(message).hint(jury::HINT);
            return Err(options.of("judges", error.under(item)));
        }
        judges.push((name, judge));
    }
    let names = names(&judges).map_err(|(item, error)| options.of("judges", error.under(item)))?;
    let mut jurors: Vec<Juror> = Vec::new();
    for (name, (_, judge)) in names.into_iter().zip(judges) {
        add_juror(&mut jurors, name, judge);
    }
    Ok(jurors)
}

/// The judge of a list item, with its name if it has one.
fn judge_of(
    value: &Value,
    options: &OptionReader<'_>,
    hint: &str,
) -> Result<(Option<String>, Judge)> {
    let Value::Object(map) = value else {
        let message = format!("`{value}` is no judge");
        return Err(Error::usage(message).hint(hint));
    };
    let mut own: Map<String, Value> = map.clone();
    match own.shift_remove("type") {
        None => {}
        Some(Value::String(kind)) if kind == judge::ENTRY.name => {}
        Some(other) => {
            let error = Error::usage(format!("`{other}` is no judge, and a jury is made of such"));
            return Err(error.hint(hint).under("type"));
        }
    }
    let name = match own.shift_remove("name") {
        None => None,
        Some(Value::String(name)) if !name.trim().is_empty() => Some(name),
        Some(other) => return Err(Error::usage(format!("`{other}` is not a name")).under("name")),
    };
    if own.contains_key("calibration") {
        let error =
            Error::usage("a judge of a jury has no calibration: that is of the verdict of all");
        return Err(error
            .hint("write `calibration: FILE` next to `judges`")
            .under("calibration"));
    }
    let reader = OptionReader::new(&judge::ENTRY, &own, options.maker())?;
    Ok((name, judge::make::judge(&reader)?))
}

/// Names the judges: by their own name, their model's name if unique, or a number.
fn names(judges: &[(Option<String>, Judge)]) -> Result<Vec<String>, (usize, Error)> {
    let mut taken = BTreeSet::new();
    for (item, (name, _)) in judges.iter().enumerate() {
        if let Some(name) = name
            && !taken.insert(name.clone())
        {
            let error = Error::usage(format!("two judges are called `{name}`"))
                .hint("give each another `name`");
            return Err((item, error.under("name")));
        }
    }
    let unnamed = || judges.iter().filter(|(name, _)| name.is_none());
    let of_model = |judge: &Judge| {
        let model = judge.model()?;
        let same = unnamed().filter(|(_, other)| other.model().as_ref() == Some(&model));
        (same.count() == 1).then_some(model)
    };
    let mut names = Vec::new();
    for (name, judge) in judges {
        let named = name.clone().or_else(|| {
            let model = of_model(judge)?;
            taken.insert(model.clone()).then_some(model)
        });
        let name = named.unwrap_or_else(|| {
            let numbered = (1..).map(|number| match number {
                1 => judge::ENTRY.name.to_owned(),
                _ => format!("{}#{number}", judge::ENTRY.name),
            });
            let mut free = numbered.skip_while(|name| taken.contains(name));
            let name = free.next().unwrap_or_default();
            taken.insert(name.clone());
            name
        });
        names.push(name);
    }
    Ok(names)
}

fn min_judges(options: &OptionReader<'_>, judges: usize) -> Result<usize> {
    let given = options.count("min_judges")?;
    let least = given.unwrap_or(MIN_JUDGES as u64);
    if least == 0 {
        return Err(options.wrong("min_judges", "a whole number from 1"));
    }
    if let Some(least) = usize::try_from(least).ok().filter(|least| *least <= judges) {
        return Ok(least);
    }
    let has = if judges == 1 {
        "1 judge".to_owned()
    } else {
        format!("{judges} judges")
    };
    let error = Error::usage(format!("`min_judges` is {least}, but the jury has {has}"));
    let error = error.hint(format!("add judges, or write `min_judges: {judges}`"));
    Err(options.of("min_judges", error))
}

fn path(options: &OptionReader<'_>, key: &str) -> Result<Option<PathBuf>> {
    let path = options.read(key, "a path", |value| {
        value.as_str().filter(|path| !path.is_empty())
    })?;
    Ok(path.map(|path| options.folder().join(path)))
}

/// The weight of each judge, if used.
fn weights(
    options: &OptionReader<'_>,
    aggregate: Aggregate,
    truths: Option<&LabelTruths>,
    names: &[String],
) -> Result<Option<JurorWeights>> {
    let given = options.read("weights", "a map from judges to numbers", Value::as_object)?;
    let from = path(options, "weights_from")?;
    let of = |key: &str, message: String, hint: &str| {
        Err(options.of(key, Error::usage(message).hint(hint)))
    };
    if aggregate != Aggregate::Weighted {
        let key = given.map(|_| "weights").or(from.map(|_| "weights_from"));
        let Some(key) = key else { return Ok(None) };
        let message = format!(
            "it is for `aggregate: weighted`, and this jury has `{}`",
            aggregate.word()
        );
        return of(key, message, "write `aggregate: weighted`, or leave it out");
    }
    match (given, from, truths) {
        (Some(_), Some(_), _) => of(
            "weights_from",
            "there are `weights`, too".to_owned(),
            "leave one of the two out",
        ),
        (Some(given), None, _) => given_weights(given, names)
            .map(|weights| Some(JurorWeights::given(weights)))
            .map_err(|error| options.of("weights", error)),
        (None, Some(from), Some(truths)) => earlier::weights(&from, truths, names)
            .map(Some)
            .map_err(|error| options.of("weights_from", error)),
        (None, Some(_), None) => of(
            "weights_from",
            "weights are learnt from labels, but there are none".to_owned(),
            "name the file of labels: `labels: labels.jsonl`",
        ),
        (None, None, _) => of(
            "aggregate",
            "`weighted` needs to know what each judge counts".to_owned(),
            "run the jury once with `majority` or `median`, then write `labels: FILE` and `weights_from: RUN_DIR`; or write \
             `weights: { NAME: 1.5, … }`",
        ),
    }
}

/// Weights as given in a spec, in the order of the judges.
pub(super) fn given_weights(given: &Map<String, Value>, names: &[String]) -> Result<Vec<f64>> {
    let judges = names.join("`, `");
    if let Some(key) = given.keys().find(|key| !names.contains(key)) {
        let error = Error::usage(format!("the jury has no judge `{key}`"));
        return Err(error.hint(format!("its judges are `{judges}`")).of_key(key));
    }
    let weight = |name: &String| {
        let Some(value) = given.get(name) else {
            let error = Error::usage(format!("judge `{name}` has no weight"));
            return Err(error.hint(format!("give one to each of `{judges}`")));
        };
        let number = value.as_f64().filter(|number| (0.0..=1e9).contains(number));
        number.ok_or_else(|| {
            let message = format!("`{value}` is not a number from 0 to 1000000000");
            Error::usage(message).under(name.as_str())
        })
    };
    let weights: Vec<f64> = names.iter().map(weight).collect::<Result<_>>()?;
    if weights.iter().all(|weight| *weight <= 0.0) {
        return Err(Error::usage("no judge has a weight above 0")
            .hint("write what each counts, such as `weights: { NAME: 1.5 }`"));
    }
    Ok(weights)
}
