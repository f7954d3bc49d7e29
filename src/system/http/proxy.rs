//! `Proxies`: which proxy a request takes, by the variables of the environment.

use std::net::IpAddr;

use ureq::http::Uri;
use ureq::{Proxy, ProxyProtocol};

use super::Url;
use crate::error::{Error, Result};

/// Proxies by scheme, read once.
#[derive(Clone, Debug, Default)]
pub(super) struct Proxies {
    http: Option<Proxy>,
    https: Option<Proxy>,
    /// Hosts that are asked directly.
    except: Vec<Exception>,
}

impl Proxies {
    /// Reads `http_proxy`, `https_proxy` and `all_proxy` (lower or upper case), with the exceptions in `no_proxy`.
    ///
    /// # Errors
    /// If a variable is invalid: ignoring it would silently bypass the proxy.
    pub(super) fn from_env() -> Result<Self> {
        Self::from(&|name| std::env::var(name).ok())
    }

    fn from(variable: &dyn Fn(&str) -> Option<String>) -> Result<Self> {
        let either = |name: &'static str| {
            let capitals = name.to_ascii_uppercase();
            let found = [name.to_owned(), capitals];
            found.into_iter().find_map(|name| {
                let value = variable(&name).filter(|value| !value.trim().is_empty())?;
                Some((name, value))
            })
        };
        let except = either("no_proxy").map(|(_, list)| list);
        let of = |name: &'static str| {
            let found = either(name).or_else(|| either("all_proxy"));
            let made = found.map(|(name, address)| {
                make(address.trim()).ok_or_else(|| {
                    Error::usage(format!(
                        "the variable `{name}` names no proxy that can be used"
                    ))
                    .hint(format!("write `{name}=http://host:port`, or unset it"))
                })
            });
            made.transpose()
        };
        Ok(Self {
            http: of("http_proxy")?,
            https: of("https_proxy")?,
            except: exceptions(&except.unwrap_or_default()),
        })
    }

    /// The proxy for a URL; `None` for local addresses and exceptions.
    pub(super) fn of(&self, url: &Url) -> Option<Proxy> {
        if url.is_local() || self.except.iter().any(|except| except.is_of(url)) {
            return None;
        }
        let proxy = if url.is_https() {
            &self.https
        } else {
            &self.http
        };
        proxy.clone()
    }
}

fn make(address: &str) -> Option<Proxy> {
    let proxy = Proxy::new(address).ok()?;
    // Other protocols would need another cargo feature.
    if !matches!(proxy.protocol(), ProxyProtocol::Http | ProxyProtocol::Https) {
        return None;
    }
    let mut builder = Proxy::builder(proxy.protocol())
        .host(proxy.host())
        .port(proxy.port());
    if let Some(name) = proxy.username() {
        builder = builder.username(name);
    }
    if let Some(password) = proxy.password() {
        builder = builder.password(password);
    }
    builder.build().ok()
}

/// An entry of `no_proxy`.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Exception {
    hosts: Hosts,
    /// The only port that it is for.
    port: Option<u16>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Hosts {
    All,
    /// `10.0.0.0/8`; a single address has all bits.
    Network(IpAddr, u32),
    /// A name with all names below it, in lower case.
    Domain(String),
    /// Only the names below it.
    Below(String),
}

impl Exception {
    fn parse(text: &str) -> Self {
        let (host, port) = match text.rsplit_once(':') {
            // An address of version 6 has a port only behind brackets.
            Some((host, port)) if !host.contains(':') || host.ends_with(']') => {
                (host, port.parse().ok())
            }
            _ => (text, None),
        };
        let host = if port.is_some() { host } else { text };
        let hosts = match host {
            "*" => Hosts::All,
            host => network(host).unwrap_or_else(|| {
                let name = host.trim_end_matches('.').to_ascii_lowercase();
                let below = name.strip_prefix("*.").or_else(|| name.strip_prefix('.'));
                let below = below.map(|below| Hosts::Below(below.to_owned()));
                below.unwrap_or(Hosts::Domain(name))
            }),
        };
        Self { hosts, port }
    }

    fn is_of(&self, url: &Url) -> bool {
        let Ok(uri) = url.as_str().parse::<Uri>() else {
            return false;
        };
        let port = uri
            .port_u16()
            .unwrap_or(if url.is_https() { 443 } else { 80 });
        let host = uri.host().unwrap_or_default().trim_end_matches('.');
        let host = host.to_ascii_lowercase();
        let is_below = |name: &str| {
            let begin = host.strip_suffix(name);
            begin.is_some_and(|begin| begin.len() > 1 && begin.ends_with('.'))
        };
        let is_host = match &self.hosts {
            Hosts::All => true,
            Hosts::Domain(name) => host == *name || is_below(name),
            Hosts::Below(name) => is_below(name),
            Hosts::Network(network, bits) => {
                address(&host).is_some_and(|address| has_same_prefix(address, *network, *bits))
            }
        };
        is_host && self.port.is_none_or(|own| own == port)
    }
}

/// The entries of `no_proxy`, between commas or spaces.
fn exceptions(list: &str) -> Vec<Exception> {
    let entries = list
        .split([',', ' ', '\t'])
        .filter(|entry| !entry.is_empty());
    entries.map(Exception::parse).collect()
}

