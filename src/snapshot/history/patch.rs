//! `HistoryPatch`: the lines that a patch adds to histories, as `git diff` writes it.
//!
//! A job of CI that may write to the repository takes them from one that may not, which ran agents: so the patch is
//! hostile input, and git never applies it. Only new lines are taken, only for files named `history.jsonl`, and only lines
//! of a history. Anything else refuses the whole patch, before a file changes. `.gitattributes` beside a history may be in
//! it and is passed over: the file has a content of its own.

use std::collections::HashSet;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::super::{ATTRIBUTES_FILE, write_attributes};
use super::{HistoryFile, add};
use crate::data::history::{HISTORY_FILE, History};
use crate::error::{Error, Result};
use crate::system::file::read_plain;
use crate::text::{clean, excerpt};

/// Larger patches are refused, in bytes: a line has some kilobytes.
const LARGEST: usize = 32 << 20;

/// The lines that a patch adds to histories.
#[derive(Debug, Default)]
pub struct HistoryPatch {
    files: Vec<PatchedFile>,
}

/// A file in a patch.
#[derive(Debug, Default)]
struct PatchedFile {
    /// From the top of the repository; empty until it is read.
    path: String,
    added: Vec<String>,
    removed: Vec<String>,
}

/// A history with the lines to append.
struct Appended<'a> {
    path: &'a str,
    file: HistoryFile,
    lines: Vec<&'a str>,
}

impl HistoryPatch {
    /// Reads a patch.
    ///
    /// # Errors
    /// If it holds anything but lines of histories.
    pub fn read(path: &Path) -> Result<Self> {
        let bytes = read_plain(path).map_err(|error| Error::io("read", path, &error))?;
        if bytes.len() > LARGEST {
            return Err(refused("the patch is too large"));
        }
        let text = String::from_utf8(bytes);
        Self::of(&text.map_err(|_| refused("the patch is not UTF-8"))?)
    }

    fn of(text: &str) -> Result<Self> {
        let mut files: Vec<PatchedFile> = Vec::new();
        // The lines left in a hunk: of the old file, and of the new one.
        let mut hunk = [0_usize; 2];
        for (number, line) in (1..).zip(text.split_terminator('\n')) {
            let fault = |why: &str| refused(&format!("line {number} of the patch {why}"));
            if line.starts_with("diff --git ") && hunk == [0; 2] {
                files.push(PatchedFile::default());
                continue;
            }
            let file = files.last_mut();
            let file = file.ok_or_else(|| fault("belongs to no file"))?;
            if hunk != [0; 2] {
                file.read(line, &mut hunk)
                    .ok_or_else(|| fault("is not one of its hunk"))?;
            } else if let Some(ranges) = line.strip_prefix("@@ ") {
                let ranges = lengths(ranges).filter(|_| !file.path.is_empty());
                hunk = ranges.ok_or_else(|| fault("begins no hunk"))?;
            } else if let Some(name) = line.strip_prefix("+++ ") {
                // Git ends a path that has a space with a tab.
                let name = name.strip_suffix('\t').unwrap_or(name);
                let path = name.strip_prefix("b/").filter(|path| is_taken(path));
                path.ok_or_else(|| {
                    fault(&format!(
                        "is about `{}`, which is not a history",
                        excerpt(name)
                    ))
                })?
                .clone_into(&mut file.path);
            } else if !is_head(line) {
                return Err(fault("changes more than lines of a history"));
            }
        }
        if hunk != [0; 2] {
            return Err(refused("the patch is cut off"));
        }
        Ok(Self { files })
    }

    /// Appends the lines to the histories below `root`, unless they are there. Returns the files that changed, from `root`.
    ///
    /// # Errors
    /// If a line is none of a history, or a file cannot be written; in the first case nothing is.
    pub fn apply(&self, root: &Path) -> Result<Vec<String>> {
        let is_history = |file: &&PatchedFile| file.path.ends_with(HISTORY_FILE);
        let histories = self.files.iter().filter(is_history);
        let checked: Result<Vec<_>> = histories.map(|file| file.check(root)).collect();
        let mut changed = Vec::new();
        for Appended { path, file, lines } in checked? {
            if lines.is_empty() {
                continue;
            }
            file.append_lines(&lines)?;
            changed.push(path.to_owned());
            changed.push(format!(
                "{}{ATTRIBUTES_FILE}",
                path.trim_end_matches(HISTORY_FILE)
            ));
        }
        Ok(changed)
    }
}

impl PatchedFile {
    /// Reads a line of a hunk; `None` if it is none.
    fn read(&mut self, line: &str, [old, new]: &mut [usize; 2]) -> Option<()> {
        let (kind, text) = line.split_at_checked(1)?;
        let (is_old, is_new) = match kind {
            " " => (true, true),
            "-" => (true, false),
            "+" => (false, true),
            // `\ No newline at end of file`
            "\\" => (false, false),
            _ => return None,
        };
        *old = old.checked_sub(usize::from(is_old))?;
        *new = new.checked_sub(usize::from(is_new))?;
        match kind {
            "-" => self.removed.push(text.to_owned()),
            "+" => self.added.push(text.to_owned()),
            _ => {}
        }
        Some(())
    }

