//! The guide to the exported files, written next to them.

use std::fmt::Write as _;

use super::{BfclExport, ExportOptions, WrittenCategory};
use crate::figure::counted;
use crate::store::Manifest;
use crate::text::{clean, shell_word};

/// Its name.
pub(crate) const NAME: &str = "submission.md";

/// Maximum number of ids listed; the rest is counted.
const NAMED: usize = 20;

/// The guide to the files of a run; `run_dir` is the name of its directory.
pub(super) fn guide(
    manifest: &Manifest,
    exported: &BfclExport,
    options: &ExportOptions,
    run_dir: &str,
) -> String {
    let mut out = String::new();
    // Writing to a `String` cannot fail.
    let _ = write(manifest, exported, options, run_dir, &mut out);
    out
}

fn write(
    manifest: &Manifest,
    exported: &BfclExport,
    options: &ExportOptions,
    run_dir: &str,
    out: &mut String,
) -> std::fmt::Result {
    let model = &options.model;
    let name = clean(&model.name);
    writeln!(out, "# Function calls of `{name}`\n")?;
    let results: usize = exported.categories.iter().map(|one| one.results).sum();
    write!(
        out,
        "{results} answers of eval `{}`, run `{}`",
        clean(&manifest.eval),
        clean(&manifest.run_id)
    )?;
    if let Some(sha) = &manifest.git_sha {
        let dirty = manifest.git_dirty == Some(true);
        let dirty = if dirty { " with changes" } else { "" };
        write!(out, ", commit `{}`{dirty}", clean(sha))?;
    }
    writeln!(out, ".\n\n| category | answers | correct |\n|---|---|---|")?;
    for one in &exported.categories {
        let correct = match one.correct {
            Some(correct) => correct.to_string(),
            None => format!("no verdict on {}", one.unjudged),
        };
        writeln!(out, "| {} | {} | {correct} |", one.category, one.results)?;
    }
    writeln!(
        out,
        "\n`result/{folder}/` has the answers, `score/{folder}/` the accuracies and what was wrong, `score/data_*.csv` \
         the tables, all as the official program writes them. Categories that are missing count as 0 in the tables' \
         overall figures.",
        folder = model.folder()
    )?;
    before(exported, options, manifest, out)?;
    writeln!(out, "\n## Letting the official program judge\n")?;
    writeln!(
        out,
        "In one go, with the verdicts compared sample by sample: `cargo evaltest bfcl official {} --model-name {}`\n",
        shell_word(run_dir),
        shell_word(&model.name)
    )?;
    writeln!(
        out,
        "By hand, in a separate environment, in this folder:\n\n\
         ```sh\n\
         pip install bfcl-eval==2026.3.23 soundfile\n\
         BFCL_PROJECT_ROOT=\"$PWD\" bfcl evaluate --model {} --test-category {} --score-dir score-official --partial-eval\n\
         ```\n",
        shell_word(&model.name),
        exported
            .categories
            .iter()
            .filter(|one| one.is_official)
            .map(|one| one.category.as_str())
            .collect::<Vec<_>>()
            .join(",")
    )?;
    writeln!(
        out,
        "It knows only models of its registry (`bfcl models`), and none whose name has a `_`. The name decides how \
         answers are read: as native calls or as text, and whether `a_b` is right for a function `a.b`. If it asks \
         for an API key, such as `OPENAI_API_KEY`, any text will do: no model is asked."
    )?;
    writeln!(out, "\n## Where\n")?;
    writeln!(
        out,
        "The leaderboard's authors run models themselves. Submitting one means a pull request to the repository \
         `ShishirPatil/gorilla`, folder `berkeley-function-call-leaderboard`, that adds it to the registry with a \
         handler; its `CONTRIBUTING.md` tells how. The files of this folder show that your figures can be had again. \
         Its own rules hold where they differ from this page."
    )
}

/// What to check before publishing.
fn before(
    exported: &BfclExport,
    options: &ExportOptions,
    manifest: &Manifest,
    out: &mut String,
) -> std::fmt::Result {
    writeln!(out, "\n## Before you publish\n")?;
    if !manifest.whole {
        writeln!(
            out,
            "- [ ] The run asked only a part of its eval: run the whole of it."
        )?;
    }
    for note in notes(exported, options).iter().chain(&unjudged(exported)) {
        writeln!(out, "- [ ] {note}")?;
    }
    writeln!(
        out,
        "- [ ] Without `--partial-eval` the official program wants every entry of a category."
    )
}

/// Notes on an export, one sentence each.
pub(super) fn notes(exported: &BfclExport, options: &ExportOptions) -> Vec<String> {
    let mut notes = Vec::new();
    if !exported.excluded.is_empty() {
        let ids = exported.excluded.iter();
        let ids = ids.map(|(id, status)| format!("`{}` ({})", clean(id), status.as_str()));
        notes.push(format!(
            "{} skipped (no answer): {}",
            counted(exported.excluded.len() as u64, "sample"),
            named(ids, exported.excluded.len())
        ));
    }
    let mut of = |ids: &[String], what: &str| {
        if !ids.is_empty() {
            let named = named(ids.iter().map(|id| format!("`{}`", clean(id))), ids.len());
            notes.push(format!("{} {what}: {named}", ids.len()));
        }
    };
    of(
        &exported.redacted,
        "answers contain a secret that was redacted",
    );
    of(
        &exported.disputed,
        "answers are judged differently here than in the run, which had another scorer, extraction or option",
    );
    of(
        &exported.crashes,
        "answers crash the official program with an exception",
    );
    of(
        &exported.odd_ids,
        "ids are not of the form `category_number`, which the official program needs",
    );
    if let Some(id) = &exported.lone_latency {
        notes.push(format!(
            "only `{}` has a latency, so it is left out: the official tables need two or none",
            clean(id)
        ));
    }
    for one in &exported.categories {
        let name = &one.category;
        if !one.is_official {
            notes.push(format!("the official program has no category `{name}`"));
        }
    }
    if options.model.name.contains('_') {
        notes.push(
            "the model's name has a `_`, with which the official program does not find it"
                .to_owned(),
        );
    }
    notes
}

/// Notes on categories without a score file.
pub(super) fn unjudged(exported: &BfclExport) -> Vec<String> {
    let unjudged = exported.categories.iter().filter(|one| one.unjudged > 0);
    let note = |one: &WrittenCategory| {
        // Answers imported without the data have verdicts, but lack the entries needed for the score file.
        format!(
            "`{}` has no score file: {} of its answers cannot be judged from the run; `cargo evaltest bfcl official` \
             judges them, and an `import` with `--data` judges those of single-turn categories",
            one.category, one.unjudged
        )
    };
    unjudged.map(note).collect()
}

fn named(ids: impl Iterator<Item = String>, count: usize) -> String {
    let mut text = ids.take(NAMED).collect::<Vec<_>>().join(", ");
    if count > NAMED {
        let _ = write!(text, " and {} more", count - NAMED);
    }
    text
}
