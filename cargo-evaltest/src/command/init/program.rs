//! The user's program in a spec written by `init`: which of its words are files.

use std::path::Path;

/// Extensions of files run by an interpreter.
const SCRIPTS: &[&str] = &["py", "js", "mjs", "ts", "rb", "sh"];

/// The words relative to the spec: the program runs in the spec's folder but was typed in its parent.
pub(super) fn from_spec(words: &[String]) -> Vec<String> {
    let word = |(at, word): (usize, &String)| {
        if is_file(at, word) {
            format!("../{}", inside(word))
        } else {
            word.clone()
        }
    };
    words.iter().enumerate().map(word).collect()
}

/// The words that name missing files.
pub(super) fn missing(words: &[String]) -> impl Iterator<Item = &str> {
    let words = words.iter().enumerate();
    words
        .filter(|(at, word)| is_file(*at, word) && !Path::new(word.as_str()).exists())
        .map(|(_, word)| inside(word))
}

fn inside(word: &str) -> &str {
    word.strip_prefix("./").unwrap_or(word)
}

/// Whether a word is a relative file path, existing or not. A single `/` is enough only for the first word, because
/// models are named `ORG/NAME`.
fn is_file(at: usize, word: &str) -> bool {
    if word.starts_with(['/', '-']) || word.contains("://") {
        return false;
    }
    let path = Path::new(word);
    let end = path.extension().and_then(|end| end.to_str());
    let is_script = end.is_some_and(|end| SCRIPTS.contains(&end)) && !word.contains(' ');
    let is_relative = word.starts_with("./") || word.starts_with("../");
    is_script || is_relative || (at == 0 && word.contains('/')) || path.is_file()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_found_from_the_specs_folder() {
        let check = |line: &str, expect: &str, absent: &[&str]| {
            let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
            assert_eq!(from_spec(&words).join(" "), expect);
            assert_eq!(missing(&words).collect::<Vec<_>>(), absent, "{line}");
        };
        check("python3 agent.py", "python3 ../agent.py", &["agent.py"]);
        check("./agent.sh --fast", "../agent.sh --fast", &["agent.sh"]);
        check("bin/agent", "../bin/agent", &["bin/agent"]);
        check("node ../a/b.mjs", "node ../../a/b.mjs", &["../a/b.mjs"]);
        check("cat Cargo.toml", "cat ../Cargo.toml", &[]);
        for line in [
            "python3 -m agent",
            "/opt/agent.py",
            "agent --model org/name",
            "agent --url=https://example.org/a.js https://example.org/a.js",
        ] {
            check(line, line, &[]);
        }
        let words = ["sh".to_owned(), "cat | python3 agent.py".to_owned()];
        assert_eq!(from_spec(&words), words);
    }
}
