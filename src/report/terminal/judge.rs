//! What judges were asked, on a terminal.

use std::io::{self, Write};

use crate::report::judge;
use crate::text::clean;
use crate::verdict::summary::Summary;

/// A line for each scorer that asks a judge.
pub(super) fn judges(summary: &Summary, out: &mut dyn Write) -> io::Result<()> {
    let judges = summary.judge.iter().flat_map(|judge| &judge.scorers);
    for (name, judge) in judges {
        writeln!(
            out,
            "  judge {}: {}",
            clean(name),
            clean(&judge::line(judge))
        )?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::verdict::summary::JudgeSummary;

    #[test]
    fn each_judge_is_a_line_of_its_own() {
        let shown = |summary: &Summary| {
            let mut out = Vec::new();
            judges(summary, &mut out).unwrap();
            String::from_utf8(out).unwrap()
        };
        let mut summary = Summary::of("e", &[]);
        assert_eq!(shown(&summary), "");
        let one = JudgeSummary {
            calls: 1,
            samples: 1,
            ..JudgeSummary::default()
        };
        let scorers = ["first", "sec\u{1b}ond"].map(|name| (name.to_owned(), one.clone()));
        summary.judge = Some(JudgeSummary {
            scorers: scorers.into(),
            ..JudgeSummary::default()
        });
        let expect =
            "  judge first: 1 call on 1 answer\n  judge sec\\u{1b}ond: 1 call on 1 answer\n";
        assert_eq!(shown(&summary), expect);
    }
}