    /// Checks the lines and the place, and leaves out the lines that are there.
    fn check(&self, root: &Path) -> Result<Appended<'_>> {
        let fault = |why: &str| refused(&format!("`{}`: {why}", clean(&self.path)));
        // A line without its line end is removed and added again.
        if self.removed.iter().any(|line| !self.added.contains(line)) {
            return Err(fault("the patch removes lines of a history"));
        }
        let mut place = PathBuf::from(root);
        let mut parts = self.path.split('/').peekable();
        while let Some(part) = parts.next() {
            place.push(part);
            match fs::symlink_metadata(&place) {
                Err(error) if error.kind() == ErrorKind::NotFound => {}
                Err(error) => return Err(Error::io("read", &place, &error)),
                Ok(about) if parts.peek().is_some() && about.is_dir() => {}
                Ok(about) if parts.peek().is_none() && about.is_file() => {}
                Ok(_) => return Err(fault("the path is a link or not a file")),
            }
        }
        let there = match read_plain(&place) {
            Err(error) if error.kind() == ErrorKind::NotFound => Vec::new(),
            read => read.map_err(|error| Error::io("read", &place, &error))?,
        };
        let there = String::from_utf8_lossy(&there);
        let mut known: HashSet<&str> = there.lines().map(str::trim).collect();
        let lines = self.added.iter().map(|line| line.trim());
        let lines: Vec<_> = lines.filter(|line| !line.is_empty()).collect();
        // A history has the lines of one eval.
        let eval = there.lines().chain(lines.iter().copied()).find_map(eval_of);
        let eval = eval.unwrap_or_default();
        let read = History::of(lines.join("\n").as_bytes(), &place, &eval);
        if let Some(line) = read.skipped.first() {
            return Err(fault(&format!("an added line is refused: {}", line.why)));
        }
        let folder = place.parent().unwrap_or(root);
        Ok(Appended {
            path: &self.path,
            file: HistoryFile::of(folder, &eval),
            lines: lines
                .into_iter()
                .filter(|line| known.insert(line))
                .collect(),
        })
    }
}

impl HistoryFile {
    /// Appends lines that were checked.
    fn append_lines(&self, lines: &[&str]) -> Result<()> {
        let folder = self.path.parent().unwrap_or(Path::new("."));
        fs::create_dir_all(folder).map_err(|error| Error::io("create", folder, &error))?;
        self.refuse_other()?;
        write_attributes(folder)?;
        let written = add(&mut self.locked()?, lines.join("\n").into_bytes());
        written.map_err(|error| self.io("write", &error))
    }
}

/// The name of the eval in a line of a history.
fn eval_of(line: &str) -> Option<String> {
    let line: Value = serde_json::from_str(line).ok()?;
    line["eval"].as_str().map(str::to_owned)
}

/// Whether a line of the head says nothing that matters: the mode of a plain file, hashes, the name before.
fn is_head(line: &str) -> bool {
    let starts = ["index ", "--- ", "\\ "];
    line == "new file mode 100644" || starts.iter().any(|start| line.starts_with(start))
}

/// The numbers of lines in `-1,2 +1,3 @@`: of the old file, and of the new one.
fn lengths(ranges: &str) -> Option<[usize; 2]> {
    let mut words = ranges.split(' ');
    let mut length = |sign: char| {
        let range = words.next()?.strip_prefix(sign)?;
        match range.split_once(',') {
            Some((_, length)) => length.parse().ok(),
            None => Some(1),
        }
    };
    Some([length('-')?, length('+')?])
}

/// Whether a path may be in a patch: of a history or attributes, not hidden, within the repository and outside git's own
/// folder and those of services.
fn is_taken(path: &str) -> bool {
    let Some((folder, name)) = path.rsplit_once('/') else {
        return false;
    };
    let is_plain = |part: &str| {
        let start = part.get(..4).unwrap_or_default();
        !matches!(part, "" | "." | "..") && !start.eq_ignore_ascii_case(".git")
    };
    let is_shown = |c: char| !c.is_control() && !matches!(c, '\\' | '"');
    [HISTORY_FILE, ATTRIBUTES_FILE].contains(&name)
        && folder.split('/').all(is_plain)
        && path.chars().all(is_shown)
}

