//! `Address`: the address of a dataset on the Hub.

use std::fmt;
use std::path::Path;

use crate::error::{Error, Result};
use crate::system::file::is_inside;

const SCHEME: &str = "hf://";
const KIND: &str = "datasets/";
/// Web pages of datasets.
const PAGES: &str = "https://huggingface.co/datasets/";
/// Maximum length of a name.
const NAME_BYTES: usize = 96;
/// Refs of pull requests and converted files: the only revisions written with a `/`.
const REFS: [&str; 2] = ["refs/pr/", "refs/convert/"];

/// `hf://datasets/ORG/NAME[@REVISION][/PATH]`. A `/` in a revision is written `%2F`, except in `refs/pr/1`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Address {
    /// `ORG/NAME`.
    pub(crate) repository: String,
    /// A branch, a tag or a commit.
    pub(crate) revision: Option<String>,
    /// A file or folder in it; empty for all of it.
    pub(crate) path: String,
}

impl Address {
    /// Parses a path as an address; `None` for a local path.
    pub(crate) fn of(path: &Path) -> Option<Result<Self>> {
        let text = path.to_str()?;
        if let Some(page) = text.strip_prefix(PAGES) {
            // A URL copied from a browser.
            let error = Error::usage(format!(
                "`{}` is a page, not a dataset's address",
                text.escape_debug()
            ));
            let mut parts = page.split('/');
            let name = [parts.next(), parts.next()].map(Option::unwrap_or_default);
            let name = if name.iter().all(|half| is_name(half)) {
                name.join("/")
            } else {
                "ORG/NAME".to_owned()
            };
            return Some(Err(error.hint(format!("write `{SCHEME}{KIND}{name}`"))));
        }
        text.starts_with(SCHEME).then(|| Self::parse(text))
    }

    fn parse(text: &str) -> Result<Self> {
        let wrong = |why: &str| {
            Error::usage(format!(
                "`{}` is not the address of a dataset: {why}",
                text.escape_debug()
            ))
            .hint("write `hf://datasets/ORG/NAME`, optionally with `@REVISION` and `/PATH`")
        };
        let rest = text.strip_prefix(SCHEME).unwrap_or(text);
        let Some(rest) = rest.strip_prefix(KIND) else {
            return Err(wrong("only `hf://datasets/…` is supported"));
        };
        let Some((organisation, rest)) = rest.split_once('/') else {
            return Err(wrong("the name of a dataset has two parts"));
        };
        let end = rest.find(['/', '@']).unwrap_or(rest.len());
        let (name, rest) = rest.split_at(end);
        if !is_name(organisation) || !is_name(name) {
            return Err(wrong(
                "names have letters, digits and single `-`, `_` and `.`",
            ));
        }
        let (revision, path) = match rest.strip_prefix('@') {
            Some(rest) => {
                let (revision, path) = split_revision(rest);
                let revision = revision.replace("%2F", "/").replace("%2f", "/");
                if !is_revision(&revision) {
                    return Err(wrong("its revision is invalid"));
                }
                (Some(revision), path)
            }
            None => (None, rest.trim_start_matches('/')),
        };
        let path = path.trim_end_matches('/');
        if !is_relative(path) {
            return Err(wrong("its path must have plain names only"));
        }
        Ok(Self {
            repository: format!("{organisation}/{name}"),
            revision,
            path: path.to_owned(),
        })
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{SCHEME}{KIND}{}", self.repository)?;
        if let Some(revision) = &self.revision {
            write!(f, "@{revision}")?;
        }
        if !self.path.is_empty() {
            write!(f, "/{}", self.path)?;
        }
        Ok(())
    }
}

fn split_revision(text: &str) -> (&str, &str) {
    let start = REFS.iter().find(|start| text.starts_with(**start));
    let start = start.map_or(0, |start| start.len());
    match text[start..].split_once('/') {
        Some((_, path)) => (
            &text[..text.len() - path.len() - 1],
            path.trim_start_matches('/'),
        ),
        None => (text, ""),
    }
}

