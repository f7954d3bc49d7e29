//! The main pages as pictures, in `target/screenshots`: wide and narrow, light and dark.
//!
//! Each page fits its screen, has a label at each value of a narrow table, and texts that stand out from what is behind.

use std::fs;
use std::path::Path;

use needs::needs;
use serde_json::json;

use crate::browser::Browser;
use crate::html::{CONTRAST, TOO_WIDE};
use crate::project::{Project, root, target};
use crate::puzzles;
use crate::reviewing::{ReviewWindow, items};
use crate::view::View;

/// Sums in three topics, and an agent that tells its costs; while `worse` exists, it gets five of them wrong.
fn project() -> Project {
    let project = Project::new();
    let lines = (1..=24_usize).map(|number| {
        let topic = ["money", "time", "length"][number % 3];
        let question = format!("Anna has {number} and gets as many again. How many has she now?");
        let answer = (2 * number).to_string();
        json!({"id": format!("sum-{number:02}"), "question": question, "answer": answer, "topic": topic})
            .to_string()
    });
    project.write("data.jsonl", lines.collect::<Vec<_>>().join("\n"));
    project.script(
        "agent.sh",
        "#!/bin/sh\nwhile read -r _; do :; done\nn=${EVALTEST_SAMPLE_ID#sum-}\nn=$((${n#0} * 2))\nhow=\"I add both numbers\"\n\
         if test -f \"${0%/*}/worse\"; then case $n in 8|14|22|36|40) n=$((n + 1)); how=\"I add, and then one more\";; esac; fi\n\
         if test -f \"${0%/*}/other\"; then case $n in 14|16) n=7;; *) how=\"I double it\";; esac; fi\n\
         echo \"{\\\"answer\\\": \\\"$how, so it is $n.\\\", \\\"usage\\\": {\\\"input_tokens\\\": 60, \\\"output_tokens\\\": 20, \\\"cost_usd\\\": 0.0013}}\"\n",
    );
    let agent = "{ type: command, command: [../agent.sh], output: json }";
    let head = "benchmark: { type: qa, path: ../data.jsonl, slices: [topic] }\nscorers: [includes]\nsnapshot: { answers: plain }\n";
    project.write(
        "evals/sums.yaml",
        format!("name: sums\n{head}agent: {agent}\ngates: [accuracy >= 0.75, error_rate <= 0.05, no_regression]\n"),
    );
    project.write(
        "evals/models.yaml",
        format!("name: models\n{head}agents: {{ large: {agent}, medium: {{ type: echo, text: \"24\" }}, small: {{ type: echo, text: none }} }}\n"),
    );
    project.run("run sums --run-id first --history").exits(0);
    project.run("accept first").exits(0);
    project.write("other", "");
    project.run("run sums --run-id second --history");
    fs::remove_file(project.file("other")).unwrap();
    project.write("worse", "");
    project.run("run sums --run-id third --history").exits(1);
    project
}

/// Cells of narrow tables with a value and without a label, though their column has a head.
const UNLABELLED: &str = r"[...document.querySelectorAll('table:is(.words, .chart, .samples)')].flatMap((table) => {
  const heads = [...table.querySelectorAll('thead tr > *')].map((it) => it.textContent.trim());
  return [...table.querySelectorAll('tbody td:not(.scale)')].filter((it) => it.getClientRects().length && it.textContent.trim() && heads[it.cellIndex] && getComputedStyle(it, '::before').content === 'none').map((it) => it.outerHTML.slice(0, 80));
}).join('; ')";

/// Short captions of tables that are set as towers of words.
const TOWERS: &str = "[...document.querySelectorAll('caption')].filter((it) => it.getClientRects().length && it.textContent.length < 30 && it.offsetHeight > 80).map((it) => it.outerHTML.slice(0, 80)).join('; ')";

