//! A page is played in a fresh folder: its files are written, its commands run, what they print is compared.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::compare::first_difference;
use super::page::{Block, Step, steps};
use super::picture::{plain, svg};
use crate::project::{Project, Ran, build_once, root, without_surroundings};
use crate::server::{Server, chat, fine};

/// The address of the endpoint on the pages.
const ADDRESS: &str = "127.0.0.1:8102";

/// A reader at work.
struct Player {
    page: String,
    project: Project,
    folder: PathBuf,
    /// What the last commands printed.
    printed: Option<String>,
    /// The last command, and what it printed, with its colours.
    last: (String, String),
    server: Option<Server>,
    /// Whether a picture shows what is printed.
    has_picture: bool,
}

/// Plays a page; gives the blocks that were left out, as `PAGE:LINE: reason`.
pub(crate) fn play(page: &str) -> Vec<String> {
    let text = fs::read_to_string(root().join(page)).unwrap();
    let steps = steps(&text);
    let project = Project::new();
    let server = text.contains(ADDRESS).then(endpoint);
    let mut player = Player {
        page: page.to_owned(),
        folder: project.path().canonicalize().unwrap(),
        project,
        printed: None,
        last: Default::default(),
        server,
        has_picture: steps.iter().any(|step| matches!(step, Step::Picture(_))),
    };
    let mut excluded = Vec::new();
    for step in steps {
        match step {
            Step::Hidden(script) => {
                player.shell(&script, 0, 0);
            }
            Step::Picture(path) => player.picture(&path),
            Step::Block(block) => {
                if let Some(reason) = &block.excluded {
                    excluded.push(format!("{page}:{}: {reason}", block.line));
                } else {
                    player.block(&block);
                }
            }
        }
    }
    excluded
}

/// An endpoint that knows a few things, as the pages say.
fn endpoint() -> Server {
    Server::new(|requested, _| {
        let question = requested.body["question"]
            .as_str()
            .unwrap_or(requested.prompt());
        let known = [
            ("capital of France", "Paris"),
            ("capital of Japan", "Tokyo"),
            ("capital of Kenya", "Nairobi"),
            ("capital of Peru", "Lima"),
            ("capital of Norway", "Oslo"),
        ];
        let found = known.iter().find(|(about, _)| question.contains(about));
        let answer = found.map_or("I do not know.", |(_, answer)| answer);
        if requested.body["question"].is_null() {
            fine(&chat(&format!("FINAL ANSWER: {answer}")))
        } else {
            fine(&serde_json::json!({ "answer": answer }))
        }
    })
}

impl Player {
    fn here(&self, text: &str) -> String {
        match &self.server {
            Some(server) => {
                let url = server.url("");
                text.replace(
                    ADDRESS,
                    url.trim_start_matches("http://").trim_end_matches('/'),
                )
            }
            None => text.to_owned(),
        }
    }

