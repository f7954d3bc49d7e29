//! Imports model answers collected by the official program as an eval whose agent replays them.

mod output;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::PathBuf;
use std::sync::Arc;

use serde_json::{Map, Value as Json, json};

use self::output::{FAILURE, answer, conversation, has_calls, is_failure};
use crate::agent::Agent;
use crate::benchmark::Benchmark;
use crate::benchmark::prompt::Prompt;
use crate::bfcl::benchmark::tally::BfclTally;
use crate::bfcl::benchmark::{Weights, prompt, sample};
use crate::bfcl::checker::{self, OFFICIAL};
use crate::bfcl::data::{COLLECTIONS, Category, Data};
use crate::bfcl::export::{ModelFiles, ResultLine, has_steps, is_preparation, results, scores};
use crate::data::{AgentError, FailureKind, Output, Record, Sample, Task, Usage};
use crate::error::{Error, Result};
use crate::eval::{Eval, Limits};
use crate::scorer::Scorer;

/// How answers are read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// As native calls if any answer of the model is a list of them, else as texts.
    #[default]
    Auto,
    /// As native calls: a text is an answer without any.
    Fc,
    /// As texts.
    Prompt,
}

/// What is imported, and how.
#[derive(Clone, Debug)]
pub struct Import {
    /// The files.
    pub files: ModelFiles,
    /// The leaderboard's data, to judge single-turn answers. Without it, all verdicts are those of the score files.
    pub data: Option<PathBuf>,
    /// How answers are read.
    pub mode: Mode,
    /// Whether `a_b` is right for a function `a.b`; by default for native calls.
    pub underscore_to_dot: Option<bool>,
}

/// An import that is ready to run.
#[derive(Debug)]
pub struct Imported {
    /// The eval, whose agent replays the answers of the files.
    pub eval: Eval,
    /// Whether every entry of the imported categories is there. Assumed if there is no data.
    pub whole: bool,
    /// Notices about the import.
    pub notices: Vec<String>,
}

impl Import {
    /// Reads all files. Name, gates, snapshots and prompt are those of `eval`, if given.
    ///
    /// # Errors
    /// With file and line when a file is broken, or has an entry that the data lack.
    pub fn load(&self, eval: Option<Eval>) -> Result<Imported> {
        let data = self.data.as_ref().map(Data::open).transpose()?;
        let mut read = Vec::new();
        for (name, path) in &self.files.results {
            let category = Category::named(name);
            if !is_preparation(&category) {
                read.push((category, results(path)?));
            }
        }
        // In the official order of the data.
        let place = |category: &Category| Category::official().position(|one| one == *category);
        read.sort_by_key(|(category, _)| (place(category).is_none(), place(category)));
        if read.iter().all(|(_, lines)| lines.is_empty()) {
            let error = Error::usage("the result files are empty");
            return Err(match self.files.results.values().next() {
                Some(path) => error.at(path.display()),
                None => error,
            });
        }
        let is_native = match self.mode {
            Mode::Auto => read.iter().any(|(category, lines)| {
                lines.iter().any(|line| has_calls(category, &line.result))
            }),
            mode => mode == Mode::Fc,
        };
        let mut loading = Loading {
            import: self,
            data: data.as_ref(),
            is_native,
            benchmark: ImportedBfcl::default(),
            answers: HashMap::new(),
            whole: true,
            failures: 0,
            unjudged: BTreeMap::new(),
        };
        for (category, lines) in read {
            loading.category(&category, lines)?;
        }
        Ok(loading.finish(eval))
    }
}

/// An import in progress.
struct Loading<'a> {
    import: &'a Import,
    data: Option<&'a Data>,
    is_native: bool,
    benchmark: ImportedBfcl,
    answers: HashMap<String, Given>,
    whole: bool,
    /// Answers that report a failure.
    failures: usize,
    /// Categories without verdicts, with their numbers of answers.
    unjudged: BTreeMap<String, usize>,
}

