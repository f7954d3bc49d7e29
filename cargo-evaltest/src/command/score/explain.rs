//! `score --explain`: one answer, each step from the raw text to the verdict.

use std::sync::Arc;

use clap::Args;
use evaltest::engine::data::display_prediction;
use evaltest::engine::report::document::{Block, list};
use evaltest::engine::report::render::terminal::{self, Paint};
use evaltest::engine::text::{clean, unquoted};
use evaltest::scorer::Scorer;
use evaltest::{Error, Exit, Extraction, Result, Target};
use evaltest::{Normalized, Score};

use super::calls::CallChecker;
use crate::answers::{AnswerInput, AnsweredSample, AnswersArgs, Wanted};
use crate::console;
use evaltest::engine::scorers;

/// What is explained.
#[derive(Debug, Args)]
pub(super) struct ExplainArgs {
    /// Show each step from the raw answer to the verdict, for `--prediction` and `--ground-truth`, or for one `--line`
    /// of the input
    #[arg(long)]
    explain: bool,

    /// The raw answer to explain; default: null
    #[arg(
        long,
        value_name = "TEXT",
        requires = "ground_truth",
        allow_hyphen_values = true
    )]
    prediction: Option<String>,

    /// The ground truth to explain, a text or a JSON array or object
    #[arg(
        long,
        value_name = "TEXT",
        requires = "explain",
        allow_hyphen_values = true
    )]
    ground_truth: Option<String>,

    /// The line of the input to explain (the first line of a CSV file is its header), or the row of a parquet file, from 1
    #[arg(
        long,
        value_name = "N",
        requires = "explain",
        conflicts_with = "ground_truth"
    )]
    line: Option<u64>,
}

impl ExplainArgs {
    pub(super) fn is_wanted(&self) -> bool {
        self.explain
    }

    /// Whether the answer is given on the command line.
    pub(super) fn is_typed(&self) -> bool {
        self.ground_truth.is_some()
    }
}

/// An answer with the explanation of each scorer.
struct Explanation<'a> {
    scorer: &'a dyn Scorer,
    extraction: &'a Extraction,
    answered: &'a AnsweredSample,
}

pub(super) fn run(
    args: &ExplainArgs,
    input: &AnswersArgs,
    scorers: &[Arc<dyn Scorer>],
) -> Result<Exit> {
    let (answered, extraction) = match (&args.ground_truth, args.line) {
        (Some(truth), _) => {
            let mut answered = AnsweredSample {
                target: target(truth),
                ..AnsweredSample::default()
            };
            answered.output.text.clone_from(&args.prediction);
            (answered, input.extraction()?)
        }
        (None, Some(line)) => {
            let answers = AnswerInput::open(input)?;
            let extraction = answers.extraction.clone();
            (answers.at(line, Wanted::by(scorers))?, extraction)
        }
        (None, None) => return Err(nothing_named()),
    };
    if let Some(entry) = answered.entry.as_ref().filter(|entry| !entry.is_answered()) {
        return Err(Error::usage(format!(
            "sample `{}` has no answer: {}",
            clean(&entry.sample_id),
            entry.status.as_str()
        )));
    }
    let mut rendered = Vec::new();
    for scorer in scorers {
        let explanation = Explanation {
            scorer: &**scorer,
            extraction: &extraction,
            answered: &answered,
        };
        rendered.push(explanation.text()?);
    }
    console::print_data(|out| {
        rendered.iter().enumerate().try_for_each(|(place, blocks)| {
            if place > 0 {
                writeln!(out)?;
            }
            terminal::blocks(blocks, 0, Paint::Plain, out)
        })
    })?;
    Ok(Exit::Passed)
}

