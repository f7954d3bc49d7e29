//! The variables passed to a program: a short list that programs need, and those named in the spec.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fmt::Write as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::system::variables;
use crate::text::quoted;
use crate::text::redact::is_secret_name;

/// Variables that are always passed.
const ALLOWED: [&str; 7] = [
    "PATH",
    "HOME",
    "LANG",
    "TZ",
    "TMPDIR",
    "VIRTUAL_ENV",
    "PYTHONPATH",
];
/// Prefixes of variables that are always passed.
const ALLOWED_PREFIXES: [&str; 2] = ["LC_", "SSL_CERT_"];
/// The source of variables, and which of them are passed.
#[derive(Clone)]
pub(crate) struct Environment {
    /// The environment of this process.
    pub(crate) ambient: BTreeMap<OsString, OsString>,
    /// Names from the spec.
    pub(crate) named: Vec<String>,
    /// Names from the spec with values that are not secret.
    pub(crate) plain: Vec<String>,
    /// Values for names from the spec that `ambient` lacks.
    pub(crate) fallback: BTreeMap<String, String>,
    /// Whether placeholders stand in for keys that nobody checks.
    only_replays: Arc<AtomicBool>,
}

/// Keys without which clients of models refuse to start.
const KEYS: [&str; 4] = [
    "OPENAI_API_KEY",
    "ANTHROPIC_API_KEY",
    "GEMINI_API_KEY",
    "GOOGLE_API_KEY",
];
/// Stands in for a key where calls are only replayed.
const PLACEHOLDER: &str = "evaltest-replays";

impl Environment {
    pub(crate) fn of_process() -> Self {
        Self {
            ambient: std::env::vars_os().collect(),
            named: Vec::new(),
            plain: Vec::new(),
            fallback: BTreeMap::new(),
            only_replays: Arc::default(),
        }
    }

    /// Says whether all calls of models are replayed: then placeholders stand in for keys.
    pub(crate) fn only_replay(&self, only_replays: bool) {
        self.only_replays.store(only_replays, Ordering::Relaxed);
    }

    /// Whether a key is not needed.
    fn is_replaced(&self, name: &str) -> bool {
        self.only_replays.load(Ordering::Relaxed) && KEYS.contains(&name)
    }

    /// Adds names of variables whose values are not secret. They are passed like others.
    pub(crate) fn name_plain(&mut self, names: impl IntoIterator<Item = impl Into<String>>) {
        for name in names.into_iter().map(Into::into) {
            if !self.named.contains(&name) {
                self.named.push(name.clone());
            }
            self.plain.push(name);
        }
    }

    /// The variables to pass; more can be added.
    pub(crate) fn vars(&self) -> BTreeMap<&OsStr, OsString> {
        let passed = self.passed().into_iter();
        let mut vars: BTreeMap<_, _> = passed
            .map(|(name, value)| (name, value.to_owned()))
            .collect();
        for name in KEYS.into_iter().filter(|name| self.is_replaced(name)) {
            vars.entry(OsStr::new(name))
                .or_insert_with(|| PLACEHOLDER.into());
        }
        vars
    }

    /// The passed variables with secret values: all named in the spec, unless they are [plain](variables::is_plain).
    pub(crate) fn secrets(&self) -> Vec<(String, String)> {
        let text = |(name, value): (&OsStr, &OsStr)| {
            let (name, value) = (name.to_string_lossy(), value.to_string_lossy());
            (name.into_owned(), value.into_owned())
        };
        let is_secret = |(name, value): &(String, String)| {
            (self.named.contains(name) || is_secret_name(name))
                && !variables::is_plain(name, value, &self.plain)
        };
        let passed = self.passed().into_iter().map(text);
        passed.filter(is_secret).collect()
    }

    /// The values of [secrets](Self::secrets).
    pub(crate) fn secret_values(&self) -> Vec<String> {
        let secrets = self.secrets().into_iter();
        secrets.map(|(_, value)| value).collect()
    }

    /// A suffix for error messages of the `program` (`agent`): keys that it may lack. Empty if there are none.
    pub(crate) fn advice(&self, program: &str) -> String {
        let unset = self.unset();
        let withheld = self.withheld_keys();
        let mut advice = String::new();
        if !unset.is_empty() {
            advice += "; set neither in the environment nor in `.env`: ";
            advice += &quoted(unset.iter().map(String::as_str));
        }
        if !withheld.is_empty() {
            let names = quoted(withheld.iter().copied());
            let list = withheld.join(", ");
            let _ = write!(
                advice,
                "; not passed to the {program}: {names}; hint: add `env: [{list}]` to `{program}`"
            );
        }
        advice
    }

    /// Names from the spec without a value.
    pub(crate) fn unset(&self) -> Vec<String> {
        let is_unset = |name: &&String| self.value(name).is_none() && !self.is_replaced(name);
        let unset = self.named.iter().filter(is_unset);
        unset.cloned().collect()
    }

    /// API keys that are set but not named in the spec.
    fn withheld_keys(&self) -> Vec<&str> {
        let ambient = self.ambient.iter().filter(|(_, value)| !value.is_empty());
        let ambient = ambient.filter_map(|(name, _)| name.to_str());
        let fallback = self.fallback.iter().filter(|(_, value)| !value.is_empty());
        let mut names: Vec<&str> = ambient
            .chain(fallback.map(|(name, _)| name.as_str()))
            .filter(|name| name.ends_with("_API_KEY") && !self.is_replaced(name))
            .filter(|name| !self.named.iter().any(|named| named == name))
            .collect();
        names.sort_unstable();
        names.dedup();
        names
    }

