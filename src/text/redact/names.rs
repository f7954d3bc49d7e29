//! Recognises names of secrets.

/// Whether a key names a secret: it contains one of the words as a whole. `max_tokens` does not.
pub(crate) fn is_secret_name(key: &str) -> bool {
    words(key).any(|word| {
        matches!(
            word.as_str(),
            "key"
                | "token"
                | "secret"
                | "password"
                | "passwd"
                | "authorization"
                | "apikey"
                | "cookie"
                | "passphrase"
                | "signature"
                | "credential"
                | "credentials"
        )
    })
}

/// Whether a query parameter of an address is secret: by the rule for keys, or one of the usual short names.
pub(crate) fn is_secret_parameter(name: &str) -> bool {
    let is_short = |word: String| {
        matches!(
            word.as_str(),
            "sig" | "code" | "auth" | "jwt" | "pass" | "pwd" | "sas"
        )
    };
    is_secret_name(name) || words(name).any(is_short)
}

/// Whether a header or an option holds a secret itself, and not its location: `--token-file` does not.
pub(crate) fn holds_secret(name: &str) -> bool {
    let last = words(name).last();
    let names_place = last.is_some_and(|word| {
        matches!(
            word.as_str(),
            "env" | "file" | "path" | "name" | "id" | "variable" | "var" | "dir" | "url" | "type"
        )
    });
    !names_place && is_secret_name(name)
}

/// Whether a member of a configuration holds a secret. `api_key_env: MY_KEY` names the variable that holds it, which is
/// needed to rescore a run with the same judge.
pub(super) fn is_secret_member(key: &str, text: &str) -> bool {
    let is_part = |byte: u8| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_';
    let names_variable = key.ends_with("_env")
        && text.starts_with(|first: char| first.is_ascii_uppercase())
        && text.bytes().all(is_part);
    is_secret_name(key) && !names_variable
}

/// The words of `api_key`, `api-key`, `apiKey`, `API_KEY`.
pub(super) fn words(key: &str) -> impl Iterator<Item = String> {
    let mut words = vec![String::new()];
    let mut previous_lower = false;
    for c in key.chars() {
        let boundary = !c.is_alphanumeric() || (c.is_uppercase() && previous_lower);
        if boundary {
            words.push(String::new());
        }
        if c.is_alphanumeric()
            && let Some(word) = words.last_mut()
        {
            word.extend(c.to_lowercase());
        }
        previous_lower = c.is_lowercase() || c.is_numeric();
    }
    words.into_iter().filter(|word| !word.is_empty())
}
