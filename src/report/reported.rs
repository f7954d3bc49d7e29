//! `ReportedRun`: a finished run, as input for reports.
//!
//! Figures and verdicts are the recorded ones in `summary.json`, so that a run directory from another machine gives
//! the same report without its checkout. Records are streamed.

#[cfg(feature = "command")]
pub mod index;
pub mod masked;
#[cfg(feature = "command")]
pub mod overview;

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use serde_json::Value;

use crate::data::Record;
use crate::error::Result;
use crate::report::figures::{ReportedSample, SampleOutcome};
use crate::store::files::{RECORDS, SUMMARY};
use crate::store::{Manifest, RunDir, RunStatus, read_records, read_records_where};
use crate::system::project::display;
use crate::text::shell_word;
use crate::verdict::summary::{Subject, Summary};
use masked::PublicWords;

/// Whether a report may show questions and answers of masked benchmarks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MaskedTexts {
    /// No, because reports, comments and artifacts are public.
    Hidden,
    /// Yes, because of `--show-texts`.
    Visible,
}

/// A run to report on.
#[derive(Clone, Debug)]
pub struct ReportedRun {
    /// Its directory.
    pub dir: RunDir,
    /// Its manifest.
    pub manifest: Manifest,
    /// Its figures, and the verdicts of its gates.
    pub summary: Summary,
    /// Whether its questions, answers and ground truths must not be shown.
    pub hides_texts: bool,
    /// Whether the run is in progress; the figures are preliminary.
    pub going_on: bool,
}

impl ReportedRun {
    /// Reads a run with intact files.
    ///
    /// # Errors
    /// If its manifest or its summary cannot be read.
    pub fn read(dir: RunDir, texts: MaskedTexts) -> Result<Self> {
        let mut manifest = dir.manifest()?;
        let mut summary = Summary::read(&dir.file(SUMMARY)).map_err(|error| {
            let repair = shell_word(&display(dir.path()));
            error.hint(format!("cargo evaltest repair {repair}"))
        })?;
        // Older versions do not record it.
        summary.judges_items |= manifest.judges_items();
        // Reviews are made after the run.
        summary.reviewed = dir.reviewed(&manifest)?;
        let hides_texts = manifest.masked && texts == MaskedTexts::Hidden;
        if hides_texts {
            PublicWords::of(&manifest).hide_summary(&mut summary);
            PublicWords::hide_reason(&mut manifest);
        }
        Ok(Self {
            hides_texts,
            going_on: false,
            dir,
            manifest,
            summary,
        })
    }

    /// Its records in dataset order, by epoch, with masked texts removed.
    ///
    /// # Errors
    /// If they cannot be read.
    pub fn records(&self) -> Result<impl Iterator<Item = Result<Record>> + use<>> {
        let public = self.public_words();
        let records = read_records(&self.dir.file(RECORDS))?;
        Ok(records.map(move |record| {
            record.map(|mut record| {
                if let Some(public) = &public {
                    public.hide(&mut record);
                }
                record
            })
        }))
    }

    /// The wrong answers to these samples, by id.
    ///
    /// # Errors
    /// If they cannot be read.
    pub(super) fn wrong_samples(&self, ids: &[&str]) -> Result<BTreeMap<String, ReportedSample>> {
        self.samples(ids, |record| {
            SampleOutcome::of(record) == SampleOutcome::Wrong
        })
    }

    /// The answers to these samples that fit, by id; of several epochs the first. Only their lines are parsed.
    ///
    /// # Errors
    /// If they cannot be read.
    pub(super) fn samples(
        &self,
        ids: &[&str],
        fits: impl Fn(&Record) -> bool,
    ) -> Result<BTreeMap<String, ReportedSample>> {
        let starts = ids
            .iter()
            .map(|id| format!("{{\"sample_id\":{},", Value::from(*id)));
        let starts: Vec<String> = starts.collect();
        let is_one = move |line: &[u8]| {
            let mut starts = starts.iter();
            starts.any(|start| line.starts_with(start.as_bytes()))
        };
        let mut found = BTreeMap::new();
        for record in read_records_where(&self.dir.file(RECORDS), is_one)? {
            let record = record?;
            if record.perturb.is_none() && fits(&record) {
                let sample = || ReportedSample::of(&record);
                found.entry(record.sample_id.clone()).or_insert_with(sample);
            }
            if found.len() == ids.len() {
                break;
            }
        }
        Ok(found)
    }

