//! The secrets of an eval, and names that must not contain any.

use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;

use serde_json::Value;

use super::item::Packed;
use super::scorers::scorers;
use crate::error::{Error, Result, Under};
use crate::eval::Eval;
use crate::scorer::Scorer;
use crate::text::quoted;
use crate::text::redact::{Redactor, holds_secret};

/// Redacts the secrets of an eval's agent and scorers in all output.
///
/// # Errors
/// When a pattern of the eval is invalid.
pub(crate) fn redactor(eval: &Eval, scorers: &[Arc<dyn Scorer>]) -> Result<Redactor> {
    let mut secrets = eval.secrets.clone();
    secrets.extend(eval.agent.secrets());
    secrets.extend(scorers.iter().flat_map(Scorer::secrets));
    let mut variables = eval.agent.secret_variables();
    variables.extend(scorers.iter().flat_map(Scorer::secret_variables));
    Redactor::with_variables(&eval.redact, &secrets, &variables)
}

/// Redacts the error of an eval that cannot be loaded, as it may contain secrets from a dataset or a server.
pub(super) fn clean(eval: &Eval, error: Error) -> Error {
    match redactor(eval, &scorers(eval)) {
        Ok(redactor) => redactor.error(error),
        Err(_) => error,
    }
}

/// Refuses samples whose names contain a secret: they are names of tests and files, and cannot be redacted.
pub(super) fn check_names(redactor: &Redactor, items: &[Packed]) -> Result<()> {
    // Samples share lists of slices.
    let mut seen = HashSet::new();
    let mut all = items.iter().enumerate().flat_map(|(place, item)| {
        let id = std::iter::once(("id", &*item.id));
        let is_new = seen.insert(Arc::as_ptr(&item.slices).addr());
        let slices = item.slices.iter().filter(move |_| is_new);
        let slices = slices.map(|(dimension, value)| (&**dimension, &**value));
        id.chain(slices)
            .map(move |(what, name)| (place, what, name))
    });
    let is_secret = |name: &str| redactor.text(name, &mut 0) != name;
    let Some((place, what, name)) = all.find(|(_, _, name)| is_secret(name)) else {
        return Ok(());
    };
    let name = redactor.text(name, &mut 0);
    let message = format!(
        "the {what} of sample {} holds a secret: `{}`",
        place + 1,
        name.escape_debug()
    );
    let hint = "rename it, because it is the name of a test and of a file; if it is the value of a variable and no secret, \
                list that variable in `plain_env:`";
    Err(Error::usage(message).hint(hint))
}

/// Notices for values that were redacted in more than one sample. Never suggests publishing a key: one set for an
/// endpoint in a spec, or with a name that suggests a key.
pub(super) fn often_blanked(redactor: &Redactor, config: &Value) -> Vec<String> {
    let keys = KeyVariables::of(config);
    let often = redactor.often_blanked();
    let (of_endpoints, others): (Vec<_>, Vec<_>) =
        often.iter().partition(|name| keys.0.contains(*name));
    let (named_so, others): (Vec<_>, Vec<_>) =
        others.into_iter().partition(|name| holds_secret(name));
    let notice = |names: &[&String], why: String| {
        let all = quoted(names.iter().map(|name| name.as_str()));
        (!names.is_empty())
            .then(|| format!("the value of {all} was redacted in more than one sample: {why}"))
    };
    let plain = others.first().map(|first| {
        format!("if it is no secret, write `plain_env: [{first}]` next to `env:` or `headers:`")
    });
    let notices = [
        notice(
            &of_endpoints,
            "the endpoint repeats the key in its answers".to_owned(),
        ),
        notice(
            &named_so,
            "its name suggests a key, and the agent's output repeats it".to_owned(),
        ),
        notice(&others, plain.unwrap_or_default()),
    ];
    notices.into_iter().flatten().collect()
}

/// The variables with keys of endpoints in a spec: `api_key_env` of its agent, scorers and samples.
pub(crate) struct KeyVariables(BTreeSet<String>);

impl KeyVariables {
    pub(crate) fn of(config: &Value) -> Self {
        let mut names = BTreeSet::new();
        gather(config, &mut names);
        Self(names)
    }

    /// Refuses a list of plain variables that contains one of them: their values are sent but never written.
    ///
    /// # Errors
    /// For that list, with its position.
    pub(crate) fn check_not_plain(&self, config: &Value) -> Result<()> {
        match config {
            Value::Array(items) => {
                let mut items = items.iter().enumerate();
                items.try_for_each(|(place, item)| self.check_not_plain(item).under(place))
            }
            Value::Object(map) => map.iter().try_for_each(|(key, item)| {
                match item {
                    Value::Array(names) if key == "plain_env" => self.check_list(names),
                    _ if is_free(key) => Ok(()),
                    item => self.check_not_plain(item),
                }
                .under(key.as_str())
            }),
            _ => Ok(()),
        }
    }

    fn check_list(&self, names: &[Value]) -> Result<()> {
        let mut names = names.iter().enumerate();
        names.try_for_each(|(place, name)| match name.as_str() {
            Some(name) if self.0.contains(name) => {
                let message = format!(
                    "`{name}` is the variable of an `api_key_env`, so its value is a secret"
                );
                let error = Error::usage(message).hint(format!("remove `{name}` from `plain_env`"));
                Err(error.under(place))
            }
            _ => Ok(()),
        })
    }
}

fn gather(config: &Value, names: &mut BTreeSet<String>) {
    match config {
        Value::Array(items) => items.iter().for_each(|item| gather(item, names)),
        Value::Object(map) => {
            for (key, item) in map.iter().filter(|(key, _)| !is_free(key)) {
                match item {
                    Value::String(name) if key == "api_key_env" => {
                        names.insert(name.clone());
                    }
                    item => gather(item, names),
                }
            }
        }
        _ => {}
    }
}

/// Whether the value at a key of a spec is passed on without interpretation.
fn is_free(key: &str) -> bool {
    matches!(
        key,
        "options" | "extra_body" | "metadata" | "body" | "target"
    )
}
