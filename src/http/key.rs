//! Keys: from a variable, and never into a message.

use std::path::Path;

use crate::error::{Error, Result};
use crate::redact::REDACTED;
use crate::variables;

/// Shorter keys, such as the `none` of a local server, are no secrets.
const SECRET_BYTES: usize = 8;

/// The value of a variable that goes into a header, from the environment, else from the `.env` file beside the
/// root of the workspace that `folder` lies in. `option` is how the spec names the variable.
///
/// # Errors
/// When it is set nowhere, or cannot stand in a header.
pub(crate) fn from_variable(name: &str, option: &str, folder: &Path) -> Result<String> {
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
        let message = format!("the value of `{name}` cannot be a key: it is not plain ASCII");
        return Err(Error::usage(message));
    }
    Ok(key)
}

/// The message without the keys: endpoints are known to repeat the key that they refuse.
pub(crate) fn hide<'a>(message: String, keys: impl IntoIterator<Item = &'a str>) -> String {
    let secret = keys.into_iter().filter(|key| key.len() >= SECRET_BYTES);
    secret.fold(message, |message, key| message.replace(key, REDACTED))
}
