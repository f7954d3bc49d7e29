//! What of an eval is secret, and what must not be.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::Value;

use super::item::Packed;
use super::scorers::scorers;
use crate::error::{Error, Result, Under};
use crate::eval::Eval;
use crate::scorer::Scorer;
use crate::text::quoted;
use crate::text::redact::{Redactor, holds_secret};

/// Blanks the secrets of an eval's agent and of its scorers, in all that is told of it.
///
/// # Errors
/// When a pattern of the eval is none.
pub(crate) fn redactor(eval: &Eval, scorers: &[Arc<dyn Scorer>]) -> Result<Redactor> {
    let mut secrets = eval.secrets.clone();
    secrets.extend(eval.agent.secrets());
    secrets.extend(scorers.iter().flat_map(Scorer::secrets));
    let mut variables = eval.agent.secret_variables();
    variables.extend(scorers.iter().flat_map(Scorer::secret_variables));
    Redactor::with_variables(&eval.redact, &secrets, &variables)
}

/// An error of an eval that cannot be loaded, without what is secret: a dataset may hold it, or a server repeat it.
pub(super) fn clean(eval: &Eval, error: Error) -> Error {
    match redactor(eval, &scorers(eval)) {
        Ok(redactor) => redactor.error(error),
        Err(_) => error,
    }
}

/// Refuses samples whose names hold a secret: they are names of tests and of files, and cannot be blanked.
pub(super) fn check_names(redactor: &Redactor, items: &[Packed]) -> Result<()> {
    let mut all = items.iter().enumerate().flat_map(|(place, item)| {
        let id = std::iter::once(("id", &*item.id));
        let slices = item.slices.iter();
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
    let hint = "call it otherwise, for it is the name of a test and of a file; if it is the value of a variable and no \
                secret, name that in `plain_env:`";
    Err(Error::usage(message).hint(hint))
}

/// Says whose values were blanked in more than one sample. Nobody is advised to publish a key: one that a spec has for an
/// endpoint, or whose name says that it is one.
pub(super) fn often_blanked(redactor: &Redactor, config: &Value) -> Vec<String> {
    let keys = KeyVariables::of(config);
    let often = redactor.often_blanked();
    let (of_endpoints, others): (Vec<_>, Vec<_>) =
        often.iter().partition(|name| keys.0.contains(*name));
    let (named_so, others): (Vec<_>, Vec<_>) =
        others.into_iter().partition(|name| holds_secret(name));
    let told = |names: &[&String], why: String| {
        let all = quoted(names.iter().map(|name| name.as_str()));
        (!names.is_empty())
            .then(|| format!("the value of {all} was blanked in more than one sample: {why}"))
    };
    let plain = others.first().map(|first| {
        format!("if it is no secret, write `plain_env: [{first}]` beside `env:` or `headers:`")
    });
    let notices = [
        told(
            &of_endpoints,
            "the endpoint repeats the key in its answers".to_owned(),
        ),
        told(
            &named_so,
            "by its name it is a key, and whoever was asked repeats it".to_owned(),
        ),
        told(&others, plain.unwrap_or_default()),
    ];
    notices.into_iter().flatten().collect()
}

/// The variables that a spec has for keys of endpoints: `api_key_env` of its agent, of its scorers and of its samples.
pub(crate) struct KeyVariables(BTreeSet<String>);

impl KeyVariables {
    pub(crate) fn of(config: &Value) -> Self {
        let mut names = BTreeSet::new();
        gather(config, &mut names);
        Self(names)
    }

    /// Refuses a list of plain variables with one of them: what it is for is sent and never written.
    ///
    /// # Errors
    /// That list, and where it stands.
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
                    "`{name}` is the variable of an `api_key_env`, whose value is a secret"
                );
                let error = Error::usage(message).hint(format!("take `{name}` out of `plain_env`"));
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

/// Whether what stands at a key of a spec is passed on, and means nothing here.
fn is_free(key: &str) -> bool {
    matches!(
        key,
        "options" | "extra_body" | "metadata" | "body" | "target"
    )
}