    fn passed(&self) -> BTreeMap<&OsStr, &OsStr> {
        let allowed = self
            .ambient
            .iter()
            .filter(|(name, _)| name.to_str().is_some_and(is_allowed))
            .map(|(name, value)| (name.as_os_str(), value.as_os_str()));
        let named = self
            .named
            .iter()
            .filter_map(|name| Some((OsStr::new(name), self.value(name)?)));
        allowed.chain(named).collect()
    }

    /// The value of a name from the spec; the process environment takes precedence over `.env`.
    fn value(&self, name: &str) -> Option<&OsStr> {
        let ambient = self.ambient.get(OsStr::new(name)).map(OsString::as_os_str);
        ambient.or_else(|| self.fallback.get(name).map(OsStr::new))
    }
}

fn is_allowed(name: &str) -> bool {
    ALLOWED.contains(&name) || ALLOWED_PREFIXES.iter().any(|start| name.starts_with(start))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn environment(ambient: &[(&str, &str)], named: &[&str]) -> Environment {
        let pair = |(name, value): &(&str, &str)| (name.into(), value.into());
        Environment {
            ambient: ambient.iter().map(pair).collect(),
            named: named.iter().map(ToString::to_string).collect(),
            plain: vec!["A_MODEL".into()],
            fallback: BTreeMap::from([("FROM_FILE".into(), "from-the-file".into())]),
            only_replays: Arc::default(),
        }
    }

    #[test]
    fn only_listed_and_named_variables_pass() {
        let all = [
            ("PATH", "/bin"),
            ("LC_ALL", "C"),
            ("LC", "no"),
            ("LANGUAGE", "no"),
            ("SSL_CERT_FILE", "/ca.pem"),
            ("LD_PRELOAD", "no"),
            ("MY_FLAG", "1"),
            ("HOME", "/home"),
        ];
        let environment = environment(&all, &["MY_FLAG", "FROM_FILE", "NOWHERE"]);
        let passed = environment.passed();
        let names: Vec<_> = passed.keys().filter_map(|name| name.to_str()).collect();
        let expected = [
            "FROM_FILE",
            "HOME",
            "LC_ALL",
            "MY_FLAG",
            "PATH",
            "SSL_CERT_FILE",
        ];
        assert_eq!(names, expected);
    }

    #[test]
    fn the_process_environment_wins_over_the_file() {
        let environment = environment(&[("FROM_FILE", "from-the-process")], &["FROM_FILE"]);
        assert_eq!(
            environment.value("FROM_FILE"),
            Some(OsStr::new("from-the-process"))
        );
    }

    #[test]
    fn what_a_spec_names_is_secret_whatever_it_is_called() {
        let usual = [
            "API_KEY",
            "DATABASE_URL",
            "DSN",
            "PGPASSWORD",
            "REDIS_URL",
            "AUTH",
            "BEARER",
            "SENTRY_DSN",
            "COOKIE",
            "SESSION",
            "JWT",
            "PAT",
            "GH_PAT",
            "WEBHOOK",
            "SLACK_HOOK",
            "MONGO_URI",
            "AZURE_SAS",
            "CONN_STR",
            "LOGIN",
            "CREDS",
            "SALT",
            "SEED",
            "PIN",
            "PASSPHRASE",
            "PRIVATE",
            "PEM",
            "CERT",
            "LICENSE",
            "NPM_AUTH",
            "DOCKER_AUTH",
            "SMTP_PASS",
            "S3_ID",
            "WANDB",
            "HTTPS_PROXY",
            "KUBE",
            "VAULT",
            "OTP",
        ];
        let all: Vec<_> = usual.iter().map(|name| (*name, "0123456789")).collect();
        assert_eq!(environment(&all, &usual).secrets().len(), usual.len());
        let folder = tempfile::tempdir().unwrap();
        let all = [
            ("SHORT", "1234567"),
            ("UNNAMED_KEY", "sk-87654321"),
            ("A_MODEL", "a-model-of-someone"),
            ("A_FOLDER", folder.path().to_str().unwrap()),
            ("LANG", "de_DE.UTF-8"),
            ("TZ", "Europe/Berlin"),
            ("LC_ALL", "de_DE.UTF-8"),
            ("SSL_CERT_KEY", "not-named-and-secret"),
        ];
        let named = ["SHORT", "A_MODEL", "A_FOLDER", "LANG", "TZ", "LC_ALL"];
        let environment = environment(&all, &named);
        assert_eq!(environment.secrets(), []);
        assert!(
            environment
                .passed()
                .contains_key(OsStr::new("SSL_CERT_KEY"))
        );
    }

    #[test]
    fn advice_names_what_to_add() {
        let all = [
            ("B_API_KEY", "b"),
            ("A_API_KEY", "a"),
            ("C_API_KEY", "c"),
            ("EMPTY_API_KEY", ""),
        ];
        assert_eq!(
            environment(&all, &["C_API_KEY", "NOWHERE"]).advice("agent"),
            "; set neither in the environment nor in `.env`: `NOWHERE`; not passed to the agent: \
             `A_API_KEY`, `B_API_KEY`; hint: add `env: [A_API_KEY, B_API_KEY]` to `agent`"
        );
        assert_eq!(environment(&[], &[]).advice("agent"), "");
    }
}
