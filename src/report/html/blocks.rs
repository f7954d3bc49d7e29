//! What a report says in words, as HTML: the blocks that Markdown renders, too.

use std::io::{self, Write};

use super::chart::{IntervalScale, intervals};
use super::charts::accuracy_row;
use super::escape::text;
use crate::figure::ci95;
use crate::report::document::{
    ReportBar, ReportBlock, ReportLine, ReportSide, ReportSpan, ReportTable, ReportText,
};

/// Writes a report whose title is a heading of this level; what is in it comes below.
pub(super) fn report(said: &ReportText, level: usize, out: &mut dyn Write) -> io::Result<()> {
    heading(level, &said.title, out)?;
    body(said, level, out)
}

/// Writes what stands below a heading of this level.
pub(super) fn body(said: &ReportText, level: usize, out: &mut dyn Write) -> io::Result<()> {
    for block in &said.blocks {
        match block {
            ReportBlock::Heading(below, title) => {
                heading(level + usize::from(*below).max(2) - 1, title, out)?;
            }
            ReportBlock::Paragraph(words) => writeln!(out, "<p>{}</p>", line(words))?,
            ReportBlock::Notice(words) => writeln!(out, "<p class=\"warn\">{}</p>", line(words))?,
            ReportBlock::List(items) => list("ul", items, out)?,
            ReportBlock::Ranked(items) => list("ol", items, out)?,
            ReportBlock::Table(shown) => table(shown, out)?,
            ReportBlock::Bars(shown) => bars(shown, out)?,
        }
    }
    Ok(())
}

fn heading(level: usize, title: &str, out: &mut dyn Write) -> io::Result<()> {
    let level = level.min(6);
    writeln!(out, "<h{level}>{}</h{level}>", text(title))
}

/// A line of words.
pub(super) fn line(line: &ReportLine) -> String {
    let spans = line.0.iter().map(|span| match span {
        ReportSpan::Plain(words) => text(words).to_string(),
        ReportSpan::Strong(words) => format!("<strong>{}</strong>", text(words)),
        ReportSpan::Typed(words) => format!("<code>{}</code>", text(words)),
    });
    spans.collect()
}

/// A list, numbered (`ol`) or not (`ul`).
pub(super) fn list(tag: &str, items: &[ReportLine], out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "<{tag}>")?;
    for item in items {
        writeln!(out, "<li>{}</li>", line(item))?;
    }
    writeln!(out, "</{tag}>")
}

fn table(shown: &ReportTable, out: &mut dyn Write) -> io::Result<()> {
    let class = |place: usize| match shown.heads.get(place) {
        Some((_, ReportSide::Right)) => " class=\"n\"",
        _ => "",
    };
    // Wider than the page it is moved, and a keyboard moves it, too.
    writeln!(
        out,
        "<div class=\"wide\" tabindex=\"0\" role=\"region\" aria-label=\"Table\"><table class=\"words\"><thead><tr>"
    )?;
    for (place, (head, _)) in shown.heads.iter().enumerate() {
        let class = class(place);
        writeln!(out, "<th scope=\"col\"{class}>{}</th>", text(head))?;
    }
    writeln!(out, "</tr></thead><tbody>")?;
    for row in &shown.rows {
        write!(out, "<tr>")?;
        for (place, cell) in row.iter().enumerate() {
            let (class, cell) = (class(place), line(cell));
            match place {
                0 => write!(out, "<th scope=\"row\"{class}>{cell}</th>")?,
                _ => write!(out, "<td{class}>{cell}</td>")?,
            }
        }
        writeln!(out, "</tr>")?;
    }
    writeln!(out, "</tbody></table></div>")
}

fn bars(shown: &[ReportBar], out: &mut dyn Write) -> io::Result<()> {
    let rows = shown.iter().map(|bar| {
        let known = bar.share.filter(|[low, high]| low >= high);
        let share = known.map(|[share, _]| share);
        accuracy_row(
            bar.label.clone(),
            share,
            bar.share,
            bar.interval,
            bar.told.clone(),
        )
    });
    let rows: Vec<_> = rows.collect();
    let heads = ["", ci95!("share, "), "in words"];
    intervals("Shares", heads, IntervalScale::SHARES, &rows, out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_of_others_stay_texts() {
        let mut said = ReportText::new("<a>");
        said.section("b\u{202e}");
        said.notice(
            ReportLine::default()
                .strong("<b>")
                .plain(" & ")
                .typed("rm \"x\""),
        );
        let mut table = ReportTable::new(&[("<i>", ReportSide::Left), ("n", ReportSide::Right)]);
        table.row(["<script>", "1"]);
        said.table(table);
        said.blocks.push(ReportBlock::Ranked(vec!["<u>".into()]));
        said.blocks.push(ReportBlock::Bars(vec![ReportBar {
            label: "<s>".to_owned(),
            share: Some([0.5, 0.5]),
            interval: Some([0.4, 0.6]),
            told: "<q>".to_owned(),
        }]));
        let mut out = Vec::new();
        report(&said, 1, &mut out).unwrap();
        let out = String::from_utf8(out).unwrap();
        for expect in [
            "<h1>&lt;a&gt;</h1>\n<h2>b\\u{202e}</h2>\n",
            "<p class=\"warn\"><strong>&lt;b&gt;</strong> &amp; <code>rm &quot;x&quot;</code></p>",
            "<tr><th scope=\"row\">&lt;script&gt;</th><td class=\"n\">1</td></tr>",
            "<ol>\n<li>&lt;u&gt;</li>\n</ol>",
            "&lt;q&gt;",
        ] {
            assert!(out.contains(expect), "`{expect}` is not in:\n{out}");
        }
        for not in ["<a>", "<b>", "<i>", "<script>", "<u>", "<s>", "<q>"] {
            assert!(!out.contains(not), "`{not}` is in:\n{out}");
        }
    }
}
