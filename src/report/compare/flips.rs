//! The samples in which two runs differ, with both answers, word by word on pages.

use super::ids::IdList;
use super::texts::{FlipAnswer, FlipTexts, PairTexts};
use super::words::differing;
use super::{ComparedRun, RunPair};
use crate::report::document::{Block, Fold, Line, Tone};
use crate::report::render::terminal::truncate;
use crate::report::reported::common;
use crate::report::section::Detail;
use crate::report::section::samples::worded;
use crate::text::excerpt;

/// The samples that flipped, and those whose answers differ otherwise.
pub(super) fn flips(
    runs: [&ComparedRun; 2],
    pair: &RunPair,
    texts: Option<&PairTexts>,
    detail: Detail,
) -> Vec<Block> {
    let mut blocks = Vec::new();
    let subject = common(runs.iter().map(|run| run.subject));
    let [worse, better] = subject.word([
        ["Became wrong", "Became correct"],
        ["Pass no longer", "Pass now"],
        ["No longer won", "Won now"],
    ]);
    for (title, ids, worse) in [
        (worse, &pair.flips.worse, true),
        (better, &pair.flips.better, false),
    ] {
        if ids.is_empty() {
            continue;
        }
        blocks.push(Block::section(format!("{title}: {}", ids.count())));
        let flips = texts.iter().flat_map(|texts| &texts.flips);
        let flips = flips.filter(|flip| flip.worse == worse);
        let before = blocks.len();
        blocks.extend(flips.map(|it| flip(runs, it, detail)));
        if ((blocks.len() - before) as u64) < ids.count() {
            blocks.push(Block::folded(
                Fold::Closed,
                "All by name",
                [names(ids, detail)],
            ));
        }
    }
    if let Some(texts) = texts.filter(|texts| texts.all_changed > 0) {
        let (shown, all) = (texts.changed.len(), texts.all_changed);
        blocks.push(Block::section(format!(
            "Different answer, same verdict: {all}"
        )));
        let title = if shown < all {
            format!("The first {shown}")
        } else {
            "Both answers".to_owned()
        };
        let changed = texts.changed.iter().map(|it| flip(runs, it, detail));
        blocks.push(Block::folded(Fold::Closed, title, changed));
    }
    blocks
}

/// The first ids of a list.
pub(super) fn names(ids: &IdList, detail: Detail) -> Block {
    let most = match detail {
        Detail::Brief => 20,
        Detail::Full => 200,
    };
    let named = ids.first().iter().take(most);
    let more = ids.count().saturating_sub(named.len() as u64);
    let line = named
        .enumerate()
        .fold(Line::default(), |line, (place, id)| {
            let comma = if place == 0 { "" } else { ", " };
            line.plain(comma).code(id)
        });
    Block::Paragraph(match more {
        0 => line,
        more => line
            .plain(format!(" and {more} more: "))
            .code("cargo evaltest compare --json"),
    })
}

/// Maximum characters of a question in a title, and of answers in one line.
const SHORT: usize = 100;

fn is_short(text: &str) -> bool {
    text.chars().count() <= SHORT && !text.contains('\n')
}

