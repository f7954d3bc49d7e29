//! Reads result and score files anywhere below a folder.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};

use serde_json::Value as Json;

use super::layout::{ExportKind, category_of};
use crate::bfcl::checker::OfficialVerdict;
use crate::bfcl::data::{Category, broken};
use crate::calls::{Dict, JsonValue as _, Value};
use crate::data::dataset::read_text;
use crate::error::{Error, Result, nearest};

/// The files of a model.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ModelFiles {
    /// Name of its folder: the model's name with `_` for `/`.
    pub model: String,
    /// Its result files by category.
    pub results: BTreeMap<String, PathBuf>,
    /// Its score files by category.
    pub scores: BTreeMap<String, PathBuf>,
}

/// Finds the files of a model below a folder: a project's folder with `result` and `score`, `result` itself, or the
/// model's own folder. If there are several models, `model` is required.
///
/// # Errors
/// If there is no result file, or the model is ambiguous.
pub fn find(folder: &Path, model: Option<&str>, scores: Option<&Path>) -> Result<ModelFiles> {
    // A project may also contain exports and earlier runs.
    let results = folder.join(ExportKind::Result.as_str());
    let folder = if results.is_dir() { &results } else { folder };
    let mut models: BTreeMap<PathBuf, BTreeMap<String, PathBuf>> = BTreeMap::new();
    for (category, path) in files_in(folder, ExportKind::Result)? {
        let of_model = model_folder(&path, folder);
        let known = models.entry(of_model).or_default();
        if let Some(first) = known.insert(category.clone(), path.clone()) {
            return Err(Error::usage(format!(
                "`{category}` has two result files: `{}` and `{}`",
                first.display(),
                path.display()
            )));
        }
    }
    if models.is_empty() {
        return Err(Error::usage(format!(
            "`{}`: no file `BFCL_v4_<category>_result.json` in this folder or below it",
            folder.display()
        ))
        .hint("name the folder in which `bfcl generate` left its results"));
    }
    let name = |folder: &Path| {
        // A relative path such as `.` has no file name.
        let folder = std::path::absolute(folder).unwrap_or_default();
        folder
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned()
    };
    let names: Vec<String> = models.keys().map(|folder| name(folder)).collect();
    let wanted = model.map(|model| model.replace('/', "_"));
    let mut models = models.into_iter().zip(names.clone());
    let chosen = match &wanted {
        Some(wanted) => models.find(|(_, name)| name == wanted),
        None if names.len() == 1 => models.next(),
        None => None,
    };
    let Some(((folder, results), model)) = chosen else {
        let Some(wanted) = wanted else {
            return Err(
                Error::usage(format!("found {} models", names.len())).hint(format!(
                    "name one of them: `--model {}`; found `{}`",
                    names[0],
                    names.join("`, `")
                )),
            );
        };
        let error = Error::usage(format!("no model `{wanted}`"));
        return Err(match nearest(&wanted, names.iter().map(String::as_str)) {
            Some(near) => error.hint(format!("did you mean `{near}`?")),
            None => error.hint(format!("there are `{}`", names.join("`, `"))),
        });
    };
    let scores = match scores {
        Some(scores) => score_files(scores, Some(&model))?,
        None => match score_dir(&folder, &model) {
            Some(scores) => score_files(&scores, None)?,
            None => BTreeMap::new(),
        },
    };
    Ok(ModelFiles {
        model,
        results,
        scores,
    })
}

/// The score files of a model in a folder: in a subfolder of its name if it exists, otherwise anywhere.
pub(crate) fn score_files(folder: &Path, model: Option<&str>) -> Result<BTreeMap<String, PathBuf>> {
    let own = model.map(|model| folder.join(model));
    let folder = own.as_deref().filter(|own| own.is_dir()).unwrap_or(folder);
    files_in(folder, ExportKind::Score).map(|files| files.into_iter().collect())
}

