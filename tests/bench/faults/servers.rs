//! Endpoints that misbehave.

use std::collections::BTreeSet;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde_json::{Value, json};

use crate::journal::counts;
use crate::project::Project;
use crate::requested;
use crate::server::{Answer, Server, fine, refusal};
use crate::table::{Row, Table};
use crate::watched;

const SAMPLES: usize = 24;
/// How long a sample may take.
const TIMEOUT_S: u32 = 2;

/// How often a sample meets the fault.
#[derive(Clone, Copy, PartialEq)]
enum When {
    /// At its first request.
    First,
    Always,
    /// Those with an odd number, always.
    Half,
}

/// The agent that asks a server.
pub(crate) fn agent(server: &Server) -> String {
    let url = server.url("/answer");
    format!("{{ type: http, url: \"{url}\", body: {{ id: \"{{id}}\" }}, answer: /answer }}")
}

/// The answer to a sample: the number in its id.
pub(crate) fn good(id: &str) -> Value {
    json!({"answer": id.strip_prefix('q')})
}

type Fault = (&'static str, When, &'static str, fn(&str) -> Answer);

const FAULTS: [Fault; 11] = [
    (
        "server answers 429 first",
        When::First,
        "all answered",
        |_| {
            let later = "Retry-After: 1\r\n".to_owned();
            Answer::Status("429 Too Many Requests", later, String::new())
        },
    ),
    (
        "server answers 500 first",
        When::First,
        "all answered",
        |_| refusal("500 Internal Server Error", "oh no"),
    ),
    (
        "server answers garbage first",
        When::First,
        "all answered",
        |_| Answer::Status("200 OK", String::new(), "<html>\0\u{feff}no".to_owned()),
    ),
    (
        "server answers half a body first",
        When::First,
        "all answered",
        half,
    ),
    (
        "server closes without a word first",
        When::First,
        "all answered",
        |_| Answer::Raw(Vec::new()),
    ),
    (
        "server closes idle connections",
        When::Always,
        "all answered",
        |id| Answer::ThenClose(good(id)),
    ),
    (
        "server answers 500 always",
        When::Always,
        "all errors, none wrong, exit 3",
        |_| refusal("500 Internal Server Error", "oh no"),
    ),
    (
        "server answers garbage always",
        When::Always,
        "stops, none asked is lost, exit 3",
        |_| Answer::Raw(vec![0xff; 4096]),
    ),
    (
        "server floods half of them, 1 GiB each",
        When::Half,
        "half answered, half too long",
        |_| Answer::Flood(1 << 30),
    ),
    (
        "server never answers half of them",
        When::Half,
        "half in time, half timed out",
        |_| Answer::Never(Duration::from_mins(1)),
    ),
    (
        "server answers half of them byte by byte",
        When::Half,
        "half in time, half timed out",
        |id| Answer::Slowly(good(id), Duration::from_millis(200)),
    ),
];

fn half(id: &str) -> Answer {
    let body = good(id).to_string();
    let (length, start) = (body.len(), &body[..body.len() / 2]);
    let reply = format!("HTTP/1.1 200 OK\r\nContent-Length: {length}\r\n\r\n{start}");
    Answer::Raw(reply.into_bytes())
}

pub(crate) fn all(table: &mut Table) -> io::Result<()> {
    for (fault, when, expected, answer) in FAULTS {
        table.row(fault, || {
            let seen: Arc<Mutex<BTreeSet<String>>> = Arc::default();
            let server = Server::new(move |requested, _| {
                let id = requested.body["id"].as_str().unwrap_or_default();
                let mut seen = seen.lock().unwrap_or_else(PoisonError::into_inner);
                let is_first = seen.insert(id.to_owned());
                drop(seen);
                let is_met = match when {
                    When::First => is_first,
                    When::Always => true,
                    When::Half => id.ends_with(['1', '3', '5', '7', '9']),
                };
                if is_met { answer(id) } else { fine(&good(id)) }
            });
            let (scored, code) = match when {
                When::Half => (SAMPLES / 2, 0),
                When::Always if expected.contains("exit 3") => (0, 3),
                When::First | When::Always => (SAMPLES, 0),
            };
            run(fault, expected, &server, scored, code)
        })?;
    }
    let fault = "server answers 429 always, for an hour";
    table.row(fault, || sent_away(fault))?;
    let fault = "server resets connections first";
    table.row(fault, || {
        let server = Server::resetting(SAMPLES / 2, |requested, _| {
            fine(&good(requested.body["id"].as_str().unwrap_or_default()))
        });
        run(fault, "all answered", &server, SAMPLES, 0)
    })
}

/// Who is sent away for long does not ask for all the other samples.
fn sent_away(fault: &str) -> io::Result<Row> {
    let server = Server::new(|_, _| {
        let later = "Retry-After: 3600\r\n".to_owned();
        Answer::Status("429 Too Many Requests", later, String::new())
    });
    let project = Project::new();
    requested::write_questions(&project, 24);
    project.spec(&agent(&server), "limits: { concurrency: 4 }\n");
    let ended = watched::run(&project, "run eval.yaml")?;
    let counts = counts(&project.last_run());
    let requested = server.requested().len();
    let mut row = Row::of(fault, "stopped, exit 3, no more asked than at once", &ended);
    row.exits(3)
        .within(10.0)
        .counts(&counts, 0, requested)
        .check(
            (1..=8).contains(&requested) && counts.skipped == SAMPLES - requested,
            format!("{requested} samples were asked, {} not", counts.skipped),
        )
        .note(format!("{requested} of {SAMPLES} samples were asked"));
    Ok(row)
}

fn run(
    fault: &str,
    expected: &'static str,
    server: &Server,
    scored: usize,
    code: i32,
) -> io::Result<Row> {
    let project = Project::new();
    requested::write_questions(&project, 24);
    project.spec(
        &agent(server),
        &format!(
            "limits: {{ concurrency: 8, retries: 3, backoff_s: 0.01, timeout_s: {TIMEOUT_S} }}\ngates: [error_rate <= 0.5]\n"
        ),
    );
    let ended = watched::run(&project, "run eval.yaml")?;
    let counts = counts(&project.last_run());
    // An outage that hits everyone is nobody's error.
    let errors = if expected.starts_with("stops") {
        0
    } else {
        SAMPLES - scored
    };
    let mut row = Row::of(fault, expected, &ended);
    row.exits(code)
        .within(40.0)
        .counts(&counts, scored, errors)
        .lost(counts.lost);
    Ok(row)
}
