//! `Court`: a project whose answers are judged by an endpoint of the test.

use std::path::PathBuf;

use serde_json::{Value, json};

use crate::project::{Project, Ran};
use crate::requested;
use crate::server::{Answer, Request, Server, chat, fine};

/// One dimension; 4 of 5 points pass.
pub(crate) const RUBRIC: &str = "rubric: { dimensions: [{ name: merit }] }";

/// A project with the endpoint of its judge.
pub(crate) struct Court {
    pub(crate) project: Project,
    pub(crate) judge: Server,
}

/// A reply with so many points.
pub(crate) fn points(points: u32) -> Value {
    chat(&json!({ "reason": "r", "merit": points, "comments": "c" }).to_string())
}

/// A judge that gives everything 4 points.
pub(crate) fn lenient() -> Server {
    Server::new(|_, _| fine(&points(4)))
}

/// The number of the question that a judge is asked about.
pub(crate) fn number(requested: &Request) -> u32 {
    let prompt = requested.prompt();
    let rest = prompt.split_once("What is ").map_or("", |(_, rest)| rest);
    let digits = rest.split(|c: char| !c.is_ascii_digit()).next();
    digits
        .and_then(|it| it.parse().ok())
        .unwrap_or_else(|| panic!("no question in {prompt}"))
}

/// Whether it is the second ask.
pub(crate) fn is_again(requested: &Request) -> bool {
    requested.prompt().contains("# Once more")
}

/// The judge of a spec, at this endpoint.
pub(crate) fn judge(server: &Server, more: &str) -> String {
    judge_at(&server.url("/v1"), more)
}

pub(crate) fn judge_at(url: &str, more: &str) -> String {
    format!(
        "{{ type: judge, agent: {{ type: openai, base_url: \"{url}\", model: judge-1, temperature: 0 }}, {RUBRIC}{more} }}"
    )
}

impl Court {
    /// So many questions, one judged at a time; the agent logs what it is asked and answers with the number.
    pub(crate) fn new(
        questions: u32,
        more: &str,
        act: impl Fn(&Request, usize) -> Answer + Send + Sync + 'static,
    ) -> Self {
        Self::of(questions, Server::new(act), "", more)
    }

    /// With further options of the judge.
    pub(crate) fn of(questions: u32, judge: Server, options: &str, more: &str) -> Self {
        let scorers = format!("scorers: [{}]\n", self::judge(&judge, options));
        Self::with(questions, judge, &scorers, more)
    }

    /// With these lines for the scorers.
    pub(crate) fn with(questions: u32, judge: Server, scorers: &str, more: &str) -> Self {
        let limits = if more.contains("limits:") {
            ""
        } else {
            "limits: { concurrency: 1 }\n"
        };
        let project = requested::project(questions, "", &format!("{scorers}{limits}{more}"));
        Self { project, judge }
    }

    /// The gaia rule first and the judge beside it.
    pub(crate) fn as_second_scorer(
        questions: u32,
        more: &str,
        act: impl Fn(&Request, usize) -> Answer + Send + Sync + 'static,
    ) -> Self {
        let judge = Server::new(act);
        let scorers = format!("scorers: [gaia, {}]\n", self::judge(&judge, ""));
        Self::with(questions, judge, &scorers, more)
    }

    pub(crate) fn run(&self, arguments: &str) -> Ran {
        self.project.run(&format!("run {arguments}"))
    }

    /// How often the judge was asked.
    pub(crate) fn judged(&self) -> usize {
        self.judge.requested().len()
    }

    /// How often the agent was asked.
    pub(crate) fn answered(&self) -> usize {
        requested::requested(&self.project).len()
    }

    pub(crate) fn summary(&self) -> Value {
        self.project.last_json("summary.json")
    }

    /// What came of each question of the last run.
    pub(crate) fn results(&self) -> Vec<Value> {
        let records = self.project.last_lines("samples.jsonl");
        records
            .into_iter()
            .map(|mut record| record["result"].take())
            .collect()
    }

    pub(crate) fn dir(&self) -> PathBuf {
        self.project.last_run()
    }

    /// Rewrites the spec.
    pub(crate) fn edit(&self, from: &str, to: &str) {
        let spec = self.project.read("eval.yaml");
        assert!(spec.contains(from), "`{from}` is missing in {spec}");
        self.project.write("eval.yaml", spec.replace(from, to));
    }
}
