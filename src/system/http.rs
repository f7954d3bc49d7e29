//! `Client`: requests to endpoints, blocking, for hundreds of threads at once.
//!
//! An [`HttpRequest`] goes out over a pooled connection and comes back as an [`HttpReply`], or as a [`Failure`] that
//! says whether asking again may help. Repeating is not done here: every request that somebody may have to pay for is
//! the caller's own decision. The one exception cannot have been billed: a pooled connection that the server had
//! closed while it was idle is replaced by a fresh one, once.
//!
//! Invariants:
//! - A deadline covers everything: looking up the name, connecting, TLS, sending, waiting and reading.
//! - Cancelling ends a wait at once; only a lookup or a connect in progress lasts on, for seconds at most.
//! - What is held of a reply is bounded by the request's `max_bytes` and 32 KiB of headers.
//! - No redirect is followed, so that no key goes to another host.
//! - Proxies and certificates are those of the environment, as for other programs; this machine needs no proxy.

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
