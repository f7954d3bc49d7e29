//! The runs of one spec that names several agents or prompts, ranked.

use std::io::{self, Write};

use crate::report::matrix::Ranking;
use crate::report::matrix::told::{explained, heads, notices, row, title};
use crate::report::render::terminal::table;
use crate::text::clean;

/// So many characters of a name are shown.
const MOST: usize = 40;

/// Writes the runs, the best first, and which of them are not told apart.
pub fn write(ranking: &Ranking, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "{}", clean(&title(ranking)))?;
    let mut rows = vec![heads(ranking).map(str::to_owned).to_vec()];
    rows.extend(ranking.runs.iter().map(|run| {
        let mut cells = row(run).to_vec();
        cells[0] = table::cut(&clean(&cells[0]), MOST);
        cells
    }));
    table::write("  ", &rows, out)?;
    for line in explained(ranking) {
        writeln!(out, "  {line}")?;
    }
    let mut notices = notices(ranking).into_iter();
    notices.try_for_each(|notice| writeln!(out, "  note: {}", clean(&notice)))
}