    /// The public words of scorers, if texts are masked.
    pub(super) fn public_words(&self) -> Option<PublicWords> {
        self.hides_texts.then(|| PublicWords::of(&self.manifest))
    }

    /// The agent in the spec, such as `openai`.
    pub fn agent(&self) -> Option<&str> {
        let agent = self.manifest.config.get("agent")?;
        let kind = agent.get("type").unwrap_or(agent);
        kind.as_str()
    }

    /// The model requested by the spec.
    pub fn model(&self) -> Option<&str> {
        let agent = self.manifest.config.get("agent")?;
        agent.get("model")?.as_str()
    }

    /// Whether its answers were read from a file, so that latencies and outages are unknown.
    pub fn is_recorded(&self) -> bool {
        self.agent() == Some("replay")
    }

    /// Whether every sample finished.
    pub fn is_finished(&self) -> bool {
        self.manifest.status == RunStatus::Finished || self.summary.early_stop.is_some()
    }

    /// The samples that flipped since the baseline, and whether they became wrong.
    pub fn flips(&self) -> HashMap<&str, bool> {
        let change = self.summary.change.iter();
        let sides = change.flat_map(|it| [(&it.became_wrong, true), (&it.became_correct, false)]);
        let flips = sides.flat_map(|(ids, worse)| ids.iter().map(move |id| (&**id, worse)));
        flips.collect()
    }
}

/// What the verdicts of these runs are about, if it is the same; else the words are those for answers.
pub(in crate::report) fn subject_of_all(runs: &[ReportedRun]) -> Subject {
    common(runs.iter().map(|run| run.summary.subject()))
}

/// The subject that these have in common, or else answers.
pub(in crate::report) fn common(mut subjects: impl Iterator<Item = Subject>) -> Subject {
    let first = subjects.next().unwrap_or_default();
    if subjects.all(|subject| subject == first) {
        first
    } else {
        Subject::Answers
    }
}

/// What the verdicts of a run are about, as far as its manifest shows it.
pub fn subject_of(manifest: &Manifest) -> Subject {
    let config = &manifest.config;
    let first = config.get("scorers").and_then(|scorers| scorers.get(0));
    let scorer = first.or_else(|| config.get("scorer"));
    let kind = scorer.map(|scorer| scorer.get("type").unwrap_or(scorer));
    if kind.is_some_and(|kind| kind == "pairwise") {
        Subject::Pairs
    } else if manifest.judges_items() {
        Subject::Items
    } else {
        Subject::Answers
    }
}

/// Programs that run the program named after them.
const LAUNCHERS: &[&str] = &[
    "bash", "bun", "deno", "env", "java", "julia", "lua", "node", "npx", "perl", "php", "poetry",
    "python", "ruby", "sh", "tsx", "uv", "uvx", "zsh",
];

/// [`program_of`] the agent of a run.
pub(in crate::report) fn program(manifest: &Manifest) -> Option<String> {
    program_of(manifest.config.get("agent")?)
}

