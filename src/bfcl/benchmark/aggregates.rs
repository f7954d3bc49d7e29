//! The official leaderboard's figures, from the results of its categories.
//!
//! | figure | of what | how |
//! |---|---|---|
//! | `simple` | `simple_python`, `simple_java`, `simple_javascript` | mean |
//! | `non_live` | `simple`, `multiple`, `parallel`, `parallel_multiple` | mean |
//! | `live` | `live_simple`, `live_multiple`, `live_parallel`, `live_parallel_multiple` | mean, weighted by entries |
//! | `irrelevance` | `irrelevance`, `live_irrelevance` | mean |
//! | `multi_turn` | the four `multi_turn_…` | mean |
//! | `web_search`, `memory` | the two `web_search_…`, the three `memory_…` | mean |
//! | `agentic` | `web_search`, `memory` | mean |
//! | `overall` | `non_live`, `live`, `irrelevance`, `multi_turn`, `agentic` | mean, weighted 10 : 10 : 10 : 30 : 40 |
//!
//! `live_relevance` and `format_sensitivity` are in none of them. A category that was not run counts as 0 (in `live`
//! with all its entries), and figures with it are incomplete. The official tables write "N/A" for incomplete figures,
//! except `non_live`, `live`, `multi_turn`, `agentic` and `overall`, which include the zeros.
//!
//! Source: `eval_checker/eval_runner_helper.py` of bfcl-eval 2026.3.23. Sums have the same order, so that the figures
//! are bitwise equal.

use std::collections::BTreeMap;

use crate::stats::as_f64;

/// Correct and total entries per category.
pub(crate) type CategoryCounts = BTreeMap<String, (u64, u64)>;

/// A figure of the leaderboard.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Figure {
    /// From 0 to 1; categories that were not run count as 0.
    pub accuracy: f64,
    /// Whether all of its categories were run. Otherwise the official tables mostly write "N/A".
    pub(crate) is_complete: bool,
}

impl Figure {
    /// The accuracy, if complete.
    pub(crate) fn complete(self) -> Option<f64> {
        self.is_complete.then_some(self.accuracy)
    }
}

/// The figures of the leaderboard.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Aggregates {
    /// Simple calls in three languages.
    pub simple: Figure,
    /// All entries by the leaderboard's authors, without irrelevance.
    pub non_live: Figure,
    /// All entries contributed by users of models, without irrelevance and relevance.
    pub live: Figure,
    /// Making no call if no function fits.
    pub irrelevance: Figure,
    /// Conversations with stateful programs.
    pub multi_turn: Figure,
    /// Questions for a search engine.
    pub web_search: Figure,
    /// Questions about earlier conversations.
    pub memory: Figure,
    /// Search and memory.
    pub agentic: Figure,
    /// The leaderboard's ranking score.
    pub overall: Figure,
}

/// The categories of `live`, with the number of entries to assume if one was not run.
const LIVE: [(&str, u64); 4] = [
    ("live_simple", 258),
    ("live_multiple", 1053),
    ("live_parallel", 16),
    ("live_parallel_multiple", 24),
];

impl Aggregates {
    /// Computes the figures. A category without entries was not run.
    pub(crate) fn of(counts: &CategoryCounts) -> Self {
        let of = |name: &str| category(counts, name);
        let simple = mean(&["simple_python", "simple_java", "simple_javascript"].map(of));
        let [multiple, parallel, both] = ["multiple", "parallel", "parallel_multiple"].map(of);
        let non_live = mean(&[simple, multiple, parallel, both]);
        let live = LIVE.map(|(name, entries)| {
            let (_, total) = run(counts, name).unwrap_or((0, entries));
            (of(name), as_f64(total))
        });
        let entries = live.iter().map(|(_, entries)| entries).sum();
        let live = weighted(&live, entries);
        let irrelevance = mean(&["irrelevance", "live_irrelevance"].map(of));
        let conversations = ["base", "miss_func", "miss_param", "long_context"];
        let multi_turn = mean(&conversations.map(|name| of(&format!("multi_turn_{name}"))));
        let web_search = mean(&["web_search_base", "web_search_no_snippet"].map(of));
        let memory = mean(&["memory_kv", "memory_vector", "memory_rec_sum"].map(of));
        let agentic = mean(&[web_search, memory]);
        let parts = [
            (non_live, 0.1),
            (live, 0.1),
            (irrelevance, 0.1),
            (multi_turn, 0.3),
            (agentic, 0.4),
        ];
        Self {
            simple,
            non_live,
            live,
            irrelevance,
            multi_turn,
            web_search,
            memory,
            agentic,
            overall: weighted(&parts, 1.0),
        }
    }
}

