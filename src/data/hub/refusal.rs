//! `HubRefusal`: a failed request to the Hub, with a hint.

use std::time::Duration;

use ureq::http::HeaderMap;

use super::settings::{HubSettings, Token};
use crate::error::Error;
use crate::system::http::{Cause, Failure, hide, retry_after};
use crate::system::process::excerpt::beginning;

/// Maximum bytes shown of the Hub's reply.
const EXCERPT_BYTES: usize = 300;
/// Maximum pause before a retry; longer ones are left to the user.
const MAX_RETRY_AFTER: Duration = Duration::from_secs(30);

/// The reason why a request failed.
#[derive(Debug)]
pub(super) struct HubRefusal {
    pub(super) error: Error,
    pub(super) again: Again,
    /// HTTP status of the reply, if there was one.
    pub(super) status: Option<u16>,
}

/// Whether a retry may help.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Again {
    Never,
    /// After the default pause.
    Soon,
    /// After the pause requested by the Hub.
    After(Duration),
}

/// What was requested, for messages.
#[derive(Clone, Copy, Debug)]
pub(super) struct HubSource<'a> {
    pub(super) settings: &'a HubSettings,
    /// `ORG/NAME`.
    pub(super) repository: &'a str,
    /// `hf://datasets/…`.
    pub(super) address: &'a str,
}

impl From<Error> for HubRefusal {
    fn from(error: Error) -> Self {
        Self {
            error,
            again: Again::Never,
            status: None,
        }
    }
}

impl HubRefusal {
    /// The same error, marked as worth a retry.
    pub(super) fn soon(self) -> Self {
        Self {
            again: Again::Soon,
            ..self
        }
    }

    /// The pause before a retry: `usual` unless the Hub requested another; `None` if a retry is useless.
    pub(super) fn pause(&self, usual: Duration) -> Option<Duration> {
        match self.again {
            Again::Never => None,
            Again::Soon => Some(usual),
            Again::After(pause) => Some(pause),
        }
    }
}

