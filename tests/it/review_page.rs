//! The page of `review` in a browser, by keys alone.

use std::time::{Duration, Instant};

use needs::needs;
use serde_json::{Value, json};

use crate::browser::Browser;
use crate::project::Project;
use crate::reviewing::{ReviewWindow, items};

/// Waits until the page shows the item of this number.
#[track_caller]
pub(crate) fn shows(tab: &mut Browser, number: u32) {
    let begins = format!("Item {number} of ");
    tab.until(&format!(
        "document.getElementById('name').textContent.startsWith({begins:?})"
    ));
}

/// What the page tells.
#[track_caller]
pub(crate) fn tells(tab: &mut Browser, element: &str, text: &str) {
    tab.until(&format!(
        "document.getElementById({element:?}).textContent.includes({text:?})"
    ));
}

#[track_caller]
pub(crate) fn complains_of_nothing(tab: &mut Browser) {
    let none: &[String] = &[];
    assert_eq!(tab.complaints(), none);
}

/// The names of what is checked.
pub(crate) const CHECKED: &str = "[...document.querySelectorAll('input[type=radio]:checked')].map((it) => `${it.name}=${it.value}`).join(' ')";

fn verifications(project: &Project) -> Value {
    serde_json::from_str(&project.read("items_verifications.json")).unwrap()
}

#[needs(browser)]
#[test]
fn three_items_are_reviewed_by_keys_alone() {
    let project = items(3);
    let window = ReviewWindow::open(&project, "items.json --reviewer Anna");
    let mut tab = Browser::open(&window.url, 1200);
    shows(&mut tab, 1);
    assert_eq!(tab.text("#count"), "0 of 3 reviewed");
    // Formulas are typeset; their source is a key away.
    assert_eq!(
        tab.eval("document.querySelector('#texts math').textContent"),
        "1+1"
    );
    tab.key("s");
    tab.until("!document.querySelector('#texts math') && document.querySelector('.text').textContent === 'What is $1+1$?'");
    tab.key("s");
    tab.until("document.querySelector('#texts math')");

    // Nothing is preset, and nothing is sent before all of it is there.
    assert_eq!(tab.eval(CHECKED), "");
    tab.key("Enter");
    tells(
        &mut tab,
        "missing",
        "Missing: correctness, clarity, difficulty match, completeness, status.",
    );
    tab.keys("5");
    tab.eval("document.activeElement.blur()");
    tab.keys("34");
    assert_eq!(tab.eval(CHECKED), "score-0=5 score-1=3 score-2=4");
    tab.key("Enter");
    tells(&mut tab, "missing", "Missing: completeness, status.");
    assert_eq!(tab.eval("document.activeElement.name"), "score-3");
    assert!(!project.file("items_verifications.json").exists());
    // A key with a modifier is the browser's; one too many is taken back.
    tab.keys("1r");
    tab.key("u");
    tells(&mut tab, "told", "Undone: status.");
    tab.keys("a");
    // In the comment, keys are letters.
    tab.key("c");
    tab.until("document.activeElement.id === 'comment'");
    tab.keys("jar 5");
    tab.key("Escape");
    assert_eq!(
        tab.eval(CHECKED),
        "score-0=5 score-1=3 score-2=4 score-3=1 status=approved"
    );
    tab.key("Enter");
    shows(&mut tab, 2);
    tells(
        &mut tab,
        "told",
        "Saved to items_verifications.json: 1 of 3.",
    );
    assert_eq!(tab.eval("document.activeElement.id"), "name");
    let saved = verifications(&project);
    let entry = &saved["gen_aime_1"];
    let scores = json!({"correctness": 5, "clarity": 3, "difficulty_match": 4, "completeness": 1});
    assert_eq!(entry["scores"], scores);
    assert_eq!(
        (&entry["status"], &entry["comments"]),
        (&json!("approved"), &json!("jar 5"))
    );
    assert_eq!(tab.eval(CHECKED), "");

    // Read anew amid it, the page goes on where one was.
    tab.keys("22");
    tab.key("c");
    tab.keys("half");
    tab.reload();
    shows(&mut tab, 2);
    assert_eq!(tab.text("#count"), "1 of 3 reviewed");
    assert_eq!(tab.eval(CHECKED), "score-0=2 score-1=2");
    assert_eq!(tab.eval("document.getElementById('comment').value"), "half");
    tab.keys("22r");
    tab.key("Enter");
    shows(&mut tab, 3);
    // Back and forth.
    tab.key("k");
    shows(&mut tab, 2);
    tells(&mut tab, "after", "You submitted: rejected");
    tab.key("j");
    shows(&mut tab, 3);
    tab.keys("5555e");
    tab.key("Enter");
    tells(&mut tab, "told", "All items are reviewed.");
    assert_eq!(tab.text("#count"), "3 of 3 reviewed");
    // The last word is taken back, and there to be said anew.
    tab.key("u");
    tells(&mut tab, "told", "2 of 3 reviewed");
    assert!(verifications(&project)["gen_aime_3"].is_null());
    assert_eq!(tab.eval(CHECKED).as_str().unwrap().split(' ').count(), 5);
    complains_of_nothing(&mut tab);
}

