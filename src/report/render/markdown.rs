//! Blocks as GitHub-flavoured Markdown.
//!
//! Names, ids and messages come from datasets and agents. They are escaped, so that none of them can create a link, an
//! image, HTML, a mention, a table column or a CI command; invisible characters are shown as escapes.

use std::io;
use std::io::Write;

use super::super::document::{
    Align, Block, Chart, Document, IntervalRow, Intervals, Line, Span, Table, Tone, pieces,
};
use super::terminal::{in_figures, unmarked};
use crate::printable::{is_unseen, joins, on_one_line};

/// Number of cells of a bar.
const CELLS: u32 = 50;

/// Writes a document with its title as a heading of this level.
pub fn document(document: &Document, level: usize, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "{} {}", "#".repeat(level), words(&document.title))?;
    blocks(&document.blocks, level, out)
}

/// The same after another document.
pub fn next_document(document: &Document, level: usize, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out)?;
    self::document(document, level, out)
}

/// Writes the content of a document whose title is a heading of this level.
pub fn blocks(blocks: &[Block], level: usize, out: &mut dyn Write) -> io::Result<()> {
    blocks
        .iter()
        .try_for_each(|block| self::block(block, level, out))
}

fn block(block: &Block, level: usize, out: &mut dyn Write) -> io::Result<()> {
    match block {
        Block::Heading(below, title) => {
            let level = level + usize::from(*below).max(2) - 1;
            writeln!(out, "\n{} {}", "#".repeat(level.min(6)), words(title))
        }
        Block::Paragraph(text) => writeln!(out, "\n{}", line(text)),
        Block::Note(text) => writeln!(out, "\n> {}", line(text)),
        Block::List(items) => {
            writeln!(out)?;
            let mut items = items.iter();
            items.try_for_each(|item| writeln!(out, "- {}", line(item)))
        }
        Block::Numbered(items) => {
            writeln!(out)?;
            let mut items = (1..).zip(items);
            items.try_for_each(|(place, item)| writeln!(out, "{place}. {}", line(item)))
        }
        Block::Facts(facts) => {
            let mut table = Table::new(&[("figure", Align::Left), ("value", Align::Left)]);
            for (name, value) in facts {
                table.row([name.as_str().into(), value.clone()]);
            }
            writeln!(out)?;
            self::table(&table, out)
        }
        Block::Table(content) => {
            writeln!(out)?;
            table(content, out)
        }
        Block::Intervals(content) => {
            writeln!(out)?;
            intervals(content, out)
        }
        Block::Chart(Chart::Confusion {
            caption,
            rows,
            columns,
            counts,
        }) => {
            writeln!(out, "\n{}:\n", text(caption))?;
            let heads = std::iter::once("").chain(columns.iter().map(String::as_str));
            let mut table = Table::of_numbers(heads);
            for (name, counts) in rows.iter().zip(counts) {
                let counts = counts.iter().map(u64::to_string);
                table.row(std::iter::once(name.clone()).chain(counts));
            }
            self::table(&table, out)
        }
        Block::Chart(_) => Ok(()),
        Block::Verbatim(text) => verbatim(text, out),
        Block::Marked(_, parts) => verbatim(&unmarked(parts), out),
        Block::Group(group) => {
            if !group.title.0.is_empty() {
                writeln!(out, "\n{}", line(&group.title))?;
            }
            blocks(&group.blocks, level, out)
        }
        Block::Framed(_, framed) => blocks(framed, level, out),
        Block::Columns(columns) => columns
            .iter()
            .try_for_each(|column| blocks(column, level, out)),
    }
}

/// A preformatted text: indented, so that nothing in it can end the block.
fn verbatim(text: &str, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out)?;
    let mut lines = text.lines();
    lines.try_for_each(|line| writeln!(out, "    {}", on_one_line(line)))
}

/// A line of text, escaped.
pub fn line(line: &Line) -> String {
    line.0.iter().map(span).collect()
}

fn span(span: &Span) -> String {
    match span {
        Span::Plain(raw) | Span::Link(raw, _) | Span::Toned(Tone::Plain | Tone::Faint, raw) => {
            words(raw)
        }
        Span::Quoted(raw) => text(raw),
        Span::Strong(raw) | Span::Toned(_, raw) => format!("**{}**", words(raw)),
        Span::Code(raw) => code(raw),
        Span::Break => "<br>".to_owned(),
    }
}