impl HubSource<'_> {
    /// The error for an unsuccessful reply.
    pub(super) fn refused(&self, status: u16, headers: &HeaderMap) -> HubRefusal {
        let header = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
        let code = header("x-error-code").unwrap_or_default();
        let detail = header("x-error-message").unwrap_or_default();
        let (what, hint) = self.explain(status, code, detail, headers);
        let again = match status {
            429 => match retry_after(headers) {
                Some(pause) if pause > MAX_RETRY_AFTER => Again::Never,
                Some(pause) => Again::After(pause),
                None => Again::Soon,
            },
            408 | 425 | 500..=599 => Again::Soon,
            _ => Again::Never,
        };
        // Hosts may echo the request, including the token.
        let detail = hide(beginning(detail.as_bytes(), EXCERPT_BYTES), self.secret());
        let detail = if detail.is_empty() {
            detail
        } else {
            format!(" (it says: {detail})")
        };
        let message = format!("`{}`: {what}{detail}", self.address);
        let error = match status {
            408 | 425 | 429 | 500..=599 => Error::infrastructure(message),
            _ => Error::usage(message),
        };
        HubRefusal {
            error: error.hint(hint),
            again,
            status: Some(status),
        }
    }

    /// The error of a host that the Hub redirected to. Such URLs are valid for minutes only, so a retry may get
    /// another one.
    pub(super) fn refused_elsewhere(&self, status: u16, host: &str) -> HubRefusal {
        let message = format!(
            "`{}`: the Hub redirects to `{host}`, which answers {status}",
            self.address
        );
        let error = Error::infrastructure(message);
        HubRefusal {
            error: error
                .hint("try again later; a proxy or firewall may allow the Hub but not this host"),
            again: Again::Soon,
            status: Some(status),
        }
    }

    fn explain(
        &self,
        status: u16,
        code: &str,
        detail: &str,
        headers: &HeaderMap,
    ) -> (String, String) {
        let page = format!(
            "{}/datasets/{}",
            self.settings.endpoint.as_str(),
            self.repository
        );
        let tokens = "https://huggingface.co/settings/tokens";
        let token = self.settings.token.as_ref();
        match (status, code, token) {
            (_, "GatedRepo", None) => (
                "the dataset is gated, and no token was sent".to_owned(),
                format!(
                    "accept its terms at {page} , create a token at {tokens} , and set `HF_TOKEN` to it"
                ),
            ),
            (_, "GatedRepo", Some(Token { origin, .. })) => (
                format!("the dataset is gated, and the token of {origin} has no access"),
                format!(
                    "accept its terms at {page} with the account of the token; a fine-grained token also needs the \
                     permission to read public gated repositories: {tokens}"
                ),
            ),
            (401, _, Some(Token { origin, .. })) if detail.contains("Invalid credentials") => (
                format!("the token of {origin} is not valid"),
                format!("create another at {tokens} , and set `HF_TOKEN` to it"),
            ),
            (_, "RevisionNotFound", _) => (
                "there is no such revision".to_owned(),
                format!(
                    "branches, tags and commits are listed at {page}/tree/main ; a `/` in the name of one is written `%2F`"
                ),
            ),
            (_, "EntryNotFound", _) => (
                "there is no such file".to_owned(),
                format!("the files are listed at {page}/tree/main"),
            ),
            (401 | 403 | 404, _, None) => (
                "there is no such dataset, or it is private".to_owned(),
                format!("open {page} ; for a private one set `HF_TOKEN` to a token of {tokens}"),
            ),
            (401 | 403 | 404, _, Some(Token { origin, .. })) => (
                format!("there is no such dataset, or the token of {origin} may not see it"),
                format!("open {page} with the account of the token"),
            ),
            (429, _, _) => {
                let pause = retry_after(headers).map_or_else(
                    || "later".to_owned(),
                    |pause| format!("in {} s", pause.as_secs().max(1)),
                );
                let more = match token {
                    Some(_) => String::new(),
                    None => {
                        format!("; with a token the limit is higher: set `HF_TOKEN`, see {tokens}")
                    }
                };
                (
                    "the Hub answers 429: too many requests".to_owned(),
                    format!("try again {pause}; what was downloaded is kept{more}"),
                )
            }
            (500..=599, _, _) => (
                format!("the Hub answers {status}"),
                "try again later; see https://status.huggingface.co".to_owned(),
            ),
            _ => (
                format!("the Hub answers {status}"),
                format!("open {page} , and check `HF_ENDPOINT` if it is set"),
            ),
        }
    }

    /// The error for a request without a reply.
    pub(super) fn failed(&self, failure: &Failure) -> HubRefusal {
        let endpoint = self.settings.endpoint.as_str();
        let message = format!("`{}`: `{endpoint}` {}", self.address, failure.message);
        let error = Error::infrastructure(message).hint(
            "check the connection; `HF_ENDPOINT` names a mirror, and with `HF_HUB_OFFLINE=1` only the cache is used",
        );
        let again = match failure.cause {
            Cause::Unreachable | Cause::Broken | Cause::Shortage | Cause::TimedOut => Again::Soon,
            Cause::TooLarge | Cause::Cancelled | Cause::BadRequest => Again::Never,
        };
        HubRefusal {
            error,
            again,
            status: None,
        }
    }

    /// The error for an invalid successful reply.
    pub(super) fn garbled(&self, what: impl std::fmt::Display) -> HubRefusal {
        let endpoint = self.settings.endpoint.as_str();
        let message = format!("`{}`: `{endpoint}` {what}", self.address);
        let error = Error::infrastructure(message);
        error
            .hint("check that `HF_ENDPOINT` names a Hub, and that no proxy answers in its place")
            .into()
    }

    fn secret(&self) -> Option<&str> {
        self.settings.token.as_ref().map(|token| &*token.value)
    }
}
