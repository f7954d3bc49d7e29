//! A page of the book, as the steps that a reader takes on it.
//!
//! A fenced block belongs to a file where the line before it ends in its name, `` `agent.py`: ``. Comments tell what
//! a reader does not see: `<!-- run: … -->` is done first, `<!-- not run: reason -->` leaves the next block out,
//! `<!-- picture: PATH -->` makes a picture of what the last command printed.

use std::fs;
use std::path::Path;

/// Something on a page that is played.
#[derive(Debug)]
pub(crate) enum Step {
    /// Shell that prepares what the page takes for granted.
    Hidden(String),
    /// A picture of what the last command printed, as a path from the top.
    Picture(String),
    Block(Block),
}

/// A fenced block.
#[derive(Debug)]
pub(crate) struct Block {
    /// Where its fence stands, from 1.
    pub(crate) line: usize,
    /// The first word behind the fence, up to a comma.
    pub(crate) kind: String,
    pub(crate) text: String,
    /// The file that it is.
    pub(crate) file: Option<String>,
    /// Why it is left out.
    pub(crate) excluded: Option<String>,
}

/// The name at the end of a line as `` Write this as `agent.py`: ``.
fn file_name(before: &str) -> Option<String> {
    let rest = before.trim_end().strip_suffix("`:")?;
    let (_, name) = rest.rsplit_once('`')?;
    let is_path = !name.contains([' ', '{', '$', '*']) && name.contains('.');
    is_path.then(|| name.to_owned())
}

/// The steps of a page, in its order.
pub(crate) fn steps(text: &str) -> Vec<Step> {
    let mut steps = Vec::new();
    let mut lines = text.lines().enumerate();
    let mut before = "";
    let mut excluded = None;
    while let Some((at, line)) = lines.next() {
        if let Some(comment) = line.strip_prefix("<!--") {
            let mut comment = comment.to_owned();
            while !comment.contains("-->") {
                let (_, more) = lines.next().expect("the end of a comment");
                comment = comment + "\n" + more;
            }
            let comment = comment.split("-->").next().unwrap_or_default().trim();
            if let Some(reason) = comment.strip_prefix("not run:") {
                excluded = Some(reason.trim().to_owned());
            } else if let Some(script) = comment.strip_prefix("run:") {
                steps.push(Step::Hidden(script.trim().to_owned()));
            } else if let Some(path) = comment.strip_prefix("picture:") {
                steps.push(Step::Picture(path.trim().to_owned()));
            }
        } else if let Some(kind) = line.strip_prefix("```") {
            let body = lines
                .by_ref()
                .map(|(_, line)| line)
                .take_while(|line| *line != "```");
            let text = body.fold(String::new(), |text, line| text + line + "\n");
            let kind = kind.split(',').next().unwrap_or_default();
            steps.push(Step::Block(Block {
                line: at + 1,
                kind: kind.to_owned(),
                text,
                file: file_name(before),
                excluded: excluded.take(),
            }));
            before = "";
        } else if !line.trim().is_empty() {
            before = line;
        }
    }
    assert!(
        excluded.is_none(),
        "no block comes behind `not run: {excluded:?}`"
    );
    steps
}

/// Every page: the README, and what lies below `docs/src`, by path from the top.
pub(crate) fn all(root: &Path) -> Vec<String> {
    let mut pages = vec!["README.md".to_owned()];
    let mut folders = vec![root.join("docs/src")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|end| end == "md") {
                let name = path.strip_prefix(root).unwrap();
                pages.push(name.to_str().unwrap().to_owned());
            }
        }
    }
    pages.sort();
    pages
}