#[needs(browser)]
#[test]
fn of_two_windows_the_later_one_is_told_and_nothing_typed_is_lost() {
    let project = items(2);
    let window = ReviewWindow::open(&project, "items.json --reviewer anna");
    let mut one = Browser::open(&window.url, 1000);
    let mut other = Browser::open(&window.url, 1000);
    shows(&mut one, 1);
    shows(&mut other, 1);
    one.keys("1111r");
    one.key("Enter");
    shows(&mut one, 2);
    other.keys("5555a");
    other.key("c");
    other.keys("mine");
    other.key("Escape");
    other.key("Enter");
    tells(
        &mut other,
        "alarm",
        "Not saved: there is another review of this item.",
    );
    let both = other.text("#both");
    for expect in ["other", "yours", "rejected", "approved", "mine"] {
        assert!(both.contains(expect), "`{expect}` is not in {both}");
    }
    assert_eq!(other.eval("document.activeElement.id"), "conflict");
    assert_eq!(verifications(&project)["gen_aime_1"]["status"], "rejected");
    other.key("Enter");
    shows(&mut other, 2);
    let entry = &verifications(&project)["gen_aime_1"];
    assert_eq!(
        (&entry["status"], &entry["comments"]),
        (&json!("approved"), &json!("mine"))
    );
    let journal = project.read("items_reviews/anna.jsonl");
    assert!(
        journal.contains("rejected") && journal.contains("approved"),
        "{journal}"
    );

    // Nobody listens any more: what was given is still there, and is submitted once somebody does.
    other.keys("3333e");
    let port = window.host().split(':').nth(1).unwrap().to_owned();
    window.killed();
    other.key("Enter");
    tells(
        &mut other,
        "alarm",
        "Not saved: the server does not answer.",
    );
    assert_eq!(other.eval(CHECKED).as_str().unwrap().split(' ').count(), 5);
    shows(&mut other, 2);
    let again = format!("items.json --reviewer anna --port {port}");
    let window = ReviewWindow::open(&project, &again);
    other.eval("window.isOld = true");
    other.eval(&format!("location.href = {:?}", window.url));
    other.until("!window.isOld");
    shows(&mut other, 2);
    other.key("Enter");
    tells(&mut other, "count", "2 of 2 reviewed");
    let entry = &verifications(&project)["gen_aime_2"];
    assert_eq!(entry["status"], "needs_revision");
}

#[needs(browser)]
#[test]
fn what_a_judge_said_is_shown_after_ones_own_word() {
    let project = crate::review_runs::judged(3);
    let window = ReviewWindow::open(&project, "one --reviewer anna --seed 7");
    let mut tab = Browser::open(&window.url, 1000);
    shows(&mut tab, 1);
    let before = tab.text("body");
    assert!(
        before.contains("What is ") && before.contains("merit"),
        "{before}"
    );
    for not in ["judge", "verdict"] {
        assert!(!before.contains(not), "`{not}` is in {before}");
    }
    tab.keys("2a");
    tab.key("Enter");
    shows(&mut tab, 2);
    tells(&mut tab, "told", "The judge gave ");
    assert_eq!(tab.text("#after"), "");
    tab.key("k");
    shows(&mut tab, 1);
    let after = tab.text("#after");
    assert!(
        after.contains("judge") && after.contains("merit"),
        "{after}"
    );
    assert!(tab.text("#texts").contains("verdict"), "{after}");
    // What was not changed is not said twice.
    tab.key("Enter");
    shows(&mut tab, 2);
    tells(&mut tab, "told", "No changes to submit");
    complains_of_nothing(&mut tab);
}

/// What somebody's model may have written.
const HOSTILE: &str = "<script>document.title='owned'</script><img src=x onerror=\"document.title='owned'\"><a href=\"javascript:document.title='owned'\">x</a>";