fn refused(why: &str) -> Error {
    Error::usage(why.to_owned())
        .hint("a patch of a history adds lines to `history.jsonl` and does nothing else; nothing was written")
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINE: &str =
        r#"{"format_version":1,"kind":"run","id":"a","eval":"e","time":"2026-01-01T00:00:00Z"}"#;

    /// A patch that adds lines to a new file.
    fn patch(path: &str, mode: &str, lines: &[&str]) -> String {
        let added: String = lines.iter().flat_map(|line| ["+", line, "\n"]).collect();
        format!(
            "diff --git a/{path} b/{path}\nnew file mode {mode}\nindex 0000000..1111111\n--- /dev/null\n+++ b/{path}\n\
             @@ -0,0 +1,{} @@\n{added}",
            lines.len()
        )
    }

    #[test]
    fn anything_but_lines_of_histories_is_refused_and_changes_nothing() {
        fn check(patch: &str, expect: &str) {
            let folder = tempfile::tempdir().unwrap();
            let root = folder.path();
            fs::create_dir_all(root.join("real")).unwrap();
            std::os::unix::fs::symlink("real", root.join("link")).unwrap();
            let error = HistoryPatch::of(patch).and_then(|patch| patch.apply(root));
            let error = error.unwrap_err();
            assert!(error.message().contains(expect), "{error}\n{patch}");
            assert_eq!(walkdir::WalkDir::new(root).into_iter().count(), 3);
        }
        let good = patch("evals/snapshots/e/history.jsonl", "100644", &[LINE]);
        for path in [
            "src/main.rs",
            ".git/config",
            ".git/history.jsonl",
            "a/.GIT/history.jsonl",
            ".github/workflows/history.jsonl",
            ".github/workflows/evaltest.yml",
            "../history.jsonl",
            "/etc/history.jsonl",
            "a/./history.jsonl",
            "history.jsonl",
            "a/history.jsonl.rs",
            "a/\"history.jsonl",
        ] {
            let other = patch(path, "100644", &[LINE]);
            check(&other, "is not a history");
            check(&format!("{good}{other}"), "is not a history");
        }
        check(
            &patch("a/history.jsonl", "120000", &["/etc/passwd"]),
            "changes more than lines of a history",
        );
        check(
            &patch("a/history.jsonl", "100755", &[LINE]),
            "changes more than lines of a history",
        );
        check(&patch("link/history.jsonl", "100644", &[LINE]), "a link");
        check(
            &patch("a/history.jsonl", "100644", &["x"]),
            "not a line of a history",
        );
        let other = LINE.replace("\"e\"", "\"f\"");
        check(
            &patch("a/history.jsonl", "100644", &[LINE, &other]),
            "refused",
        );
        check(&good.replace("+1,1", "+1,2"), "cut off");
        check(&good.replace("-0,0", "-0,1"), "cut off");
        check(
            &format!("{good}+{LINE}\n"),
            "changes more than lines of a history",
        );
        check(
            "--- a/src/main.rs\n+++ b/src/main.rs\n@@ -1 +1 @@\n-a\n+b\n",
            "belongs to no file",
        );
        let binary = "diff --git a/a/history.jsonl b/a/history.jsonl\nGIT binary patch\n";
        check(binary, "changes more than lines of a history");
        let renamed = "diff --git a/x b/a/history.jsonl\nrename from x\n";
        check(renamed, "changes more than lines of a history");
    }

    #[test]
    fn new_lines_are_appended_once_and_others_stay() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        let name = "my evals/snapshots/e/history.jsonl";
        let attributes = patch(
            "my evals/snapshots/e/.gitattributes",
            "100644",
            &["* filter=x"],
        );
        let spaced = patch(name, "100644", &[LINE]).replace(
            "+++ b/my evals/snapshots/e/history.jsonl",
            "+++ b/my evals/snapshots/e/history.jsonl\t",
        );
        let apply = |text: &str| HistoryPatch::of(text).unwrap().apply(root).unwrap();
        let changed = apply(&format!("{attributes}{spaced}"));
        assert_eq!(changed, [name, "my evals/snapshots/e/.gitattributes"]);
        let read = |name: &str| fs::read_to_string(root.join(name)).unwrap();
        assert_eq!(read(name), format!("{LINE}\n"));
        assert_eq!(read(&changed[1]), super::super::super::ATTRIBUTES);
        assert!(apply(&spaced).is_empty());
        // The last line had no line end.
        let second = LINE.replace("\"a\"", "\"b\"");
        let more = format!(
            "diff --git a/{name} b/{name}\nindex 1..2 100644\n--- a/{name}\n+++ b/{name}\n@@ -1 +1,2 @@\n-{LINE}\n\
             \\ No newline at end of file\n+{LINE}\n+{second}\n"
        );
        assert_eq!(apply(&more), changed);
        assert_eq!(read(name), format!("{LINE}\n{second}\n"));
        let removes = more.replace(&format!("-{LINE}"), "-{}");
        let error = HistoryPatch::of(&removes).unwrap().apply(root).unwrap_err();
        assert!(error.message().contains("removes lines"), "{error}");
    }
}
