//! API keys: read from variables, and hidden in messages.

use std::path::Path;

use crate::error::{Error, Result};
use crate::system::variables;
use crate::text::redact::REDACTED;

/// Shorter keys, such as `none` for a local server, are not secret.
const SECRET_BYTES: usize = 8;

/// The value of a variable used in a header, from the environment, or else from the `.env` file in the root of the
/// workspace that contains `folder`. `option` is the spec key with the variable's name.
///
/// # Errors
/// If its name is invalid, if it is not set, or if its value is not valid in a header.
pub(crate) fn from_variable(name: &str, option: &str, folder: &Path) -> Result<String> {
    if !is_name(name) {
        // Do not print it: it may be the key itself.
        let key = option.split(':').next().unwrap_or_default();
        let error = Error::usage(format!(
            "`{key}` needs the name of a variable, not its value"
        ));
        return Err(error.hint("write `MY_KEY=…` into `.env`, and `MY_KEY` into the spec"));
    }
    let found = match std::env::var(name) {
        Ok(key) => Some(key),
        Err(_) => variables::from_dot_env(&[name.to_owned()], folder)?.remove(name),
    };
    let key = found.unwrap_or_default().trim().to_owned();
    if key.is_empty() {
        let message = format!("`{option}` is set neither in the environment nor in `.env`");
        return Err(Error::usage(message).hint(format!("write `{name}=…` into `.env`")));
    }
    if !key.bytes().all(|byte| byte.is_ascii_graphic()) {
        let message = format!(
            "the value of `{name}` cannot be a key: it has a space, or a character that is not plain ASCII"
        );
        return Err(Error::usage(message));
    }
    Ok(key)
}

/// Whether it is a valid variable name.
fn is_name(text: &str) -> bool {
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    !text.is_empty() && text.bytes().all(is_part) && !text.as_bytes()[0].is_ascii_digit()
}

/// Removes keys from a message: some endpoints repeat a rejected key.
pub(crate) fn hide<'a>(message: String, keys: impl IntoIterator<Item = &'a str>) -> String {
    let secret = keys.into_iter().filter(|key| key.len() >= SECRET_BYTES);
    secret.fold(message, |message, key| message.replace(key, REDACTED))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_in_place_of_a_name_is_not_repeated() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["", "sk-abcdefgh12345678", "1KEY", "MY KEY", "MY_KEY=1"] {
            let option = format!("api_key_env: {name}");
            let error = from_variable(name, &option, folder.path()).unwrap_err();
            assert_eq!(
                error.message(),
                "`api_key_env` needs the name of a variable, not its value"
            );
            assert!(error.hint_text().unwrap().contains("MY_KEY"));
            assert_eq!(error.exit(), crate::Exit::Usage);
        }
    }
}