/// All files of a kind, by category, in the order of their paths.
fn files_in(folder: &Path, kind: ExportKind) -> Result<Vec<(String, PathBuf)>> {
    let mut files = Vec::new();
    for entry in walkdir::WalkDir::new(folder).sort_by_file_name() {
        let entry = entry.map_err(|error| {
            let path = error.path().unwrap_or(folder).to_owned();
            let error = error
                .into_io_error()
                .unwrap_or_else(|| std::io::Error::other("the folder has a loop"));
            Error::io("read", &path, &error)
        })?;
        if let Some(category) = category_of(entry.path(), kind)
            && !entry.file_type().is_dir()
        {
            files.push((category.to_owned(), entry.into_path()));
        }
    }
    Ok(files)
}

/// The model's folder for a file: the one above the groups.
fn model_folder(file: &Path, root: &Path) -> PathBuf {
    const GROUPS: [&str; 5] = [
        "non_live",
        "live",
        "multi_turn",
        "agentic",
        "format_sensitivity",
    ];
    let above = |folder: &Path| {
        folder
            .ancestors()
            .take_while(|at| at.starts_with(root))
            .count()
    };
    let parent = file.parent().unwrap_or(root);
    let group = parent
        .ancestors()
        .take(above(parent).saturating_sub(1))
        .find(|at| {
            let name = at.file_name().and_then(|name| name.to_str());
            name.is_some_and(|name| GROUPS.contains(&name))
        });
    let folder = group.and_then(Path::parent).unwrap_or(parent);
    folder.to_owned()
}

/// `score/<model>` next to the `result` folder that contains a model's folder.
fn score_dir(folder: &Path, model: &str) -> Option<PathBuf> {
    let folder = std::path::absolute(folder).ok()?;
    let results = folder.parent()?;
    let scores = results
        .parent()?
        .join(ExportKind::Score.as_str())
        .join(model);
    (results.file_name()? == ExportKind::Result.as_str() && scores.is_dir()).then_some(scores)
}

/// A line of a result file.
#[derive(Clone, Debug)]
pub(crate) struct ResultLine {
    /// File and line, for errors.
    pub place: String,
    /// The entry's id.
    pub id: String,
    /// What was answered.
    pub result: Value,
    /// Total seconds of all steps.
    pub latency_s: Option<f64>,
    /// Total input and output tokens of all steps.
    pub tokens: [Option<u64>; 2],
}

/// The lines of a result file, with unique ids.
pub(crate) fn results(path: &Path) -> Result<Vec<ResultLine>> {
    let mut places: HashMap<String, String> = HashMap::new();
    let mut lines = Vec::new();
    for (place, fields) in objects(path)? {
        let id = id(&fields).map_err(|error| error.at(&place))?;
        let result = fields.get_str("result").cloned();
        let result = result.ok_or_else(|| Error::usage("`result` is missing").at(&place))?;
        if let Some(first) = places.insert(id.clone(), place.clone()) {
            return Err(Error::usage(format!(
                "the id `{}` comes twice, first in {first}",
                id.escape_debug()
            ))
            .hint("the official program also refuses the file: remove one of the lines")
            .at(&place));
        }
        let sum = |key| fields.get_str(key).and_then(sum);
        lines.push(ResultLine {
            id,
            result,
            latency_s: sum("latency"),
            tokens: ["input_token_count", "output_token_count"].map(|key| tokens(sum(key)?)),
            place,
        });
    }
    Ok(lines)
}

/// The content of a score file.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Scores {
    /// Number of scored answers.
    pub total: u64,
    /// Wrong answers by id.
    wrong: HashMap<String, OfficialVerdict>,
}

impl Scores {
    /// The verdict on a scored answer.
    pub(crate) fn of(&self, id: &str) -> OfficialVerdict {
        self.wrong.get(id).cloned().unwrap_or(OfficialVerdict {
            valid: true,
            error_type: None,
            error: Json::Array(Vec::new()),
        })
    }

    /// The ids of wrong answers.
    pub(crate) fn wrong(&self) -> impl Iterator<Item = &str> {
        self.wrong.keys().map(String::as_str)
    }
}

