//! Alerts on an eval's history, and where they are sent.

use serde_json::{Value, json};

use super::Eval;
use crate::error::{Error, Result, Under, nearest};
use crate::figure::Share;
use crate::text::quoted;
use crate::verdict::alert::{AlertResult, Alerts, check_interim};

/// Alerts on an eval's history, and where they are sent.
#[derive(Clone, Debug, Default)]
pub(crate) struct Alerting {
    pub(crate) alerts: Alerts,
    pub(crate) webhook: Option<Webhook>,
}

impl Eval {
    /// Adds an alert on the eval's history, written as in a spec.
    ///
    /// ```no_run
    /// use evaltest::{Eval, Gaia, Output, Task};
    ///
    /// # fn main() -> evaltest::Result<()> {
    /// let agent = |task: &Task| Ok(Output::text(task.question().len().to_string()));
    /// let gaia = Eval::new(Gaia::open("data/gaia")?, agent)
    ///     .alert("drop(accuracy, against=median(5))")?
    ///     .alert("error_rate > 0.05 twice")?;
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// When it is not a valid alert, or can never be raised next to the others.
    pub fn alert(mut self, alert: &str) -> Result<Self> {
        self.alerting.alerts.rules.push(alert.parse()?);
        self.alerting.alerts.check().map_err(|(_, error)| error)?;
        Ok(self)
    }

    /// How many runs share one alpha of the statistical alerts; 30 by default.
    ///
    /// # Errors
    /// When the number is invalid, or so few runs can never raise an alert.
    pub fn looks(mut self, looks: u64) -> Result<Self> {
        self.alerting.alerts.looks = check_interim(looks)?;
        self.alerting.alerts.check().map_err(|(_, error)| error)?;
        Ok(self)
    }

    /// Sends alerts to a webhook. The URL is in the variable `url_env`. `template` is JSON in whose texts `{eval}`,
    /// `{alert}`, `{message}`, `{commit}`, `{accuracy}` and `{run}` are filled in; without one, a plain text is sent as
    /// chat services accept it.
    ///
    /// # Errors
    /// When the variable's name is invalid, or the template has an unknown placeholder.
    pub fn webhook(mut self, url_env: impl Into<String>, template: Option<Value>) -> Result<Self> {
        let url_env = url_env.into();
        let webhook = Webhook { url_env, template };
        webhook.check()?;
        self.alerting.webhook = Some(webhook);
        Ok(self)
    }
}

/// The placeholders of a template.
const NAMES: [&str; 6] = ["eval", "alert", "message", "commit", "accuracy", "run"];

/// A webhook for alerts: a URL, read from a variable, and the JSON sent there.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Webhook {
    /// The variable that contains the URL.
    pub(crate) url_env: String,
    /// The JSON to send; a plain text by default.
    pub(crate) template: Option<Value>,
}

/// The run that raised an alert.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AlertedRun<'a> {
    /// The eval's name.
    pub(crate) eval: &'a str,
    /// The run's id.
    pub(crate) run: &'a str,
    /// The commit that was run.
    pub(crate) commit: Option<&'a str>,
    /// Its share of right answers.
    pub(crate) accuracy: Option<f64>,
}

impl Webhook {
    /// # Errors
    /// When the variable's name is invalid, or the template has an unknown placeholder.
    pub(crate) fn check(&self) -> Result<()> {
        let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
        if self.url_env.is_empty()
            || !self.url_env.chars().all(is_name)
            || self.url_env.starts_with(|c: char| c.is_ascii_digit())
        {
            let error = Error::usage("it is not the name of a variable").hint(
                "the address is a secret: put it into a variable and write its name, `url_env: EVALTEST_WEBHOOK`",
            );
            return Err::<(), _>(error).under("url_env");
        }
        match &self.template {
            Some(template) => check_template(template).under("template"),
            None => Ok(()),
        }
    }

