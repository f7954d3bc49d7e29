//! An existing schema file: written by another version, or by the user.

use serde_json::Value;

/// Whether `init` wrote this schema. One with the user's own kinds was written by `cargo evaltest schema --own-…`.
pub(super) fn is_ours(text: &str) -> bool {
    let Ok(schema) = serde_json::from_str::<Value>(text) else {
        return false;
    };
    schema["title"] == "A spec of evaltest" && !names_own_kinds(&schema)
}

/// Built-in kinds have descriptions; the user's kinds have only names.
fn names_own_kinds(schema: &Value) -> bool {
    let forms = ["benchmark", "agent", "scorer"].into_iter();
    let mut forms = forms.filter_map(|kind| schema["$defs"][kind]["anyOf"].as_array());
    forms.any(|forms| {
        forms
            .iter()
            .any(|form| is_bare_name(&form["properties"]["type"]))
    })
}

fn is_bare_name(schema: &Value) -> bool {
    schema.get("const").is_some() && schema.get("description").is_none()
}

#[cfg(test)]
mod tests {
    use evaltest::engine::eval::spec::{OwnKinds, schema_text};

    use super::*;

    #[test]
    fn a_schema_with_kinds_of_ones_own_is_not_ours() {
        let text = schema_text(&OwnKinds::default());
        assert!(is_ours(&text));
        assert!(is_ours(&text.replace("timeout_s", "deadline_s")));
        for text in ["", "{}", "{\"title\": \"mine\"}"] {
            assert!(!is_ours(text), "{text}");
        }
        let own = || vec!["mine".to_owned()];
        let usual = OwnKinds::default;
        for own in [
            OwnKinds {
                benchmarks: own(),
                ..usual()
            },
            OwnKinds {
                agents: own(),
                ..usual()
            },
            OwnKinds {
                scorers: own(),
                ..usual()
            },
        ] {
            assert!(!is_ours(&schema_text(&own)), "{own:?}");
        }
    }
}
