//! Keys of endpoints and of commands: whoever repeats them is named, and nobody is advised to publish them.

use std::fs;

use serde_json::json;

use super::NAME;
use crate::project::{Project, Ran, all_files};
use crate::server::{Answer, Server, chat, fine, refusal};

const KEY: &str = "Ex1raB0dyKey77";
const TWO: [(&str, u32, &str, &str); 2] = [("q1", 1, "What?", "17"), ("q2", 1, "What?", "17")];

fn run_with(project: &Project, value: &str, arguments: &str) -> Ran {
    let mut command = project.command(arguments);
    Ran::of(&command.env(NAME, value).output().unwrap())
}

#[track_caller]
fn check_files(project: &Project) {
    for path in all_files(&project.file("evaltest-runs")) {
        let text = fs::read(&path).unwrap();
        let holds = String::from_utf8_lossy(&text).contains(KEY);
        assert!(!holds, "{}", path.display());
    }
}

#[test]
fn an_endpoint_that_repeats_its_key_is_named_and_the_key_is_not_to_be_published() {
    let notice = "the value of `HARMLESS` was redacted in more than one sample: the endpoint repeats the key in its answers";
    let answers: [fn(usize) -> Answer; 4] = [
        |_| fine(&chat(&format!("17, says {KEY}"))),
        |_| refusal("400 Bad Request", &format!("no {KEY} here")),
        |_| {
            let page = format!("<html><body>no {KEY} here</body></html>");
            Answer::Status("400 Bad Request", String::new(), page)
        },
        // Told to an attempt that is not the last.
        |requested| match requested {
            0 | 1 => refusal("503 Service Unavailable", &format!("no {KEY} here")),
            _ => fine(&chat("17")),
        },
    ];
    for (number, answer) in answers.into_iter().enumerate() {
        let server = Server::new(move |_, requested| answer(requested));
        let project = Project::with_eval(
            &TWO,
            &server.openai(&format!(", api_key_env: {NAME}")),
            "limits: { concurrency: 2, retries: 2 }\n",
        );
        let ran = run_with(&project, KEY, "run eval.yaml");
        ran.says(notice)
            .says_nothing_of("plain_env")
            .says_nothing_of(KEY);
        assert!(number != 0 && number != 3 || project.last_json("summary.json")["errors"] == 0);
        check_files(&project);
    }
    // One that a header has, or a program, is one by its name.
    let agent = "{ type: command, command: [sh, -c, 'echo \"$THEIR_TOKEN\"'], env: [THEIR_TOKEN] }";
    let project = Project::with_eval(&TWO, agent, "");
    let mut command = project.command("run eval.yaml");
    let ran = Ran::of(&command.env("THEIR_TOKEN", KEY).output().unwrap());
    ran.says("`THEIR_TOKEN` was redacted in more than one sample: its name suggests a key")
        .says_nothing_of("plain_env");
}

#[test]
fn a_variable_of_a_key_is_in_no_list_of_plain_ones() {
    let server = Server::new(|_, _| fine(&chat("17")));
    let keyed = server.openai(&format!(", api_key_env: {NAME}"));
    let both = server.openai(&format!(
        ", api_key_env: {NAME}, plain_env: [MODEL, {NAME}]"
    ));
    let program = format!("{{ type: command, command: [cat], plain_env: [{NAME}] }}");
    let judge = |agent: &str| {
        format!("scorers: [exact, {{ type: judge, rubric: good, agent: {agent} }}]\n")
    };
    for (agent, more) in [
        (both.as_str(), String::new()),
        (program.as_str(), judge(&keyed)),
        (keyed.as_str(), judge(&both)),
        (keyed.as_str(), format!("scorers: [{program}]\n")),
    ] {
        let project = Project::with_eval(&TWO, agent, &more);
        let spec = project.read("eval.yaml");
        let at = spec.find("plain_env").unwrap();
        let at = at + spec[at..].find(NAME).unwrap();
        let line = spec[..at].lines().count();
        let column = at - spec[..at].rfind('\n').unwrap();
        run_with(&project, KEY, "run eval.yaml")
            .exits(2)
            .says(&format!("eval.yaml:{line}:{column}: "))
            .says("`HARMLESS` is the variable of an `api_key_env`, so its value is a secret")
            .says("hint: remove `HARMLESS` from `plain_env`");
        assert!(project.runs().is_empty() && server.requested().is_empty());
    }
}

#[test]
fn keys_in_a_command_are_blanked_however_they_stand_there() {
    let body = json!({ "api_key": KEY, "max_tokens": 5 }).to_string();
    for (arguments, expect) in [
        (
            vec!["--data", &body],
            json!(["--data", r#"{"api_key":"[REDACTED]","max_tokens":5}"#]),
        ),
        (
            vec!["-u", &format!("user:{KEY}")],
            json!(["-u", "[REDACTED]"]),
        ),
        (
            vec!["--user", &format!("user:{KEY}")],
            json!(["--user", "[REDACTED]"]),
        ),
        (
            vec![&format!("https://h/x?X-Amz-Signature={KEY}&v=1")],
            json!(["https://h/x?X-Amz-Signature=[REDACTED]&v=1"]),
        ),
        (
            vec!["-H", &format!("Authorization: Bearer {KEY}")],
            json!(["-H", "Authorization: [REDACTED]"]),
        ),
    ] {
        let given: Vec<&str> = arguments;
        let script = format!("echo 17 {KEY} | tr -d '#'").replace("Ex1ra", "Ex1#ra");
        let mut command = json!(["sh", "-c", script, "sh"]);
        command
            .as_array_mut()
            .unwrap()
            .extend(given.iter().map(|text| json!(text)));
        let agent = json!({ "type": "command", "command": command });
        let project = Project::with_eval(&TWO, &agent.to_string(), "");
        project.run("run eval.yaml").says_nothing_of(KEY);
        check_files(&project);
        let manifest = project.last_json("manifest.json");
        let command = manifest["config"]["agent"]["command"].as_array().unwrap();
        assert_eq!(json!(command[4..]), expect);
    }
}

#[test]
fn what_is_no_name_of_a_variable_is_refused() {
    let server = Server::new(|_, _| fine(&chat("17")));
    for name in ["A B", "A=B", "A\\tB", "", "A\\0B"] {
        for agent in [
            format!("{{ type: command, command: [cat], env: [\"{name}\"] }}"),
            format!("{{ type: command, command: [cat], plain_env: [\"{name}\"] }}"),
            server.openai(&format!(", plain_env: [\"{name}\"]")),
        ] {
            Project::with_eval(&TWO, &agent, "")
                .run("run eval.yaml")
                .exits(2)
                .says("eval.yaml:")
                .says("is not the name of a variable");
        }
    }
}

#[test]
fn only_an_absolute_path_is_plain_whatever_lies_where() {
    let agent =
        format!("{{ type: command, command: [sh, -c, 'echo \"$HARMLESS\"'], env: [{NAME}] }}");
    let project = Project::with_eval(&TWO, &agent, "");
    fs::create_dir(project.file("production")).unwrap();
    let there = project.file("production").display().to_string();
    for (value, is_plain) in [
        ("production", false),
        ("./production", false),
        (there.as_str(), true),
    ] {
        run_with(&project, value, "run eval.yaml");
        let prediction = project.last_lines("samples.jsonl")[0]["result"]["prediction"].take();
        assert_eq!(
            prediction == "[REDACTED]",
            !is_plain,
            "{value}: {prediction}"
        );
    }
}
