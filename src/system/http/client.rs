//! `Client`, its `HttpRequest`s and their `HttpReply`s.

use std::path::Path;
use std::sync::{Arc, Mutex, OnceLock};
use std::time::{Duration, Instant};

use ureq::http::{HeaderMap, StatusCode};
use ureq::tls::{Certificate, PemItem, RootCerts, TlsConfig, parse_pem};
use ureq::{Agent, AsSendBody, Body, http};

use super::Url;
use super::connect::{Noting, Pace, noted};
use super::deadline::Deadline;
use super::encoding;
use super::failure::Failure;
use super::proxy::Proxies;
use super::resolve::HostCache;
use crate::error::{Error, Result};
use crate::system::cancel::{Cancel, Handle};
use crate::system::{clock, lock};

/// Who asks.
const USER_AGENT: &str = concat!("evaltest/", env!("CARGO_PKG_VERSION"));
/// Timeout of connecting.
const CONNECT: Duration = Duration::from_secs(10);
/// Maximum number of idle connections.
const IDLE: usize = 1024;
/// Maximum idle time of a connection. Servers close them, often after five seconds.
const IDLE_AGE: Duration = Duration::from_secs(15);
/// Buffer for response headers, per connection.
const HEAD: usize = 32 << 10;
/// Buffer for sending.
const SEND: usize = 16 << 10;
/// A pooled connection that the server had closed fails within this time.
pub(super) const STALE: Duration = Duration::from_secs(1);
/// Timeout of a request without a deadline.
const FOREVER: Duration = Duration::from_hours(7 * 24);

/// Sends requests to endpoints. Shared by all threads of a run, with a common connection pool.
#[derive(Debug)]
pub(crate) struct Client {
    config: ureq::config::Config,
    proxies: Proxies,
    /// Connection pools by cancellation flag: setting the flag closes them permanently. A flag has several pools if
    /// there are many concurrent requests.
    pools: Mutex<Vec<Pool>>,
    pace: Arc<Pace>,
    names: HostCache,
}

#[derive(Debug)]
struct Pool {
    flag: Handle,
    agent: Agent,
    /// The reference count is one plus the number of requests that wait for response headers.
    in_use: Arc<()>,
}

/// Maximum concurrent requests per pool: for each request ureq searches all connections of a pool under a lock.
const SHARED: usize = 64;

/// An HTTP request.
#[derive(Clone, Debug)]
pub(crate) struct HttpRequest<'a> {
    pub(crate) method: &'a str,
    pub(crate) url: &'a Url,
    /// Names and values; invalid ones fail the request.
    pub(crate) headers: &'a [(String, String)],
    pub(crate) body: Option<&'a [u8]>,
    /// When the reply must be complete.
    pub(crate) deadline: Option<Instant>,
    /// Maximum size of the body.
    pub(crate) max_bytes: u64,
}

/// An HTTP reply of any status.
#[derive(Debug)]
pub(crate) struct HttpReply {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Vec<u8>,
}

impl Client {
    /// A client with the environment's proxies and certificates.
    ///
    /// # Errors
    /// If the environment contains an invalid proxy or certificate.
    pub(crate) fn new() -> Result<Self> {
        let config = Agent::config_builder()
            .user_agent(USER_AGENT)
            // Error bodies have details.
            .http_status_as_error(false)
            .max_redirects(0)
            .max_idle_connections(IDLE)
            .max_idle_connections_per_host(IDLE)
            .max_idle_age(IDLE_AGE)
            .max_response_header_size(HEAD)
            .input_buffer_size(HEAD)
            .output_buffer_size(SEND)
            .timeout_connect(Some(CONNECT))
            .timeout_resolve(Some(CONNECT))
            .proxy(None)
            .tls_config(from_env()?)
            .build();
        Ok(Self {
            config,
            proxies: Proxies::from_env()?,
            pools: Mutex::default(),
            pace: Arc::default(),
            names: HostCache::default(),
        })
    }

    /// Sends a request and reads the whole reply.
    ///
    /// # Errors
    /// Replies of any status are no errors; see [`Failure`].
    pub(crate) fn send(
        &self,
        request: &HttpRequest<'_>,
        cancel: &Cancel,
    ) -> std::result::Result<HttpReply, Failure> {
        let started = clock::now();
        let allowed = request.deadline.map_or(FOREVER, |deadline| {
            deadline.saturating_duration_since(started)
        });
        // After cancellation any socket error is our own doing.
        let failure = |error: &ureq::Error| {
            if cancel.is_cancelled() {
                Failure::cancelled()
            } else {
                Failure::of(error, allowed)
            }
        };
        let mut response = self
            .open(request, cancel)
            .map_err(|error| failure(&error))?;
        let limited = response.body_mut().with_config().limit(request.max_bytes);
        let body = limited.read_to_vec().map_err(|error| failure(&error))?;
        let (parts, _) = response.into_parts();
        HttpReply::of(parts.status, parts.headers, body, request.max_bytes)
    }

    /// Sends a request and reads the response headers; the caller reads the body, which `max_bytes` does not limit.
    ///
    /// # Errors
    /// Those of ureq, for [`Failure::of`].
    pub(crate) fn open(
        &self,
        request: &HttpRequest<'_>,
        cancel: &Cancel,
    ) -> std::result::Result<http::Response<Body>, ureq::Error> {
        let started = clock::now();
        let (agent, _in_use) = self.agent(cancel);
        let (response, is_fresh) = noted(|| self.ask(&agent, request, IDLE_AGE));
        match response {
            // The server may close an idle connection just as it is used.
            Err(ureq::Error::Io(_) | ureq::Error::Protocol(_))
                if !is_fresh && clock::since(started) < STALE && !cancel.is_cancelled() =>
            {
                self.ask(&agent, request, Duration::ZERO)
            }
            response => response,
        }
    }

