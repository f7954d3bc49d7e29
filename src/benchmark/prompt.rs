//! Prompt presets: the instructions around a question.

use std::borrow::Cow;

use crate::benchmark::Benchmark;
use crate::data::Sample;
use crate::error::{Error, Result};
use crate::text::hash::Hasher;

/// The instructions around a question.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Prompt {
    /// The benchmark's instructions if any (official ones, or ours that state the answer format), otherwise the
    /// question alone.
    #[default]
    Default,
    /// The benchmark's official instructions verbatim; an error if there are none.
    Official,
    /// Answer only, no explanation.
    Concise,
    /// The question alone.
    None,
    /// A text with `{prompt}` in it, and `{id}` if wanted.
    Template(String),
}

const CONCISE: &str = "Answer the question below. Reply with the answer only: no explanation, no full \
sentence, no unit unless the question asks for one. Separate the elements of a list by commas.";

impl Prompt {
    /// The presets that a spec can name.
    pub(crate) const PRESETS: &'static [&'static str] = &["official", "concise", "none"];

    /// Returns an error for a preset that the benchmark lacks, or a template without `{prompt}`.
    pub(crate) fn check(&self, benchmark: &dyn Benchmark) -> Result<()> {
        match self {
            Self::Official if benchmark.official_prompt().is_none() => {
                let error = Error::usage(format!(
                    "benchmark `{}` has no official prompt",
                    benchmark.name()
                ));
                Err(if benchmark.default_prompt().is_some() {
                    error.hint(
                        "remove `prompt` for evaltest's own instructions on the form of the answer; or use `prompt: \
                         concise`, `prompt: none` or a template",
                    )
                } else {
                    error.hint("use `prompt: concise`, `prompt: none` or a template")
                })
            }
            Self::Template(text) if !text.contains("{prompt}") => {
                Err(Error::usage("the prompt template has no `{prompt}`")
                    .hint("write `prompt: { template: \"Answer briefly: {prompt}\" }`"))
            }
            _ => Ok(()),
        }
    }

    /// Identifies the instructions: the preset with a hash of its text, so that an edited template differs, and the
    /// official instructions are the same whether chosen explicitly or by default.
    pub(crate) fn name(&self, benchmark: &dyn Benchmark) -> String {
        let official = benchmark.official_prompt();
        let (preset, text) = match self {
            Self::Default => match benchmark.default_prompt() {
                text if text == official => ("official", text.unwrap_or_default()),
                text => ("default", text.unwrap_or_default()),
            },
            Self::Official => ("official", official.unwrap_or_default()),
            Self::Concise => ("concise", CONCISE),
            Self::None => ("none", ""),
            Self::Template(template) => ("template", template.as_str()),
        };
        if text.is_empty() {
            return "none".to_owned();
        }
        format!("{preset} {}", &Hasher::default().part(text).short()[..8])
    }

    /// The full prompt of a sample. Attached files appear by name only, so that the prompt is the same on every
    /// machine.
    pub(crate) fn render(&self, benchmark: &dyn Benchmark, sample: &Sample) -> String {
        let mut question = Cow::Borrowed(sample.prompt.as_str());
        for file in &sample.files {
            let question = question.to_mut();
            question.push_str("\n\nAttached file: ");
            question.push_str(&file.name);
        }
        let own = match self {
            Self::Default | Self::Official => benchmark.instructions(sample),
            _ => None,
        };
        let instructions = match self {
            _ if own.is_some() => own.as_deref().unwrap_or_default(),
            Self::Default => benchmark.default_prompt().unwrap_or_default(),
            Self::Official => benchmark.official_prompt().unwrap_or_default(),
            Self::Concise => CONCISE,
            Self::None => "",
            Self::Template(template) => {
                return template
                    .replace("{id}", &sample.id)
                    .replace("{prompt}", &question);
            }
        };
        if instructions.is_empty() {
            question.into_owned()
        } else {
            [instructions, "\n\n", &question].concat()
        }
    }
}