/// What a single category scored.
pub(crate) fn category(counts: &CategoryCounts, name: &str) -> Figure {
    match run(counts, name) {
        Some((correct, total)) => Figure {
            accuracy: as_f64(correct) / as_f64(total),
            is_complete: true,
        },
        None => Figure::default(),
    }
}

fn run(counts: &CategoryCounts, name: &str) -> Option<(u64, u64)> {
    counts.get(name).copied().filter(|&(_, total)| total > 0)
}

fn mean(parts: &[Figure]) -> Figure {
    let sum: f64 = parts.iter().map(|part| part.accuracy).sum();
    let count: f64 = parts.iter().map(|_| 1.0).sum();
    Figure {
        accuracy: sum / count,
        is_complete: parts.iter().all(|part| part.is_complete),
    }
}

fn weighted(parts: &[(Figure, f64)], whole: f64) -> Figure {
    let sum: f64 = parts
        .iter()
        .map(|(part, weight)| part.accuracy * weight)
        .sum();
    Figure {
        accuracy: sum / whole,
        is_complete: parts.iter().all(|(part, _)| part.is_complete),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bfcl::data::Category;
    use crate::tests::{needs, parity};

    fn counts(of: &[(&str, u64, u64)]) -> CategoryCounts {
        let counts = of.iter();
        counts
            .map(|&(name, correct, total)| (name.to_owned(), (correct, total)))
            .collect()
    }

    #[track_caller]
    fn close(figure: Figure, expect: f64) {
        assert!((figure.accuracy - expect).abs() < 1e-12, "{figure:?}");
    }

    #[test]
    fn what_was_not_run_counts_as_nothing() {
        let found = Aggregates::of(&counts(&[("simple_python", 3, 4), ("simple_java", 0, 0)]));
        close(found.simple, 0.25);
        close(found.non_live, 0.0625);
        close(found.overall, 0.00625);
        assert_eq!(found.simple.complete(), None);
        assert_eq!(found.live, Figure::default());
    }

    #[test]
    fn live_is_weighted_by_entries_also_by_those_that_were_not_run() {
        let found = Aggregates::of(&counts(&[("live_simple", 90, 100)]));
        close(found.live, 90.0 / (100.0 + 1053.0 + 16.0 + 24.0));
    }

    #[test]
    fn a_perfect_model_has_one_everywhere() {
        let all: CategoryCounts = Category::official()
            .map(|category| (category.name, (7, 7)))
            .collect();
        let found = Aggregates::of(&all);
        close(found.overall, 1.0);
        assert!(found.overall.is_complete);
        assert!(found.agentic.complete().is_some());
    }

    /// Values written by the official program.
    #[needs(data = "bfcl/official-run")]
    #[test]
    fn figures_are_the_official_ones() {
        let folder = "bfcl/official-run/score";
        let overall = parity::text(&format!("{folder}/data_overall.csv"));
        let mut all = CategoryCounts::new();
        for category in Category::official().filter(Category::is_default) {
            let group = if category.name.starts_with("live") {
                "live"
            } else {
                "non_live"
            };
            let path = format!(
                "{folder}/oracle/{group}/BFCL_v4_{}_score.json",
                category.name
            );
            let text = parity::text(&path);
            let head = serde_json::from_str(text.lines().next().unwrap()).unwrap();
            let counts = ["correct_count", "total_count"].map(|key| parity::get(&head, key));
            all.insert(category.name, counts.into());
        }
        let found = Aggregates::of(&all);
        let mut lines = overall.lines().map(|line| line.split(','));
        let columns: BTreeMap<&str, &str> =
            lines.next().unwrap().zip(lines.next().unwrap()).collect();
        let check = |column: &str, accuracy: Option<f64>| {
            let rendered =
                accuracy.map_or("N/A".to_owned(), |share| format!("{:.2}%", share * 100.0));
            assert_eq!(rendered, columns[column], "{column}");
        };
        check("Overall Acc", Some(found.overall.accuracy));
        check("Non-Live AST Acc", found.non_live.complete());
        check("Non-Live Simple AST", found.simple.complete());
        check("Live Acc", Some(found.live.accuracy));
        check("Multi Turn Acc", Some(found.multi_turn.accuracy));
        check("Web Search Acc", found.web_search.complete());
        check("Memory Acc", found.memory.complete());
        check("Irrelevance Detection", found.irrelevance.complete());
        let single = |name| category(&all, name).complete();
        check("Relevance Detection", single("live_relevance"));
        check("Live Multiple AST", single("live_multiple"));
        check("Memory KV", single("memory_kv"));
    }
}
