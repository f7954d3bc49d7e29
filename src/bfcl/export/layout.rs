//! File locations in the leaderboard's folders, and the order of lines.

use std::path::{Path, PathBuf};

use crate::bfcl::data::{Category, CategoryGroup};
use crate::error::{Error, Result};

/// Prefix of all file names.
const PREFIX: &str = "BFCL_v4_";

/// The kinds of files, which are also the names of their folders.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ExportKind {
    /// Answers of a model.
    Result,
    /// Verdicts of the checker.
    Score,
}

impl ExportKind {
    /// The folder's name.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Result => "result",
            Self::Score => "score",
        }
    }
}

/// The category of a file named `BFCL_v4_<category>_<kind>.json`; its folder is irrelevant.
pub(super) fn category_of(path: &Path, kind: ExportKind) -> Option<&str> {
    let name = path.file_name()?.to_str()?.strip_prefix(PREFIX)?;
    let category = name.strip_suffix(".json")?;
    let category = category.strip_suffix(kind.as_str())?.strip_suffix('_')?;
    is_word(category).then_some(category)
}

/// Path of a file below the model's folder; starts with the category's group.
pub(super) fn file(category: &str, kind: ExportKind) -> Result<PathBuf> {
    if !is_word(category) {
        return Err(Error::usage(format!(
            "the category `{}` cannot be part of a file name",
            category.escape_debug()
        ))
        .hint("use letters, digits and `_`"));
    }
    let name = format!("{PREFIX}{category}_{}.json", kind.as_str());
    Ok(folder(category).join(name))
}

/// The group's folder, found by words in the category's name as in the official program.
fn folder(category: &str) -> PathBuf {
    let has = |word| category.contains(word);
    if has("format_sensitivity") {
        "format_sensitivity".into()
    } else if has("live") {
        "live".into()
    } else if has("multi_turn") {
        "multi_turn".into()
    } else if has("memory") {
        let backend = category.strip_prefix("memory_").unwrap_or(category);
        Path::new("agentic/memory").join(backend)
    } else if has("web_search") {
        "agentic".into()
    } else {
        "non_live".into()
    }
}

fn is_word(name: &str) -> bool {
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    !name.is_empty() && name.chars().all(is_word)
}

/// Whether only the official program can score a category: conversations of several turns or steps, and questions in
/// several formats.
pub(crate) fn needs_official(category: &str) -> bool {
    !Category::named(category).is_native()
}

/// Whether answers are turns of steps.
pub(crate) fn has_steps(category: &str) -> bool {
    let group = Category::named(category).group;
    matches!(
        group,
        CategoryGroup::MultiTurn | CategoryGroup::Memory | CategoryGroup::WebSearch
    )
}

/// Sort key of a line: the number in ids such as `simple_python_7` and `live_simple_7-3-15`. `None` for other ids, on
/// which the official program fails.
pub(super) fn place(id: &str) -> Option<u64> {
    let id = id.split(':').next()?;
    let (_, number) = id.rsplit_once('_')?;
    match number.split('-').collect::<Vec<_>>()[..] {
        [number] | [number, _, _] => number.parse().ok(),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_where_the_official_program_reads_them() {
        let check = |category: &str, expect: &str| {
            let found = file(category, ExportKind::Score).unwrap();
            assert_eq!(found, Path::new(expect), "{category}");
            assert_eq!(category_of(&found, ExportKind::Score), Some(category));
            assert_eq!(category_of(&found, ExportKind::Result), None);
        };
        check("simple_java", "non_live/BFCL_v4_simple_java_score.json");
        check("irrelevance", "non_live/BFCL_v4_irrelevance_score.json");
        check("live_relevance", "live/BFCL_v4_live_relevance_score.json");
        check(
            "multi_turn_base",
            "multi_turn/BFCL_v4_multi_turn_base_score.json",
        );
        check(
            "memory_rec_sum",
            "agentic/memory/rec_sum/BFCL_v4_memory_rec_sum_score.json",
        );
        check(
            "web_search_base",
            "agentic/BFCL_v4_web_search_base_score.json",
        );
        check(
            "format_sensitivity",
            "format_sensitivity/BFCL_v4_format_sensitivity_score.json",
        );
        for name in ["", "a/b", "..", "a b", "ä", "a\0"] {
            assert!(file(name, ExportKind::Result).is_err(), "{name:?}");
        }
    }

    #[test]
    fn lines_stand_in_the_order_of_their_numbers() {
        assert_eq!(place("simple_python_10"), Some(10));
        assert_eq!(place("live_simple_19-3-15"), Some(19));
        assert_eq!(
            place("format_sensitivity_7:a=b&c=d:live_simple_1-2-3"),
            Some(7)
        );
        assert_eq!(place("mine"), None);
        assert_eq!(place("mine_1-2"), None);
        assert_eq!(place("mine_x"), None);
    }
}