/// An address, also in brackets; one of version 4 that is written as one of version 6 is one of version 4.
fn address(host: &str) -> Option<IpAddr> {
    let address: IpAddr = host.trim_matches(['[', ']']).parse().ok()?;
    Some(address.to_canonical())
}

/// An address or a network of addresses.
fn network(text: &str) -> Option<Hosts> {
    let (begin, bits) = match text.split_once('/') {
        Some((begin, bits)) => (begin, Some(bits.trim_end_matches(']').parse().ok()?)),
        None => (text, None),
    };
    let address = address(begin)?;
    let all = if address.is_ipv4() { 32 } else { 128 };
    let bits = bits.unwrap_or(all);
    (bits <= all).then_some(Hosts::Network(address, bits))
}

/// Whether so many bits of two addresses are equal.
fn has_same_prefix(one: IpAddr, other: IpAddr, bits: u32) -> bool {
    match (one, other) {
        (IpAddr::V4(one), IpAddr::V4(other)) => {
            let differ = one.to_bits() ^ other.to_bits();
            differ.leading_zeros() >= bits
        }
        (IpAddr::V6(one), IpAddr::V6(other)) => {
            let differ = one.to_bits() ^ other.to_bits();
            differ.leading_zeros() >= bits
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn proxies(variables: &[(&str, &str)]) -> Result<Proxies> {
        Proxies::from(&|name| {
            let found = variables.iter().find(|(key, _)| *key == name);
            found.map(|(_, value)| (*value).to_owned())
        })
    }

    fn host(variables: &[(&str, &str)], url: &str) -> Option<String> {
        let url = Url::new(url, "").unwrap();
        let proxy = proxies(variables).unwrap().of(&url)?;
        Some(format!("{}:{}", proxy.host(), proxy.port()))
    }

    #[test]
    fn the_scheme_chooses_and_this_machine_needs_none() {
        let all = [
            ("http_proxy", "http://plain:3128"),
            ("HTTPS_PROXY", "secure:3129"),
            ("ALL_PROXY", "http://rest:1"),
            ("no_proxy", "inside.example.com, .corp"),
        ];
        let at = |url: &str| host(&all, url);
        assert_eq!(at("http://a.example.com/").as_deref(), Some("plain:3128"));
        assert_eq!(at("https://a.example.com/").as_deref(), Some("secure:3129"));
        assert_eq!(at("http://127.0.0.1:8080/"), None);
        assert_eq!(at("https://inside.example.com/"), None);
        assert_eq!(at("https://a.corp/"), None);
        let rest = |url: &str| host(&all[2..3], url);
        assert_eq!(rest("http://a/").as_deref(), Some("rest:1"));
        assert_eq!(rest("https://a/").as_deref(), Some("rest:1"));
        assert_eq!(host(&[("http_proxy", " ")], "http://a/"), None);
        assert_eq!(host(&[], "https://a/"), None);
    }

    #[test]
    fn exceptions_are_hosts_domains_addresses_and_networks() {
        let is_direct = |list: &str, at: &str| {
            let all = [("all_proxy", "http://rest:1"), ("NO_PROXY", list)];
            host(&all, &format!("http://{at}/v1")).is_none()
        };
        for (list, direct, proxied) in [
            ("*", "a.com", ""),
            ("a.com", "a.com", "ba.com"),
            ("a.com", "x.A.com", "a.com.b"),
            (".a.com", "x.a.com", "a.com"),
            ("*.a.com", "x.y.a.com", "a.com"),
            ("b.com a.com.,c.com", "a.com", "d.com"),
            ("a.com:8080", "a.com:8080", "a.com:81"),
            ("a.com:80", "a.com", "a.com:81"),
            ("10.0.0.0/8", "10.200.3.4", "11.0.0.1"),
            ("10.0.0.0/8", "10.0.0.0:99", "ten.0.0.0"),
            ("10.1.2.3/9", "10.0.9.9", "10.128.0.0"),
            ("10.1.2.0/24:81", "10.1.2.9:81", "10.1.2.9"),
            ("10.1.2.3", "10.1.2.3", "10.1.2.4"),
            ("0.0.0.0/0", "1.2.3.4", "[2001::1]"),
            ("fd00::/8", "[fd12::1]:9", "[fe12::1]"),
            ("fd00::1", "[fd00:0::1]", "[fd00::2]"),
            ("[fd00::1]:81", "[fd00::1]:81", "[fd00::1]"),
            ("10.0.0.0/8", "[::ffff:10.1.1.1]", "[::ffff:11.1.1.1]"),
            ("10.0.0.0/33, a.com", "a.com", "10.0.0.0"),
        ] {
            assert!(is_direct(list, direct), "{list}: {direct}");
            assert!(
                proxied.is_empty() || !is_direct(list, proxied),
                "{list}: {proxied}"
            );
        }
    }

    #[test]
    fn what_is_no_proxy_is_an_error_that_names_the_variable() {
        for address in ["socks5://a:1", "http://", "a b", "ftp://x"] {
            let error = proxies(&[("HTTPS_PROXY", address)]).unwrap_err();
            let expect = "the variable `HTTPS_PROXY` names no proxy that can be used";
            assert_eq!(error.message(), expect, "{address}");
        }
    }
}
