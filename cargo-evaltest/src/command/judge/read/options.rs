//! Options for parsing replies.

use std::collections::BTreeSet;

use clap::{Args, ValueEnum};
use evaltest::engine::judge::pattern;
use evaltest::{Error, Result};

use super::reader::ReplyReader;

/// The form of the replies.
#[derive(Debug, Args)]
pub(super) struct ReadOptions {
    /// The form of the replies
    #[arg(long, value_enum, value_name = "FORM", help_heading = "Parsing")]
    reply: Option<ReplyKind>,

    /// A dimension of the rubric; repeatable
    #[arg(long = "dimension", value_name = "NAME", help_heading = "Parsing")]
    dimensions: Vec<String>,

    /// The lowest and the highest points of each dimension [default: 1,5]
    #[arg(
        long,
        value_name = "LOW,HIGH",
        allow_hyphen_values = true,
        help_heading = "Parsing"
    )]
    scale: Option<String>,

    /// An offered choice; repeatable
    #[arg(long = "choice", value_name = "NAME", help_heading = "Parsing")]
    choices: Vec<String>,

    /// A verdict and the regular expression that finds it; repeatable
    #[arg(long = "pattern", value_name = "NAME=REGEX", help_heading = "Parsing")]
    patterns: Vec<String>,

    /// If several patterns match, take the first, as some published programs do; otherwise the reply is conflicting
    #[arg(long, help_heading = "Parsing")]
    first_match: bool,

    /// A number in brackets: the first `[[8]]`, else the first `[8]`
    #[arg(long, help_heading = "Parsing")]
    rating: bool,

    /// Parse as another program does, only to compare with its figures: unreadable replies become a score or a tie
    #[arg(long, value_enum, value_name = "PROGRAM", help_heading = "Parsing")]
    compat: Option<Compat>,
}

/// The format of a reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum ReplyKind {
    /// Points for each `--dimension`, in JSON
    Rubric,
    /// One `--choice`, in JSON or in text
    Choices,
    /// What one `--pattern` matches
    Patterns,
}

/// Another program whose behaviour is reproduced.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Compat {
    /// Four scores of 5; 3.0 for unreadable replies
    HelloagentsJudge,
    /// Problem A, Problem B or a tie; a tie for unreadable replies
    HelloagentsWinner,
}

const HINT: &str =
    "write one of `--dimension NAME`, `--choice NAME`, `--pattern NAME=REGEX`, `--rating`";

impl ReadOptions {
    /// A warning to print with the results.
    pub(super) fn warning(&self) -> Option<&'static str> {
        self.compat.map(|compat| match compat {
            Compat::HelloagentsJudge => {
                "`--compat helloagents-judge` gives 3.0 to unreadable replies and clamps nothing: use it only to \
                 compare with that program"
            }
            Compat::HelloagentsWinner => {
                "`--compat helloagents-winner` counts unreadable replies as ties: use it only to compare with that \
                 program"
            }
        })
    }

    /// The reply parser for the options; an error if options are missing or conflict.
    pub(super) fn reader(&self) -> Result<ReplyReader> {
        use ReplyKind::{Choices, Patterns, Rubric};
        let forms = [
            (Rubric, "--reply rubric"),
            (Choices, "--reply choices"),
            (Patterns, "--reply patterns"),
        ];
        let requested = forms.iter().find(|(form, _)| self.reply == Some(*form));
        // Which format each option belongs to.
        let given = [
            (
                requested.is_some(),
                self.reply,
                requested.map_or("", |requested| requested.1),
            ),
            (!self.dimensions.is_empty(), Some(Rubric), "--dimension"),
            (!self.choices.is_empty(), Some(Choices), "--choice"),
            (!self.patterns.is_empty(), Some(Patterns), "--pattern"),
            (self.rating, None, "--rating"),
            (self.compat.is_some(), None, "--compat"),
            (self.scale.is_some(), Some(Rubric), "--scale"),
            (self.first_match, Some(Patterns), "--first-match"),
        ];
        let mut given = given.into_iter().filter(|(is_given, ..)| *is_given);
        let Some((_, form, first)) = given.next() else {
            return Err(Error::usage("the form of the replies is missing").hint(HINT));
        };
        if let Some((_, _, other)) = given.find(|(_, other, _)| other.is_none() || *other != form) {
            return Err(
                Error::usage(format!("`{other}` cannot be combined with `{first}`"))
                    .hint(format!("leave one of them out: {HINT}")),
            );
        }
        let need = |option: &str, value: &str| {
            let error = Error::usage(format!("`{first}` needs `{option}`"));
            Err(error.hint(format!("add `{option} {value}`, once for each")))
        };
        match form {
            Some(Rubric) if self.dimensions.is_empty() => need("--dimension", "NAME"),
            Some(Choices) if self.choices.is_empty() => need("--choice", "NAME"),
            Some(Patterns) if self.patterns.is_empty() => need("--pattern", "NAME=REGEX"),
            Some(Rubric) => {
                all_differ("--dimension", &self.dimensions)?;
                let scale = self.scale.as_deref().map_or(Ok([1, 5]), scale)?;
                Ok(ReplyReader::Rubric(self.dimensions.clone(), scale))
            }
            Some(Choices) => {
                all_differ("--choice", &self.choices)?;
                Ok(ReplyReader::Choices(self.choices.clone()))
            }
            Some(Patterns) => {
                let patterns = self.patterns.iter().map(|text| {
                    let (name, regex) = text
                        .split_once('=')
                        .filter(|(name, _)| !name.is_empty())
                        .ok_or_else(|| {
                        Error::usage(format!(
                            "`--pattern {text}` is not of the form `NAME=REGEX`"
                        ))
                        .hint("write `--pattern 'yes=(?m)^Yes'`")
                    })?;
                    let regex = pattern(regex)
                        .map_err(|error| error.at(format_args!("`--pattern {name}=…`")))?;
                    Ok((name.to_owned(), regex))
                });
                Ok(ReplyReader::Patterns {
                    patterns: patterns.collect::<Result<_>>()?,
                    first_match: self.first_match,
                })
            }
            None if self.rating => Ok(ReplyReader::Rating),
            None => Ok(match self.compat {
                Some(Compat::HelloagentsJudge) => ReplyReader::HelloAgentsJudge,
                _ => ReplyReader::HelloAgentsWinner,
            }),
        }
    }
}

/// Returns an error for an empty or duplicate name.
fn all_differ(option: &str, names: &[String]) -> Result<()> {
    let mut seen = BTreeSet::new();
    for name in names {
        if name.trim().is_empty() {
            return Err(
                Error::usage(format!("`{option}` is empty")).hint(format!("write `{option} NAME`"))
            );
        }
        if !seen.insert(name) {
            return Err(Error::usage(format!("`{option} {name}` is given twice"))
                .hint("leave one of them out"));
        }
    }
    Ok(())
}

fn scale(text: &str) -> Result<[i64; 2]> {
    let ends = text.split_once(',');
    let ends = ends
        .and_then(|(low, high)| Some([low.trim().parse().ok()?, high.trim().parse::<i64>().ok()?]));
    let hint = "write `--scale 1,5`, the lowest points first";
    match ends {
        None => Err(Error::usage(format!("`--scale {text}` is not two whole numbers")).hint(hint)),
        Some([low, high]) if low >= high => {
            Err(Error::usage(format!("`--scale {text}`: {low} is not below {high}")).hint(hint))
        }
        Some(ends) => Ok(ends),
    }
}
