//! Documentation of a built-in agent or benchmark.
//!
//! A page of Markdown is the only source: its first block of YAML is the example, its first table the keys. Tests check
//! that the example is a spec and that the table lists the keys that are read.

/// A kind of agent or benchmark that specs may name without registration.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct BuiltIn {
    /// The name behind `type`.
    pub name: &'static str,
    /// Its purpose, in one line.
    pub summary: &'static str,
    /// The page, in Markdown: purpose, an example, its keys, further notes.
    pub page: &'static str,
}

impl BuiltIn {
    /// The smallest part of a spec that names it.
    pub fn example(&self) -> &'static str {
        let block = self.page.split("```yaml\n").nth(1).unwrap_or_default();
        block.split("```").next().unwrap_or_default()
    }

    /// The keys other than `type`, each with its meaning.
    pub fn options(&self) -> impl Iterator<Item = (&'static str, &'static str)> {
        let rows = self
            .page
            .lines()
            .skip_while(|line| !line.starts_with("| key |"));
        rows.skip(2).map_while(|row| {
            let (key, meaning) = row.strip_prefix("| `")?.split_once("` | ")?;
            Some((key, meaning.trim_end_matches('|').trim_end()))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(page: &'static str, example: &str, options: &[(&str, &str)]) {
        let built_in = BuiltIn {
            name: "any",
            summary: "any",
            page,
        };
        assert_eq!(built_in.example(), example);
        assert_eq!(built_in.options().collect::<Vec<_>>(), options);
    }

    #[test]
    fn a_page_has_the_example_and_the_keys() {
        check("Nothing.", "", &[]);
        let page = "For tests.\n\n```yaml\nagent: any\n```\n\n| key | meaning |\n|---|---|\n\
            | `a` | one, such as `1` |\n| `b_c` | two |\n\nMore.\n\n```yaml\nagent: no\n```\n| key | meaning |\n";
        check(
            page,
            "agent: any\n",
            &[("a", "one, such as `1`"), ("b_c", "two")],
        );
    }
}
