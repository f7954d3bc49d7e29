//! Categories of the leaderboard, and collections of them.

use crate::error::{Error, Result, nearest};

/// A category; its name determines the language and the kind of check.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Category {
    /// Such as `simple_python`.
    pub name: String,
    /// Its group.
    pub group: CategoryGroup,
}

/// A group of categories.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum CategoryGroup {
    /// Written by the leaderboard's authors.
    NonLive,
    /// Contributed by users of models.
    Live,
    /// Conversations with stateful programs: scored by the official tool only.
    MultiTurn,
    /// Questions about earlier conversations: scored by the official tool only.
    Memory,
    /// Questions for a search engine: scored by the official tool only.
    WebSearch,
    /// Entries of other categories in 26 prompt forms; not part of an overall score.
    FormatSensitivity,
    /// A file of the user's own.
    Own,
}

/// The official categories, in official order.
const OFFICIAL: [(&str, CategoryGroup); 23] = [
    ("simple_python", CategoryGroup::NonLive),
    ("simple_java", CategoryGroup::NonLive),
    ("simple_javascript", CategoryGroup::NonLive),
    ("multiple", CategoryGroup::NonLive),
    ("parallel", CategoryGroup::NonLive),
    ("parallel_multiple", CategoryGroup::NonLive),
    ("irrelevance", CategoryGroup::NonLive),
    ("live_simple", CategoryGroup::Live),
    ("live_multiple", CategoryGroup::Live),
    ("live_parallel", CategoryGroup::Live),
    ("live_parallel_multiple", CategoryGroup::Live),
    ("live_irrelevance", CategoryGroup::Live),
    ("live_relevance", CategoryGroup::Live),
    ("multi_turn_base", CategoryGroup::MultiTurn),
    ("multi_turn_miss_func", CategoryGroup::MultiTurn),
    ("multi_turn_miss_param", CategoryGroup::MultiTurn),
    ("multi_turn_long_context", CategoryGroup::MultiTurn),
    ("memory_kv", CategoryGroup::Memory),
    ("memory_vector", CategoryGroup::Memory),
    ("memory_rec_sum", CategoryGroup::Memory),
    ("web_search_base", CategoryGroup::WebSearch),
    ("web_search_no_snippet", CategoryGroup::WebSearch),
    ("format_sensitivity", CategoryGroup::FormatSensitivity),
];

/// The official names of collections.
pub(crate) const COLLECTIONS: [&str; 11] = [
    "all",
    "all_scoring",
    "single_turn",
    "live",
    "non_live",
    "python",
    "non_python",
    "multi_turn",
    "memory",
    "web_search",
    "agentic",
];

impl Category {
    /// All official categories, in official order.
    pub fn official() -> impl Iterator<Item = Self> {
        OFFICIAL.iter().map(|&(name, group)| Self {
            name: name.to_owned(),
            group,
        })
    }

    /// The category with this name; a user's own if it is not official.
    pub fn named(name: &str) -> Self {
        let official = OFFICIAL.iter().find(|(official, _)| *official == name);
        Self {
            name: name.to_owned(),
            group: official.map_or(CategoryGroup::Own, |&(_, group)| group),
        }
    }

    /// Whether evaltest can score it; other categories need the official tool.
    pub fn is_native(&self) -> bool {
        matches!(
            self.group,
            CategoryGroup::NonLive
                | CategoryGroup::Live
                | CategoryGroup::FormatSensitivity
                | CategoryGroup::Own
        )
    }

    /// Whether its entries are conversations with the simulators of the official package.
    pub(crate) fn is_multi_turn(&self) -> bool {
        self.group == CategoryGroup::MultiTurn
    }

    /// Whether it is selected by default; `format_sensitivity` is not, because it repeats other entries.
    pub(crate) fn is_default(&self) -> bool {
        self.is_native() && self.group != CategoryGroup::FormatSensitivity
    }

    /// Whether its entries have expected calls; irrelevance and relevance have none.
    pub(crate) fn has_ground_truth(&self) -> bool {
        !self.name.contains("relevance")
    }

