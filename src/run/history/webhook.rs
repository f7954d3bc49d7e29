//! Webhooks for alerts, called when all files of the run are written. A failing webhook is a notice.

use crate::eval::Eval;
use crate::eval::alerts::webhook::AlertedRun;
use crate::store::Manifest;
use crate::verdict::alert::AlertResult;
use crate::verdict::conclude::Run;

/// Redacts secrets, and takes notices.
type WebhookVoice<'a> = (&'a dyn Fn(&str) -> String, &'a mut dyn FnMut(&str));

/// Sends every alert that is raised.
pub(in crate::run) fn notify(
    eval: &Eval,
    manifest: &Manifest,
    run: &Run,
    (redacted, notice): WebhookVoice<'_>,
) {
    let Some(webhook) = &eval.alerting.webhook else {
        return;
    };
    let raised = || run.summary.alerts.iter().filter(|alert| alert.is_raised());
    if raised().next().is_none() {
        return;
    }
    let of = AlertedRun {
        eval: &run.eval,
        run: &manifest.run_id,
        commit: manifest.git_sha.as_deref(),
        accuracy: run.summary.accuracy,
    };
    // The body leaves this machine.
    let bodies = raised().map(|alert: &AlertResult| {
        let body = webhook.message(alert, of).to_string();
        redacted(&body)
    });
    if let Err(why) = sent(eval, &webhook.url_env, bodies) {
        notice(&format!("the webhook was not told of the alerts: {why}"));
    }
}

#[cfg(feature = "http")]
fn sent(eval: &Eval, variable: &str, bodies: impl Iterator<Item = String>) -> Result<(), String> {
    use std::path::Path;
    use std::time::Duration;

    use crate::system::cancel::Cancel;
    use crate::system::clock;
    use crate::system::http::{Client, HttpRequest, Url, from_variable, hide};

    /// The timeout of a request.
    const TIMEOUT: Duration = Duration::from_secs(10);
    /// How many bytes of a reply are read.
    const REPLY: u64 = 64 << 10;

    let describe = |error: crate::error::Error| match error.hint_text() {
        Some(hint) => format!("{}; {hint}", error.message()),
        None => error.message().to_owned(),
    };
    let folder = eval.spec.as_deref().and_then(Path::parent);
    let address = from_variable(
        variable,
        &format!("webhook.url_env: {variable}"),
        folder.unwrap_or(Path::new(".")),
    )
    .map_err(describe)?;
    // The address is a secret: it appears in no message.
    let hidden = |message: String| hide(message, [&*address]);
    let url = Url::new(address.clone(), "https://example.com/hook")
        .map_err(|_| format!("the value of `{variable}` is no URL"))?;
    let client = Client::new().map_err(describe)?;
    let headers = [("Content-Type".to_owned(), "application/json".to_owned())];
    for body in bodies {
        let ask = || {
            let request = HttpRequest {
                method: "POST",
                url: &url,
                headers: &headers,
                body: Some(body.as_bytes()),
                deadline: clock::now().checked_add(TIMEOUT),
                max_bytes: REPLY,
            };
            let reply = client.send(&request, &Cancel::new());
            match reply {
                Ok(reply) if reply.status.is_success() => Ok(()),
                Ok(reply) => Err(format!("it answered {}", reply.status)),
                Err(failure) => Err(failure.message),
            }
        };
        ask().or_else(|_| ask()).map_err(hidden)?;
    }
    Ok(())
}

#[cfg(not(feature = "http"))]
fn sent(
    _eval: &Eval,
    _variable: &str,
    _bodies: impl Iterator<Item = String>,
) -> Result<(), String> {
    Err("this program was built without the feature `http`".to_owned())
}
