//! The commands that write, each in a project that is ready for it.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::Duration;

use serde_json::{Value, json};

use super::{Contents, IN_FLIGHT, Writer};
use crate::court;
use crate::parts::timeless;
use crate::project::{Project, json_lines};
use crate::puzzles;
use crate::requested;
use crate::server::{Server, chat, fine};
use crate::watched;

/// Makes a writer.
type Make = fn() -> io::Result<Writer>;

pub(super) const KINDS: [(&str, Make); 8] = [
    ("conversations", conversations),
    ("rescore", rescore),
    ("rescore by a judge", judge),
    ("merge", merge),
    ("accept", accept),
    ("generate", generate),
    ("a line of history", history),
    ("a flow", flow),
];

const SAMPLES: u32 = 60;

fn run(project: &Project, arguments: &str) -> io::Result<()> {
    let ended = watched::run(project, arguments)?;
    if ended.code == Some(0) {
        Ok(())
    } else {
        Err(io::Error::other(format!("{arguments}: {}", ended.err)))
    }
}

/// A project with a run of id `first`.
fn with_run() -> io::Result<Project> {
    let limits = format!("limits: {{ concurrency: {IN_FLIGHT} }}\n");
    let project = requested::project(SAMPLES, "", &limits);
    run(&project, "run eval.yaml --run-id first")?;
    Ok(project)
}

/// The folders in a folder, by name.
fn folders(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut folders: Vec<_> = entries.map(|entry| entry.path()).collect();
    folders.retain(|path| path.is_dir());
    folders.sort();
    folders
}

fn manifest(dir: &Path) -> Value {
    let text = fs::read(dir.join("manifest.json")).unwrap_or_default();
    serde_json::from_slice(&text).unwrap_or_default()
}

/// The runs that ended, without those of `begin`.
fn new_runs(folder: &Path, begin: &[&str]) -> Contents {
    let mut contents = Contents::new();
    for dir in folders(&folder.join("evaltest-runs")) {
        let id = manifest(&dir)["run_id"]
            .as_str()
            .unwrap_or_default()
            .to_owned();
        let is_old = begin.iter().any(|old| id.starts_with(old));
        if !is_old && manifest(&dir)["status"] == "finished" {
            for name in ["samples.jsonl", "summary.json"] {
                contents.insert(name.to_owned(), timeless(&dir.join(name)));
            }
        }
    }
    contents
}

/// The files of the runs that were there before.
fn old_runs(folder: &Path, begin: &str) -> Contents {
    let dirs = folders(&folder.join("evaltest-runs")).into_iter();
    let dirs = dirs.filter(|dir| {
        manifest(dir)["run_id"]
            .as_str()
            .is_some_and(|id| id.starts_with(begin))
    });
    let files = dirs.flat_map(|dir| {
        let files = crate::project::all_files(&dir);
        files.into_iter().map(move |path| {
            let text = fs::read(&path).unwrap_or_default();
            let name = format!("old {}", path.file_name().unwrap_or_default().display());
            (name, String::from_utf8_lossy(&text).into_owned())
        })
    });
    files.collect()
}

const NEWEST: &str = "DIR=$(ls -d evaltest-runs/2* | grep -v '_first$' | tail -n 1); test -n \"$DIR\" || exit 2\n\
    exec \"$EVALTEST\" evaltest gate \"$DIR\"";

fn rescored(folder: &Path) -> Contents {
    let mut contents = new_runs(folder, &["first"]);
    contents.extend(old_runs(folder, "first"));
    contents
}

fn rescore() -> io::Result<Writer> {
    let command = "exec \"$EVALTEST\" evaltest rescore evaltest-runs/*first* --scorer exact";
    Ok(Writer {
        believes: NEWEST,
        ..Writer::of(with_run()?, command, rescored)?
    })
}

/// The same without what says whether a reply was there before.
fn judged(folder: &Path) -> Contents {
    let mut contents = new_runs(folder, &["first"]);
    contents.remove("summary.json");
    for text in contents.values_mut() {
        *text = text.replace(",\"stored\":true", "");
    }
    contents
}

fn judge() -> io::Result<Writer> {
    let server = Server::new(|requested, _| {
        sleep(Duration::from_millis(5));
        fine(&court::points(1 + court::number(requested) % 5))
    });
    let project = with_run()?;
    let scorers = court::judge(&server, "");
    let spec = project.read("eval.yaml");
    project.write("judged.yaml", format!("{spec}scorers: [gaia, {scorers}]\n"));
    let command = "exec \"$EVALTEST\" evaltest rescore evaltest-runs/*first* --spec judged.yaml";
    Ok(Writer {
        paid: Some(server),
        believes: NEWEST,
        ..Writer::of(project, command, judged)?
    })
}

