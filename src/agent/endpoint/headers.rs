//! Headers of a spec: values with `${VARIABLE}` in them.

use std::path::Path;

use crate::error::{Error, Result};
use crate::system::http::from_variable;
use crate::text::redact::{MIN_SECRET, is_secret_name};

/// A secret value, and the variable that it is from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Secret {
    pub(crate) variable: Option<String>,
    pub(crate) value: String,
    /// Whether it is the endpoint's key, which can never be declared plain.
    pub(crate) is_key: bool,
}

impl Secret {
    pub(crate) fn literal(value: impl Into<String>) -> Self {
        Self {
            variable: None,
            value: value.into(),
            is_key: false,
        }
    }

    pub(crate) fn of_variable(name: &str, value: impl Into<String>) -> Self {
        Self {
            variable: Some(name.to_owned()),
            value: value.into(),
            is_key: false,
        }
    }

    /// The endpoint's key.
    pub(crate) fn key_of_variable(name: &str, value: impl Into<String>) -> Self {
        Self {
            is_key: true,
            ..Self::of_variable(name, value)
        }
    }
}

/// A header's value with its variables filled in, and the secrets in it.
///
/// # Errors
/// When a variable is not set, or the header cannot be sent.
pub(crate) fn filled(name: &str, value: &str, folder: &Path) -> Result<(String, Vec<Secret>)> {
    let place = format!("headers: {{ {name}: … }}");
    let sendable = |text: &str| text.bytes().all(|byte| matches!(byte, b' '..=b'~'));
    if name.is_empty()
        || !name
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte))
    {
        return Err(Error::usage(format!(
            "`{name}` cannot be the name of a header"
        )));
    }
    let mut secrets = Vec::new();
    let mut filled = String::new();
    let mut rest = value;
    while let Some((before, after)) = rest.split_once("${") {
        let (variable, after) = after.split_once('}').ok_or_else(|| {
            Error::usage(format!("`{place}` has a `${{` without `}}`"))
                .hint(format!("write `{name}: \"Bearer ${{MY_KEY}}\"`"))
        })?;
        let found = from_variable(
            variable,
            &format!("headers: {{ {name}: ${{{variable}}} }}"),
            folder,
        )?;
        filled.push_str(before);
        filled.push_str(&found);
        secrets.push(Secret::of_variable(variable, found));
        rest = after;
    }
    filled.push_str(rest);
    if !sendable(&filled) {
        return Err(Error::usage(format!(
            "`{place}` cannot be sent: it is not plain ASCII"
        )));
    }
    if secrets.is_empty() && is_secret_name(name) {
        // A key in the spec itself. A cookie has several words, each of which may be one.
        let words = filled.split([' ', ';']).filter(|word| !word.is_empty());
        let words: Vec<&str> = words.collect();
        let (last, others) = words.split_last().unwrap_or((&"", &[]));
        let others = others.iter().filter(|word| word.len() >= MIN_SECRET);
        secrets.extend(others.chain([last]).map(|key| Secret::literal(*key)));
    }
    Ok((filled, secrets))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_are_filled_in_and_secret() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join(".env"), "HEADER_KEY_OF_TEST=sk-1\n").unwrap();
        let fill = |value: &str| filled("Authorization", value, folder.path());
        let secret = |key: &str| vec![Secret::literal(key)];
        let secrets = vec![Secret::of_variable("HEADER_KEY_OF_TEST", "sk-1")];
        let expect = ("Bearer sk-1".to_owned(), secrets);
        assert_eq!(fill("Bearer ${HEADER_KEY_OF_TEST}").unwrap(), expect);
        let literal = ("Bearer abc".to_owned(), secret("abc"));
        assert_eq!(fill("Bearer abc").unwrap(), literal);
        let plain = filled("X-Team", "evals $5 {}", folder.path()).unwrap();
        assert_eq!(plain, ("evals $5 {}".to_owned(), vec![]));
        for (value, expect) in [
            (
                "${NO_SUCH_OF_TEST}",
                "`headers: { Authorization: ${NO_SUCH_OF_TEST} }` is set neither",
            ),
            ("${", "has a `${` without `}`"),
            ("a\nb", "cannot be sent"),
            ("ä", "cannot be sent"),
        ] {
            let error = fill(value).unwrap_err();
            assert!(error.message().contains(expect), "{error}");
            assert_eq!(error.exit(), crate::Exit::Usage);
        }
        assert!(filled("A b", "c", folder.path()).is_err());
    }
}
