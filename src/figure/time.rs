//! `Seconds`: a time.

use std::fmt::{self, Display, Formatter};
use std::time::Duration;

/// A duration in seconds: `0.1 ms`, `48 ms`, `4.2 s`, `3 min 5 s`, `2 h 10 min`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Seconds(pub f64);

impl Seconds {
    /// An estimated duration without decimals: `4 s`.
    pub fn whole(seconds: f64) -> String {
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
}

impl From<Duration> for Seconds {
    fn from(time: Duration) -> Self {
        Self(time.as_secs_f64())
    }
}

impl Display for Seconds {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let text = match self.0.max(0.0) {
            short if short < 0.000_05 => "0.0 s".to_owned(),
            short if short < 0.001 => format!("{:.1} ms", short * 1e3),
            short if short < 0.0995 => format!("{:.0} ms", short * 1e3),
            some if some < 99.95 => format!("{some:.1} s"),
            long => Self::whole(long),
        };
        f.pad(&text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_readable() {
        let check = |seconds: f64, expect: &str| assert_eq!(Seconds(seconds).to_string(), expect);
        check(0.0, "0.0 s");
        check(0.000_1, "0.1 ms");
        check(0.0214, "21 ms");
        check(0.0994, "99 ms");
        check(0.0996, "0.1 s");
        check(4.24, "4.2 s");
        check(90.0, "90.0 s");
        check(99.96, "1 min 40 s");
        check(7261.0, "2 h 1 min");
        assert_eq!(Seconds::whole(3.6), "4 s");
        assert_eq!(Seconds::whole(120.0), "2 min");
        assert_eq!(
            Seconds::from(Duration::from_millis(48)).to_string(),
            "48 ms"
        );
    }
}