    /// Sends a request over a connection idle for at most `idle_age`.
    fn ask(
        &self,
        agent: &Agent,
        request: &HttpRequest<'_>,
        idle_age: Duration,
    ) -> std::result::Result<http::Response<Body>, ureq::Error> {
        match request.body {
            Some(body) => self.run(agent, request, body, idle_age),
            None => self.run(agent, request, (), idle_age),
        }
    }

    fn run(
        &self,
        agent: &Agent,
        request: &HttpRequest<'_>,
        body: impl AsSendBody,
        idle_age: Duration,
    ) -> std::result::Result<http::Response<Body>, ureq::Error> {
        let mut built = http::Request::builder()
            .method(request.method)
            .uri(request.url.as_str());
        for (name, value) in request.headers {
            built = built.header(name, value);
        }
        if request.deadline.is_some_and(|end| clock::now() >= end) {
            return Err(ureq::Error::Timeout(ureq::Timeout::Global));
        }
        let deadline = request.deadline;
        let request = agent
            .configure_request(built.body(body)?)
            .proxy(self.proxies.of(request.url))
            .max_idle_age(idle_age)
            .build();
        Deadline::of(deadline, || agent.run(request))
    }

    /// A connection pool that is closed when this flag is set, and the counter of its requests.
    fn agent(&self, cancel: &Cancel) -> (Agent, Arc<()>) {
        let mut pools = lock(&self.pools);
        let has_room =
            |pool: &&Pool| pool.flag.is_of(cancel) && Arc::strong_count(&pool.in_use) <= SHARED;
        if let Some(pool) = pools.iter().find(has_room) {
            return (pool.agent.clone(), Arc::clone(&pool.in_use));
        }
        pools.retain(|pool| pool.flag.is_held());
        let noting = Noting::new(Arc::clone(&self.pace));
        let agent = Agent::with_parts(self.config.clone(), noting, self.names.clone());
        let in_use = Arc::new(());
        pools.push(Pool {
            flag: cancel.handle(),
            agent: agent.clone(),
            in_use: Arc::clone(&in_use),
        });
        drop(pools);
        let closed = agent.clone();
        cancel.on_cancel(move || closed.shutdown());
        (agent, in_use)
    }
}

impl HttpReply {
    /// A reply with its body unpacked.
    ///
    /// # Errors
    /// If the body cannot be unpacked, or has more bytes then.
    pub(crate) fn of(
        status: StatusCode,
        headers: HeaderMap,
        body: Vec<u8>,
        max_bytes: u64,
    ) -> std::result::Result<Self, Failure> {
        Ok(Self {
            body: encoding::unpack(&headers, body, max_bytes)?,
            status,
            headers,
        })
    }

    /// The body without a UTF-8 byte order mark.
    pub(crate) fn text(&self) -> &[u8] {
        self.body
            .strip_prefix(b"\xEF\xBB\xBF")
            .unwrap_or(&self.body)
    }

    /// The encoding of a body that is still packed, by its header.
    pub(crate) fn encoding(&self) -> Option<&str> {
        encoding::unknown(&self.headers)
    }

    /// Target of a redirect.
    pub(crate) fn location(&self) -> Option<&str> {
        let is_redirect = self.status.is_redirection();
        let location = self.headers.get(http::header::LOCATION);
        location.filter(|_| is_redirect)?.to_str().ok()
    }
}

/// The configuration from the environment, read once.
///
/// # Errors
/// If the file cannot be read or contains no certificate.
pub(super) fn from_env() -> Result<TlsConfig> {
    static CONFIG: OnceLock<TlsConfig> = OnceLock::new();
    if let Some(config) = CONFIG.get() {
        return Ok(config.clone());
    }
    let file = std::env::var_os("SSL_CERT_FILE").filter(|file| !file.is_empty());
    let config = match file {
        None => TlsConfig::default(),
        Some(file) => TlsConfig::builder()
            .root_certs(RootCerts::new_with_certs(&certificates(Path::new(&file))?))
            .build(),
    };
    Ok(CONFIG.get_or_init(|| config).clone())
}

fn certificates(file: &Path) -> Result<Vec<Certificate<'static>>> {
    let place = |error: Error| error.at("the variable `SSL_CERT_FILE`");
    let content = std::fs::read(file).map_err(|error| place(Error::io("read", file, &error)))?;
    let certificate = |item| match item {
        Ok(PemItem::Certificate(certificate)) => Some(certificate),
        _ => None,
    };
    let found: Vec<_> = parse_pem(&content).filter_map(certificate).collect();
    if found.is_empty() {
        let message = format!("`{}` holds no certificate", file.display());
        return Err(place(
            Error::usage(message).hint("it has to be in PEM form"),
        ));
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_without_certificates_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("roots.pem");
        assert_eq!(certificates(&file).unwrap_err().exit(), crate::Exit::Usage);
        std::fs::write(
            &file,
            "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n",
        )
        .unwrap();
        assert_eq!(certificates(&file).unwrap().len(), 1);
        std::fs::write(&file, "no").unwrap();
        let error = certificates(&file).unwrap_err();
        assert!(
            error.message().ends_with("roots.pem` holds no certificate"),
            "{error}"
        );
    }
}