/// Takes pictures of the page that a tab shows.
fn shoot(tab: &mut Browser, name: &str) {
    let folder = target().join("screenshots");
    fs::create_dir_all(&folder).unwrap();
    for (width, height) in [(1280, 800), (360, 800)] {
        tab.screen(width, height);
        for scheme in ["light", "dark"] {
            tab.medium("screen", scheme);
            let at = format!("{name} {width} {scheme}");
            let wide = tab.eval("document.documentElement.scrollWidth");
            assert!(wide.as_u64() <= Some(width.into()), "{at}: {wide}");
            assert_eq!(tab.eval(TOO_WIDE), "", "{at}");
            assert_eq!(tab.eval(TOWERS), "", "{at}");
            if width == 360 {
                assert_eq!(tab.eval(UNLABELLED), "", "{at}");
            }
            let least = tab.eval(CONTRAST);
            let ratio = least[0].as_f64().unwrap();
            assert!((4.5..99.0).contains(&ratio), "{at}: {least}");
            let path = folder.join(format!("{name}-{width}-{scheme}.png"));
            let _ = fs::remove_file(&path);
            tab.screenshot(&path);
            let picture = fs::read(&path).unwrap();
            assert!(
                picture.starts_with(b"\x89PNG") && picture.len() > 5_000,
                "{at}"
            );
        }
    }
    let none: &[String] = &[];
    assert_eq!(tab.complaints(), none, "{name}");
}

fn file(path: &Path) -> Browser {
    Browser::open(&format!("file://{}", path.display()), 1280)
}

#[needs(browser)]
#[test]
fn reports_fit_their_screens() {
    let project = project();
    project.run("run models");
    for (name, command) in [
        ("run", "report third -o"),
        ("product", "report third --audience product -o"),
        (
            "matrix",
            "report models@large models@medium models@small -o",
        ),
        ("comparison", "compare first third --html"),
        ("trend", "trend sums --html"),
    ] {
        let page = format!("{name}.html");
        project.run(&format!("{command} {page}")).exits(0);
        let mut tab = file(&project.file(&page));
        if name == "run" {
            // Verdict, change and what became wrong are on the first screen.
            tab.screen(1280, 800);
            let bottom = "document.querySelector('details table tbody tr:nth-child(3)').getBoundingClientRect().bottom";
            let bottom = tab.eval(bottom).as_f64().unwrap();
            assert!(bottom < 800.0, "{bottom}");
        }
        shoot(&mut tab, name);
        if name == "run" {
            tab.eval("location.hash = '#sample/0/0/sum-04'");
            tab.until("document.querySelector('#sample h1')");
            shoot(&mut tab, "sample");
        }
    }
}

#[needs(browser)]
#[test]
fn served_pages_fit_their_screens() {
    let project = project();
    let view = View::open(&project, "");
    let mut tab = Browser::open(&view.url, 1280);
    tab.until("document.querySelector('h1')?.textContent === 'Evals'");
    shoot(&mut tab, "index");
    tab.eval("location.hash = 'eval/sums'");
    tab.until("document.querySelector('#by-text')");
    // The whole table is on a wide screen.
    tab.screen(1280, 800);
    let beyond = "(() => { const it = document.querySelector('[data-filter] .wide'); return it.scrollWidth - it.clientWidth; })()";
    assert_eq!(tab.eval(beyond), 0);
    shoot(&mut tab, "runs");
    let project = items(3);
    let window = ReviewWindow::open(&project, "items.json --reviewer Anna");
    let mut tab = Browser::open(&window.url, 1280);
    tab.until("document.querySelector('#texts math')");
    shoot(&mut tab, "review");
}

#[needs(browser)]
#[test]
fn the_page_of_a_flow_fits_its_screens() {
    let project = Project::new();
    // A path wider than the narrow screen: each page wraps it.
    let folder = project.file(&format!("a/{}", "l".repeat(80)));
    fs::create_dir_all(&folder).unwrap();
    for file in fs::read_dir(root().join("fixtures/flow")).unwrap() {
        let file = file.unwrap();
        fs::copy(file.path(), folder.join(file.file_name())).unwrap();
    }
    let spec = folder.join("aime.yaml");
    let output = project.file("evaltest-runs");
    let [spec, output] = [spec, output].map(|path| path.display().to_string());
    project
        .run_of(&["flow", &spec, "--output-root", &output])
        .exits(0);
    let page = puzzles::folder(&project).join("comprehensive_report.html");
    shoot(&mut file(&page), "flow");
}