/// Explains a line of function-calling answers.
pub(super) fn run_calls(
    args: &ExplainArgs,
    input: &AnswersArgs,
    checker: &CallChecker,
) -> Result<Exit> {
    let line = args.line.ok_or_else(nothing_named)?;
    let explained = AnswerInput::open(input)?.on_line(line, |text| checker.explained(text))?;
    let mut blocks = vec![
        Block::paragraph(head("bfcl")),
        Block::paragraph(format!("entry: {}", explained.entry)),
        titled("raw answer", explained.answer.as_deref()),
        titled("ground truth", explained.ground_truth.as_deref()),
    ];
    blocks.extend(of_score(&explained.score));
    console::print_data(|out| terminal::blocks(&blocks, 0, Paint::Plain, out))?;
    Ok(Exit::Passed)
}

fn nothing_named() -> Error {
    Error::usage("`--explain` needs an answer to explain")
        .hint("name one: `--prediction TEXT --ground-truth TEXT`, or `FILE --line N`")
}

/// A text, or parsed JSON if it looks like a list or an object.
fn target(text: &str) -> Target {
    let json = text
        .starts_with(['[', '{'])
        .then(|| serde_json::from_str(text).ok());
    Target(json.flatten().unwrap_or_else(|| text.into()))
}

impl Explanation<'_> {
    fn text(&self) -> Result<Vec<Block>> {
        let extract = self.extraction.of(self.scorer);
        let raw = self.answered.output.text.as_deref();
        let prediction = raw.and_then(|raw| extract.apply(raw));
        let score = self.scorer.score(
            &self
                .answered
                .answer(prediction.as_deref(), self.extraction.is_given),
        )?;
        let from = match (self.extraction.is_given, self.scorer.extract()) {
            (false, Some(_)) => ", which is part of the rule",
            _ => "",
        };
        let mut blocks = vec![
            Block::paragraph(head(self.scorer.name())),
            titled("raw answer", raw),
            Block::paragraph(format!("extraction: {extract}{from}")),
            titled("prediction", prediction.as_deref()),
            titled("ground truth", Some(&unquoted(&self.answered.target.0))),
        ];
        blocks.extend(of_score(&score));
        Ok(blocks)
    }
}

fn head(name: &str) -> String {
    match scorers::entry(name) {
        Some(entry) => format!("scorer: {name}, {}", entry.summary),
        None => format!("scorer: {name}"),
    }
}

fn of_score(score: &Score) -> Vec<Block> {
    let sides = [
        ("prediction", &display_prediction(score)),
        ("ground truth", &score.normalized_ground_truth),
    ];
    // A scorer that reports the ground truth reports a prediction, too, if there is one.
    let is_reported = score.normalized_ground_truth != Normalized::None;
    let sides = sides.map(|(side, text)| match text {
        Normalized::None if is_reported => format!("{side}: none"),
        text => format!("{side}: {}", normalized(text)),
    });
    let details = score.details.iter();
    let details = list(details.map(|(name, value)| format!("{name}: {}", unquoted(value))));
    let details = details.map(|details| Block::group("details:", [details]));
    let verdict = if score.correct { "correct" } else { "wrong" };
    let verdict = format!(
        "verdict: {verdict}, value {:?}, reason {}",
        score.value, score.reason
    );
    let compared = Block::group("compared:", list(sides));
    let blocks = std::iter::once(compared).chain(details);
    blocks.chain([Block::paragraph(verdict)]).collect()
}

fn titled(title: &str, text: Option<&str>) -> Block {
    match text {
        None => Block::paragraph(format!("{title}: null")),
        // `lines` would drop an empty text and a trailing line break.
        Some(text) => Block::group(format!("{title}:"), list(text.split('\n'))),
    }
}

fn normalized(side: &Normalized) -> String {
    let quoted = |text: &String| format!("\"{text}\"");
    match side {
        Normalized::None => "(not reported)".to_owned(),
        Normalized::Text(text) => quoted(text),
        Normalized::List(items) => {
            let items: Vec<_> = items.iter().map(quoted).collect();
            format!("[{}]", items.join(", "))
        }
    }
}
