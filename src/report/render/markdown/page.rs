//! `Page`: Markdown with a size limit, truncated after a row.

use super::text;

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
        self.line(&format!("# {}", text(title)));
    }

    /// Adds a table, if it has rows.
    pub(crate) fn table(&mut self, title: &str, titles: &[&str], rows: Vec<String>) {
        let all = rows.len();
        self.counted_table(title, titles, CountedRows { rows, all });
    }

    /// Adds a table with the rows that fit, and the number of others.
    pub(crate) fn counted_table(&mut self, title: &str, titles: &[&str], rows: CountedRows) {
        let CountedRows { rows, all } = rows;
        if all == 0 || self.is_full {
            return;
        }
        let head = titles.join(" | ");
        let rule = "---|".repeat(titles.len());
        let title = match all {
            1 => format!("\n## {title}\n"),
            all => format!("\n## {title} ({all})\n"),
        };
        if !self.line(&format!("{title}\n| {head} |\n|{rule}")) {
            return;
        }
        let written = rows.iter().take_while(|row| self.line(row)).count();
        if written < all {
            // Room for this is reserved.
            let more = format!("\n… and {} more\n", all - written);
            self.text.push_str(&more);
        }
    }

    pub(crate) fn end(self) -> String {
        self.text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
