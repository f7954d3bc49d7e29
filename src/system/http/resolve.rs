//! `HostCache`: caches DNS lookups. ureq resolves before every request, even with an open connection, and starts a
//! thread for it.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use ureq::Error;
use ureq::config::Config;
use ureq::http::Uri;
use ureq::unversioned::resolver::{DefaultResolver, ResolvedSocketAddrs, Resolver};
use ureq::unversioned::transport::NextTimeout;

use super::deadline::Deadline;
use super::failure::short;
use crate::system::lock;
use crate::system::shortage;

/// How long a result is cached; endpoints rarely move.
const FRESH: Duration = Duration::from_secs(30);
/// Maximum number of cached hosts; redirects could name any number.
const HOSTS: usize = 256;

/// Caches the addresses of hosts. Of several threads that need the same host, one resolves it and the others wait.
#[derive(Clone, Debug, Default)]
pub(super) struct HostCache(Arc<Memory>);

#[derive(Debug, Default)]
struct Memory {
    system: DefaultResolver,
    known: Mutex<HashMap<String, Known>>,
    found: Condvar,
}

/// Maximum descriptors needed for a lookup.
const DESCRIPTORS: usize = 8;

#[derive(Debug)]
enum Known {
    /// A thread is resolving it.
    Sought,
    At(Vec<SocketAddr>, Instant),
}

impl Resolver for HostCache {
    fn resolve(
        &self,
        uri: &Uri,
        config: &Config,
        timeout: NextTimeout,
    ) -> Result<ResolvedSocketAddrs, Error> {
        Deadline::current().patiently(timeout, |timeout| self.find(uri, config, timeout))
    }
}

impl HostCache {
    fn known(&self) -> MutexGuard<'_, HashMap<String, Known>> {
        lock(&self.0.known)
    }

    fn find(
        &self,
        uri: &Uri,
        config: &Config,
        timeout: NextTimeout,
    ) -> Result<ResolvedSocketAddrs, Error> {
        let key = uri.authority().map(ureq::http::uri::Authority::as_str);
        let key = format!(
            "{}://{}",
            uri.scheme_str().unwrap_or_default(),
            key.unwrap_or_default()
        );
        let end = Instant::now().checked_add(*timeout.after);
        let mut known = self.known();
        loop {
            match known.get(&key) {
                Some(Known::At(places, since)) if since.elapsed() < FRESH => {
                    let mut found = self.empty();
                    for place in places {
                        found.push(*place);
                    }
                    return Ok(found);
                }
                Some(Known::Sought) => {
                    let remaining =
                        end.map_or(FRESH, |end| end.saturating_duration_since(Instant::now()));
                    if remaining.is_zero() {
                        return Err(Error::Timeout(timeout.reason));
                    }
                    let woken = self.0.found.wait_timeout(known, remaining);
                    known = woken.unwrap_or_else(PoisonError::into_inner).0;
                }
                Some(Known::At(..)) | None => break,
            }
        }
        if known.len() >= HOSTS {
            known.retain(|_, known| matches!(known, Known::Sought));
        }
        known.insert(key.clone(), Known::Sought);
        drop(known);
        let found = match shortage::room(DESCRIPTORS) {
            Ok(_room) => self.0.system.resolve(uri, config, timeout),
            Err(shortage) => Err(short(shortage)),
        };
        let mut known = self.known();
        match &found {
            Ok(places) => known.insert(key, Known::At(places.to_vec(), Instant::now())),
            Err(_) => known.remove(&key),
        };
        drop(known);
        self.0.found.notify_all();
        found
    }
}