fn merged(folder: &Path) -> Contents {
    let mut contents = Contents::new();
    for name in ["samples.jsonl", "summary.json"] {
        let path = folder.join("merged").join(name);
        if path.is_file() {
            contents.insert(name.to_owned(), timeless(&path));
        }
    }
    contents.extend(old_runs(folder, "part"));
    contents
}

fn merge() -> io::Result<Writer> {
    let project = requested::project(SAMPLES, "", "");
    for shard in 1..=4 {
        run(
            &project,
            &format!("run eval.yaml --shard {shard}/4 --run-id part"),
        )?;
    }
    let command = "exec \"$EVALTEST\" evaltest merge evaltest-runs -o merged";
    Ok(Writer {
        goes_on: "test -f merged/manifest.json || exec \"$EVALTEST\" evaltest merge evaltest-runs -o merged",
        believes: "exec \"$EVALTEST\" evaltest gate merged",
        ..Writer::of(project, command, merged)?
    })
}

/// The snapshots, and the lines of the history without their time.
fn accepted(folder: &Path) -> Contents {
    let snapshots = folder.join("snapshots");
    let files = if snapshots.is_dir() {
        crate::project::all_files(&snapshots)
    } else {
        Vec::new()
    };
    let mut contents = Contents::new();
    for path in files {
        let text = fs::read(&path).unwrap_or_default();
        let mut text = String::from_utf8_lossy(&text).into_owned();
        if path.ends_with("history.jsonl") {
            // One that is killed in its last moment adds a line before its time.
            text = json_lines(&path).len().min(2).to_string();
        }
        let name = path.strip_prefix(folder).unwrap_or(&path);
        contents.insert(name.display().to_string(), text);
    }
    contents
}

/// What was said, and the verdict on it.
fn spoken(folder: &Path) -> Contents {
    let mut contents = Contents::new();
    for dir in folders(&folder.join("evaltest-runs")) {
        if manifest(&dir)["status"] == "finished" {
            for record in json_lines(&dir.join("samples.jsonl")) {
                let (id, result) = (record["sample_id"].to_string(), &record["result"]);
                let (messages, score) = (&result["output"]["messages"], &result["score"]);
                contents.insert(id, format!("{messages} {score} {}", result["usage"]));
            }
        }
    }
    contents
}

/// Conversations of three turns, with a call of a tool in each.
fn conversations() -> io::Result<Writer> {
    let server = Server::new(|requested, _| {
        sleep(Duration::from_millis(5));
        let mut reply = chat(requested.prompt());
        let messages = requested.body["messages"].as_array();
        let last = messages.and_then(|messages| messages.last());
        if last.is_some_and(|last| last["role"] == "user") {
            let function = json!({"name": "find", "arguments": json!({"what": requested.prompt()}).to_string()});
            reply["choices"][0]["message"]["tool_calls"] =
                json!([{"id": "c1", "type": "function", "function": function}]);
        }
        fine(&reply)
    });
    let project = Project::new();
    let turn = |word: &str, sample: u32| json!({"user": format!("{word} {sample}"), "ground_truth": "found"});
    let line = |sample: u32| {
        let turns: Vec<_> = ["one", "two", "three"]
            .map(|word| turn(word, sample))
            .into();
        format!("{}\n", json!({"id": sample.to_string(), "turns": turns}))
    };
    project.write("c.jsonl", (0..12).map(line).collect::<String>());
    project.write(
        "tools.yaml",
        "- { name: find, returns: [{ result: found }] }\n",
    );
    project.write(
        "c.yaml",
        format!(
            "benchmark: {{ type: conversations, path: c.jsonl }}\nagent: {}\ntools: {{ mock: tools.yaml }}\n\
             limits: {{ concurrency: {IN_FLIGHT} }}\n",
            server.openai("")
        ),
    );
    let command = "exec \"$EVALTEST\" evaltest run c.yaml";
    Ok(Writer {
        goes_on: "RUN=$(ls -d evaltest-runs/2*/manifest.json 2> /dev/null | head -n 1); RUN=${RUN%/manifest.json}\n\
            exec \"$EVALTEST\" evaltest run c.yaml ${RUN:+--resume \"$RUN\"}",
        paid: Some(server),
        ..Writer::of(project, command, spoken)?
    })
}

fn accept() -> io::Result<Writer> {
    let project = with_run()?;
    run(&project, "accept")?;
    requested::agent(
        &project,
        "case $EVALTEST_SAMPLE_ID in *[37]) echo no; exit;; esac",
    );
    sleep(Duration::from_millis(5));
    run(&project, "run eval.yaml --run-id second --ignore-baseline")?;
    let command = "exec \"$EVALTEST\" evaltest accept evaltest-runs/*second*";
    Writer::of(project, command, accepted)
}