impl Loading<'_> {
    fn category(&mut self, category: &Category, lines: Vec<ResultLine>) -> Result<()> {
        let known = self
            .data
            .filter(|data| data.categories().contains(category));
        if let (None, Some(data)) = (known, self.data)
            && category.is_native()
        {
            return Err(Error::usage(format!(
                "`{}`: no category `{}`, but there are results of it",
                data.path().display(),
                category.name
            )));
        }
        match known.filter(|_| category.is_native()) {
            Some(data) => self.score_locally(data, category, lines),
            None => self.use_published_scores(known, category, lines),
        }
    }

    /// Samples as in a run of the benchmark, in the order of the data.
    fn score_locally(
        &mut self,
        data: &Data,
        category: &Category,
        lines: Vec<ResultLine>,
    ) -> Result<()> {
        let mut lines: HashMap<String, ResultLine> = lines
            .into_iter()
            .map(|line| (line.id.clone(), line))
            .collect();
        for question in data.read(category)? {
            let Some(line) = lines.remove(&question.id) else {
                self.whole = false;
                continue;
            };
            let sample = sample(question);
            self.add(category, sample, line)?;
        }
        unknown(data, category, lines.into_values())
    }

    fn use_published_scores(
        &mut self,
        data: Option<&Data>,
        category: &Category,
        lines: Vec<ResultLine>,
    ) -> Result<()> {
        let path = self.import.files.scores.get(&category.name);
        let scores = path.map(|path| scores(path)).transpose()?;
        if let (Some(scores), Some(path)) = (&scores, path) {
            let ids: HashSet<&str> = lines.iter().map(|line| line.id.as_str()).collect();
            let stranger = scores.wrong().find(|id| !ids.contains(id));
            if scores.total != lines.len() as u64 || stranger.is_some() {
                let why = match stranger {
                    Some(id) => format!("it judges `{id}`, which is not in the results"),
                    None => format!("it judges {} answers of {}", scores.total, lines.len()),
                };
                return Err(Error::usage(why)
                .hint("have the official program judge them again, or leave the score files out: `--scores` names a folder")
                .at(path.display()));
            }
        }
        if scores.is_none() && category.is_native() {
            return Err(Error::usage(format!(
                "there is no data to judge the answers of `{}`",
                category.name
            ))
            .hint("name the leaderboard's data: `--data DIR`, or score files: `--scores DIR`"));
        }
        if scores.is_none() {
            *self.unjudged.entry(category.name.clone()).or_default() += lines.len();
        }
        let questions = match data {
            Some(data) => Questions::read(data, category)?,
            None => Questions::default(),
        };
        let entries = questions.0.len();
        self.whole &= entries == 0 || entries == lines.len();
        for line in lines {
            let question = questions.of(category, &line.id);
            let mut sample =
                Sample::new(&line.id, question).slice("category", category.name.as_str());
            sample
                .metadata
                .insert("category".to_owned(), category.name.as_str().into());
            if let Some(scores) = &scores {
                let official = serde_json::to_value(scores.of(&line.id)).unwrap_or_default();
                sample.metadata.insert(OFFICIAL.to_owned(), official);
            }
            self.add(category, sample, line)?;
        }
        Ok(())
    }

    fn add(&mut self, category: &Category, mut sample: Sample, line: ResultLine) -> Result<()> {
        let mode = if self.is_native { "fc" } else { "prompt" };
        sample.metadata.insert("mode".to_owned(), mode.into());
        if let Some(underscore_to_dot) = self.import.underscore_to_dot {
            sample
                .metadata
                .insert("underscore_to_dot".to_owned(), underscore_to_dot.into());
        }
        self.failures += usize::from(is_failure(&line.result));
        let [input_tokens, output_tokens] = line.tokens;
        let has_usage = input_tokens.is_some() || output_tokens.is_some();
        let mut output = if has_steps(&category.name) {
            conversation(&line.result)
        } else {
            answer(line.result, self.is_native)
        };
        output.usage = has_usage.then_some(Usage {
            cached_tokens: None,
            input_tokens,
            output_tokens,
            cost_usd: None,
        });
        let given = Given {
            output,
            latency_s: line.latency_s.unwrap_or_default(),
        };
        if self.answers.insert(line.id.clone(), given).is_some() {
            let message = format!(
                "the id `{}` is also in another file",
                line.id.escape_debug()
            );
            return Err(Error::usage(message).at(line.place));
        }
        self.benchmark.samples.push(sample);
        Ok(())
    }

    fn finish(mut self, eval: Option<Eval>) -> Imported {
        let mut notices = Vec::new();
        for (category, count) in &self.unjudged {
            notices.push(format!(
                "{count} answers of `{category}` are unscored: only the official program judges them: `cargo \
                 evaltest bfcl official RUN_DIR --model-name NAME`"
            ));
        }
        if self.failures > 0 {
            notices.push(format!(
                "{} results report a failure (`{FAILURE}`): they count as wrong answers here, as in the official \
                 program",
                self.failures
            ));
        }
        let agent = json!({ "type": "imported", "model": self.import.files.model });
        self.benchmark.own = eval.as_ref().map(|eval| Arc::clone(&eval.benchmark));
        let (benchmark, again) = (
            Arc::new(self.benchmark),
            Arc::new(ImportedAnswers(self.answers)),
        );
        let mut eval = if let Some(mut eval) = eval {
            eval.benchmark = benchmark;
            eval.agent = again;
            if let Some(own) = eval.config.get_mut("agent") {
                *own = agent;
            }
            eval
        } else {
            // As a run of the benchmark asks agents of this kind.
            let (prompt, name) = if self.is_native {
                (Prompt::None, "none")
            } else {
                (Prompt::Default, "official")
            };
            let mut eval = Eval::from_parts(benchmark, again).prompt(prompt);
            eval.config = json!({
                "name": eval.name,
                "benchmark": { "type": "bfcl", "path": self.data.map(Data::path) },
                "prompt": name,
                "agent": agent,
                "scorer": { "type": "bfcl" },
                "gates": [],
            });
            eval
        };
        eval.limits = Limits {
            // The answers exist already, however long they are.
            max_output_bytes: u64::MAX,
            ..Limits::default()
        };
        Imported {
            eval,
            whole: self.whole,
            notices,
        }
    }
}

