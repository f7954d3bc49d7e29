//! `HubSettings`: the Hub's environment variables, with the same meaning as for `huggingface_hub`.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::system::http::Url;
use crate::system::{project, variables};

const ENDPOINT: &str = "https://huggingface.co";

/// The Hub's URL, the cache folder and the token.
#[derive(Clone, Debug)]
pub(super) struct HubSettings {
    /// `HF_ENDPOINT`, without a trailing `/`.
    pub(super) endpoint: Url,
    /// `HF_HUB_CACHE`, `HF_HOME/hub`, `XDG_CACHE_HOME/huggingface/hub`, `~/.cache/huggingface/hub`.
    pub(super) cache: PathBuf,
    pub(super) token: Option<Token>,
    /// `HF_HUB_OFFLINE`.
    pub(super) offline: bool,
}

/// An access token.
#[derive(Clone)]
pub(super) struct Token {
    pub(super) value: String,
    /// The variable or file that it comes from, for messages.
    pub(super) origin: String,
}

/// Hides the value.
impl std::fmt::Debug for Token {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Token(of {})", self.origin)
    }
}

impl HubSettings {
    pub(super) fn from_env() -> Result<Self> {
        Self::from(&|name| std::env::var_os(name), &|name| {
            // Report unknown lines in `.env` only to users who reference a variable.
            let found = variables::from_dot_env(&[name.to_owned()], &project::root());
            found.ok()?.remove(name)
        })
    }