    /// The message for an alert.
    pub(crate) fn message(&self, alert: &AlertResult, run: AlertedRun<'_>) -> Value {
        let fallback = json!({ "text": "{eval}: {alert}: {message} (run {run}, commit {commit})" });
        let template = self.template.as_ref().unwrap_or(&fallback);
        filled(template, &|name| {
            Some(match name {
                "eval" => run.eval.to_owned(),
                "alert" => alert.alert.clone(),
                "message" => alert.message.clone(),
                "commit" => run.commit.unwrap_or("unknown").to_owned(),
                "accuracy" => run
                    .accuracy
                    .map_or_else(|| "unknown".to_owned(), |it| Share(it).to_string()),
                "run" => run.run.to_owned(),
                _ => return None,
            })
        })
    }
}

fn check_template(template: &Value) -> Result<()> {
    match template {
        Value::String(text) => names(text).try_for_each(|name| {
            if NAMES.contains(&name) {
                return Ok(());
            }
            let error = Error::usage(format!("unknown placeholder `{{{name}}}`"));
            let legal = format!("there are {}", quoted(NAMES));
            Err(match nearest(name, NAMES) {
                Some(near) => error.hint(format!("did you mean `{{{near}}}`? {legal}")),
                None => error.hint(legal),
            })
        }),
        Value::Array(items) => items.iter().try_for_each(check_template),
        Value::Object(map) => map.values().try_for_each(check_template),
        _ => Ok(()),
    }
}

/// Names in braces.
fn names(text: &str) -> impl Iterator<Item = &str> {
    let parts = text.split('{').skip(1);
    let names = parts.filter_map(|part| part.split_once('}').map(|(name, _)| name));
    names
        .filter(|name| !name.is_empty() && name.chars().all(|c| c.is_ascii_lowercase() || c == '_'))
}

/// The template with its placeholders replaced, in one pass, so that messages are not expanded.
fn filled(template: &Value, of: &dyn Fn(&str) -> Option<String>) -> Value {
    match template {
        Value::String(text) => {
            let mut parts = text.split('{');
            let mut made = parts.next().unwrap_or_default().to_owned();
            for part in parts {
                let named = part.split_once('}');
                if let Some((value, rest)) = named.and_then(|(name, rest)| Some((of(name)?, rest)))
                {
                    made += &value;
                    made += rest;
                } else {
                    made.push('{');
                    made += part;
                }
            }
            made.into()
        }
        Value::Array(items) => items.iter().map(|item| filled(item, of)).collect(),
        Value::Object(map) => {
            let filled = map
                .iter()
                .map(|(key, value)| (key.clone(), filled(value, of)));
            Value::Object(filled.collect())
        }
        other => other.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::verdict::alert::AlertVerdict;

    fn webhook(template: Value) -> Webhook {
        Webhook {
            url_env: "HOOK".to_owned(),
            template: Some(template),
        }
    }

    #[test]
    fn templates_are_filled_in_and_checked() {
        let alert: AlertResult = serde_json::from_value(json!({
            "alert": "accuracy < 0.5", "verdict": "raised", "value": 0.4, "threshold": 0.5,
            "message": "{run} \"quoted\"",
        }))
        .unwrap();
        assert_eq!(alert.verdict, AlertVerdict::Raised);
        let run = AlertedRun {
            eval: "gaia",
            run: "gaia-1",
            commit: None,
            accuracy: Some(0.4),
        };
        let made = webhook(
            json!({ "a": ["{message} {", 7], "b{eval}": "{run}{eval}{commit} {accuracy} {}" }),
        );
        assert_eq!(
            made.message(&alert, run),
            json!({ "a": ["{run} \"quoted\" {", 7], "b{eval}": "gaia-1gaiaunknown 40.0 % {}" })
        );
        made.check().unwrap();
        let plain = Webhook {
            template: None,
            ..made
        };
        let text = &plain.message(&alert, run)["text"];
        assert_eq!(
            text,
            "gaia: accuracy < 0.5: {run} \"quoted\" (run gaia-1, commit unknown)"
        );
        let error = webhook(json!({ "x": ["{evals}"] })).check().unwrap_err();
        assert!(
            error.to_string().contains("unknown placeholder `{evals}`"),
            "{error}"
        );
        assert!(error.hint_text().unwrap().contains("`{eval}`"));
        for wrong in ["", "https://example.com", "1A"] {
            let url_env = wrong.to_owned();
            assert!(
                Webhook {
                    url_env,
                    template: None
                }
                .check()
                .is_err(),
                "{wrong}"
            );
        }
    }
}
