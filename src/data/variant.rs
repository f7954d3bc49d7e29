//! `Variant`: the agent and prompt of an eval, if its spec has several.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The agent and prompt of an eval. As a text it is the suffix of the spec's name: `@small+short`.
///
/// Names cannot contain these two characters, so the suffix is unambiguous; it is also valid in file names, test names
/// and command lines.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Variant {
    /// The key in `agents:`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// The key in `prompts:`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompt: Option<String>,
}

impl Variant {
    /// Prefix of an agent's name.
    pub(crate) const AGENT: char = '@';
    /// Prefix of a prompt's name.
    pub(crate) const PROMPT: char = '+';

    /// The spec's name in the name of an eval; the whole name without a variant.
    pub fn family_of(eval: &str) -> &str {
        let end = eval.find([Self::AGENT, Self::PROMPT]);
        end.map_or(eval, |end| &eval[..end])
    }

    /// The names without prefixes: `small, short`.
    pub fn names(&self) -> String {
        let names: Vec<&str> = [&self.agent, &self.prompt]
            .into_iter()
            .flatten()
            .map(String::as_str)
            .collect();
        names.join(", ")
    }
}

impl fmt::Display for Variant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (sign, name) in [(Self::AGENT, &self.agent), (Self::PROMPT, &self.prompt)] {
            if let Some(name) = name {
                write!(f, "{sign}{name}")?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn its_text_says_which_it_is() {
        fn check(agent: Option<&str>, prompt: Option<&str>, expect: &str, names: &str) {
            let variant = Variant {
                agent: agent.map(str::to_owned),
                prompt: prompt.map(str::to_owned),
            };
            assert_eq!((&*variant.to_string(), &*variant.names()), (expect, names));
            assert_eq!(Variant::family_of(&format!("e{variant}")), "e");
        }
        check(
            Some("gpt-4.1"),
            Some("short"),
            "@gpt-4.1+short",
            "gpt-4.1, short",
        );
        check(Some("small"), None, "@small", "small");
        check(None, Some("short"), "+short", "short");
        check(None, None, "", "");
    }
}
