//! `Variant`: which of the agents and prompts of a spec an eval has, where the spec names several.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Which of several agents and prompts it is. As a text it is what stands behind the name of the spec: `@small+short`.
///
/// Neither sign can be in a name, so nothing else is called like that; and both may stand in the names of files and tests
/// and on a command line.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Variant {
    /// The name below `agents:`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// The name below `prompts:`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompt: Option<String>,
}

impl Variant {
    /// Before the name of an agent.
    pub(crate) const AGENT: char = '@';
    /// Before the name of a prompt.
    pub(crate) const PROMPT: char = '+';

    /// The name of the spec in that of one of its evals; the whole of it where it names no variant.
    pub fn family_of(eval: &str) -> &str {
        let end = eval.find([Self::AGENT, Self::PROMPT]);
        end.map_or(eval, |end| &eval[..end])
    }

    /// The names without the signs: `small, short`.
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
