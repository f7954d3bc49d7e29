//! `view`: runs in a browser on this machine, for whoever has the address.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Stdio};

use needs::needs;
use serde_json::{Value, json};

use crate::browser::Browser;
use crate::project::{Project, Ran};
use crate::requested;
use crate::signals::send;
use crate::wait::until;

/// A server that is ended when dropped.
pub(crate) struct View {
    program: Child,
    pub(crate) url: String,
}

impl View {
    pub(crate) fn open(project: &Project, arguments: &str) -> Self {
        let mut program = project
            .command(&format!("view {arguments}"))
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut url = String::new();
        BufReader::new(program.stdout.take().unwrap())
            .read_line(&mut url)
            .unwrap();
        let url = url.trim().to_owned();
        Self { program, url }
    }

    /// `127.0.0.1:PORT`.
    fn host(&self) -> &str {
        let rest = self.url.strip_prefix("http://").unwrap_or_default();
        rest.split('/').next().unwrap()
    }

    fn token(&self) -> &str {
        self.url.split("#token=").nth(1).unwrap()
    }

    /// What comes back for these lines of a head.
    fn ask(&self, head: &[&str]) -> String {
        let mut stream = TcpStream::connect(self.host()).unwrap();
        let head = head.join("\r\n") + "\r\n\r\n";
        stream.write_all(head.as_bytes()).unwrap();
        let mut reply = String::new();
        stream.read_to_string(&mut reply).unwrap();
        reply
    }

    /// What the page's own script is answered.
    fn get(&self, path: &str) -> String {
        let (host, token) = (self.host(), self.token());
        self.ask(&[
            &format!("GET {path} HTTP/1.1"),
            &format!("Host: {host}"),
            &format!("evaltest-token: {token}"),
            "Sec-Fetch-Site: same-origin",
        ])
    }

    fn ends(mut self) -> Ran {
        send("INT", &self.program);
        let status = self.program.wait().unwrap();
        let mut err = String::new();
        let mut stderr = self.program.stderr.take().unwrap();
        stderr.read_to_string(&mut err).unwrap();
        Ran {
            code: status.code(),
            out: String::new(),
            err,
        }
    }
}

impl Drop for View {
    fn drop(&mut self) {
        let _ = self.program.kill();
        let _ = self.program.wait();
    }
}

#[test]
fn only_who_has_the_address_is_answered() {
    let project = requested::project(3, "", "");
    project.run("run eval.yaml --run-id one");
    let view = View::open(&project, "one");
    let host = format!("Host: {}", view.host());
    let token = format!("evaltest-token: {}", view.token());
    assert_eq!(view.token().len(), 32, "{}", view.url);
    let page = view.ask(&["GET / HTTP/1.1", &host]);
    assert!(page.starts_with("HTTP/1.1 200 "), "{page}");
    for expect in [
        "Content-Security-Policy: default-src 'none'; style-src 'sha256-",
        "connect-src 'self'; frame-ancestors 'none'",
        "Cache-Control: no-store",
    ] {
        assert!(page.contains(expect), "`{expect}` is not in\n{page}");
    }
    assert!(
        !page.contains("q00") && !page.contains(view.token()),
        "{page}"
    );
    let runs = view.get("/runs");
    assert!(
        runs.starts_with("HTTP/1.1 200 ") && runs.contains("q001"),
        "{runs}"
    );
    let wrong = format!("{token}0");
    for (head, expect) in [
        (vec!["GET /runs HTTP/1.1", &host], "403"),
        (vec!["GET /runs HTTP/1.1", &host, &wrong], "403"),
        (
            vec![
                "GET /runs HTTP/1.1",
                &host,
                &token,
                "Origin: http://evil.example",
            ],
            "403",
        ),
        (
            vec!["GET /runs HTTP/1.1", "Host: evil.example", &token],
            "421",
        ),
        (vec!["POST /runs HTTP/1.1", &host, &token], "403"),
        (vec!["GET /etc/passwd HTTP/1.1", &host, &token], "404"),
        (vec!["GET /../../etc/passwd HTTP/1.1", &host, &token], "404"),
        (vec!["nonsense"], "400"),
    ] {
        let reply = view.ask(&head);
        assert!(
            reply.starts_with(&format!("HTTP/1.1 {expect} ")),
            "{head:?}: {reply}"
        );
        assert!(!reply.contains("q00"), "{head:?}: {reply}");
    }
    // Another address of the same machine is not listened on.
    let port = view.host().split(':').nth(1).unwrap();
    assert!(TcpStream::connect(format!("127.0.0.2:{port}")).is_err());
    view.ends().exits(0).says("Ctrl-C");
}

