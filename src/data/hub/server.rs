//! `Server`: client of the Hub's HTTP API.

use std::thread;
use std::time::Duration;

use serde_json::Value;
use ureq::Body;
use ureq::http::header::{ETAG, LINK, LOCATION};
use ureq::http::{HeaderMap, Response};

use super::address::{is_commit, is_relative};
use super::blob::Checksum;
use super::listing::HubListing;
use super::redirect::{encoded, is_same_origin, origin, target};
use super::refusal::{HubRefusal, HubSource};
use super::settings::HubSettings;
use crate::error::{Error, Result};
use crate::system::cancel::Cancel;
use crate::system::clock;
use crate::system::http::{Client, Failure, HttpReply, HttpRequest, Url};

/// Number of attempts per request.
const TRIES: u32 = 4;
/// Pause after the first attempt; it doubles each time.
const PAUSE: Duration = Duration::from_millis(500);
/// Timeout of a reply without a file.
const TIME: Duration = Duration::from_secs(30);
/// Maximum size of a reply; a page of a list has at most a thousand files.
const MAX_BYTES: u64 = 16 << 20;
/// Maximum number of pages of a list. A dataset of questions has fewer files.
const PAGES: usize = 200;
/// Maximum size of all pages.
const LISTING_BYTES: usize = 128 << 20;
const REDIRECTS: usize = 8;

/// Sends requests to the Hub.
#[derive(Debug)]
pub(super) struct Server {
    pub(super) settings: HubSettings,
    client: Client,
    cancel: Cancel,
}

/// The Hub's metadata of a file.
#[derive(Debug)]
pub(super) struct Head {
    pub(super) checksum: Checksum,
    pub(super) size: Option<u64>,
}

impl Server {
    pub(super) fn new(settings: HubSettings) -> Result<Self> {
        Ok(Self {
            settings,
            client: Client::new()?,
            cancel: Cancel::new(),
        })
    }