/// The file name of the agent's program or recording, such as `agent.py` of `[python3, ../agent.py]`.
pub(crate) fn program_of(agent: &Value) -> Option<String> {
    let name = |path: &str| Some(Path::new(path).file_name()?.to_str()?.to_owned());
    let Some(words) = agent.get("command").and_then(Value::as_array) else {
        return name(agent.get("path")?.as_str()?);
    };
    let mut words = words.iter().filter_map(Value::as_str);
    let first = name(words.next()?)?;
    let is_launcher =
        LAUNCHERS.contains(&first.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.'));
    let is_file = |word: &&str| {
        let extension = Path::new(word).extension().and_then(|end| end.to_str());
        let is_short =
            |end: &str| end.len() <= 4 && end.bytes().all(|byte| byte.is_ascii_alphabetic());
        extension.is_some_and(is_short)
            && !word.contains(char::is_whitespace)
            && !word.starts_with('-')
    };
    let file = words.find(is_file).filter(|_| is_launcher).and_then(name);
    Some(file.unwrap_or(first))
}

/// An RFC 3339 time without seconds: `2026-11-23 07:51`.
pub(crate) fn minute(time: &str) -> String {
    time.get(..16).unwrap_or(time).replace('T', " ")
}

/// RFC 3339 times in order, without seconds unless two of them would look equal.
pub(in crate::report) fn times(times: &[String]) -> Vec<String> {
    let minutes: Vec<String> = times.iter().map(|time| minute(time)).collect();
    if minutes.windows(2).all(|two| two[0] != two[1]) {
        return minutes;
    }
    let second = |time: &String| time.get(..19).unwrap_or(time).replace('T', " ");
    times.iter().map(second).collect()
}

/// What the runs count: samples, or answers if any has several to a sample.
pub(in crate::report) fn noun_of_all(runs: &[ReportedRun]) -> &'static str {
    if runs.iter().any(|run| run.summary.epochs.is_some()) {
        "answers"
    } else {
        "samples"
    }
}

/// The name of the agent in reports: its program or model, or else its kind.
pub(in crate::report) fn agent_name(
    agent: Option<&str>,
    model: Option<&str>,
    program: Option<&str>,
) -> Option<String> {
    match (model, program) {
        (Some(model), _) => Some(
            [agent.unwrap_or_default(), model]
                .join(" ")
                .trim()
                .to_owned(),
        ),
        (None, Some(program)) if agent == Some("replay") => Some(format!("replay {program}")),
        (None, Some(program)) => Some(program.to_owned()),
        (None, None) => agent.map(str::to_owned),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn equal_minutes_have_seconds() {
        let check = |given: [&str; 2], expect: [&str; 2]| {
            assert_eq!(times(&given.map(str::to_owned)), expect, "{given:?}");
        };
        let (first, second) = ("2026-11-23T06:47:58.585Z", "2026-11-23T06:48:02Z");
        check([first, second], ["2026-11-23 06:47", "2026-11-23 06:48"]);
        let later = "2026-11-23T06:47:59Z";
        check(
            [first, later],
            ["2026-11-23 06:47:58", "2026-11-23 06:47:59"],
        );
    }

    #[test]
    fn an_agent_has_the_name_of_its_program() {
        let check = |agent: Value, expect: &str| {
            let kind = agent.get("type").and_then(Value::as_str);
            let model = agent.get("model").and_then(Value::as_str);
            let program = program_of(&agent);
            let name = agent_name(kind, model, program.as_deref());
            assert_eq!(name.as_deref(), Some(expect), "{agent}");
        };
        let command = |words: &[&str]| json!({"type": "command", "command": words});
        check(command(&["python3", "../agent.py"]), "agent.py");
        check(command(&["python3.12", "-u", "a.py", "b.py"]), "a.py");
        check(command(&["uv", "run", "agent.py"]), "agent.py");
        check(command(&["/usr/bin/claude", "-p"]), "claude");
        check(command(&["./agent", "--config", "agent.yaml"]), "agent");
        check(command(&["sh", "-c", "cat; echo 4 > a.txt"]), "sh");
        check(
            json!({"type": "acp", "command": ["gemini", "--acp"]}),
            "gemini",
        );
        check(json!({"type": "openai", "model": "gpt-5"}), "openai gpt-5");
        check(
            json!({"type": "replay", "path": "runs/answers.jsonl"}),
            "replay answers.jsonl",
        );
        check(json!({"type": "echo"}), "echo");
    }
}