/// Whether it is a valid owner or name of a dataset. `--` separates the two in the cache.
pub(super) fn is_name(text: &str) -> bool {
    let legal = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
    !text.is_empty()
        && text.len() <= NAME_BYTES
        && text.bytes().all(legal)
        && !text.contains("--")
        && !text.contains("..")
        && !text.starts_with(['-', '.'])
        && !text.ends_with(['-', '.'])
}

fn is_revision(text: &str) -> bool {
    !text.is_empty() && is_relative(text) && !text.contains(['\\', '?', '#', ' '])
}

/// Whether it is a path below a folder on every system. An empty text is, too.
pub(super) fn is_relative(text: &str) -> bool {
    let is_plain = |part: &str| !matches!(part, "" | "." | "..");
    text.is_empty()
        || (is_inside(Path::new(text))
            && text.split('/').all(is_plain)
            && !text.contains('\\')
            && !text.chars().any(char::is_control))
}

/// Whether it is a commit hash.
pub(super) fn is_commit(text: &str) -> bool {
    is_hex(text, 40)
}

/// Whether it is a lower-case hexadecimal number with this many digits.
pub(super) fn is_hex(text: &str, digits: usize) -> bool {
    text.len() == digits
        && text
            .bytes()
            .all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_have_a_name_and_may_have_a_revision_and_a_path() {
        let check = |text: &str, repository: &str, revision: Option<&str>, path: &str| {
            let address = Address::of(Path::new(text)).unwrap().unwrap();
            let expect = (repository, revision, path);
            let found = (
                &*address.repository,
                address.revision.as_deref(),
                &*address.path,
            );
            assert_eq!(found, expect, "{text}");
        };
        check("hf://datasets/a/b", "a/b", None, "");
        check("hf://datasets/a/b/", "a/b", None, "");
        check("hf://datasets/a/b@main", "a/b", Some("main"), "");
        check(
            "hf://datasets/a/b@v1.0/x/y.csv",
            "a/b",
            Some("v1.0"),
            "x/y.csv",
        );
        check("hf://datasets/a/b/x y.jsonl", "a/b", None, "x y.jsonl");
        check("hf://datasets/a/b@feat%2Fx/c", "a/b", Some("feat/x"), "c");
        let converted = "hf://datasets/a/b@refs/convert/parquet/d/0.parquet";
        check(
            converted,
            "a/b",
            Some("refs/convert/parquet"),
            "d/0.parquet",
        );
        check("hf://datasets/a/b@refs/pr/7", "a/b", Some("refs/pr/7"), "");
        assert!(Address::of(Path::new("data/hf")).is_none());
        assert!(Address::of(Path::new("/hf:/datasets/a/b")).is_none());
    }

    #[test]
    fn dataset_page_url_is_detected() {
        for (page, name) in [
            ("a/b", "a/b"),
            ("a/b/tree/main", "a/b"),
            ("", "ORG/NAME"),
            ("../x", "ORG/NAME"),
        ] {
            let path = format!("https://huggingface.co/datasets/{page}");
            let error = Address::of(Path::new(&path)).unwrap().unwrap_err();
            let hint = format!("write `hf://datasets/{name}`");
            assert_eq!(error.hint_text(), Some(&*hint), "{page}");
        }
    }

    #[test]
    fn what_could_leave_a_folder_is_no_address() {
        for text in [
            "hf://",
            "hf://models/a/b",
            "hf://datasets/a",
            "hf://datasets/a/",
            "hf://datasets//b",
            "hf://datasets/../b",
            "hf://datasets/a/..",
            "hf://datasets/a--c/b",
            "hf://datasets/a/b@",
            "hf://datasets/a/b@../x",
            "hf://datasets/a/b@..%2F..%2Fx",
            "hf://datasets/a/b@x y",
            "hf://datasets/a/b/../c",
            "hf://datasets/a/b/x//y",
            "hf://datasets/a/b/x\\..\\y",
            "hf://datasets/a/b/x\ny",
            "hf://datasets/a b/c",
        ] {
            let error = Address::of(Path::new(text)).unwrap().unwrap_err();
            assert!(
                error.message().contains("is not the address of a dataset"),
                "{error}"
            );
            assert!(!error.message().contains('\n'), "{error}");
        }
    }
}
