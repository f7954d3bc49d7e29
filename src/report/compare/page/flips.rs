//! Who changed sides: what was asked, and both answers beside each other.

use std::io::{self, Write};

use super::name_ids;
use crate::report::compare::texts::{FlipAnswer, FlipTexts, ShownFlips};
use crate::report::compare::{ComparedRun, FlippedIds};
use crate::report::render::html::escape::{cut, lines, text};

/// Writes them, those that became wrong first.
pub(super) fn write(
    runs: [&ComparedRun; 2],
    flipped: &FlippedIds,
    flips: ShownFlips<'_>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let texts = flips.texts();
    for (title, ids, worse) in [
        ("Became wrong", &flipped.worse, true),
        ("Became correct", &flipped.better, false),
    ] {
        if ids.is_empty() {
            continue;
        }
        writeln!(out, "<h2>{title}: {}</h2>", ids.count())?;
        if flips.are_masked() {
            writeln!(
                out,
                "<p class=\"warn\">The eval masks its snapshots, so questions and answers are not shown. \
                 <code>cargo evaltest compare --show-texts</code> shows them.</p>"
            )?;
        }
        let mut shown = 0;
        for flip in texts.iter().filter(|flip| flip.worse == worse) {
            one(runs, flip, out)?;
            shown += 1;
        }
        if shown < ids.count() {
            writeln!(out, "<details><summary>All by name</summary>")?;
            name_ids(ids, out)?;
            writeln!(out, "</details>")?;
        }
    }
    Ok(())
}

fn one([a, b]: [&ComparedRun; 2], flip: &FlipTexts, out: &mut dyn Write) -> io::Result<()> {
    writeln!(
        out,
        "<details open><summary><code>{}</code> <span class=\"soft\">{}</span></summary>\n\
         <h3>Question</h3>\n<pre>{}</pre>",
        text(&flip.id),
        cut(&flip.prompt, 100),
        lines(&flip.prompt)
    )?;
    if let Some(truth) = &flip.ground_truth {
        writeln!(out, "<h3>Expected</h3>\n<pre>{}</pre>", lines(truth))?;
    }
    writeln!(out, "<div class=\"sides\">")?;
    for (run, answer) in [(a, &flip.a), (b, &flip.b)] {
        side(run, answer, out)?;
    }
    writeln!(out, "</div></details>")
}

fn side(run: &ComparedRun, answer: &FlipAnswer, out: &mut dyn Write) -> io::Result<()> {
    let (class, word) = if answer.correct {
        ("good", "correct")
    } else {
        ("bad", "wrong")
    };
    write!(
        out,
        "<div><h3>{} <span class=\"{class}\">{word}</span>",
        run.letter
    )?;
    if let Some(reason) = answer.reason.as_ref().filter(|_| !answer.correct) {
        write!(out, " <span class=\"soft\">{}</span>", text(reason))?;
    }
    if run.epochs > 1 {
        write!(out, " <span class=\"soft\">epoch {}</span>", answer.epoch)?;
    }
    writeln!(out, "</h3>")?;
    if let Some(prompt) = &answer.prompt {
        writeln!(
            out,
            "<p class=\"soft\">asked as</p>\n<pre>{}</pre>",
            lines(prompt)
        )?;
    }
    match &answer.answer {
        Some(answer) => writeln!(out, "<pre>{}</pre></div>", lines(answer)),
        None => writeln!(out, "<p class=\"soft\">(nothing)</p></div>"),
    }
}
