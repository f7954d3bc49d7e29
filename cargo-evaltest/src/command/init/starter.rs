//! The evals that `init` writes: one that runs without setup, and one per benchmark.

use clap::ValueEnum;
use evaltest::{Error, Result};

use super::super::init;

/// A benchmark that there is a spec of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum KnownBenchmark {
    /// GAIA itself, from the Hub
    Gaia,
    /// A table of questions and answers
    Qa,
    /// Questions written into the spec
    Custom,
    /// GSM8K, from the Hub
    Gsm8k,
    /// AIME 2024, from the Hub
    Aime,
    /// The Berkeley Function Calling Leaderboard
    Bfcl,
}

/// The files of a starter eval.
pub(super) struct Starter {
    spec: &'static str,
    /// Files next to the spec, in a folder with the eval's name.
    pub(super) files: &'static [(&'static str, &'static str)],
    /// Answered by the built-in demo agent: runs without setup and costs nothing.
    pub(super) demo: bool,
    /// Features of the library needed to run it as a cargo test.
    pub(super) features: &'static [&'static str],
    /// Steps to do before the first run.
    pub(super) before: &'static [&'static str],
}

const RUNS: Starter = Starter {
    spec: include_str!("specs/example.yaml"),
    files: &[
        ("questions.jsonl", include_str!("questions.jsonl")),
        ("harvest.csv", include_str!("harvest.csv")),
    ],
    demo: true,
    features: &["demo"],
    before: &[],
};

const OWN_AGENT: &str = "write your agent into the spec: `agent:`";

impl Starter {
    /// The starter for a benchmark; by default the example.
    pub(super) fn of(kind: Option<KnownBenchmark>) -> Self {
        let fetched = |spec: &'static str| Self {
            spec,
            files: &[],
            demo: false,
            features: &["http", "parquet"],
            before: &[OWN_AGENT],
        };
        match kind {
            None => RUNS,
            Some(KnownBenchmark::Gaia) => Self {
                before: &[
                    "accept the terms of GAIA and set HF_TOKEN, as the spec says",
                    OWN_AGENT,
                ],
                ..fetched(include_str!("specs/gaia.yaml"))
            },
            Some(KnownBenchmark::Gsm8k) => fetched(include_str!("specs/gsm8k.yaml")),
            Some(KnownBenchmark::Aime) => fetched(include_str!("specs/aime.yaml")),
            Some(KnownBenchmark::Bfcl) => Self {
                features: &["bfcl", "http"],
                before: &["fetch the leaderboard's data, as the spec says", OWN_AGENT],
                ..fetched(include_str!("specs/bfcl.yaml"))
            },
            Some(KnownBenchmark::Qa) => Self {
                spec: include_str!("specs/qa.yaml"),
                files: &[("questions.csv", include_str!("specs/qa.csv"))],
                ..RUNS
            },
            Some(KnownBenchmark::Custom) => Self {
                spec: include_str!("specs/custom.yaml"),
                files: &[],
                ..RUNS
            },
        }
    }

    /// Features needed to load the data, for any agent.
    pub(super) fn features_of_data(&self) -> &'static [&'static str] {
        if self.demo { &[] } else { self.features }
    }

    /// The spec for an eval of this name, with the user's agent if there is one.
    pub(super) fn spec(&self, name: &str, program: &[String]) -> Result<String> {
        // The user fills in `NAME_OF_A_MODEL`.
        let text = self
            .spec
            .replace("NAME_OF_A_MODEL", "\0")
            .replace("NAME", name)
            .replace('\0', "NAME_OF_A_MODEL");
        if program.is_empty() {
            return Ok(text);
        }
        let program = init::from_spec(program);
        let program = serde_json::to_string(&program)
            .map_err(|error| Error::usage(format!("the command cannot be written: {error}")))?;
        let agent = format!("agent: {{ type: command, command: {program} }}");
        let line = |line: &str| {
            if line.starts_with("agent: ") {
                agent.clone()
            } else {
                line.to_owned()
            }
        };
        Ok(text.lines().map(|old| line(old) + "\n").collect())
    }
}
