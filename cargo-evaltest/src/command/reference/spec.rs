//! The keys of a spec, from its JSON schema.

use std::fmt::Write;

use evaltest::engine::eval::spec::{OwnKinds, schema};

use super::{example, table};

pub(super) fn page() -> String {
    let schema = schema(&OwnKinds::default());
    let mut text = "\
# Specs

A spec is a YAML file that says one eval. `cargo evaltest` finds each `evals/**/*.yaml`. Relative paths count from its folder.
An unknown key is an error that names its line and the nearest legal key. `benchmark` and `agent` (or `agents`) are needed, all
else has a default. Any key can be set on the command line: `--set limits.timeout_s=60`.

`cargo evaltest schema` prints the JSON schema, by which editors complete and explain these keys.

"
    .to_owned();
    let rows = table::rows(&schema["properties"], "")
        .into_iter()
        .map(|row| {
            let example = example::of(&row.key).unwrap_or_default();
            vec![
                format!("`{}`", row.key),
                row.kind,
                row.default,
                row.meaning,
                example,
            ]
        });
    let rows: Vec<_> = rows.collect();
    text += &table::markdown(&["key", "type", "default", "meaning", "example"], &rows);
    let _ = write!(
        text,
        "\n`true` and `false` stand for `on` and `off` where YAML 1.1 reads these words so. A text may be written without quotes; \
         what begins with `#`, `[`, `{{` or `*` needs them.\n\n## All of them\n\nOf `scorer` and `scorers` a spec has one, and so of `agent` and `agents`, `prompt` and `prompts`.\n\n```yaml\n{}```\n",
        chosen()
    );
    text
}

/// The example without what a spec cannot have beside the rest.
fn chosen() -> String {
    let others = ["scorer: ", "agents: ", "prompts: "];
    let lines = example::SPEC.lines();
    let lines = lines.filter(|line| !others.iter().any(|key| line.starts_with(key)));
    let lines: Vec<&str> = lines.collect();
    lines.join("\n") + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_key_has_an_example() {
        let schema = schema(&OwnKinds::default());
        for row in table::rows(&schema["properties"], "") {
            assert!(example::of(&row.key).is_some(), "{}", row.key);
            assert!(
                !row.kind.is_empty() && !row.meaning.is_empty(),
                "{}",
                row.key
            );
        }
    }
}