/// A text of evaltest: what stands in backticks is code.
fn words(raw: &str) -> String {
    let pieces = pieces(raw).into_iter();
    let pieces = pieces.map(|(is_code, piece)| match is_code {
        true if is_inert(piece) => code(piece),
        true => text(&format!("`{piece}`")),
        false => text(piece),
    });
    pieces.collect()
}

/// Whether a text has no tag and no mention, which are escaped even where they would be code.
fn is_inert(piece: &str) -> bool {
    let begins_a_tag = |(place, _): (usize, &str)| {
        let after = piece[place + 1..].chars().next();
        after.is_some_and(|c| c != '=' && !c.is_whitespace())
    };
    !piece.contains(['@', '|', '\n', '\r']) && !piece.match_indices('<').any(begins_a_tag)
}

/// A name or a command. A pipe would end a cell even in a code span, and a backtick the code span: such a one is text.
fn code(raw: &str) -> String {
    if raw.contains(['`', '|', '\n', '\r']) {
        text(raw)
    } else {
        format!("`{}`", on_one_line(raw))
    }
}

/// Starts a table whose rows are written one by one.
pub fn begin_table(heads: &[(String, Align)], out: &mut dyn Write) -> io::Result<()> {
    writeln!(out)?;
    self::heads(heads, out)
}

fn heads(heads: &[(String, Align)], out: &mut dyn Write) -> io::Result<()> {
    let titles: Vec<String> = heads.iter().map(|(title, _)| words(title)).collect();
    writeln!(out, "| {} |", titles.join(" | "))?;
    let sides = heads.iter().map(|(_, side)| match side {
        Align::Left => "---|",
        Align::Right => "---:|",
    });
    writeln!(out, "|{}", sides.collect::<String>())
}

/// A row of a table.
pub fn row(cells: &[Line], out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "{}", row_text(cells))
}

/// The same without its line break.
pub(crate) fn row_text(cells: &[Line]) -> String {
    let cells: Vec<String> = cells.iter().map(line).collect();
    format!("| {} |", cells.join(" | "))
}

fn table(table: &Table, out: &mut dyn Write) -> io::Result<()> {
    heads(&table.heads, out)?;
    table.rows.iter().try_for_each(|cells| row(cells, out))
}

/// Writes shares as bars, others as a table.
fn intervals(content: &Intervals, out: &mut dyn Write) -> io::Result<()> {
    if !content.scale.is_of_shares() {
        return table(&in_figures(content), out);
    }
    content.rows.iter().try_for_each(|row| bar_row(row, out))
}

/// Indented as code, so that nothing in it is markup; the bar comes first, so that no line starts with untrusted text.
fn bar_row(row: &IntervalRow, out: &mut dyn Write) -> io::Result<()> {
    let share = row.range.or(row.value.map(|share| [share; 2]));
    let [label, figures, note] = [&row.label, &row.figures, &row.note].map(|it| on_one_line(it));
    let note = if note.is_empty() {
        note
    } else {
        format!(", {note}")
    };
    writeln!(out, "    {} {label}: {figures}{note}", bar(share))
}

/// Filled up to the minimum, and half filled up to the maximum.
fn bar(share: Option<[f64; 2]>) -> String {
    let [low, high] = share.unwrap_or_default();
    let cell = |place: u32| {
        // A cell is filled if its middle is.
        let middle = (f64::from(place) + 0.5) / f64::from(CELLS);
        match () {
            () if middle <= low => '█',
            () if middle <= high => '▒',
            () => '░',
        }
    };
    (0..CELLS).map(cell).collect()
}

/// Escapes an untrusted text, so that it is shown literally.
pub fn text(raw: &str) -> String {
    let mut escaped = String::with_capacity(raw.len());
    let mut www = 0;
    let mut chars = raw.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\n' | '\r' | '\t' => escaped.push(' '),
            _ if is_unseen(c) && !joins(c, escaped.chars().next_back().unwrap_or(' ')) => {
                // Show the escape's backslash literally.
                escaped.push('\\');
                escaped.extend(c.escape_default());
            }
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            // GitHub makes `@name` a mention and `#12` a link, even if escaped. An invisible word joiner prevents
            // that.
            '@' | '#' if c == '@' || chars.peek().is_some_and(char::is_ascii_digit) => {
                escaped.push(c);
                escaped.push_str("&#8288;");
            }
            '\\' | '`' | '*' | '_' | '[' | ']' | '|' | '~' | '$' | '!' | '#' => {
                escaped.push('\\');
                escaped.push(c);
            }
            // `http://` and `www.` would become links, and a line that starts with `::` is a CI command.
            ':' if matches!(chars.peek(), Some('/' | ':')) || escaped.ends_with(':') => {
                escaped.push_str("\\:");
            }
            // `GH-12` becomes a link like `#12`.
            '-' if is_issue(&escaped) => escaped.push_str("-&#8288;"),
            '.' if www >= 3 => escaped.push_str("\\."),
            _ => escaped.push(c),
        }
        www = if matches!(c, 'w' | 'W') { www + 1 } else { 0 };
    }
    escaped
}

