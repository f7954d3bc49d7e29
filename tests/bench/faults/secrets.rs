//! A value that a spec names, in each form and from each place: it is in no file and in no stream.

#[path = "../../it/secrets/forms.rs"]
#[expect(dead_code, reason = "the tests look at files again")]
mod forms;

use std::fs;
use std::io;

use serde_json::json;

use crate::project::{Project, all_files};
use crate::server::{Server, refusal};
use crate::table::{Row, Table};
use crate::watched::{self, Ended};
use forms::{Pieces, SECRET, forms};

/// A name that says nothing.
const NAME: &str = "HARMLESS";

/// Where an agent or its dataset may say something.
const PLACES: [&str; 9] = [
    "answer", "message", "key", "error", "stderr", "live", "garbage", "prompt", "metadata",
];

pub(crate) fn all(table: &mut Table) -> io::Result<()> {
    let fault = "secrets, from every place in every form";
    table.row(fault, || from_agents(fault))?;
    let fault = "secrets, in what a server refuses with";
    table.row(fault, || from_servers(fault))
}

/// What was looked through, and what has a secret in it.
struct Search {
    pieces: Pieces,
    scanned: usize,
    leaks: Vec<String>,
}

impl Search {
    fn new() -> Self {
        Self {
            pieces: Pieces::new(),
            scanned: 0,
            leaks: Vec::new(),
        }
    }

    fn scan(&mut self, name: &str, content: &[u8]) {
        self.scanned += 1;
        let text = String::from_utf8_lossy(content).to_lowercase();
        if self.pieces.find(text.as_bytes()).is_some() {
            self.leaks.push(name.to_owned());
        }
    }

    /// Runs a command that is given the value, and looks at what it says.
    fn run(&mut self, project: &Project, arguments: &str) -> io::Result<Ended> {
        let mut command = project.command(arguments);
        command.env(NAME, SECRET);
        let ended = watched::follow(project, command, |_| Ok(()))?;
        self.scan(arguments, ended.err.as_bytes());
        Ok(ended)
    }

    fn look_at_files(&mut self, project: &Project) -> io::Result<()> {
        for path in all_files(project.path()) {
            let name = path.display().to_string();
            self.scan(&name, &[name.as_bytes(), b"\n", &fs::read(&path)?].concat());
        }
        Ok(())
    }
}

/// A dataset with a sample for each case, and an agent that says what is in a file; they are not looked through.
fn cases() -> Project {
    let elsewhere = Project::new();
    elsewhere.script(
        "agent.sh",
        "#!/bin/sh\ncd \"${0%/*}\"\ncat \"$EVALTEST_SAMPLE_ID.err\" >&2\ncat \"$EVALTEST_SAMPLE_ID.out\"\n\
         case $EVALTEST_SAMPLE_ID in stderr*) exit 1;; esac\n",
    );
    let mut rows = Vec::new();
    for (number, (_, text)) in forms().into_iter().enumerate() {
        for place in PLACES {
            let id = format!("{place}-{number}");
            let mut row = json!({
                "task_id": id, "Question": "What?", "Level": 1, "Final answer": "17", "Annotator Metadata": {},
            });
            let leaky = format!("it is {text} there");
            let (mut out, mut err) = (json!({ "answer": "17" }), String::new());
            match place {
                "answer" => out["answer"] = leaky.into(),
                "message" => out["messages"] = json!([{ "content": leaky }]),
                "key" => out["messages"] = json!([{ (leaky): 1 }]),
                "error" => out = json!({ "error": leaky }),
                "prompt" => row["Question"] = leaky.into(),
                "metadata" => row["Annotator Metadata"] = json!({ "Steps": leaky }),
                "garbage" => out = leaky.into(),
                _ => err = leaky + "\n",
            }
            let out = match out.as_str() {
                Some(garbage) => garbage.to_owned(),
                None => out.to_string(),
            };
            elsewhere.write(&format!("{id}.out"), out);
            elsewhere.write(&format!("{id}.err"), err);
            rows.push(row.to_string());
        }
    }
    elsewhere.write("data.jsonl", rows.join("\n"));
    elsewhere
}