#[test]
fn of_a_masked_benchmark_no_text_is_served_unless_asked() {
    let project = requested::project(3, "", "");
    let spec = project
        .read("eval.yaml")
        .replace("answers: plain", "answers: masked");
    project.write("eval.yaml", spec);
    project.run("run eval.yaml --run-id one");
    let hidden = View::open(&project, "one").get("/runs");
    assert!(
        hidden.contains("q001") && !hidden.contains("What is 1?"),
        "{hidden}"
    );
    let output = View::open(&project, "one --show-texts").get("/runs");
    assert!(output.contains("What is 1?"), "{output}");
}

#[test]
fn what_cannot_be_shown_is_said_before_anybody_listens() {
    let project = requested::project(3, "", "");
    project.run("view").exits(2).says("no run found");
    project.run("run eval.yaml --run-id one");
    let records = project.last_run().join("samples.jsonl");
    let text = std::fs::read_to_string(&records).unwrap();
    std::fs::write(records, text.replacen("true", "false", 1)).unwrap();
    project.run("view one").exits(2).says("repair");
}

#[test]
fn without_a_run_all_evals_are_listed() {
    let project = requested::project(4, "", "");
    project.run("run eval.yaml --run-id one");
    project.run("accept one").exits(0);
    requested::agent(
        &project,
        "test $EVALTEST_SAMPLE_ID = q002 && echo wrong && exit",
    );
    project.run("run eval.yaml --run-id two");
    let view = View::open(&project, "");
    let has = |path: &str, expected: &[&str]| {
        let page = view.get(path);
        assert!(page.starts_with("HTTP/1.1 200 "), "{path}: {page}");
        for expect in expected {
            assert!(
                page.contains(expect),
                "{path}: `{expect}` is not in\n{page}"
            );
        }
    };
    let evals = [
        "<h1>Evals</h1>",
        "<a href=\"#eval/e\">e</a>",
        "<a href=\"#run/two\">",
        "data-label=\"accuracy\">25.0 % (",
        "−25.0 points (",
        "data-label=\"history\">█▁</td>",
        "data-label=\"runs\">2</td>",
    ];
    has("/runs", &evals);
    has("/runs/index", &evals);
    has(
        "/runs/eval/e",
        &[
            "<h1>e</h1>",
            "<div data-filter=\"agent verdict commit\">",
            "<a href=\"#run/one\">one</a>",
            "<a href=\"#compare/one/two\">baseline</a>, <a href=\"#compare/one/two\">previous run</a>",
        ],
    );
    has(
        "/runs/run/two",
        &[
            "<a href=\"#index\">All evals</a> · <a href=\"#eval/e\">Runs of e</a>",
            "<li><a href=\"#compare/one/two\">one</a> (the baseline), ",
            "Became wrong: 1",
            "What is 2?",
        ],
    );
    has(
        "/runs/compare/one/two",
        &["<h2>Became wrong: 1</h2>", "What is 2?"],
    );
    has("/state/compare/one/two", &["\"running\":false"]);
    // Manifests that did not change are not read again; what changed is.
    let changed = project.runs().remove(1).join("summary.json");
    let before = view.get("/state/index");
    let unchanged = std::fs::read(&changed).unwrap();
    let mut summary: Value = serde_json::from_slice(&unchanged).unwrap();
    summary["accuracy"] = 0.75.into();
    summary["accuracy_bounds"] = json!([0.75, 0.75]);
    std::fs::write(&changed, summary.to_string()).unwrap();
    assert_ne!(view.get("/state/index"), before);
    has("/runs/index", &["data-label=\"accuracy\">75.0 % ("]);
    std::fs::write(&changed, unchanged).unwrap();
    for nothing in [
        "/runs/run/three",
        "/runs/run/..%2Fsnapshots",
        "/runs/eval/x",
        "/runs/compare/one",
        "/state/run/x",
    ] {
        let reply = view.get(nothing);
        assert!(reply.starts_with("HTTP/1.1 404 "), "{nothing}: {reply}");
    }
    // A named run comes first, and the way to the others is there.
    let view = View::open(&project, "two");
    let page = view.get("/runs");
    assert!(
        page.contains("What is 2?") && page.contains("<a href=\"#index\">All evals</a>"),
        "{page}"
    );
}

#[needs(browser)]
#[test]
fn from_the_index_one_comes_to_runs_samples_and_comparisons() {
    let project = requested::project(4, "", "");
    project.run("run eval.yaml --run-id one");
    project.run("accept one").exits(0);
    requested::agent(
        &project,
        "test $EVALTEST_SAMPLE_ID = q002 && echo wrong && exit",
    );
    project.run("run eval.yaml --run-id two");
    let view = View::open(&project, "");
    let mut tab = Browser::open(&view.url, 1000);
    tab.until("document.querySelector('h1')?.textContent === 'Evals'");
    tab.click("th a", "e");
    tab.until("document.querySelector('h1')?.textContent === 'e'");
    tab.click("th a", "two");
    tab.until("document.querySelector('.by-script tbody tr')");
    tab.click(".by-script tbody a", "q002");
    tab.until("document.querySelector('#sample h1')?.textContent === 'q002'");
    // The address of a sample stays that of its run.
    tab.reload();
    tab.until("document.querySelector('#sample h1')?.textContent === 'q002'");
    tab.eval("history.go(-1)");
    tab.until(
        "!document.querySelector('#sample') && document.querySelector('.by-script tbody tr')",
    );
    tab.eval("document.querySelector('details').open = true");
    tab.click("li a", "one");
    tab.until("document.querySelector('h2')?.textContent === 'Difference'");
    tab.click("a", "All evals");
    tab.until("document.querySelector('h1')?.textContent === 'Evals'");
    let none: &[String] = &[];
    assert_eq!(tab.complaints(), none);
}

