//! What a report says, as Markdown.

use std::io::{self, Write};

use super::text;
use crate::printable::on_one_line;
use crate::report::document::{
    ReportBar, ReportBlock, ReportLine, ReportSide, ReportSpan, ReportTable, ReportText,
};

/// Cells of a bar.
const CELLS: u32 = 50;

/// Writes a report, whose title is a heading of this level: what is in it comes below.
pub fn report(report: &ReportText, level: usize, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "{} {}", "#".repeat(level), text(&report.title))?;
    blocks(&report.blocks, level, out)
}

/// Writes what is in a report whose title is a heading of this level.
pub fn blocks(blocks: &[ReportBlock], level: usize, out: &mut dyn Write) -> io::Result<()> {
    for block in blocks {
        writeln!(out)?;
        match block {
            ReportBlock::Heading(below, title) => {
                let level = level + usize::from(*below).max(2) - 1;
                writeln!(out, "{} {}", "#".repeat(level.min(6)), text(title))?;
            }
            ReportBlock::Paragraph(words) => writeln!(out, "{}", line(words))?,
            ReportBlock::Notice(words) => writeln!(out, "> {}", line(words))?,
            ReportBlock::List(items) => {
                for item in items {
                    writeln!(out, "- {}", line(item))?;
                }
            }
            ReportBlock::Ranked(items) => {
                for (place, item) in (1..).zip(items) {
                    writeln!(out, "{place}. {}", line(item))?;
                }
            }
            ReportBlock::Table(shown) => table(shown, out)?,
            ReportBlock::Bars(shown) => bars(shown, out)?,
        }
    }
    Ok(())
}

/// A line of words, harmless.
pub fn line(line: &ReportLine) -> String {
    let spans = line.0.iter();
    spans.map(span).collect()
}

fn span(span: &ReportSpan) -> String {
    match span {
        ReportSpan::Plain(words) => text(words),
        ReportSpan::Strong(words) => format!("**{}**", text(words)),
        // A pipe would end a cell even here, and a backtick the words; such a command is shown as a text.
        ReportSpan::Typed(words) if words.contains(['`', '|', '\n', '\r']) => text(words),
        ReportSpan::Typed(words) => format!("`{}`", on_one_line(words)),
    }
}

/// The head of a table, whose rows come.
pub fn heads(heads: &[(String, ReportSide)], out: &mut dyn Write) -> io::Result<()> {
    let titles: Vec<String> = heads.iter().map(|(title, _)| text(title)).collect();
    writeln!(out, "| {} |", titles.join(" | "))?;
    let sides = heads.iter().map(|(_, side)| match side {
        ReportSide::Left => "---|",
        ReportSide::Right => "---:|",
    });
    writeln!(out, "|{}", sides.collect::<String>())
}

/// A row of a table.
pub fn row(cells: &[ReportLine], out: &mut dyn Write) -> io::Result<()> {
    let cells: Vec<String> = cells.iter().map(line).collect();
    writeln!(out, "| {} |", cells.join(" | "))
}

/// A table.
pub fn table(table: &ReportTable, out: &mut dyn Write) -> io::Result<()> {
    heads(&table.heads, out)?;
    table.rows.iter().try_for_each(|cells| row(cells, out))
}

/// Indented, so that nothing in it is more than letters; the bar stands first, so that no line begins with what somebody
/// else wrote.
fn bars(bars: &[ReportBar], out: &mut dyn Write) -> io::Result<()> {
    for shown in bars {
        let label = on_one_line(&shown.label);
        writeln!(
            out,
            "    {} {label}: {}",
            bar(shown.share),
            on_one_line(&shown.told)
        )?;
    }
    Ok(())
}

/// Filled as far as the share goes, and half as far as it may go.
fn bar(share: Option<[f64; 2]>) -> String {
    let [low, high] = share.unwrap_or_default();
    let cell = |place: u32| {
        // The middle of a cell tells whether it is filled.
        let middle = (f64::from(place) + 0.5) / f64::from(CELLS);
        match () {
            () if middle <= low => '█',
            () if middle <= high => '▒',
            () => '░',
        }
    };
    (0..CELLS).map(cell).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bar_has_fifty_cells() {
        fn check(share: Option<[f64; 2]>, filled: usize, open: usize) {
            let bar = bar(share);
            let of = |cell: char| bar.chars().filter(|found| *found == cell).count();
            assert_eq!(
                [of('█'), of('▒'), of('░')],
                [filled, open, 50 - filled - open]
            );
        }
        check(None, 0, 0);
        check(Some([0.0, 0.0]), 0, 0);
        check(Some([0.5, 0.5]), 25, 0);
        check(Some([0.2, 1.0]), 10, 40);
        check(Some([1.0, 1.0]), 50, 0);
    }

    #[test]
    fn texts_of_others_stay_texts() {
        let mut said = ReportText::new("a\n# b");
        said.section("<b>");
        said.notice(ReportLine::default().strong("x|y").plain(" @team"));
        said.paragraph(ReportLine::default().typed("ls `rm`").typed(" gate a"));
        let mut table = ReportTable::new(&[("a|b", ReportSide::Left), ("n", ReportSide::Right)]);
        table.row(["c\nd", "1"]);
        said.table(table);
        said.table(ReportTable::new(&[("nothing", ReportSide::Left)]));
        said.blocks.push(ReportBlock::Bars(vec![ReportBar {
            label: "::error::\nx".to_owned(),
            share: Some([1.0, 1.0]),
            interval: None,
            told: "100.0 %".to_owned(),
        }]));
        said.blocks.push(ReportBlock::Ranked(vec!["one".into()]));
        let mut out = Vec::new();
        report(&said, 1, &mut out).unwrap();
        let bar = "█".repeat(50);
        let expect = format!(
            "# a #&#8288; b\n\n## &lt;b&gt;\n\n> **x\\|y** @&#8288;team\n\nls \\`rm\\`` gate a`\n\n\
             | a\\|b | n |\n|---|---:|\n| c d | 1 |\n\n    {bar} \\u{{3a}}:error::\\nx: 100.0 %\n\n1. one\n"
        );
        assert_eq!(String::from_utf8(out).unwrap(), expect);
    }
}
