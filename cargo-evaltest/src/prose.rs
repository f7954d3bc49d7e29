//! Converts Markdown help texts to paragraphs that clap can wrap.

/// Joins the lines of each paragraph. Headings end in a colon. Tables become lists: the first cell of a row is the
/// item, with the other cells below it (with column titles if there are several).
pub(super) fn flowing(text: &str) -> String {
    let mut lines: Vec<String> = Vec::new();
    let mut titles: Option<Vec<&str>> = None;
    let mut goes_on = false;
    for line in text.lines() {
        if line.starts_with('|') {
            let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
            match &titles {
                None => titles = Some(cells),
                Some(_) if cells.iter().all(|cell| cell.starts_with("---")) => {}
                Some(titles) => row(titles, &cells, &mut lines),
            }
            goes_on = false;
            continue;
        }
        titles = None;
        if let Some(heading) = line.strip_prefix("# ") {
            lines.push(format!("{heading}:"));
            goes_on = false;
        } else if line.is_empty() || line.starts_with(' ') {
            lines.push(line.to_owned());
            goes_on = false;
        } else if let Some(last) = lines.last_mut().filter(|_| goes_on) {
            last.push(' ');
            last.push_str(line);
        } else {
            lines.push(line.to_owned());
            goes_on = true;
        }
    }
    lines.join("\n")
}

fn row(titles: &[&str], cells: &[&str], lines: &mut Vec<String>) {
    let Some((first, others)) = cells.split_first() else {
        return;
    };
    lines.push(format!("  {first}"));
    for (title, cell) in titles.iter().skip(1).zip(others) {
        lines.push(match others.len() {
            1 => format!("      {cell}"),
            _ => format!("      {title}: {cell}"),
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paragraphs_and_tables_are_not_wrapped() {
        let check = |text: &str, expect: &str| assert_eq!(flowing(text), expect);
        check("a\nb\n\nc\nd", "a b\n\nc d");
        check("# Which\n\na\nb", "Which:\n\na b");
        check("a\n  b\n  c\nd", "a\n  b\n  c\nd");
        check(
            "a:\n\n| x | y |\n|---|---|\n| 1 | 2 |\n| 3 | 4 |\n\nb",
            "a:\n\n  1\n      2\n  3\n      4\n\nb",
        );
        check(
            "| x | y | z |\n|---|---|---|\n| 1 | 2 | 3 |\nb",
            "  1\n      y: 2\n      z: 3\nb",
        );
    }
}