/// A spec of items with a word and a number.
fn words(server: &Server) -> String {
    format!(
        "name: words\nbenchmark:\n  type: generate\n  name: word\n  count: 16\n  topics: [north, south]\n  fields:\n    \
         - {{ name: word, type: text }}\n    - {{ name: answer, type: integer, range: [0, 99] }}\n  \
         template: \"Item {{{{number}}}}.\"\nagent: {}\nlimits: {{ concurrency: {IN_FLIGHT} }}\n",
        server.openai("")
    )
}

fn generated(folder: &Path) -> Contents {
    let mut contents = Contents::new();
    let files = fs::read_dir(folder.join("out"))
        .into_iter()
        .flatten()
        .flatten();
    for path in files.map(|entry| entry.path()) {
        let name = path
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        if name.contains("_generated_") {
            let text = fs::read(&path).unwrap_or_default();
            let mut items: Value = serde_json::from_slice(&text).unwrap_or_default();
            for item in items.as_array_mut().into_iter().flatten() {
                item["generated_at"].take();
            }
            contents.insert("items".to_owned(), items.to_string());
        } else if name.starts_with("generation_report_") {
            contents.insert("report".to_owned(), String::new());
        }
    }
    contents
}

fn generate() -> io::Result<Writer> {
    let server = Server::new(|requested, _| {
        sleep(Duration::from_millis(15));
        let digits = requested.prompt().bytes().filter(u8::is_ascii_digit);
        let number = digits.fold(0_u64, |number, digit| number * 10 + u64::from(digit - b'0'));
        let letter = char::from(b'a' + u8::try_from(number % 26).unwrap_or(0));
        let words: Vec<_> = ('a'..='l')
            .map(|other| format!("{letter}{other}"))
            .collect();
        let item = json!({ "word": words.join(" "), "answer": number });
        fine(&chat(&item.to_string()))
    });
    let project = Project::new();
    project.write("words.yaml", words(&server));
    let command = "exec \"$EVALTEST\" evaltest generate words.yaml --output out";
    Ok(Writer {
        goes_on: "RUN=$(ls -d out/2*/manifest.json 2> /dev/null | head -n 1); RUN=${RUN%/manifest.json}\n\
            if test -n \"$RUN\"; then exec \"$EVALTEST\" evaltest generate --resume \"$RUN\"; fi\n\
            exec \"$EVALTEST\" evaltest generate words.yaml --output out",
        paid: Some(server),
        ..Writer::of(project, command, generated)?
    })
}

/// What a flow wrote for people.
fn flowed(folder: &Path) -> Contents {
    let flows = folders(&folder.join("evaltest-runs")).into_iter();
    let mut flows = flows.filter(|path| path.join("flow.json").is_file());
    let flow = flows.next();
    flow.map_or_else(Contents::new, |flow| puzzles::contents(&flow))
}

fn flow() -> io::Result<Writer> {
    let server = Server::new(|requested, _| {
        sleep(Duration::from_millis(10));
        puzzles::answer(requested)
    });
    let project = puzzles::project_of(&server, puzzles::EASY);
    let command = "exec \"$EVALTEST\" evaltest flow flow.yaml";
    Ok(Writer {
        // The folders of two stages that begin in the same second have the same name.
        goes_on: "sleep 1; RUN=$(ls -d evaltest-runs/*/flow.json 2> /dev/null | head -n 1); RUN=${RUN%/flow.json}\n\
            if test -n \"$RUN\"; then exec \"$EVALTEST\" evaltest flow --resume \"$RUN\"; fi\n\
            exec \"$EVALTEST\" evaltest flow flow.yaml",
        paid: Some(server),
        ..Writer::of(project, command, flowed)?
    })
}

/// Whether each line of the history is whole, and each run that ended has one.
fn lines(folder: &Path) -> Contents {
    let mut contents = BTreeMap::new();
    let path = folder.join("snapshots/e/history.jsonl");
    let text = fs::read_to_string(&path).unwrap_or_default();
    let is_whole = |line: &str| serde_json::from_str::<Value>(line).is_ok();
    let torn = text.lines().filter(|line| !is_whole(line)).count();
    contents.insert("torn".to_owned(), torn.to_string());
    let ends = text.is_empty() || text.ends_with('\n');
    contents.insert("ends".to_owned(), ends.to_string());
    let has = text
        .lines()
        .any(|line| line.contains("\"id\":\"first\"") || line.contains("first"));
    contents.insert("first".to_owned(), has.to_string());
    contents
}

fn history() -> io::Result<Writer> {
    let limits = format!("limits: {{ concurrency: {IN_FLIGHT} }}\n");
    let project = requested::project(12, "", &limits);
    run(&project, "run eval.yaml --run-id first --history")?;
    let command = "exec \"$EVALTEST\" evaltest run eval.yaml --history";
    Writer::of(project, command, lines)
}