    fn block(&mut self, block: &Block) {
        let at = format!("{}:{}", self.page, block.line);
        if let Some(name) = &block.file {
            let path = self.folder.join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, self.here(&block.text)).unwrap();
            return;
        }
        match &*block.kind {
            "sh" => self.commands(block),
            "text" => {
                let Some(printed) = &self.printed else {
                    panic!("{at}: no command stands before what it prints");
                };
                if let Some(line) = first_difference(&block.text, printed) {
                    panic!("{at}: `{line}` is not what comes in\n{printed}");
                }
            }
            "yaml" => self.fragment(block),
            "jsonl" | "json" => {
                let values = serde_json::Deserializer::from_str(&block.text);
                for value in values.into_iter::<serde_json::Value>() {
                    value.unwrap_or_else(|error| panic!("{at}: {error}"));
                }
            }
            // A doctest of the library.
            "rust" if self.page == "README.md" => {}
            kind => {
                panic!("{at}: a block of `{kind}` needs the name of its file in the line before")
            }
        }
    }

    /// A line after another; a comment may say which exit code comes.
    fn commands(&mut self, block: &Block) {
        let mut printed = String::new();
        let text = block.text.replace("\\\n", " ");
        for (index, line) in text.lines().enumerate() {
            let (command, comment) = line.split_once(" #").unwrap_or((line, ""));
            if command.trim().is_empty() || command.starts_with('#') {
                continue;
            }
            let code = comment.split_once("exit code ").map_or(0, |(_, code)| {
                let digits = code.chars().take_while(char::is_ascii_digit);
                digits.collect::<String>().parse().unwrap()
            });
            if let Some(folder) = command.trim().strip_prefix("cd ") {
                self.folder = self.folder.join(folder.trim());
                continue;
            }
            let ran = self.shell(command, code, block.line + index + 1);
            printed += &plain(&ran.out);
            // A mistake is told on the other stream, and a reader sees both.
            if code == 2 {
                printed += &ran.err;
            }
            self.last = (command.trim().to_owned(), ran.out);
        }
        self.printed = Some(printed);
    }

    /// Runs a line of shell in the folder, and gives what it printed, with the pages' address.
    fn shell(&self, script: &str, code: i32, line: usize) -> Ran {
        let program = Path::new(env!("CARGO_BIN_EXE_cargo-evaltest"));
        let programs = program.parent().unwrap();
        let path = std::env::var("PATH").unwrap_or_default();
        let mut script = self.here(script);
        if script.contains("RUN_DIR") {
            script = script.replace("RUN_DIR", &self.last_run());
        }
        let mut command = Command::new("sh");
        command
            .args(["-c", &script])
            .current_dir(&self.folder)
            .stdin(Stdio::null());
        without_surroundings(&mut command);
        build_once(&mut command);
        command
            .env("PATH", format!("{}:{path}", programs.display()))
            .env("REPO", root())
            .env("CARGO_TERM_COLOR", "never");
        if self.has_picture {
            command.env("CLICOLOR_FORCE", "1");
        }
        let ran = Ran::of(&command.output().unwrap());
        let at = format!("{}:{line}: {script}", self.page);
        assert_eq!(ran.code, Some(code), "{at}\n{}\n{}", ran.out, ran.err);
        ran
    }

    /// The last run directory, as the program names it.
    fn last_run(&self) -> String {
        let run = self.project.runs().pop();
        let run = run.unwrap_or_else(|| {
            let folder = self.folder.join("evaltest-runs");
            let entries =
                fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", self.page));
            let runs = entries.map(|entry| entry.unwrap().path());
            runs.filter(|run| run.join("manifest.json").is_file())
                .max()
                .unwrap()
        });
        format!("evaltest-runs/{}", run.file_name().unwrap().display())
    }

    /// The picture in the repository is the one of what was printed just now.
    fn picture(&self, path: &str) {
        let (command, printed) = &self.last;
        let svg = svg(command, printed);
        let path = root().join(path);
        if std::env::var_os("EVALTEST_BLESS").is_some_and(|bless| bless == "1") {
            fs::write(&path, &svg).unwrap();
        }
        let there = fs::read_to_string(&path).unwrap_or_default();
        assert!(
            there == svg,
            "{} is not what is printed now; `EVALTEST_BLESS=1` makes it anew:\n{printed}",
            path.display()
        );
    }

    /// Keys of a spec: together with what else a spec needs they are one.
    fn fragment(&self, block: &Block) {
        let at = format!("{}:{}", self.page, block.line);
        let rest = [
            ("name:", "name: fragment\n"),
            (
                "benchmark:",
                "benchmark: { type: custom, samples: [{ id: a, prompt: 'How many?', ground_truth: '2' }] }\n",
            ),
            ("agent:", "agent: { type: echo }\n"),
        ];
        let mut text = self.here(&block.text);
        for (key, line) in rest {
            if !text.lines().any(|line| line.starts_with(key)) {
                text += line;
            }
        }
        let path = self.folder.join("evals/fragment.yaml");
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, &text).unwrap();
        let mut command = self.project.command("run --dry-run evals/fragment.yaml");
        command.envs(["MY_KEY", "MY_API_KEY"].map(|name| (name, "sk-of-nobody")));
        let ran = Ran::of(&command.current_dir(&self.folder).output().unwrap());
        assert_eq!(ran.code, Some(0), "{at}\n{text}\n{}", ran.err);
        fs::remove_file(path).unwrap();
    }
}