/// A sample: the question and both answers, with the words in which they differ.
fn flip([a, b]: [&ComparedRun; 2], flip: &FlipTexts, detail: Detail) -> Block {
    let sides = [(a, &flip.a), (b, &flip.b)];
    let id = Line::default().code(&flip.id);
    if detail == Detail::Brief {
        let quoted = |text: &str| Line::default().quoted(excerpt(text));
        let mut facts = vec![("question".to_owned(), quoted(&flip.prompt))];
        let truth = flip.ground_truth.as_deref();
        facts.extend(truth.map(|truth| ("expected".to_owned(), quoted(truth))));
        for (run, side) in sides {
            let question = side.prompt.as_deref();
            let question =
                question.map(|question| (format!("{} question", run.letter), quoted(question)));
            facts.extend(question);
            let answer = side.answer.as_deref().unwrap_or("(nothing)");
            let line = quoted(answer).plain("  (").line(verdict(run, side));
            facts.push((run.letter.clone(), line.plain(")")));
        }
        if let Some(turn) = &flip.turn {
            for (run, text) in [(a, &turn.a), (b, &turn.b)] {
                let name = format!("turn {}, {}", turn.turn, run.letter);
                facts.push((name, quoted(or_nothing(text))));
            }
        }
        return Block::group(id, [Block::Facts(facts)]);
    }
    let text = |title: &str, text: &str| {
        let title = Line::default().toned(Tone::Faint, title);
        [Block::Paragraph(title), Block::Verbatim(text.to_owned())]
    };
    // The title has a short question.
    let first = truncate(&flip.prompt, SHORT);
    let mut blocks = Vec::new();
    if !is_short(&flip.prompt) {
        blocks.extend(text("question", &flip.prompt));
    }
    let mut facts = Vec::new();
    match flip.ground_truth.as_deref() {
        Some(truth) if is_short(truth) => {
            facts.push(("expected".to_owned(), Line::default().quoted(truth)));
        }
        truth => blocks.extend(truth.iter().flat_map(|truth| text("expected", truth))),
    }
    let answers = [&flip.a, &flip.b].map(|side| side.answer.as_deref().unwrap_or("(nothing)"));
    let differing = differing(answers[0], answers[1]);
    let is_brief =
        |(run, side): &(&ComparedRun, &FlipAnswer)| run.epochs == 1 && side.prompt.is_none();
    let is_brief = differing.is_none() && sides.iter().all(is_brief) && flip.turn.is_none();
    if is_brief && answers.iter().all(|answer| is_short(answer)) {
        for ((run, side), answer) in sides.into_iter().zip(answers) {
            let line = Line::default()
                .quoted(answer)
                .plain(" (")
                .line(verdict(run, side));
            facts.push((run.letter.clone(), line.plain(")")));
        }
        blocks.push(Block::Facts(facts));
        let title = id.plain(" ").toned(Tone::Faint, first);
        return Block::folded(Fold::Open, title, blocks);
    }
    blocks.extend((!facts.is_empty()).then_some(Block::Facts(facts)));
    let mut differing = differing.into_iter().flatten();
    let sides = sides.map(|(run, side)| {
        let title = Line::default().strong(format!("{} ", run.letter));
        let mut title = title.line(verdict(run, side));
        if run.epochs > 1 {
            title = title.toned(Tone::Faint, format!(", epoch {}", side.epoch));
        }
        let mut blocks = vec![Block::Paragraph(title)];
        blocks.extend(side.prompt.iter().flat_map(|it| text("asked as", it)));
        // Only where one answer is right do colours say which.
        let tone = match (side.correct, flip.a.correct == flip.b.correct) {
            (_, true) => Tone::Unsure,
            (true, false) => Tone::Good,
            (false, false) => Tone::Bad,
        };
        blocks.push(match (&side.answer, differing.next()) {
            (Some(_), Some(parts)) => Block::Marked(tone, parts),
            (Some(answer), None) => Block::Verbatim(answer.clone()),
            (None, _) => Block::Paragraph(Line::default().toned(Tone::Faint, "(nothing)")),
        });
        blocks
    });
    blocks.push(Block::Columns(sides.into()));
    if let Some(turn) = &flip.turn {
        let title = format!("turn {}, the first difference", turn.turn);
        let title = Line::default().toned(Tone::Faint, title);
        blocks.push(Block::Paragraph(title));
        let sides = [&turn.a, &turn.b];
        let sides = sides.map(|text| vec![Block::Verbatim(or_nothing(text).to_owned())]);
        blocks.push(Block::Columns(sides.into()));
    }
    let title = id.plain(" ").toned(Tone::Faint, first);
    Block::folded(Fold::Open, title, blocks)
}

fn or_nothing(text: &str) -> &str {
    if text.is_empty() { "(nothing)" } else { text }
}

/// `wrong, mismatch`
fn verdict(run: &ComparedRun, answer: &FlipAnswer) -> Line {
    let word = run.subject.verdict(answer.correct);
    if answer.correct {
        return Line::default().toned(Tone::Good, word);
    }
    let reason = answer.reason.as_ref();
    let reason = reason.map_or_else(String::new, |reason| format!(", {}", worded(reason)));
    Line::default().toned(Tone::Bad, word).plain(reason)
}
