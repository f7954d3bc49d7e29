//! What judges were asked, on a terminal.

use std::io::{self, Write};

use crate::report::judge;
use crate::text::clean;
use crate::verdict::summary::Summary;

/// A line for each scorer that asks a judge, and what each jury comes to.
pub(super) fn judges(summary: &Summary, out: &mut dyn Write) -> io::Result<()> {
    let judges = summary.judge.iter().flat_map(|judge| &judge.scorers);
    for (name, judge) in judges {
        writeln!(
            out,
            "  judge {}: {}",
            clean(name),
            clean(&judge::line(judge))
        )?;
        for line in judge.pairs.iter().flat_map(judge::pairs::lines) {
            writeln!(out, "    {line}")?;
        }
        for line in judge::corrected(judge.calibration.as_ref()) {
            writeln!(out, "    {}", clean(&line))?;
        }
    }
    let juries = summary.judge.iter().flat_map(|judge| &judge.juries);
    for (name, jury) in juries {
        let lines = std::iter::once(judge::jury::line(jury));
        for line in lines.chain(judge::jury::labels_line(jury)) {
            writeln!(out, "  jury {}: {}", clean(name), clean(&line))?;
        }
        for line in judge::corrected(jury.calibration.as_ref()) {
            writeln!(out, "    {}", clean(&line))?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::judge::tests::written;
    use crate::verdict::summary::JudgeSummary;

    #[test]
    fn each_judge_is_a_line_of_its_own() {
        assert_eq!(written(judges, &[]), "");
        let one = JudgeSummary {
            calls: 1,
            samples: 1,
            ..JudgeSummary::default()
        };
        assert_eq!(
            written(judges, &[("first", &one), ("sec\u{1b}ond", &one)]),
            "  judge first: 1 call on 1 answer\n  judge sec\\u{1b}ond: 1 call on 1 answer\n"
        );
    }
}