    fn from(
        variable: &dyn Fn(&str) -> Option<OsString>,
        dot_env: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Self> {
        let set = |name: &str| variable(name).filter(|value| !value.is_empty());
        let text = |name: &str| Some(set(name)?.to_string_lossy().trim().to_owned());
        let is_on = |name: &str| {
            let value = text(name).unwrap_or_default().to_ascii_uppercase();
            matches!(&*value, "1" | "ON" | "YES" | "TRUE")
        };
        let home = set("HOME").map(PathBuf::from);
        let path = |name: &str| Some(expanded(PathBuf::from(set(name)?), home.as_deref()));
        let in_home = |below: &str| home.as_ref().map(|home| home.join(below));
        let hf_home = path("HF_HOME")
            .or_else(|| Some(path("XDG_CACHE_HOME")?.join("huggingface")))
            .or_else(|| in_home(".cache/huggingface"));
        let cache = path("HF_HUB_CACHE")
            .or_else(|| path("HUGGINGFACE_HUB_CACHE"))
            .or_else(|| Some(hf_home.as_ref()?.join("hub")))
            .ok_or_else(|| {
                Error::usage("there is no folder for downloads: `HOME` is not set")
                    .hint("set `HF_HOME` to a folder")
            })?;
        // Make it absolute: subprocesses may have other current folders.
        let cache = std::path::absolute(&cache)
            .map_err(|error| Error::io("find the folder", &cache, &error))?;
        let endpoint = text("HF_ENDPOINT").unwrap_or_else(|| ENDPOINT.to_owned());
        let endpoint = Url::new(endpoint.trim_end_matches('/'), ENDPOINT)
            .map_err(|error| error.at("variable `HF_ENDPOINT`"))?;
        let token_file = path("HF_TOKEN_PATH").or_else(|| Some(hf_home?.join("token")));
        let token = if is_on("HF_HUB_DISABLE_IMPLICIT_TOKEN") {
            None
        } else {
            token(&text, dot_env, token_file.as_deref())?
        };
        Ok(Self {
            endpoint,
            cache,
            token,
            offline: is_on("HF_HUB_OFFLINE") || is_on("TRANSFORMERS_OFFLINE"),
        })
    }
}

/// The token from the environment, from `.env`, or from the file of `hf auth login`.
fn token(
    variable: &dyn Fn(&str) -> Option<String>,
    dot_env: &dyn Fn(&str) -> Option<String>,
    file: Option<&Path>,
) -> Result<Option<Token>> {
    const NAME: &str = "HF_TOKEN";
    let of_variable = || {
        let mut names = [NAME, "HUGGING_FACE_HUB_TOKEN"].into_iter();
        names.find_map(|name| Some((variable(name)?, format!("`{name}`"))))
    };
    let of_dot_env = || Some((dot_env(NAME)?, format!("`{NAME}` in `.env`")));
    let of_file = || {
        let value = std::fs::read_to_string(file?).ok()?;
        // `hf auth login` appends a line break.
        Some((value.trim().to_owned(), format!("`{}`", file?.display())))
    };
    let is_there = |(value, _): &(String, String)| !value.is_empty();
    let found = of_variable()
        .filter(is_there)
        .or_else(|| of_dot_env().filter(is_there))
        .or_else(|| of_file().filter(is_there));
    let Some((value, origin)) = found else {
        return Ok(None);
    };
    if !value.bytes().all(|byte| byte.is_ascii_graphic()) {
        let message = format!("the value of {origin} cannot be a token: it is not plain ASCII");
        return Err(Error::usage(message));
    }
    Ok(Some(Token { value, origin }))
}

/// Expands a leading `~`, because no shell does so in a `.env` file or a CI job.
fn expanded(path: PathBuf, home: Option<&Path>) -> PathBuf {
    match (path.strip_prefix("~"), home) {
        (Ok(rest), Some(home)) => home.join(rest),
        _ => path,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(variables: &[(&str, &str)]) -> HubSettings {
        let of = |name: &str| {
            let found = variables.iter().find(|(key, _)| *key == name);
            found.map(|(_, value)| OsString::from(value))
        };
        HubSettings::from(&of, &|_| None).unwrap()
    }

    #[test]
    fn the_cache_is_where_python_has_it() {
        let check = |variables: &[(&str, &str)], expect: &str| {
            assert_eq!(settings(variables).cache, Path::new(expect));
        };
        let home = ("HOME", "/h");
        check(&[home], "/h/.cache/huggingface/hub");
        check(&[home, ("XDG_CACHE_HOME", "/x")], "/x/huggingface/hub");
        let hf = ("HF_HOME", "~/hf");
        check(&[home, ("XDG_CACHE_HOME", "/x"), hf], "/h/hf/hub");
        check(&[home, hf, ("HF_HUB_CACHE", "/c")], "/c");
        check(&[home, hf, ("HF_HUB_CACHE", "")], "/h/hf/hub");
        assert!(HubSettings::from(&|_| None, &|_| None).is_err());
    }

    #[test]
    fn token_is_never_displayed() {
        let folder = tempfile::tempdir().unwrap();
        let home = folder.path().to_str().unwrap();
        let of = |more: &[(&str, &str)]| {
            let all: Vec<_> = [("HF_HOME", home)].iter().chain(more).copied().collect();
            settings(&all).token
        };
        assert!(of(&[]).is_none());
        std::fs::write(folder.path().join("token"), "hf_file\n").unwrap();
        std::fs::write(folder.path().join("other"), "hf_other").unwrap();
        assert_eq!(of(&[]).unwrap().value, "hf_file");
        let other = folder.path().join("other");
        let path = ("HF_TOKEN_PATH", other.to_str().unwrap());
        assert_eq!(of(&[path]).unwrap().value, "hf_other");
        let token = of(&[path, ("HF_TOKEN", " hf_variable ")]).unwrap();
        assert_eq!(token.value, "hf_variable");
        assert_eq!(format!("{token:?}"), "Token(of `HF_TOKEN`)");
        assert!(of(&[("HF_TOKEN", "x"), ("HF_HUB_DISABLE_IMPLICIT_TOKEN", "1")]).is_none());
    }

    #[test]
    fn a_dot_env_file_has_the_token_if_the_environment_has_none() {
        let variable = |name: &str| (name == "HOME").then(|| "/h".into());
        let dot_env = |name: &str| (name == "HF_TOKEN").then(|| "hf_dot".to_owned());
        let found = HubSettings::from(&variable, &dot_env)
            .unwrap()
            .token
            .unwrap();
        assert_eq!(
            (&*found.value, &*found.origin),
            ("hf_dot", "`HF_TOKEN` in `.env`")
        );
        let both =
            |name: &str| variable(name).or_else(|| (name == "HF_TOKEN").then(|| "hf_set".into()));
        let found = HubSettings::from(&both, &dot_env).unwrap().token.unwrap();
        assert_eq!(found.value, "hf_set");
    }

    #[test]
    fn the_endpoint_is_an_address_and_offline_a_word() {
        let of = |more: (&'static str, &'static str)| settings(&[("HOME", "/h"), more]);
        assert_eq!(of(("A", "")).endpoint.as_str(), "https://huggingface.co");
        let mirror = of(("HF_ENDPOINT", "http://127.0.0.1:80/"));
        assert_eq!(mirror.endpoint.as_str(), "http://127.0.0.1:80");
        for (value, expect) in [("1", true), ("true", true), ("0", false), ("", false)] {
            assert_eq!(of(("HF_HUB_OFFLINE", value)).offline, expect, "{value}");
        }
        let wrong = |name: &str| (name == "HF_ENDPOINT").then(|| "mirror".into());
        let with_home = |name: &str| wrong(name).or_else(|| (name == "HOME").then(|| "/h".into()));
        let error = HubSettings::from(&with_home, &|_| None).unwrap_err();
        assert!(error.message().contains("`HF_ENDPOINT`"), "{error}");
    }
}
