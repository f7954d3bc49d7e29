//! `WebhookKeys`: where a spec sends alerts.

use serde::Deserialize;
use serde_json::Value;

use crate::error::{Result, Under};
use crate::eval::alerts::webhook::Webhook;

/// Whom a spec tells of an alert.
#[derive(Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub(in crate::eval::spec) struct WebhookKeys {
    /// The variable that has the address, which is a secret.
    url_env: String,
    /// What is sent, as JSON: `{eval}`, `{alert}`, `{message}`, `{commit}`, `{accuracy}` and `{run}` in its texts are filled in.
    /// `{ text: … }` by default, as Slack, Mattermost and others take it.
    template: Option<Value>,
}

impl WebhookKeys {
    pub(in crate::eval::spec) fn made(self) -> Result<Webhook> {
        let webhook = Webhook {
            url_env: self.url_env,
            template: self.template,
        };
        webhook.check().under("webhook")?;
        Ok(webhook)
    }
}