/// The runs that the table shows.
const RUNS: &str = "[...document.querySelectorAll('[data-filter] tbody tr')].filter((it) => it.getClientRects().length).map((it) => it.querySelector('th').textContent.trim()).join(' ')";

#[needs(browser)]
#[test]
fn runs_of_an_eval_are_filtered_and_any_two_are_compared() {
    let project = requested::project(4, "", "gates: [accuracy >= 0.4]\n");
    project.run("run eval.yaml --run-id one");
    project.run("run eval.yaml --run-id two");
    requested::agent(&project, "echo wrong; exit");
    project.run("run eval.yaml --run-id three");
    let view = View::open(&project, "");
    let mut tab = Browser::open(&view.url, 1000);
    tab.until("document.querySelector('h1')?.textContent === 'Evals'");
    tab.eval("location.hash = 'eval/e'");
    tab.until("document.querySelector('#by-text')");
    assert_eq!(tab.eval(RUNS), "three two one");
    // All are of one agent and without a commit.
    let fields = "[...document.querySelectorAll('[data-filter] .field label')].map((it) => it.textContent.trim()).join(' ')";
    assert_eq!(tab.eval(fields), "Search verdict");
    tab.fill("#by-verdict", "passed");
    assert_eq!(tab.eval(RUNS), "two one");
    assert_eq!(
        tab.text("[data-filter] [role=status]"),
        "2 of 3 runs. Tick two to compare them."
    );
    tab.fill("#by-verdict", "");
    tab.fill("#by-text", "THREE");
    assert_eq!(tab.eval(RUNS), "three");
    tab.fill("#by-text", "");
    let disabled = "document.querySelector('#compare').disabled";
    assert_eq!(tab.eval(disabled), true);
    tab.eval("document.querySelector('#compare-three').click()");
    tab.eval("document.querySelector('#compare-one').click()");
    assert_eq!(tab.eval(disabled), false);
    // What was chosen is still there after the page was read again.
    tab.eval("location.hash = 'index'");
    tab.until("document.querySelector('h1')?.textContent === 'Evals'");
    tab.eval("location.hash = 'eval/e'");
    tab.until("document.querySelector('#compare-one')?.checked");
    tab.click("button", "Compare two runs");
    tab.until("document.querySelector('h1')?.textContent.startsWith('e: ')");
    // The older one is A.
    assert_eq!(tab.eval("location.hash"), "#compare/one/three");
    let none: &[String] = &[];
    assert_eq!(tab.complaints(), none);
}

#[needs(browser)]
#[test]
fn a_run_is_watched_while_it_goes_on() {
    // The last question waits.
    let wait = "while test \"$EVALTEST_SAMPLE_ID\" = q005 && ! test -e \"${0%/*}/go\"; do sleep 0.05; done";
    let project = requested::project(6, wait, "");
    let mut run = project
        .command("run eval.yaml --run-id live")
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    until("all but one are asked", || {
        requested::requested(&project).len() == 6
    });
    let view = View::open(&project, "");
    let mut tab = Browser::open(&view.url, 1000);
    tab.until("document.querySelector('.by-script tbody tr')");
    tab.until("document.querySelector('.box strong').textContent === 'Running'");
    // The token is in no address that the browser keeps.
    assert_eq!(tab.eval("location.href.includes('token')"), false);
    tab.fill("#search-0", "What is 5");
    tab.eval("document.querySelector('#search-0').focus()");
    project.write("go", "");
    run.wait().unwrap();
    tab.until("document.querySelector('.box strong').textContent !== 'Running'");
    tab.until("[...document.querySelectorAll('.by-script tbody th')].map((it) => it.textContent).join() === 'q005'");
    assert_eq!(tab.eval("document.activeElement.id"), "search-0");
    assert_eq!(tab.text(".told"), "");
    let none: &[String] = &[];
    assert_eq!(tab.complaints(), none);
    // What was opened again in the same tab is still let in; another tab is not.
    tab.eval("location.reload()");
    tab.until("document.querySelector('.by-script tbody tr')");
    let bare = format!("http://{}/", view.host());
    let mut other = Browser::open(&bare, 1000);
    other
        .until("document.querySelector('.told').textContent.includes('the whole printed address')");
    view.ends().exits(0);
}
