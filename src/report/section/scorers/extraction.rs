//! How the predictions were found in the answers.

use super::super::source::Source;
use crate::data::FoundBy;
use crate::figure::part_of;
use crate::report::document::{Align, Block, Line, Table, list};
use crate::text::shell_word;
use crate::verdict::summary::{found_by_counts, reading_notices};

/// The number of answers by the way they were read; in full with notices, which a terminal has before the figures.
pub(in crate::report::section) fn extraction(source: &Source<'_>) -> Vec<Block> {
    let summary = source.summary;
    let counts = found_by_counts(&summary.found_by);
    if source.is_brief() {
        let ways = &summary.found_by;
        let is_usual = ways.len() == 1 && !ways.contains_key(&FoundBy::Nothing);
        let counts = counts.filter(|_| !is_usual);
        let line = counts.map(|counts| format!("extraction: {counts}"));
        return list(line).into_iter().collect();
    }
    let run = source.run.map(|(run, _)| shell_word(&run.manifest.run_id));
    let notices = reading_notices(summary, run.as_deref().unwrap_or("RUN_DIR"));
    if counts.is_none() && notices.is_empty() {
        return Vec::new();
    }
    let mut blocks = vec![Block::section("Extraction")];
    if counts.is_some() {
        let mut table = Table::new(&[("answer found by", Align::Left), ("answers", Align::Left)]);
        let all = summary.found_by.values().sum();
        for (by, count) in &summary.found_by {
            table.row([by.words().to_owned(), part_of(*count, all, "answers")]);
        }
        blocks.extend(table.block());
    }
    let notices = notices.iter();
    blocks.extend(notices.map(|notice| Block::Note(Line::default().marked(notice))));
    blocks
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{MissedPart, Record, Score};
    use crate::report::section::Detail;
    use crate::report::section::tests::{in_markdown, on_terminal};
    use crate::verdict::summary::Summary;

    fn summary(ways: &[FoundBy]) -> Summary {
        let records = ways.iter().enumerate().map(|(place, by)| {
            let mut record = Record::scored(format!("q{place}"), Score::binary(false));
            record.result.found_by = Some(*by);
            record.result.missed = vec![MissedPart::GroundTruth].into();
            record
        });
        Summary::of("e", &records.collect::<Vec<_>>())
    }

    #[test]
    fn the_ways_are_counted() {
        let found = summary(&[FoundBy::Box, FoundBy::LastNumber, FoundBy::LastNumber]);
        let out = on_terminal(extraction(&Source::of(&found, Detail::Brief)));
        assert_eq!(out, "  extraction: last number 2, box 1\n");
        let alike = summary(&[FoundBy::Label, FoundBy::Label]);
        assert!(extraction(&Source::of(&alike, Detail::Brief)).is_empty());
        let out = in_markdown(extraction(&Source::of(&found, Detail::Full)));
        assert!(out.contains("| last number | 2 of 3 answers"), "{out}");
        assert!(
            out.contains("3 wrong answers contain the ground truth"),
            "{out}"
        );
    }

    #[test]
    fn whole_answers_say_nothing() {
        let mut found = summary(&[FoundBy::WholeAnswer]);
        found.reading = None;
        for detail in [Detail::Brief, Detail::Full] {
            assert!(extraction(&Source::of(&found, detail)).is_empty());
        }
    }
}