    pub(super) fn source<'a>(&'a self, repository: &'a str, address: &'a str) -> HubSource<'a> {
        HubSource {
            settings: &self.settings,
            repository,
            address,
        }
    }

    /// The commit of a revision.
    pub(super) fn commit(&self, source: HubSource<'_>, revision: &str) -> Result<String> {
        let revision = encoded(revision, b"");
        let path = format!("/api/datasets/{}/revision/{revision}", source.repository);
        let reply = patiently(|| self.get(source, &self.url(&path)?))?;
        let json: Option<Value> = serde_json::from_slice(&reply.body).ok();
        let commit = json.as_ref().and_then(|json| json.get("sha")?.as_str());
        let commit = commit.filter(|commit| is_commit(commit));
        commit
            .map(str::to_owned)
            .ok_or_else(|| source.garbled("names no commit").error)
    }

    /// The list of a commit's files.
    pub(super) fn listing(&self, source: HubSource<'_>, commit: &str) -> Result<HubListing> {
        let path = format!(
            "/api/datasets/{}/tree/{commit}?recursive=true",
            source.repository
        );
        let mut url = self.url(&path)?;
        let mut listing = HubListing::default();
        let mut bytes = 0;
        for _ in 0..PAGES {
            let reply = patiently(|| self.get(source, &url))?;
            bytes += reply.body.len();
            if bytes > LISTING_BYTES {
                break;
            }
            let page: Vec<Value> = serde_json::from_slice(&reply.body)
                .map_err(|_| source.garbled("gives no list of files").error)?;
            for entry in &page {
                let path = entry.get("path").and_then(Value::as_str);
                let path = path.unwrap_or_default();
                if path.is_empty() || !is_relative(path) {
                    let path = path.escape_debug();
                    let what = format!("names a file `{path}`, which could be outside the dataset");
                    return Err(source.garbled(what).error);
                }
                listing.add(path, entry);
            }
            match next_page(&reply.headers) {
                Some(next) => url = target(&url, next)?,
                None => return Ok(listing),
            }
            if !is_same_origin(&url, &self.settings.endpoint) {
                return Err(source.garbled("continues its list on another host").error);
            }
        }
        Err(
            Error::usage(format!("`{}` has too many files to list", source.address))
                .hint("name one file of it: `hf://datasets/ORG/NAME/FILE.jsonl`"),
        )
    }

    /// The metadata of a file.
    pub(super) fn head(&self, source: HubSource<'_>, commit: &str, file: &str) -> Result<Head> {
        let url = self.file(source, commit, file)?;
        patiently(|| {
            let response = self.follow(source, "HEAD", &url, &[], TIME, &is_file)?;
            let headers = response.headers();
            let header = |name: &str| headers.get(name)?.to_str().ok();
            if header("x-repo-commit").is_some_and(|found| found != commit) {
                return Err(source.garbled("answers with a file of another commit"));
            }
            let linked = header("x-linked-etag");
            let checksum = linked.or_else(|| header(ETAG.as_str()));
            let checksum = checksum
                .and_then(Checksum::of_etag)
                .ok_or_else(|| source.garbled("sends an ETag that is not a checksum"))?;
            let size = match header("x-linked-size") {
                None if response.status().is_redirection() => None,
                None => header("content-length"),
                size => size,
            };
            Ok(Head {
                checksum,
                size: size.and_then(|size| size.parse().ok()),
            })
        })
    }

    /// Starts to download a file from a byte offset.
    pub(super) fn body(
        &self,
        source: HubSource<'_>,
        url: &Url,
        from: u64,
        time: Duration,
    ) -> Result<Response<Body>, HubRefusal> {
        let mut headers = vec![];
        if from > 0 {
            headers.push(("Range".to_owned(), format!("bytes={from}-")));
        }
        self.follow(source, "GET", url, &headers, time, &|_| false)
    }

    /// The URL of a file.
    pub(super) fn file(&self, source: HubSource<'_>, commit: &str, file: &str) -> Result<Url> {
        let file = encoded(file, b"/");
        self.url(&format!(
            "/datasets/{}/resolve/{commit}/{file}",
            source.repository
        ))
    }

    fn url(&self, path: &str) -> Result<Url> {
        let endpoint = self.settings.endpoint.as_str();
        Url::new(format!("{endpoint}{path}"), endpoint)
    }

    fn get(&self, source: HubSource<'_>, url: &Url) -> Result<HttpReply, HubRefusal> {
        let response = self.follow(source, "GET", url, &[], TIME, &|_| false)?;
        let (parts, mut body) = response.into_parts();
        let body = body.with_config().limit(MAX_BYTES).read_to_vec();
        let body = body.map_err(|error| source.failed(&Failure::of(&error, TIME)))?;
        Ok(HttpReply {
            status: parts.status,
            headers: parts.headers,
            body,
        })
    }

    /// Sends a request and follows redirects until a final reply, or a redirect that is `wanted` itself. The token is
    /// only sent to the Hub's own origin, and no longer once another origin was involved.
    fn follow(
        &self,
        source: HubSource<'_>,
        method: &str,
        url: &Url,
        headers: &[(String, String)],
        time: Duration,
        wanted: &dyn Fn(&HeaderMap) -> bool,
    ) -> Result<Response<Body>, HubRefusal> {
        let deadline = clock::now().checked_add(time);
        let mut url = url.clone();
        let mut token = self.settings.token.as_ref();
        for _ in 0..REDIRECTS {
            if !is_same_origin(&url, &self.settings.endpoint) {
                token = None;
            }
            let mut headers = headers.to_vec();
            // Checksum and size must be those of the file, not of compressed data.
            headers.push(("Accept-Encoding".to_owned(), "identity".to_owned()));
            if let Some(token) = token {
                let bearer = format!("Bearer {}", token.value);
                headers.push(("Authorization".to_owned(), bearer));
            }
            let request = HttpRequest {
                method,
                url: &url,
                headers: &headers,
                body: None,
                deadline,
                max_bytes: MAX_BYTES,
            };
            let response = self
                .client
                .open(&request, &self.cancel)
                .map_err(|error| source.failed(&Failure::of(&error, time)))?;
            let status = response.status();
            if status.is_success() || (status.is_redirection() && wanted(response.headers())) {
                return Ok(response);
            }
            let location = response.headers().get(LOCATION);
            let location = location.filter(|_| status.is_redirection());
            match location.and_then(|location| location.to_str().ok()) {
                Some(location) => {
                    url = target(&url, location)
                        .map_err(|_| source.garbled("redirects to an invalid address"))?;
                }
                None if is_same_origin(&url, &self.settings.endpoint) => {
                    return Err(source.refused(status.as_u16(), response.headers()));
                }
                None => {
                    let host = origin(&url);
                    return Err(source.refused_elsewhere(status.as_u16(), host));
                }
            }
        }
        Err(source.garbled("redirects without end"))
    }
}

/// Retries as long as that may help.
fn patiently<T>(mut ask: impl FnMut() -> Result<T, HubRefusal>) -> Result<T> {
    let mut usual = PAUSE;
    for _ in 1..TRIES {
        let refusal = match ask() {
            Ok(found) => return Ok(found),
            Err(refusal) => refusal,
        };
        let Some(pause) = refusal.pause(usual) else {
            return Err(refusal.error);
        };
        thread::sleep(pause);
        usual *= 2;
    }
    ask().map_err(|refusal| refusal.error)
}

/// Whether a redirect has the metadata of its target file, as for large files.
fn is_file(headers: &HeaderMap) -> bool {
    headers.contains_key("x-linked-etag")
}

/// The URL of the next page of a list.
fn next_page(headers: &HeaderMap) -> Option<&str> {
    let links = headers.get(LINK)?.to_str().ok()?;
    let next = links
        .split(',')
        .find(|link| link.contains("rel=\"next\""))?;
    let (_, rest) = next.split_once('<')?;
    rest.split_once('>').map(|(address, _)| address)
}
