//! Links between pages lead somewhere, and so do their anchors.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Component, Path, PathBuf};

use evaltest::engine::verdict::AccountRow;

use super::page;
use crate::project::root;

/// A page without its code.
fn prose(text: &str) -> String {
    let mut code = false;
    let lines = text.lines().filter(|line| {
        let fence = line.starts_with("```");
        code ^= fence;
        !code && !fence
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// The targets of the links `[…](…)` of a page.
fn links(text: &str) -> Vec<String> {
    let prose = prose(text);
    let parts = prose.split("](").skip(1);
    let targets = parts.filter_map(|part| part.split(')').next());
    targets.map(str::to_owned).collect()
}

/// The anchor of a heading, as mdBook and GitHub make it.
fn anchor(heading: &str) -> String {
    let text = heading.trim_start_matches('#').trim().to_lowercase();
    let names = text.chars().filter_map(|c| match c {
        ' ' => Some('-'),
        c if c.is_alphanumeric() || c == '-' || c == '_' => Some(c),
        _ => None,
    });
    names.collect()
}

fn anchors(text: &str) -> BTreeSet<String> {
    let prose = prose(text);
    prose
        .lines()
        .filter(|line| line.starts_with('#'))
        .map(anchor)
        .collect()
}

/// A path without `..`.
fn tidied(path: &Path) -> PathBuf {
    path.components().fold(PathBuf::new(), |mut path, part| {
        if part == Component::ParentDir {
            path.pop();
        } else {
            path.push(part);
        }
        path
    })
}

#[test]
fn links_lead_to_pages_and_headings_that_are_there() {
    let mut lost = Vec::new();
    let mut count = 0;
    for name in page::all(&root()) {
        let text = fs::read_to_string(root().join(&name)).unwrap();
        for link in links(&text) {
            if link.contains("://") || link.starts_with("mailto:") {
                continue;
            }
            count += 1;
            let (file, heading) = link.split_once('#').unwrap_or((&link, ""));
            let path = if file.is_empty() {
                PathBuf::from(&name)
            } else {
                tidied(&Path::new(&name).parent().unwrap().join(file))
            };
            // What the reference will hold is generated, and its links are held by who generates it.
            if path.starts_with("docs/src/reference") && !root().join("docs/src/reference").is_dir()
            {
                continue;
            }
            let outside = name.starts_with("docs/") && !path.starts_with("docs/src");
            let Ok(text) = fs::read_to_string(root().join(&path)) else {
                if outside || !root().join(&path).is_file() {
                    lost.push(format!("{name}: {link}"));
                }
                continue;
            };
            if outside || (!heading.is_empty() && !anchors(&text).contains(heading)) {
                lost.push(format!("{name}: {link}"));
            }
        }
    }
    assert!(lost.is_empty(), "{lost:#?}");
    assert!(count > 90, "{count}");
}

/// The account of a run has no row that the book does not explain.
#[test]
fn the_book_has_every_row_of_the_account() {
    let page = fs::read_to_string(root().join("docs/src/concepts/green.md")).unwrap();
    for row in AccountRow::ALL {
        let cell = format!("\n| {} |", row.label());
        assert_eq!(page.matches(&cell).count(), 1, "{cell}");
    }
}

/// mdBook shows what `SUMMARY.md` lists and nothing else.
#[test]
fn the_summary_lists_every_page() {
    let summary = fs::read_to_string(root().join("docs/src/SUMMARY.md")).unwrap();
    let listed: BTreeSet<_> = links(&summary).into_iter().collect();
    let pages = page::all(&root()).into_iter();
    for page in pages.filter_map(|page| page.strip_prefix("docs/src/").map(str::to_owned)) {
        assert!(page == "SUMMARY.md" || listed.contains(&page), "{page}");
    }
}