/// Whether a text ends with the word `GH`.
fn is_issue(text: &str) -> bool {
    let word = text.rsplit(|c: char| !c.is_alphanumeric()).next();
    word.is_some_and(|word| word.eq_ignore_ascii_case("gh"))
}

/// Markdown with a size limit.
pub(crate) struct Page {
    text: String,
    /// Maximum bytes.
    room: usize,
    /// Whether something did not fit.
    is_full: bool,
}

/// Rows with their total number.
#[derive(Clone, Debug, Default)]
pub(crate) struct CountedRows {
    pub(crate) rows: Vec<String>,
    /// More than `rows` if some were dropped.
    pub(crate) all: usize,
}

/// Bytes reserved for the line with the number of omitted rows.
const END: usize = 200;

impl Page {
    pub(crate) fn new(room: usize) -> Self {
        Self {
            text: String::new(),
            room,
            is_full: false,
        }
    }

    /// Leaves room for as many bytes that follow the page.
    pub(crate) fn shrink(&mut self, bytes: usize) {
        self.room = self.room.saturating_sub(bytes);
    }

    /// Remaining bytes.
    pub(crate) fn room(&self) -> usize {
        self.room.saturating_sub(self.text.len() + END)
    }

    /// Adds a line if it fits; returns whether it did.
    fn line(&mut self, line: &str) -> bool {
        let fits = !self.is_full && line.len() < self.room();
        if fits {
            self.text.push_str(line);
            self.text.push('\n');
        }
        self.is_full |= !fits;
        fits
    }

    /// Adds the title.
    pub(crate) fn title(&mut self, title: &str) {
        self.line(&format!("# {}", words(title)));
    }

    /// Adds a paragraph.
    pub(crate) fn paragraph(&mut self, content: &Line) {
        self.line(&format!("\n{}", line(content)));
    }

    /// Adds a table, if it has rows.
    pub(crate) fn table(&mut self, title: &str, titles: &[&str], rows: Vec<String>) {
        let all = rows.len();
        self.counted_table(title, titles, CountedRows { rows, all });
    }

    /// Adds a table with the rows that fit, and the number of others.
    pub(crate) fn counted_table(&mut self, title: &str, titles: &[&str], rows: CountedRows) {
        let title = match rows.all {
            1 => format!("## {title}"),
            all => format!("## {title} ({all})"),
        };
        self.rows_below(&title, titles, rows);
    }

    /// The same, collapsed below its title.
    pub(crate) fn folded_table(&mut self, title: &str, titles: &[&str], rows: CountedRows) {
        let title = format!("<details><summary>{}</summary>", text(title));
        if self.rows_below(&title, titles, rows) {
            // Room for this is reserved.
            self.text.push_str("\n</details>\n");
        }
    }

    /// Adds the rows that fit below a title; returns whether there is a table.
    fn rows_below(&mut self, title: &str, titles: &[&str], rows: CountedRows) -> bool {
        let CountedRows { rows, all } = rows;
        if all == 0 || self.is_full {
            return false;
        }
        let head = titles.join(" | ");
        let rule = "---|".repeat(titles.len());
        if !self.line(&format!("\n{title}\n\n| {head} |\n|{rule}")) {
            return false;
        }
        let written = rows.iter().take_while(|row| self.line(row)).count();
        if written < all {
            // Room for this is reserved.
            let more = format!("\n… and {} more\n", all - written);
            self.text.push_str(&more);
        }
        true
    }

