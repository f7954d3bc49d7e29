//! Keys: from a variable, and never into a message.

use std::path::Path;

use crate::error::{Error, Result};
use crate::system::variables;
use crate::text::redact::REDACTED;

/// Shorter keys, such as the `none` of a local server, are no secrets.
const SECRET_BYTES: usize = 8;

/// The value of a variable that goes into a header, from the environment, else from the `.env` file beside the
/// root of the workspace that `folder` lies in. `option` is how the spec names the variable.
///
/// # Errors
/// When its name is none, when it is set nowhere, or cannot stand in a header.
pub(crate) fn from_variable(name: &str, option: &str, folder: &Path) -> Result<String> {
    if !is_name(name) {
        // It may be the key itself, which nobody wants to read in a log.
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

/// Whether a variable can be called so.
fn is_name(text: &str) -> bool {
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    !text.is_empty() && text.bytes().all(is_part) && !text.as_bytes()[0].is_ascii_digit()
}

/// The message without the keys: endpoints are known to repeat the key that they refuse.
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
