//! Whether a judge belongs to the agent's own model family: models favour text like their own.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::agent::Agent;
use crate::scorer::Scorer;

/// Words in model names that identify the family, with the name of the family.
const FAMILIES: [(&str, &str); 34] = [
    ("chatgpt", "gpt"),
    ("claude", "claude"),
    ("codellama", "llama"),
    ("codestral", "mistral"),
    ("command", "command"),
    ("davinci", "gpt"),
    ("deepseek", "deepseek"),
    ("devstral", "mistral"),
    ("ernie", "ernie"),
    ("falcon", "falcon"),
    ("gemini", "gemini"),
    ("gemma", "gemma"),
    ("glm", "glm"),
    ("gpt", "gpt"),
    ("granite", "granite"),
    ("grok", "grok"),
    ("haiku", "claude"),
    ("jamba", "jamba"),
    ("kimi", "kimi"),
    ("llama", "llama"),
    ("magistral", "mistral"),
    ("minimax", "minimax"),
    ("ministral", "mistral"),
    ("mistral", "mistral"),
    ("mixtral", "mistral"),
    ("nova", "nova"),
    ("olmo", "olmo"),
    ("opus", "claude"),
    ("phi", "phi"),
    ("qwen", "qwen"),
    ("qwq", "qwen"),
    ("smollm", "smollm"),
    ("sonnet", "claude"),
    ("yi", "yi"),
];

/// The agent whose answers are judged, as far as it is known.
#[derive(Default)]
pub(crate) struct Answerer {
    /// The configured model.
    pub(crate) model: Option<String>,
    /// The fingerprint of the [`Agent`](crate::Agent).
    pub(crate) fingerprint: Option<String>,
}

impl Answerer {
    /// An agent at hand.
    pub(crate) fn of(agent: &dyn Agent) -> Self {
        Self {
            model: agent.model().map(str::to_owned),
            fingerprint: agent.fingerprint(),
        }
    }
}

/// Notices about judges that are the agent itself, or of the same model family.
pub(crate) fn notices(answerer: &Answerer, scorers: &[Arc<dyn Scorer>]) -> Vec<String> {
    let mut notices = Vec::new();
    for scorer in scorers {
        let name = scorer.name();
        let relation = scorer.agents().into_iter().find_map(|judge| {
            let fingerprint = judge.fingerprint();
            if fingerprint.is_some() && fingerprint == answerer.fingerprint {
                return Some("has the agent's own configuration".to_owned());
            }
            let (judge, agent) = (judge.model()?, answerer.model.as_deref()?);
            if judge == agent {
                return Some(format!("asks `{judge}`, the agent's own model"));
            }
            let both = families(agent);
            let both: Vec<String> = families(judge).intersection(&both).cloned().collect();
            (!both.is_empty()).then(|| {
                let both = both.join("`, `");
                format!("asks `{judge}`, of the family of the agent's `{agent}` (`{both}`)")
            })
        });
        notices.extend(relation.map(|relation| {
            format!("judge `{name}` {relation}: models favour answers like their own")
        }));
    }
    notices
}

/// The families in the name of a model: `org/deepseek-r1-distill-qwen-7b:latest` has two. A name such as `local` has
/// none.
fn families(model: &str) -> BTreeSet<String> {
    let name = model.rsplit('/').next().unwrap_or(model).to_lowercase();
    let words = name.split(|c: char| !c.is_alphanumeric());
    let of_word = |word: &str| {
        let letters = word.trim_start_matches(|c: char| c.is_ascii_digit());
        let end = letters.find(|c: char| !c.is_alphabetic());
        let (letters, rest) = letters.split_at(end.unwrap_or(letters.len()));
        if letters == "o" && rest.starts_with(['1', '3', '4']) {
            return Some("gpt".to_owned());
        }
        let known = FAMILIES.iter().find(|(word, _)| *word == letters);
        known.map(|(_, family)| (*family).to_owned())
    };
    words.filter_map(of_word).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(model: &str, expect: &[&str]) {
        let found: Vec<String> = families(model).into_iter().collect();
        assert_eq!(found, expect, "{model}");
    }

    #[test]
    fn model_names_map_to_families() {
        check("gpt-4o-mini", &["gpt"]);
        check("o3-mini", &["gpt"]);
        check("openai/gpt4.1", &["gpt"]);
        check("Qwen/Qwen2.5-7B-Instruct", &["qwen"]);
        check("qwen3:8b", &["qwen"]);
        check("claude-sonnet-4-5", &["claude"]);
        check("meta-llama/Meta-Llama-3.1-8B-Instruct", &["llama"]);
        check("open-mixtral-8x22b", &["mistral"]);
        check("deepseek-r1-distill-qwen-7b", &["deepseek", "qwen"]);
        check("SmolLM2-135M-Instruct.Q4_K_M.gguf", &["smollm"]);
        for unknown in ["local", "default", "model-1", "", "/", "o", "orca"] {
            check(unknown, &[]);
        }
    }

    #[test]
    fn words_are_sorted() {
        assert!(FAMILIES.is_sorted());
    }
}
