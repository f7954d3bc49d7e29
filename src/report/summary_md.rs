//! `summary.md`: the results of a run as text.

use std::io::{self, Write};

use super::document::{Block, Document};
use super::render::markdown;
use super::section;
use super::section::{Detail, Source, overview};
use crate::verdict::conclude::Run;
use crate::verdict::summary::Summary;

/// Writes the file of a run.
pub fn write(run: &Run, out: &mut dyn Write) -> io::Result<()> {
    let mut document = summary(&run.summary);
    document.blocks.extend(section::assertions(run, false));
    markdown::document(&document, 1, out)
}

/// The figures of a run.
pub(crate) fn summary(summary: &Summary) -> Document {
    let source = Source::of(summary, Detail::Full);
    let mut blocks = vec![overview::overview(&source)];
    blocks.extend(overview::notes(&source));
    blocks.extend(section::changes(&source));
    blocks.extend(section::gates(&source));
    blocks.extend(section::alerts(&source));
    blocks.push(Block::section("Figures"));
    blocks.push(overview::facts(&source));
    blocks.extend(section::account(&source));
    blocks.extend(section::figures(&source));
    Document {
        title: summary.eval.clone(),
        blocks,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Status;
    use crate::verdict::facts::Facts;
    use crate::verdict::gate::Gate;
    use crate::verdict::summary::tests::record;

    fn markdown_of(summary: &Summary) -> String {
        let mut out = Vec::new();
        markdown::document(&super::summary(summary), 1, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn shows_every_part() {
        let records = [
            record("a", Status::Scored, true, "1"),
            record("b", Status::Scored, false, "2"),
            record("c", Status::TimedOut, false, "10"),
        ];
        let mut summary = Summary::of("my|eval", &records);
        summary.metrics.insert("own".to_owned(), 3.into());
        let gate: Gate = "accuracy >= 0.2".parse().unwrap();
        summary.gates = vec![gate.check(&Facts::of(summary.clone()))];
        let out = markdown_of(&summary);
        for expect in [
            "# my\\|eval\n",
            "**33.3 % to 66.7 %** correct: 1 of 3 answers is correct, 1 is missing.",
            "| failure rate | 33.3 % to 66.7 % |",
            "| errors | 1 (33.3 %): 1 timed out |",
            "| `accuracy >= 0.2` | **passed** | accuracy 50.0 %",
            "░ level 2: 0.0 % (0.0 % to 79.3 %), 0 of 1\n",
            "▒ level 10: 0.0 % to 100.0 % (range), 0 of 0, 1 without a verdict\n",
            "- from level 1 to 2: 100.0 % (",
            "| own | 3 |",
            "| latency, median | 1.5 s |",
        ] {
            assert!(out.contains(expect), "`{expect}` is not in:\n{out}");
        }
        assert!(!out.contains("NaN"), "{out}");
    }

    #[test]
    fn an_empty_run_is_no_trouble() {
        let out = markdown_of(&Summary::of("none", &[]));
        assert!(out.contains("Nothing was scored."), "{out}");
    }
}
