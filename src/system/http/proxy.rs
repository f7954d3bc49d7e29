//! Proxies from the environment.

use ureq::{Proxy, ProxyProtocol};

use super::Url;
use crate::error::{Error, Result};

/// Proxies by scheme, read once.
#[derive(Clone, Debug, Default)]
pub(super) struct Proxies {
    http: Option<Proxy>,
    https: Option<Proxy>,
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
                make(address.trim(), except.as_deref()).ok_or_else(|| {
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
        })
    }

    /// The proxy for a URL; `None` for local addresses.
    pub(super) fn of(&self, url: &Url) -> Option<Proxy> {
        if url.is_local() {
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

fn make(address: &str, except: Option<&str>) -> Option<Proxy> {
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
    let hosts = except.unwrap_or_default().split(',').map(str::trim);
    for host in hosts.filter(|host| !host.is_empty()) {
        builder = builder.no_proxy(host);
    }
    builder.build().ok()
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
        let uri = url.as_str().parse().unwrap();
        (!proxy.is_no_proxy(&uri)).then(|| format!("{}:{}", proxy.host(), proxy.port()))
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
    fn what_is_no_proxy_is_an_error_that_names_the_variable() {
        for address in ["socks5://a:1", "http://", "a b", "ftp://x"] {
            let error = proxies(&[("HTTPS_PROXY", address)]).unwrap_err();
            let expect = "the variable `HTTPS_PROXY` names no proxy that can be used";
            assert_eq!(error.message(), expect, "{address}");
        }
    }
}
