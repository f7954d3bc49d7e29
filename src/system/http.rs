//! `Client`: blocking HTTP requests, from hundreds of threads at once.
//!
//! An [`HttpRequest`] is sent over a pooled connection and returns an [`HttpReply`], or a [`Failure`] that says
//! whether a retry may help. Retries are left to the caller, because every request may cost money. The one exception
//! cannot have been billed: if the server had closed an idle pooled connection, the request is sent once more over a
//! new one.
//!
//! Invariants:
//! - A deadline covers everything: DNS, connecting, TLS, sending, waiting and reading.
//! - Cancellation ends a wait immediately; only a DNS lookup or connect in progress may continue for a few seconds.
//! - Memory per reply is limited by the request's `max_bytes` and 32 KiB of headers.
//! - Redirects are not followed, so that keys are not sent to other hosts.
//! - Proxies and certificates are taken from the environment, as in other programs; local addresses use no proxy.

mod client;
mod connect;
mod deadline;
mod failure;
mod key;
mod proxy;
mod resolve;
mod retry;
#[cfg(test)]
mod tests;
mod tls;
mod url;

pub(crate) use client::{Client, HttpReply, HttpRequest};
pub(crate) use failure::{Cause, Failure};
pub(crate) use key::{from_variable, hide};
pub(crate) use retry::retry_after;
pub(crate) use url::Url;
