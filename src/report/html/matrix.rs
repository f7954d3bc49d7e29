//! The runs of one spec that names several agents or prompts, ranked.

use std::io::{self, Write};

use crate::report::matrix::Ranking;
use crate::report::matrix::told::{explained, heads, notices, row, title};
use crate::report::render::html::escape::text;

/// Writes the runs, the best first, and which of them are not told apart.
pub(super) fn ranked(ranking: &Ranking, out: &mut dyn Write) -> io::Result<()> {
    let title = title(ranking);
    writeln!(
        out,
        "<h2>{0}</h2>\n<div class=\"wide\" role=\"region\" aria-label=\"{0}\" tabindex=\"0\"><table>\n<thead><tr>",
        text(&title)
    )?;
    for head in heads(ranking) {
        write!(out, "<th scope=\"col\">{}</th>", text(head))?;
    }
    writeln!(out, "</tr></thead>\n<tbody>")?;
    for run in &ranking.runs {
        let [name, cells @ ..] = row(run);
        write!(out, "<tr><th scope=\"row\">{}</th>", text(&name))?;
        for cell in cells {
            write!(out, "<td class=\"n\">{}</td>", text(&cell))?;
        }
        writeln!(out, "</tr>")?;
    }
    writeln!(out, "</tbody></table></div>")?;
    for line in explained(ranking) {
        writeln!(out, "<p class=\"soft\">{}</p>", text(&line))?;
    }
    let mut notices = notices(ranking).into_iter();
    notices.try_for_each(|notice| writeln!(out, "<p class=\"warn\">{}</p>", text(&notice)))
}