    /// The variable part of its file name, `BFCL_v4_<…>.json`: some categories share a file.
    pub(crate) fn file(&self) -> &str {
        match self.group {
            CategoryGroup::Memory => "memory",
            CategoryGroup::WebSearch => "web_search",
            _ => &self.name,
        }
    }

    /// Whether a collection contains it. A user's own category is in `all`.
    fn is_in(&self, collection: &str) -> bool {
        let is_other_language = ["simple_java", "simple_javascript"].contains(&&*self.name);
        let is_single_turn = matches!(self.group, CategoryGroup::NonLive | CategoryGroup::Live);
        match collection {
            "all" => true,
            "all_scoring" => self.group != CategoryGroup::FormatSensitivity,
            "single_turn" => is_single_turn,
            "live" => self.group == CategoryGroup::Live,
            "non_live" => self.group == CategoryGroup::NonLive,
            "python" => is_single_turn && !is_other_language,
            "non_python" => is_other_language,
            "multi_turn" => self.group == CategoryGroup::MultiTurn,
            "memory" => self.group == CategoryGroup::Memory,
            "web_search" => self.group == CategoryGroup::WebSearch,
            "agentic" => matches!(self.group, CategoryGroup::Memory | CategoryGroup::WebSearch),
            _ => false,
        }
    }
}

/// The `known` categories selected by `names`, each a category or a collection; in the order of `known`, without
/// duplicates.
pub(super) fn select(known: &[Category], names: &[String]) -> Result<Vec<Category>> {
    let mut chosen = vec![false; known.len()];
    for name in names {
        let is_match =
            |category: &Category| category.name == *name || category.is_in(name.as_str());
        let mut is_known = COLLECTIONS.contains(&name.as_str());
        for (category, chosen) in known.iter().zip(&mut chosen) {
            *chosen |= is_match(category);
            is_known |= category.name == *name;
        }
        if !is_known {
            return Err(unknown(known, name));
        }
    }
    let chosen = known.iter().zip(chosen).filter(|(_, chosen)| *chosen);
    Ok(chosen.map(|(category, _)| category.clone()).collect())
}

/// The error for a name that is neither a category nor a collection.
pub(super) fn unknown(known: &[Category], name: &str) -> Error {
    let names: Vec<&str> = known.iter().map(|category| &*category.name).collect();
    let error = Error::usage(format!("unknown category `{name}`"));
    match nearest(name, names.iter().copied().chain(COLLECTIONS)) {
        Some(near) => error.hint(format!("did you mean `{near}`?")),
        None => error.hint(format!(
            "categories: `{}`; collections: `{}`",
            names.join("`, `"),
            COLLECTIONS.join("`, `")
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn selected(names: &[&str]) -> Result<Vec<String>> {
        let known: Vec<Category> = Category::official().collect();
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        let selected = select(&known, &names)?;
        Ok(selected.into_iter().map(|found| found.name).collect())
    }

    #[test]
    fn collections_are_the_official_ones() {
        let check = |name: &str, count: usize| {
            assert_eq!(selected(&[name]).unwrap().len(), count, "{name}");
        };
        check("all", 23);
        check("all_scoring", 22);
        check("single_turn", 13);
        check("live", 6);
        check("non_live", 7);
        check("python", 11);
        check("non_python", 2);
        check("multi_turn", 4);
        check("memory", 3);
        check("web_search", 2);
        check("agentic", 5);
        check("parallel", 1);
    }

    #[test]
    fn names_and_collections_mix_and_count_once() {
        let found = selected(&["live", "simple_java", "live_simple"]).unwrap();
        assert_eq!(found[..2], ["simple_java", "live_simple"]);
        assert_eq!(found.len(), 7);
    }

    #[test]
    fn an_unknown_name_is_answered_with_the_nearest() {
        let error = selected(&["simple_pyton"]).unwrap_err();
        assert_eq!(
            error.to_string(),
            "unknown category `simple_pyton`\n\nhint: did you mean `simple_python`?"
        );
    }
}
