//! Words and phrases that must not come back into texts that users read: private idiom, with what to write instead.

use std::fs;
use std::path::Path;

use super::root;
use crate::project::all_files;

/// In lower case; each has plain words in its place.
const BANNED: &[(&str, &str)] = &[
    ("another one than", "differs from"),
    ("are meant", "default:"),
    ("asks nobody", "calls no agent or model"),
    ("b less a", "B − A"),
    ("became right", "became correct"),
    ("by lot", "at random"),
    ("came of it", "the result"),
    ("can be no baseline", "cannot be the baseline"),
    ("can never hold", "can never pass"),
    ("comes of it", "the result"),
    ("dearest", "most expensive"),
    ("divide the scorers", "the scorers disagree on"),
    ("does not go with", "cannot be combined with"),
    ("does not hold", "the limit"),
    ("even-handed", "without bias"),
    ("for nothing", "a false alarm"),
    ("given before", "cached"),
    ("in truth", "the true value"),
    ("is about the whole run", "needs the whole run"),
    ("is meant", "default:"),
    ("is no json", "is not JSON"),
    ("is no object", "is not an object"),
    ("is no regular expression", "is not a regular expression"),
    ("is of benchmark", "has benchmark"),
    ("is there yet", "exists"),
    ("is waited for", "waits for"),
    ("it was there", "already exists"),
    ("judge that decides", "deciding judge"),
    ("leave it open", "undecided"),
    ("left no run", "has no run"),
    ("less the first", "B − A"),
    ("mend", "fix"),
    ("mended", "fixed"),
    ("mends", "fixes"),
    ("neither better nor worse", "no significant difference"),
    ("no bad luck", "not explained by chance"),
    ("nobody is asked", "no agent or model is called"),
    ("none of ours", "unknown"),
    ("of now", "current"),
    ("one and the same", "the same"),
    ("says nothing here", "has no effect"),
    ("somebody stopped", "was cancelled"),
    ("tell of", "describe"),
    ("tells nothing apart", "gives every answer the same score"),
    ("tells of", "describes"),
    ("those that tell", "those that show"),
    ("told apart", "significantly different"),
    ("too little is known", "too few answers"),
    ("what is no", "is not a …"),
    ("what the run wrote", "unchanged since the run"),
    ("what they wrote themselves", "their own texts"),
    ("what to type", "next steps"),
    ("what was refused", "the refusals"),
    ("whatever comes", "always"),
    ("when left out", "default:"),
    ("who mends", "developers"),
];

/// Prompts to judges, whose text is part of the judge's identity: other words would make calibrations void.
const PROMPTS: &[&str] = &["src/scorer/ask/judge/prompt.rs"];

/// Whether a text holds the phrase as whole words.
fn holds(text: &str, phrase: &str) -> bool {
    let is_word = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
    text.match_indices(phrase).any(|(begin, _)| {
        !is_word(text[..begin].chars().next_back())
            && !is_word(text[begin + phrase.len()..].chars().next())
    })
}

/// The texts of a file that users may read, one string: all of a document, the strings and the help texts of code.
fn read_by_users(name: &str, text: &str) -> String {
    if Path::new(name).extension().is_none_or(|end| end != "rs") {
        return text.to_owned();
    }
    let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap();
    let is_help = name.starts_with("cargo-evaltest/src/command");
    let mut goes_on = false;
    let mut found = Vec::new();
    for line in code.lines().map(str::trim_start) {
        let is_read = if line.starts_with("//") {
            is_help && line.starts_with("///")
        } else {
            goes_on || line.contains('"')
        };
        goes_on = is_read && line.ends_with('\\');
        if is_read {
            found.push(line.trim_start_matches("///").trim_end_matches('\\').trim());
        }
    }
    found.join(" ")
}

#[test]
fn no_text_speaks_a_private_language() {
    let mut files = Vec::new();
    for place in ["src", "cargo-evaltest/src", "docs/src"] {
        files.extend(all_files(&root().join(place)));
    }
    let pages = [
        "README.md",
        "CHANGELOG.md",
        "CONTRIBUTING.md",
        "cargo-evaltest/README.md",
    ];
    files.extend(pages.map(|page| root().join(page)));
    assert!(files.len() > 500, "{}", files.len());
    let mut faults = Vec::new();
    for path in files {
        let name = path.strip_prefix(root()).unwrap().to_string_lossy();
        let is_test = name.contains("/tests/") || name.ends_with("tests.rs");
        let ending = path.extension().and_then(|end| end.to_str());
        let is_text = matches!(ending, Some("md" | "rs" | "json" | "yaml" | "js" | "html"));
        if is_test || !is_text || PROMPTS.contains(&&*name) {
            continue;
        }
        let text = fs::read_to_string(&path).unwrap();
        let text = read_by_users(&name, &text).to_lowercase();
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        for (phrase, better) in BANNED {
            if holds(&text, phrase) {
                faults.push(format!("{name}: `{phrase}`; write `{better}` or the like"));
            }
        }
    }
    assert!(faults.is_empty(), "{faults:#?}");
}

#[test]
fn phrases_are_found_as_words() {
    assert!(holds("it asks nobody.", "asks nobody"));
    assert!(!holds("a commendable amendment", "mend"));
    let code = "/// It asks nobody.\nlet a = \"drawn by \\\n    lot\";\n// mend\n";
    assert_eq!(read_by_users("src/a.rs", code), "let a = \"drawn by lot\";");
    assert!(read_by_users("cargo-evaltest/src/command/a.rs", code).contains("asks nobody"));
}
