//! The README and the book: what they show is what the program does.
//!
//! Every page is played in a folder of its own, as `book/page.rs` tells; a block that cannot be played says why, and all of
//! those are counted here.

use std::collections::BTreeSet;
use std::fs;

use needs::needs;

use crate::project::root;

mod compare;
mod links;
pub(crate) mod page;
mod picture;
mod play;
mod tables;

/// The most words of prose in the README; everything else is in the book.
const README_WORDS: usize = 750;

/// The blocks that nobody plays here.
const LEFT_OUT: [(&str, usize); 11] = [
    ("README.md", 1),
    ("docs/src/concepts/pipeline.md", 1),
    ("docs/src/guides/flow.md", 3),
    ("docs/src/guides/from-production.md", 1),
    ("docs/src/guides/reviewing.md", 3),
    ("docs/src/guides/sandbox.md", 2),
    ("docs/src/guides/shards.md", 5),
    ("docs/src/index.md", 2),
    ("docs/src/start/bfcl.md", 4),
    ("docs/src/start/gaia.md", 1),
    ("docs/src/start/rust.md", 1),
];

fn played(name: &str) {
    let page = PAGES.iter().find(|(test, _)| *test == name).unwrap().1;
    let excluded = play::play(page);
    let known = LEFT_OUT.iter().find(|(there, _)| *there == page);
    assert_eq!(
        excluded.len(),
        known.map_or(0, |(_, count)| *count),
        "{excluded:#?}"
    );
}

/// A test for each page; the first group needs Python.
macro_rules! pages {
    (python { $($in_python:ident => $python_page:literal,)* } plain { $($test:ident => $page:literal,)* }) => {
        const PAGES: &[(&str, &str)] = &[
            $((stringify!($in_python), $python_page),)*
            $((stringify!($test), $page)),*
        ];
        const PLAIN: &[&str] = &[$($page),*];
        $(#[needs(python3)]
        #[test]
        fn $in_python() {
            played(stringify!($in_python));
        })*
        $(#[test]
        fn $test() {
            played(stringify!($test));
        })*
    };
}

pages! {
    python {
    readme => "README.md",
    start_python => "docs/src/start/python.md",
    start_gaia => "docs/src/start/gaia.md",
    concepts_errors => "docs/src/concepts/errors.md",
    guides_agents => "docs/src/guides/agents.md",
    guides_spec => "docs/src/guides/spec.md",
    guides_sandbox => "docs/src/guides/sandbox.md",
    guides_conversations => "docs/src/guides/conversations.md",
    guides_recorded_calls => "docs/src/guides/recorded-calls.md",
    }
    plain {
    index => "docs/src/index.md",
    start_endpoint => "docs/src/start/endpoint.md",
    start_rust => "docs/src/start/rust.md",
    start_bfcl => "docs/src/start/bfcl.md",
    concepts_pipeline => "docs/src/concepts/pipeline.md",
    concepts_baseline => "docs/src/concepts/baseline.md",
    concepts_green => "docs/src/concepts/green.md",
    concepts_how_many => "docs/src/concepts/how-many.md",
    guides_coding_agents => "docs/src/guides/coding-agents.md",
    guides_red_run => "docs/src/guides/red-run.md",
    guides_comparing => "docs/src/guides/comparing.md",
    guides_reports => "docs/src/guides/reports.md",
    guides_browser => "docs/src/guides/browser.md",
    guides_ci => "docs/src/guides/ci.md",
    guides_exchanging => "docs/src/guides/exchanging.md",
    guides_from_other_tools => "docs/src/guides/from-other-tools.md",
    guides_other_benchmarks => "docs/src/guides/other-benchmarks.md",
    guides_questions => "docs/src/guides/questions.md",
    guides_from_production => "docs/src/guides/from-production.md",
    guides_scorers => "docs/src/guides/scorers.md",
    guides_generating => "docs/src/guides/generating.md",
    guides_judges => "docs/src/guides/judges.md",
    guides_reviewing => "docs/src/guides/reviewing.md",
    guides_flow => "docs/src/guides/flow.md",
    guides_cost => "docs/src/guides/cost.md",
    guides_cache => "docs/src/guides/cache.md",
    guides_flaky => "docs/src/guides/flaky.md",
        guides_perturbed => "docs/src/guides/perturbed.md",
    guides_history => "docs/src/guides/history.md",
    guides_tiers => "docs/src/guides/tiers.md",
    guides_shards => "docs/src/guides/shards.md",
    guides_own_code => "docs/src/guides/own-code.md",
    file_formats => "docs/src/file-formats.md",
    comparison => "docs/src/comparison.md",
    limits => "docs/src/limits.md",
    }
}

#[test]
fn a_page_that_needs_python_says_so() {
    for page in PLAIN {
        let text = fs::read_to_string(root().join(page)).unwrap();
        assert!(!text.contains("python3"), "{page}");
    }
}

/// What the reference says is made from the program, and held against it by a test of its own.
#[test]
fn every_page_is_played() {
    let pages = page::all(&root()).into_iter();
    let pages: BTreeSet<_> = pages
        .filter(|page| !page.starts_with("docs/src/reference/") && !page.ends_with("SUMMARY.md"))
        .collect();
    let played: BTreeSet<_> = PAGES.iter().map(|(_, page)| (*page).to_owned()).collect();
    assert_eq!(pages, played);
}

#[test]
fn the_readme_is_short() {
    let readme = fs::read_to_string(root().join("README.md")).unwrap();
    let mut is_code = false;
    let mut words = 0;
    for line in readme.lines() {
        if line.starts_with("```") {
            is_code = !is_code;
        } else if !is_code {
            assert!(line.chars().count() <= 120, "{line}");
            words += line.split_whitespace().count();
        }
    }
    assert!(words <= README_WORDS, "{words} words");
}