/// Reads a score file: the first line has counts, the others are the wrong answers.
pub(crate) fn scores(path: &Path) -> Result<Scores> {
    let mut lines = objects(path)?.into_iter();
    let Some((place, header)) = lines.next() else {
        return Err(Error::usage("no line has `total_count`").at(path.display()));
    };
    let count = |key: &str| {
        let count = header.get_str(key).map(Value::to_json);
        let count = count.and_then(|count| count.as_u64());
        count.ok_or_else(|| Error::usage(format!("`{key}` is missing or not a count")).at(&place))
    };
    let (correct, total) = (count("correct_count")?, count("total_count")?);
    let mut wrong = HashMap::new();
    for (place, fields) in lines {
        let id = id(&fields).map_err(|error| error.at(&place))?;
        let error = fields.get_str("error");
        // Conversations have it inside `error`.
        let inside = error.and_then(Value::as_dict);
        let kind = fields
            .get_str("error_type")
            .or_else(|| inside?.get_str("error_type"));
        let verdict = OfficialVerdict {
            valid: false,
            error_type: kind.and_then(Value::as_str).map(str::to_owned),
            error: error.map_or(Json::Null, Value::to_json),
        };
        if wrong.insert(id.clone(), verdict).is_some() {
            let message = format!("the id `{}` comes twice", id.escape_debug());
            return Err(Error::usage(message).at(&place));
        }
    }
    let found = u64::try_from(wrong.len()).unwrap_or(u64::MAX);
    if total.checked_sub(correct) != Some(found) {
        return Err(Error::usage(format!(
            "`correct_count` is {correct} of {total}, but {found} lines of wrong answers follow"
        ))
        .at(path.display()));
    }
    Ok(Scores { total, wrong })
}

/// The objects of a file with their positions.
pub(crate) fn objects(path: &Path) -> Result<Vec<(String, Dict)>> {
    let text = read_text(path)?;
    let lines = text.split('\n').zip(1..);
    let lines = lines.filter(|(line, _)| !line.trim_ascii().is_empty());
    lines
        .map(|(line, number)| {
            let place = format!("{}:{number}", path.display());
            match Value::from_json(line) {
                Ok(Value::Dict(fields)) => Ok((place, fields)),
                Ok(_) => Err(Error::usage("a line is not an object").at(&place)),
                Err(fault) => Err(broken(line, fault).at(&place)),
            }
        })
        .collect()
}

fn id(fields: &Dict) -> Result<String> {
    let id = fields.get_str("id").and_then(Value::as_str);
    let id = id.filter(|id| !id.is_empty());
    id.map(str::to_owned)
        .ok_or_else(|| Error::usage("`id` is missing or not a text"))
}

/// A number, or the sum of a nested list of numbers as in conversations.
fn sum(value: &Value) -> Option<f64> {
    match value {
        Value::List(items) => items
            .iter()
            .map(sum)
            .try_fold(0.0, |all, one| Some(all + one?)),
        other => other.to_json().as_f64(),
    }
    .filter(|sum| sum.is_finite() && *sum >= 0.0)
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a count that is finite and not negative; `as` saturates"
)]
fn tokens(sum: f64) -> Option<u64> {
    (sum.fract() == 0.0).then_some(sum as u64)
}

