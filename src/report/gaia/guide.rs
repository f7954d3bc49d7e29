//! The guide to submitting an exported file, written next to it.

use super::GaiaExport;
use crate::report::document::{Document, Line};
use crate::store::Manifest;
use crate::text::shell_word;

/// The leaderboard's space on Hugging Face.
const SPACE: &str = "gaia-benchmark/leaderboard";

/// The guide to a file exported from a run, with their paths.
pub fn guide(
    manifest: &Manifest,
    exported: &GaiaExport,
    (file, run_dir): (&str, &str),
) -> Document {
    let mut guide = Document::new(format!("Submitting {file}"));
    let line = Line::default;
    let about = line()
        .plain(format!("{} answers of eval ", exported.lines))
        .code(&manifest.eval)
        .plain(", run ")
        .code(&manifest.run_id);
    guide.paragraph(match &manifest.git_sha {
        Some(sha) => about
            .plain(", commit ")
            .code(sha)
            .plain(match manifest.git_dirty {
                Some(true) => " with changes.",
                _ => ".",
            }),
        None => about.plain("."),
    });
    guide.section("What the leaderboard wants");
    let wants = [
        "One JSON object per line: `task_id`, `model_answer` and, if you like, `reasoning_trace`.",
        "Every question of one split, once. A question that is missing, or whose answer is empty, can only count as wrong.",
        "The bare answer, as the question asks for it: a number without unit or thousands separators, as few words as \
         possible, or a list with commas. No `FINAL ANSWER:` before it.",
    ];
    guide.list(wants.map(|it| line().marked(it)));
    guide.section("Before you upload");
    let (run, name) = (shell_word(run_dir), shell_word(file));
    let check = format!("cargo evaltest export --format gaia {run} --check {name}");
    let mut tasks = vec![line().plain("Check the ids: ").code(check)];
    let mut task = |text: &str| tasks.push(line().marked(text));
    if let Some(level) = &exported.level {
        task(&format!(
            "All answers are of level {level}: are the other levels to come?"
        ));
    }
    if !manifest.whole {
        task("The run asked only a part of its eval: run the whole of it.");
    }
    if exported.empty > 0 {
        task(&format!(
            "{} answers are empty: see `errors.jsonl`, and ask them again with `cargo evaltest run --resume {run}`",
            exported.empty
        ));
    }
    if exported.redacted > 0 {
        task(&format!(
            "{} answers hold a secret that was blanked: write them by hand if it belongs there.",
            exported.redacted
        ));
    }
    task(
        "Read a few traces: they may tell more than you want others to know. `--no-trace` leaves them out.",
    );
    task("Keep questions and answers of the benchmark off public places, as its authors ask.");
    guide.list(tasks);
    guide.section("Where");
    guide.paragraph(line().marked(&format!(
        "The leaderboard is the Hugging Face space `{SPACE}`. Log in there, choose the split that this file answers, upload \
         the file, and fill in what its form asks for. Its own rules hold where they differ from this page."
    )));
    guide
}