    pub(crate) fn end(self) -> String {
        self.text
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::document::IntervalScale;

    #[test]
    fn text_from_outside_does_nothing() {
        fn check(raw: &str, expect: &str) {
            assert_eq!(text(raw), expect);
        }
        check("plain words, 1-2 (ok)", "plain words, 1-2 (ok)");
        check("a|b", "a\\|b");
        check("<script>&", "&lt;script&gt;&amp;");
        check("![x](http://y)", "\\!\\[x\\](http\\://y)");
        check("www.evil.example", "www\\.evil.example");
        check("it is wrong now. See below.", "it is wrong now. See below.");
        check("`rm`\n# h", "\\`rm\\` \\# h");
        check("@team fixes #12", "@&#8288;team fixes #&#8288;12");
        check("⚠\u{fe0f} a\u{fe0f}", "⚠\u{fe0f} a\\\\u{fe0f}");
        check("é\u{200d}", "é\\\\u{200d}");
        check("❤\u{fe0f}\u{fe0f}", "❤\u{fe0f}\\\\u{fe0f}");
        check(
            "❤\u{fe0f}\u{200d}🔥\u{200d}\u{200d}",
            "❤\u{fe0f}\u{200d}🔥\u{200d}\\\\u{200d}",
        );
        check("\u{1b}[31mred\u{202e}", "\\\\u{1b}\\[31mred\\\\u{202e}");
        check("a\u{200b}\u{2028}b", "a\\\\u{200b}\\\\u{2028}b");
        check("(GH-12 math-1", "(GH-&#8288;12 math-1");
        check("::error::x", "\\:\\:error\\:\\:x");
        check("##[error]", "\\#\\#\\[error\\]");
    }

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
        let mut doc = Document::new("a\n# b");
        doc.section("<b>");
        doc.note(Line::default().strong("x|y").plain(" @team"));
        doc.paragraph(Line::default().code("ls `rm`").code(" gate a"));
        doc.paragraph(Line::default().quoted("`k`").plain(", `k <= 1`, `<k>`"));
        let mut table = Table::new(&[("a|b", Align::Left), ("n", Align::Right)]);
        table.row(["c\nd", "1"]);
        doc.table(table);
        doc.table(Table::new(&[("nothing", Align::Left)]));
        doc.blocks.push(Block::Intervals(Intervals {
            caption: String::new(),
            heads: <[String; 3]>::default(),
            scale: IntervalScale::SHARES,
            rows: vec![IntervalRow {
                label: "::error::\nx".to_owned(),
                value: Some(1.0),
                figures: "100.0 %".to_owned(),
                ..IntervalRow::default()
            }],
        }));
        doc.blocks.push(Block::Numbered(vec!["one".into()]));
        let mut out = Vec::new();
        document(&doc, 1, &mut out).unwrap();
        let bar = "█".repeat(50);
        let expect = format!(
            "# a \\# b\n\n## &lt;b&gt;\n\n> **x\\|y** @&#8288;team\n\nls \\`rm\\`` gate a`\n\n\\`k\\`, `k <= 1`, \\`&lt;k&gt;\\`\n\n\
             | a\\|b | n |\n|---|---:|\n| c d | 1 |\n\n    {bar} \\u{{3a}}:error::\\nx: 100.0 %\n\n1. one\n"
        );
        assert_eq!(String::from_utf8(out).unwrap(), expect);
    }
}

#[cfg(test)]
mod page_tests {
    use super::*;

    #[test]
    fn collapsed_table_is_closed_even_if_truncated() {
        let rows = || CountedRows {
            rows: vec!["| row |".to_owned(); 100],
            all: 100,
        };
        let mut page = Page::new(500);
        page.folded_table("8 <passed>", &["a"], rows());
        page.folded_table("more", &["a"], rows());
        let text = page.end();
        let start = "\n<details><summary>8 &lt;passed&gt;</summary>\n\n| a |\n|---|\n| row |\n";
        assert!(text.starts_with(start), "{text}");
        assert!(
            text.ends_with(" more\n\n</details>\n") && text.len() <= 500,
            "{text}"
        );
        assert_eq!(text.matches("details>").count(), 2, "{text}");
    }

    #[test]
    fn truncated_table_ends_after_a_row_and_counts_the_rest() {
        let rows: Vec<_> = (0..1000).map(|row| format!("| row {row} |")).collect();
        let mut page = Page::new(1000);
        page.table("Many", &["a"], rows.clone());
        page.table("Others", &["a"], rows);
        let text = page.end();
        assert!(text.len() <= 1000, "{}", text.len());
        assert!(text.starts_with("\n## Many (1000)\n\n| a |\n|---|\n| row 0 |\n"));
        let (table, end) = text.split_once("\n\n… and ").unwrap();
        let written = table
            .lines()
            .filter(|line| line.starts_with("| row"))
            .count();
        assert_eq!(end, format!("{} more\n", 1000 - written));
        assert!(!text.contains("Others"), "{text}");
    }
}
