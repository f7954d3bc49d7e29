//! When an endpoint wants to be called again.

use std::time::Duration;

use ureq::http::HeaderMap;

/// The pause requested by `Retry-After` (seconds or a date) or by `retry-after-ms`, which some endpoints add. `None`
/// if there is no valid one; zero for a date in the past.
pub(crate) fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let now = crate::system::clock::timestamp();
    let text = |name: &str| headers.get(name)?.to_str().ok().map(str::trim);
    let milliseconds = text("retry-after-ms").and_then(|text| parse_seconds(text, 1000.0));
    milliseconds.or_else(|| pause(text("retry-after")?, now))
}

fn pause(text: &str, now: jiff::Timestamp) -> Option<Duration> {
    if let Some(pause) = parse_seconds(text, 1.0) {
        return Some(pause);
    }
    // HTTP dates are a subset of the format for mail.
    let date = jiff::fmt::rfc2822::parse(text).ok()?.timestamp();
    Some(Duration::try_from(date.duration_since(now)).unwrap_or_default())
}

fn parse_seconds(text: &str, unit: f64) -> Option<Duration> {
    let number: f64 = text.parse().ok()?;
    Duration::try_from_secs_f64(number / unit).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_and_dates_are_pauses() {
        let now: jiff::Timestamp = "2026-10-21T07:28:00Z".parse().unwrap();
        let check = |text: &str, expect: Option<u64>| {
            assert_eq!(
                pause(text, now),
                expect.map(Duration::from_millis),
                "{text}"
            );
        };
        check("0", Some(0));
        check("120", Some(120_000));
        check("1.5", Some(1500));
        check("Wed, 21 Oct 2026 07:28:30 GMT", Some(30_000));
        check("Wed, 21 Oct 2026 07:27:00 GMT", Some(0));
        for text in [
            "",
            "soon",
            "-1",
            "NaN",
            "inf",
            "1e400",
            "Wed, 40 Oct 2026 07:28:30 GMT",
        ] {
            check(text, None);
        }
        let mut headers = HeaderMap::new();
        assert_eq!(retry_after(&headers), None);
        headers.insert("retry-after", "7".parse().unwrap());
        assert_eq!(retry_after(&headers), Some(Duration::from_secs(7)));
        headers.insert("retry-after-ms", "250".parse().unwrap());
        assert_eq!(retry_after(&headers), Some(Duration::from_millis(250)));
    }
}
