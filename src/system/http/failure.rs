//! `Failure`: why a request has no complete reply.

use std::time::Duration;

use ureq::{Error, Timeout};

use crate::system::shortage::Shortage;

/// Why there is no complete reply.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Failure {
    pub(crate) cause: Cause,
    /// A predicate to put after the endpoint's name: `cannot be reached: connection refused`.
    pub(crate) message: String,
}

/// The cause of a [`Failure`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cause {
    /// No connection, or an untrusted one.
    Unreachable,
    /// The connection broke, or the reply was invalid HTTP.
    Broken,
    /// The deadline passed.
    TimedOut,
    /// The reply exceeds its limit.
    TooLarge,
    /// The run was stopped.
    Cancelled,
    /// The request is invalid.
    BadRequest,
    /// This machine lacks resources for a connection.
    Shortage,
}

impl Failure {
    pub(super) fn new(cause: Cause, message: impl Into<String>) -> Self {
        Self {
            cause,
            message: message.into(),
        }
    }

    pub(super) fn timed_out(allowed: Duration) -> Self {
        let seconds = (allowed.as_secs_f64() * 1000.0).round() / 1000.0;
        Self::new(Cause::TimedOut, format!("did not answer in {seconds} s"))
    }

    pub(super) fn cancelled() -> Self {
        Self::new(
            Cause::Cancelled,
            "had not answered when the run was stopped",
        )
    }

    /// Converts an error of ureq. `allowed` is the request's timeout.
    pub(crate) fn of(error: &Error, allowed: Duration) -> Self {
        let unreachable = |why: &dyn std::fmt::Display| {
            Self::new(Cause::Unreachable, format!("cannot be reached: {why}"))
        };
        match error {
            Error::Timeout(Timeout::Connect | Timeout::Resolve) => {
                unreachable(&"no connection in time")
            }
            Error::Timeout(_) => Self::timed_out(allowed),
            Error::HostNotFound => unreachable(&"there is no such host"),
            Error::Io(error) if is_shortage(error) => {
                Self::new(Cause::Shortage, format!("cannot be reached: {error}"))
            }
            Error::Io(error) if error.to_string().contains("failed to lookup address") => {
                unreachable(&"there is no such host")
            }
            Error::Io(error) if is_unconnected(error) => unreachable(error),
            // rustls reports rejected certificates this way.
            Error::Io(error) if error.kind() == std::io::ErrorKind::InvalidData => {
                unreachable(&format_args!("no secure connection: {error}"))
            }
            Error::Io(error) => {
                Self::new(Cause::Broken, format!("broke off the connection: {error}"))
            }
            Error::Rustls(error) => unreachable(&format_args!("no secure connection: {error}")),
            Error::ConnectionFailed
            | Error::ConnectProxyFailed(_)
            | Error::InvalidProxyUrl
            | Error::Tls(_)
            | Error::TlsRequired => unreachable(error),
            Error::Protocol(error) => {
                Self::new(Cause::Broken, format!("does not speak HTTP: {error}"))
            }
            Error::LargeResponseHeader(_, limit) => Self::new(
                Cause::TooLarge,
                format!("answered with headers of more than {limit} bytes"),
            ),
            Error::BodyExceedsLimit(limit) => Self::new(
                Cause::TooLarge,
                format!("answered with more than {limit} bytes"),
            ),
            error => Self::new(Cause::BadRequest, format!("cannot be asked: {error}")),
        }
    }
}

/// Whether [`short`] created the error.
fn is_shortage(error: &std::io::Error) -> bool {
    error
        .get_ref()
        .is_some_and(<dyn std::error::Error + Send + Sync>::is::<Shortage>)
}

/// Wraps a shortage as an error of ureq.
pub(super) fn short(shortage: Shortage) -> Error {
    Error::Io(std::io::Error::other(shortage))
}

fn is_unconnected(error: &std::io::Error) -> bool {
    use std::io::ErrorKind;
    matches!(
        error.kind(),
        ErrorKind::ConnectionRefused
            | ErrorKind::HostUnreachable
            | ErrorKind::NetworkUnreachable
            | ErrorKind::NetworkDown
            | ErrorKind::AddrNotAvailable
            | ErrorKind::PermissionDenied
    )
}
