//! Variants in the text of a gate: `accuracy[agent=small][level=1] >= 0.6`.
//!
//! They are not part of a gate: a variant either has the gate, without these brackets, or does not.

use super::Slice;
use super::syntax::{metric_parts, pair};

/// A gate's text without the brackets of these kinds (`agent`, `prompt`), and their content in order. The brackets of a
/// slice may be before or after them.
pub(crate) fn without_variants(text: &str, kinds: &[&str]) -> (String, Vec<Slice>) {
    let of_kind = |inside: &str| {
        let (kind, name) = pair(inside)?;
        kinds.contains(&kind).then(|| Slice::new(kind, name))
    };
    let mut named = Vec::new();
    let Some((begin, end)) = brackets(text) else {
        return (text.to_owned(), named);
    };
    let mut inside = text[begin..end].trim();
    // Variant names contain no brackets, slices may.
    while let Some((first, rest)) = first(inside)
        && let Some(found) = of_kind(first)
    {
        named.push(found);
        inside = rest.trim_start();
    }
    let mut behind = Vec::new();
    while let Some((rest, last)) = last(inside)
        && let Some(found) = of_kind(last)
    {
        behind.push(found);
        inside = rest.trim_end();
    }
    named.extend(behind.into_iter().rev());
    let rest = format!("{}{inside}{}", &text[..begin], &text[end..]);
    (rest, named)
}

/// The range from the first bracket to the last.
fn brackets(text: &str) -> Option<(usize, usize)> {
    let (_, _, rest) = metric_parts(text)?;
    let begin = text.len() - rest.len();
    let end = text.rfind(']')? + 1;
    (text[begin..].starts_with('[') && begin < end).then_some((begin, end))
}

/// The content of the first brackets, and the rest.
fn first(text: &str) -> Option<(&str, &str)> {
    text.strip_prefix('[')?.split_once(']')
}

/// The part before the last brackets, and their content.
fn last(text: &str) -> Option<(&str, &str)> {
    text.strip_suffix(']')?.rsplit_once('[')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_brackets_of_variants_are_taken_out_wherever_they_stand() {
        fn check(text: &str, rest: &str, named: &[&str]) {
            let (found, slices) = without_variants(text, &["agent", "prompt"]);
            assert_eq!(found, rest, "{text}");
            let slices: Vec<_> = slices.iter().map(ToString::to_string).collect();
            assert_eq!(slices, named, "{text}");
        }
        check(
            "accuracy[agent=small] >= 0.6",
            "accuracy >= 0.6",
            &["agent=small"],
        );
        check(
            "accuracy(exact) [ agent = a-1.5 ] [level=1] >= 60% (confidence=0.9)",
            "accuracy(exact) [level=1] >= 60% (confidence=0.9)",
            &["agent=a-1.5"],
        );
        check(
            "mean(f1)[topic=a[1]][agent=x][prompt=y] > 0",
            "mean(f1)[topic=a[1]] > 0",
            &["agent=x", "prompt=y"],
        );
        check(
            "accuracy[agent=x][agent=east][level=1] >= 1",
            "accuracy[level=1] >= 1",
            &["agent=x", "agent=east"],
        );
        check(
            "no_regression(alpha=0.1)[prompt=y]",
            "no_regression(alpha=0.1)",
            &["prompt=y"],
        );
        for text in [
            "accuracy >= 0.6",
            "accuracy[level=1] >= 0.6",
            "accuracy[agents=x] >= 0.6",
            "accuracy[agent=] >= 0.6",
            "accuracy[agent=x >= 0.6",
            "accuracy]agent=x[ >= 0.6",
            "accuracy(",
            "[agent=x",
            "",
        ] {
            check(text, text, &[]);
        }
    }

    #[test]
    fn only_kinds_that_there_are_count() {
        let (rest, named) = without_variants("accuracy[agent=x][prompt=y] > 0", &["prompt"]);
        assert_eq!((&*rest, named.len()), ("accuracy[agent=x] > 0", 1));
    }
}