/// Whether a category's entries only prepare others and are not scored.
pub(crate) fn is_preparation(category: &Category) -> bool {
    category.name.contains("prereq")
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn write(folder: &Path, name: &str, text: &str) -> PathBuf {
        let path = folder.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        path
    }

    #[test]
    fn files_are_found_from_every_folder_above_them() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        let file = |model: &str, rest: &str| {
            write(root, &format!("result/{model}/{rest}_result.json"), "");
        };
        file("a_b", "non_live/BFCL_v4_multiple");
        file("a_b", "agentic/memory/kv/BFCL_v4_memory_kv");
        file("c", "BFCL_v4_multiple");
        write(root, "score/a_b/non_live/BFCL_v4_multiple_score.json", "");
        write(root, "runs/x/BFCL_v4_multiple_result.json", "");
        let check = |below: &str, model: Option<&str>, expect: &str| {
            let found = find(&root.join(below), model, None).unwrap();
            let names = |files: &BTreeMap<String, PathBuf>| {
                files.keys().cloned().collect::<Vec<_>>().join(" ")
            };
            let rendered = format!(
                "{}: {}; {}",
                found.model,
                names(&found.results),
                names(&found.scores)
            );
            assert_eq!(rendered, expect, "{below}");
        };
        check("", Some("a/b"), "a_b: memory_kv multiple; multiple");
        check("result", Some("a_b"), "a_b: memory_kv multiple; multiple");
        check("result/a_b", None, "a_b: memory_kv multiple; multiple");
        check("result/a_b/non_live", None, "non_live: multiple; ");
        check("result/c", None, "c: multiple; ");
        let fails = |below: &str, model: Option<&str>, expect: &str| {
            let error = find(&root.join(below), model, None).unwrap_err();
            assert!(error.to_string().contains(expect), "{error}");
        };
        fails("", None, "name one of them: `--model a_b`");
        fails("", Some("a_d"), "did you mean `a_b`?");
        fails("score", None, "no file `BFCL_v4_<category>_result.json`");
        fails("nowhere", None, "cannot read");
        let scores = find(&root.join("result/c"), None, Some(&root.join("score"))).unwrap();
        assert_eq!(scores.scores.len(), 1, "named, so taken as it is");
    }

    #[test]
    fn lines_report_time_and_tokens_of_all_steps() {
        let folder = tempfile::tempdir().unwrap();
        let path = write(
            folder.path(),
            "BFCL_v4_x_result.json",
            concat!(
                "{\"id\": \"a_0\", \"result\": \"f()\", \"latency\": 1.5, \"input_token_count\": 3}\r\n\n",
                "{\"id\": \"a_1\", \"result\": [[\"f()\"]], \"latency\": [[1, 2.5], [0.5]], ",
                "\"output_token_count\": [[4, 5]]}\n",
            ),
        );
        let lines = results(&path).unwrap();
        assert_eq!(lines[0].latency_s, Some(1.5));
        assert_eq!(lines[0].tokens, [Some(3), None]);
        assert_eq!(lines[1].latency_s, Some(4.0));
        assert_eq!(lines[1].tokens, [None, Some(9)]);
        assert!(lines[1].place.ends_with("BFCL_v4_x_result.json:3"));
    }

    #[test]
    fn mistakes_name_file_and_line() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("BFCL_v4_x_result.json");
        let check = |text: &str, expect: &str| {
            fs::write(&path, text).unwrap();
            let error = results(&path).unwrap_err().to_string();
            assert!(error.contains(expect), "{error}");
        };
        check("{", "BFCL_v4_x_result.json:1: broken JSON in column");
        check("\n[]", "BFCL_v4_x_result.json:2: a line is not an object");
        check("{\"result\": 1}", ":1: `id` is missing or not a text");
        check(
            "{\"id\": 1, \"result\": 1}",
            ":1: `id` is missing or not a text",
        );
        check("{\"id\": \"a\"}", ":1: `result` is missing");
        check(
            "{\"id\": \"a\", \"result\": 1}\n{\"id\": \"a\", \"result\": 1}",
            ":2: the id `a` comes twice, first in",
        );
        let path = folder.path().join("BFCL_v4_x_score.json");
        let check = |text: &str, expect: &str| {
            fs::write(&path, text).unwrap();
            let error = scores(&path).unwrap_err().to_string();
            assert!(error.contains(expect), "{error}");
        };
        check("", "no line has `total_count`");
        check("{\"correct_count\": 1}", ":1: `total_count` is missing");
        check(
            "{\"correct_count\": 1, \"total_count\": 2}",
            "is 1 of 2, but 0 lines",
        );
        check("{\"correct_count\": 3, \"total_count\": 2}", "is 3 of 2");
    }

    #[test]
    fn score_files_list_the_wrong_answers() {
        let folder = tempfile::tempdir().unwrap();
        let path = write(
            folder.path(),
            "BFCL_v4_x_score.json",
            concat!(
                "{\"accuracy\": 0.5, \"correct_count\": 1, \"total_count\": 3}\n",
                "{\"id\": \"a\", \"error\": [\"no\"], \"error_type\": \"value_error:string\"}\n",
                "{\"id\": \"b\", \"error\": {\"error_message\": [\"no\"], \"error_type\": \"multi_turn:x\"}}\n",
            ),
        );
        let scores = scores(&path).unwrap();
        let kind = |id: &str| scores.of(id).error_type;
        assert_eq!(kind("a").as_deref(), Some("value_error:string"));
        assert_eq!(kind("b").as_deref(), Some("multi_turn:x"));
        assert!(scores.of("c").valid && !scores.of("a").valid);
        assert_eq!(scores.wrong().count(), 2);
    }
}