fn unknown(
    data: &Data,
    category: &Category,
    lines: impl Iterator<Item = ResultLine>,
) -> Result<()> {
    let Some(line) = lines.min_by_key(|line| line.place.len()) else {
        return Ok(());
    };
    Err(Error::usage(format!(
        "`{}` has no entry `{}` in category `{}`",
        data.path().display(),
        line.id.escape_debug(),
        category.name
    ))
    .hint("name the data of the same version: `--data`")
    .at(line.place))
}

/// The questions of categories that are not judged here, by id: the texts of all turns.
#[derive(Default)]
struct Questions(HashMap<String, String>);

impl Questions {
    fn read(data: &Data, category: &Category) -> Result<Self> {
        let path = data.file(category);
        if COLLECTIONS.contains(&&*category.name) || category.name == "format_sensitivity" {
            return Ok(Self::default());
        }
        let entries = crate::bfcl::export::objects(&path)?;
        let questions = entries.iter().filter_map(|(_, fields)| {
            let id = fields.get_str("id")?.as_str()?;
            let turns = fields.get_str("question")?.as_list()?;
            let texts: Vec<String> = turns.iter().map(prompt::question).collect();
            Some((id.to_owned(), texts.join("\n\n")))
        });
        Ok(Self(questions.collect()))
    }

    /// In categories that share a file, ids start with the category's name.
    fn of(&self, category: &Category, id: &str) -> String {
        let shared = id
            .strip_prefix(&*category.name)
            .map(|rest| format!("{}{rest}", category.file()));
        let found = self.0.get(id).or_else(|| self.0.get(&shared?));
        found.cloned().unwrap_or_default()
    }
}

/// The samples of an import.
#[derive(Default)]
struct ImportedBfcl {
    samples: Vec<Sample>,
    /// The benchmark of the eval whose gates count, which has its weights.
    own: Option<Arc<dyn Benchmark>>,
}

impl Benchmark for ImportedBfcl {
    fn name(&self) -> &'static str {
        "bfcl"
    }

    fn samples(&self) -> Result<Vec<Sample>> {
        Ok(self.samples.clone())
    }

    fn scorer(&self) -> Option<Box<dyn Scorer>> {
        Some(Box::new(checker::BfclScorer::default()))
    }

    fn metrics(&self, records: &[Record]) -> Map<String, Json> {
        if let Some(own) = &self.own {
            return own.metrics(records);
        }
        let mut tally = BfclTally::default();
        for record in records {
            tally.add(record);
        }
        tally.finish(&Weights::default())
    }

    fn metric_names(&self) -> Option<Vec<String>> {
        self.own.as_ref()?.metric_names()
    }

    fn instructions(&self, sample: &Sample) -> Option<String> {
        let has_functions = sample.metadata.contains_key("function");
        has_functions.then(|| prompt::instructions(sample))
    }
}

/// An answer of the files.
#[derive(Clone, Debug)]
struct Given {
    output: Output,
    latency_s: f64,
}

/// Replays the answers of the files.
struct ImportedAnswers(HashMap<String, Given>);

impl Agent for ImportedAnswers {
    fn answer(&self, task: &Task) -> Result<Output, AgentError> {
        let given = self.0.get(task.id());
        given
            .map(|given| given.output.clone())
            .ok_or_else(|| AgentError::of(FailureKind::NotFound, "the result files have no answer"))
    }

    fn is_deterministic(&self) -> bool {
        true
    }

    fn keeps_deadline(&self) -> bool {
        true
    }

    fn recorded_latency_s(&self, task: &Task) -> Option<f64> {
        self.0.get(task.id()).map(|given| given.latency_s)
    }
}
