//! `Client`, its `HttpRequest`s and their `HttpReply`s.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use ureq::http::{self, HeaderMap, StatusCode};
use ureq::{Agent, AsSendBody, Body};

use super::connect::{Noting, Pace, noted};
use super::deadline::Deadline;
use super::failure::Failure;
use super::proxy::Proxies;
use super::resolve::HostCache;
use super::tls;
use super::url::Url;
use crate::error::Result;
use crate::system::cancel::{Cancel, Handle};
use crate::system::clock;
use crate::system::lock::lock;

/// Who asks.
const USER_AGENT: &str = concat!("evaltest/", env!("CARGO_PKG_VERSION"));
/// How long connecting may take; a host that does not answer is not waited for.
const CONNECT: Duration = Duration::from_secs(10);
/// Connections that are kept when nobody needs them.
const IDLE: usize = 1024;
/// How long they are kept. Servers close them, often after five seconds.
const IDLE_AGE: Duration = Duration::from_secs(15);
/// Room for the head of a reply. Every connection has it.
const HEAD: usize = 32 << 10;
/// Room for what is sent.
const SEND: usize = 16 << 10;
/// A pooled connection that the server had closed shows so within a round trip.
pub(super) const STALE: Duration = Duration::from_secs(1);
/// The time of a request without a deadline.
const FOREVER: Duration = Duration::from_hours(7 * 24);

/// Asks endpoints. Shared by all threads of a run, which share its connections.
#[derive(Debug)]
pub(crate) struct Client {
    config: ureq::config::Config,
    proxies: Proxies,
    /// The connections of each flag that stops requests: when it is set, they are closed for good. With many requests
    /// at once a flag has several.
    pools: Mutex<Vec<Pool>>,
    pace: Arc<Pace>,
    names: HostCache,
}

#[derive(Debug)]
struct Pool {
    flag: Handle,
    agent: Agent,
    /// Held once by the pool, and by each request that waits for the head of its reply.
    asking: Arc<()>,
}

/// So many requests at once share a pool: ureq looks at all of its connections for each of them, under a lock.
const SHARED: usize = 64;

/// What is asked.
#[derive(Clone, Debug)]
pub(crate) struct HttpRequest<'a> {
    pub(crate) method: &'a str,
    pub(crate) url: &'a Url,
    /// Names and values; those that cannot be headers fail the request.
    pub(crate) headers: &'a [(String, String)],
    pub(crate) body: Option<&'a [u8]>,
    /// When the reply must be whole.
    pub(crate) deadline: Option<Instant>,
    /// How long the body may be.
    pub(crate) max_bytes: u64,
}

/// What came back, whatever its status.
#[derive(Debug)]
pub(crate) struct HttpReply {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Vec<u8>,
}

impl Client {
    /// A client with the proxies and certificates of the environment.
    ///
    /// # Errors
    /// When the environment names what is no proxy or no certificate.
    pub(crate) fn new() -> Result<Self> {
        let config = Agent::config_builder()
            .user_agent(USER_AGENT)
            // Their bodies say more.
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
            .tls_config(tls::from_env()?)
            .build();
        Ok(Self {
            config,
            proxies: Proxies::from_env()?,
            pools: Mutex::default(),
            pace: Arc::default(),
            names: HostCache::default(),
        })
    }

    /// Asks once, and reads the reply whole.
    ///
    /// # Errors
    /// A reply of any status is one; see [`Failure`] for what is none.
    pub(crate) fn send(
        &self,
        request: &HttpRequest<'_>,
        cancel: &Cancel,
    ) -> std::result::Result<HttpReply, Failure> {
        let started = clock::now();
        let allowed = request.deadline.map_or(FOREVER, |deadline| {
            deadline.saturating_duration_since(started)
        });
        // Whatever a closed socket says, it was closed by us.
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
        Ok(HttpReply {
            status: parts.status,
            headers: parts.headers,
            body,
        })
    }

    /// Asks, and reads the head of the reply; the caller reads the body, for which `max_bytes` does not count.
    ///
    /// # Errors
    /// Those of ureq, for [`Failure::of`].
    pub(crate) fn open(
        &self,
        request: &HttpRequest<'_>,
        cancel: &Cancel,
    ) -> std::result::Result<http::Response<Body>, ureq::Error> {
        let started = clock::now();
        let (agent, _asking) = self.agent(cancel);
        let (response, is_fresh) = noted(|| self.ask(&agent, request, IDLE_AGE));
        match response {
            // A server may close a connection that it finds idle at the moment when we use it.
            Err(ureq::Error::Io(_) | ureq::Error::Protocol(_))
                if !is_fresh && clock::since(started) < STALE && !cancel.is_cancelled() =>
            {
                self.ask(&agent, request, Duration::ZERO)
            }
            response => response,
        }
    }

    /// Asks over a connection that was idle for `idle_age` at most.
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

    /// Connections that are closed when this flag is set, with what says that somebody asks over them.
    fn agent(&self, cancel: &Cancel) -> (Agent, Arc<()>) {
        let mut pools = lock(&self.pools);
        let has_room =
            |pool: &&Pool| pool.flag.is_of(cancel) && Arc::strong_count(&pool.asking) <= SHARED;
        if let Some(pool) = pools.iter().find(has_room) {
            return (pool.agent.clone(), Arc::clone(&pool.asking));
        }
        pools.retain(|pool| pool.flag.is_held());
        let noting = Noting::new(Arc::clone(&self.pace));
        let agent = Agent::with_parts(self.config.clone(), noting, self.names.clone());
        let asking = Arc::new(());
        pools.push(Pool {
            flag: cancel.handle(),
            agent: agent.clone(),
            asking: Arc::clone(&asking),
        });
        drop(pools);
        let closed = agent.clone();
        cancel.on_cancel(move || closed.shutdown());
        (agent, asking)
    }
}

impl HttpReply {
    /// The body without the mark with which some servers begin what is UTF-8.
    pub(crate) fn text(&self) -> &[u8] {
        self.body
            .strip_prefix(b"\xEF\xBB\xBF")
            .unwrap_or(&self.body)
    }

    /// Where a redirect points to.
    pub(crate) fn location(&self) -> Option<&str> {
        let is_redirect = self.status.is_redirection();
        let location = self.headers.get(http::header::LOCATION);
        location.filter(|_| is_redirect)?.to_str().ok()
    }
}
