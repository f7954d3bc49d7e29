//! Names of dimensions and choices: used as members of a reply, details of a score, words of gates.

use crate::error::{Error, Result, nearest};

/// Members of a reply and details of a score that are already in use.
const TAKEN: &[&str] = &[
    "total",
    "excellent",
    "comments",
    "value",
    "reason",
    "verdict",
    "repeats",
    "self_agreement",
];

/// The maximum length of a name: endpoints limit the names of tools, and gates should be readable.
const LONGEST: usize = 64;

/// Rejects a name that cannot be used in a reply or a gate: `mean(judge.NAME)`.
pub(super) fn check_dimension(name: &str) -> Result<()> {
    let refuse = |message: String| {
        Err(Error::usage(message)
            .hint("write a name of letters, digits, `_`, `-` and spaces, such as `clarity`"))
    };
    if name.trim().is_empty() {
        return refuse("the name of a dimension is blank".to_owned());
    }
    if name.trim() != name {
        return refuse(format!("the name `{name}` begins or ends with a space"));
    }
    let legal = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | ' ');
    if let Some(c) = name.chars().find(|c| !legal(*c)) {
        let c = c.escape_debug();
        return refuse(format!(
            "`{c}` cannot be in the name of a dimension, which gates name as `mean(judge.NAME)`"
        ));
    }
    check_length(name)?;
    match TAKEN.iter().find(|taken| name.eq_ignore_ascii_case(taken)) {
        None => Ok(()),
        Some(taken) => {
            let legal = TAKEN.join("`, `");
            let error = Error::usage(format!(
                "a dimension cannot be called `{name}`: `{taken}` is a detail of every judge"
            ));
            Err(error.hint(format!("choose another name than `{legal}`")))
        }
    }
}

/// Rejects a name that cannot be recognised in a reply.
pub(super) fn check_choice(name: &str) -> Result<()> {
    if name.trim().is_empty() {
        return Err(Error::usage("the name of a choice is blank")
            .hint("write a word, such as `correct: 1`"));
    }
    if name.trim() != name
        || name.contains(|c: char| c.is_control())
        || !name.contains(char::is_alphanumeric)
    {
        let name = name.escape_debug();
        let message = format!("`{name}` cannot be the name of a choice");
        return Err(
            Error::usage(message).hint("write a word or a few on one line, such as `correct: 1`")
        );
    }
    check_length(name)
}

fn check_length(name: &str) -> Result<()> {
    if name.chars().count() <= LONGEST {
        return Ok(());
    }
    let message = format!("the name `{name}` is longer than {LONGEST} characters");
    Err(Error::usage(message).hint("say the rest in its `description`"))
}

/// Rejects a name that exists already, ignoring case.
pub(super) fn check_new<'a>(
    what: &str,
    name: &str,
    mut known: impl Iterator<Item = &'a str>,
) -> Result<()> {
    match known.find(|known| known.to_lowercase() == name.to_lowercase()) {
        None => Ok(()),
        Some(known) if known == name => {
            let error = Error::usage(format!("two {what} are called `{name}`"));
            Err(error.hint("give each a unique name"))
        }
        Some(known) => {
            let error = Error::usage(format!("two {what} are called `{known}` and `{name}`"));
            Err(error.hint("give them names that differ in more than case"))
        }
    }
}

/// The likely intended name, as the end of a hint.
pub(super) fn did_you_mean<'a>(given: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    match nearest(given, known) {
        Some(near) => format!("did you mean `{near}`? "),
        None => String::new(),
    }
}