#[needs(browser)]
#[test]
fn whatever_an_item_holds_it_is_shown_and_does_nothing() {
    let project = Project::new();
    let long = "a $x$ b ".repeat(1 << 17);
    let hostile = json!([
        {"id": HOSTILE, "problem": HOSTILE, "answer": "\u{202e}evil\u{2066}", "solution": long, "topic": HOSTILE},
        {"id": "two", "problem": r"$\operatorname{<script>}$ $\href{javascript:alert(1)}{x}$ $\text{<b onclick=alert(1)>}$", "answer": "{".repeat(1 << 16), "solution": "$".repeat(1 << 20), "topic": "x"},
    ]);
    project.write("items.json", hostile.to_string());
    let window = ReviewWindow::open(&project, "items.json --reviewer Anna");
    let mut tab = Browser::open(&window.url, 1000);
    shows(&mut tab, 1);
    let text = tab.eval("[...document.querySelectorAll('.text')].map((it) => it.textContent.slice(0, 400)).join('\\n')");
    let text = text.as_str().unwrap();
    for expect in [HOSTILE, "\\u{202e}evil\\u{2066}", "a $x$ b"] {
        assert!(text.contains(expect), "`{expect}` is not in {text}");
    }
    // Some of it at first, and then all.
    let length = "[...document.querySelectorAll('.text')].map((it) => it.textContent.length)[2]";
    assert!(tab.eval(length).as_u64().unwrap() < 30_000);
    tab.click("#texts button", "Show all of it: 1024 KiB");
    tab.until(&format!("{length} > 700000"));
    assert_eq!(
        tab.eval("document.querySelectorAll('.text math').length"),
        2000
    );
    tab.key("j");
    shows(&mut tab, 2);
    assert_eq!(
        tab.eval(
            "[...document.querySelectorAll('.text mtext')].map((it) => it.textContent).join()"
        ),
        "<b onclick=alert(1)>"
    );
    let made = "document.querySelectorAll('#content :is(script, img, a, b, iframe, style, svg), #content [onclick], #content [style], #content [href]').length";
    assert_eq!(tab.eval(made), 0);
    assert!(
        tab.eval("document.title")
            .as_str()
            .unwrap()
            .starts_with("Item 2")
    );
    complains_of_nothing(&mut tab);

    // Somebody else's name for this machine is not answered, nor what another site sends.
    let token = format!("evaltest-token: {}", window.token());
    let (status, body) = window.ask(
        &["GET /item?index=0 HTTP/1.1", "Host: evil.example", &token],
        "",
    );
    assert!(
        status == 421 && !body.contains("script"),
        "{status}: {body}"
    );
    let host = format!("Host: {}", window.host());
    let origin = "Origin: http://evil.example";
    let (status, body) = window.ask(&["GET /state HTTP/1.1", &host, origin, &token], "");
    assert!(
        status == 403 && !body.contains("script"),
        "{status}: {body}"
    );
    let mut bare = Browser::open(&format!("http://{}/", window.host()), 1000);
    tells(&mut bare, "alarm", "Open the whole printed address");
}

#[needs(browser)]
#[test]
fn a_page_of_many_items_is_there_at_once() {
    let project = items(10_000);
    let window = ReviewWindow::open(&project, "items.json --reviewer Anna");
    let mut tab = Browser::open(&window.url, 1000);
    shows(&mut tab, 1);
    let began = Instant::now();
    tab.key("j");
    shows(&mut tab, 2);
    assert!(began.elapsed() < Duration::from_secs(10));
    tab.eval("document.getElementById('number').focus()");
    tab.eval("document.getElementById('number').select()");
    tab.keys("9999");
    tab.key("Enter");
    shows(&mut tab, 9999);
    tab.eval("document.getElementById('all').open = true");
    tells(&mut tab, "all", "10000 of 10000 items");
    assert_eq!(tab.eval("document.querySelectorAll('#all li').length"), 200);
    complains_of_nothing(&mut tab);
}

#[needs(browser)]
#[test]
fn an_item_that_was_changed_is_submitted_again() {
    let project = items(2);
    let window = ReviewWindow::open(&project, "items.json --reviewer anna");
    window.says("gen_aime_1", 4, "approved");
    window.says("gen_aime_2", 4, "approved");
    drop(window);
    let changed = project.read("items.json").replace("$1+1$", "$1+1+1$");
    project.write("items.json", changed);
    let window = ReviewWindow::open(&project, "items.json --reviewer anna");
    let mut tab = Browser::open(&window.url, 1000);
    shows(&mut tab, 1);
    tells(&mut tab, "after", "The item changed since then");
    tab.key("Enter");
    tells(
        &mut tab,
        "told",
        "Saved to items_verifications.json: 2 of 2.",
    );
    tab.until("!document.getElementById('after').textContent.includes('changed')");
    complains_of_nothing(&mut tab);
}