fn from_agents(fault: &str) -> io::Result<Row> {
    let (project, elsewhere) = (Project::new(), cases());
    let folder = elsewhere.path().display();
    project.write(
        "eval.yaml",
        format!(
            "name: e\nbenchmark: {{ type: gaia, path: {folder}/data.jsonl }}\nprompt: none\n\
             agent: {{ type: command, command: [{folder}/agent.sh], input: json, output: json, env: [{NAME}] }}\n\
             snapshot: {{ answers: plain }}\nlimits: {{ concurrency: 4, keep_going: true, retries: 0 }}\n"
        ),
    );
    let mut search = Search::new();
    let mut ended = search.run(&project, "run --stream eval.yaml")?;
    let dir = project.last_run();
    let records = fs::read_to_string(dir.join("samples.jsonl"))?;
    let cases = forms().len() * PLACES.len();
    let written = records.lines().count();
    let blanked = records.lines().filter(|it| it.contains("[REDACTED]"));
    let blanked = blanked.count();
    let dir = project.display(dir);
    for arguments in [
        "show DIR answer-0",
        "show DIR message-5 --json",
        "summarize DIR",
        "summarize DIR --json",
        "rescore DIR",
        "accept DIR --partial",
        "doctor eval.yaml",
        "run eval.yaml --json",
    ] {
        ended.join(search.run(&project, &arguments.replace("DIR", &dir))?);
    }
    search.look_at_files(&project)?;
    // What is live is shown and not recorded.
    let expected = cases - forms().len();
    let mut row = Row::of(fault, "none is written or shown", &ended);
    row.check(search.leaks.is_empty(), format!("leaks: {:?}", search.leaks))
        .check(cases >= 200, format!("{cases} cases"))
        .check(written == cases, format!("{written} records"))
        .check(blanked >= expected, format!("{blanked} records have a blank, not {expected}"))
        .note(format!(
            "leaks: {} of {cases} cases ({} places × {} forms), in {} files and streams; blanked in {blanked} records",
            search.leaks.len(),
            PLACES.len(),
            forms().len(),
            search.scanned
        ));
    Ok(row)
}

/// Its words stop the run, and are told.
fn from_servers(fault: &str) -> io::Result<Row> {
    let mut search = Search::new();
    let (mut all, mut unreported): (Option<Ended>, _) = (None, 0);
    for (number, (_, text)) in forms().into_iter().enumerate() {
        let leaky = format!("no {text} here");
        let server = Server::new(move |_, _| refusal("401 Unauthorized", &leaky));
        let project = Project::new();
        project.questions(&[("q1", 1, "What?", "17"), ("q2", 1, "What?", "17")]);
        let headers = format!(", headers: {{ X-Trace: \"${{{NAME}}}\" }}");
        project.spec(&server.openai(&headers), "limits: { concurrency: 1 }\n");
        let arguments = ["run eval.yaml", "run eval.yaml --json"][number % 2];
        let ended = search.run(&project, arguments)?;
        let is_reported = ended.err.contains("[REDACTED]")
            && ended
                .err
                .contains(["stopped early:", "stop_reason"][number % 2]);
        unreported += usize::from(!is_reported);
        search.look_at_files(&project)?;
        match &mut all {
            Some(all) => all.add(ended),
            None => all = Some(ended),
        }
    }
    let ended = all.ok_or_else(|| io::Error::other("nothing was tried"))?;
    let mut row = Row::of(fault, "none is written or shown", &ended);
    row.check(
        search.leaks.is_empty(),
        format!("leaks: {:?}", search.leaks),
    )
    .check(
        unreported == 0,
        format!("{unreported} times it is not told why it stopped"),
    )
    .note(format!(
        "leaks: {} of {} cases, in {} files and streams",
        search.leaks.len(),
        forms().len(),
        search.scanned
    ));
    Ok(row)
}
