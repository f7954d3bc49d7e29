//! Amounts as people read them: time, money, large counts.

use crate::stats::as_f64;

/// `4.2 s`, `3 min 5 s`, `2 h 10 min`.
pub fn seconds(seconds: f64) -> String {
    if seconds < 99.95 {
        return format!("{:.1} s", seconds.max(0.0));
    }
    whole_seconds(seconds)
}

/// The same of a time that nobody knows to the tenth: `4 s`.
pub fn whole_seconds(seconds: f64) -> String {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "such a cast stays within its bounds"
    )]
    let whole = seconds.round().max(0.0) as u64;
    match (whole / 3600, whole / 60 % 60, whole % 60) {
        (0, 0, seconds) => format!("{seconds} s"),
        (0, minutes, 0) => format!("{minutes} min"),
        (0, minutes, seconds) => format!("{minutes} min {seconds} s"),
        (hours, 0, _) => format!("{hours} h"),
        (hours, minutes, _) => format!("{hours} h {minutes} min"),
    }
}

/// `0.0012 USD`, and from ten dollars on in cents.
pub fn usd(usd: f64) -> String {
    if usd < 10.0 {
        format!("{usd:.4} USD")
    } else {
        format!("{usd:.2} USD")
    }
}

/// `950`, `12.3k`, `4.5M`.
pub fn count(count: u64) -> String {
    let amount = as_f64(count);
    match count {
        0..10_000 => count.to_string(),
        10_000..999_950 => format!("{:.1}k", amount / 1e3),
        _ => format!("{:.1}M", amount / 1e6),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_short() {
        let check = |shown: String, expect: &str| assert_eq!(shown, expect);
        check(seconds(4.24), "4.2 s");
        check(seconds(99.96), "1 min 40 s");
        check(seconds(7261.0), "2 h 1 min");
        check(whole_seconds(3.6), "4 s");
        check(whole_seconds(120.0), "2 min");
        check(usd(0.00123), "0.0012 USD");
        check(usd(12.345), "12.35 USD");
        check(count(9_999), "9999");
        check(count(12_345), "12.3k");
        check(count(4_510_000), "4.5M");
    }
}
