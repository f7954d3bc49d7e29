//! How an accuracy is shown: errors are neither right nor hidden, so with them it is a range.

use crate::figure::{Interval, Share};
use crate::verdict::summary::Summary;

/// `66.7 %`, or with samples that lack a verdict what it could be with them: `66.7 % to 100.0 %`. `None` of nothing.
pub(super) fn shown(share: Option<f64>, bounds: Option<[f64; 2]>) -> Option<String> {
    match bounds {
        Some(range @ [low, high]) if low < high => Some(Interval(range.map(Share)).to_string()),
        _ => share.map(|share| Share(share).to_string()),
    }
}

/// `10 of 30 without an answer`, if any is.
pub(super) fn missing(summary: &Summary) -> Option<String> {
    let needed = match summary.early_stop {
        None => summary.skipped,
        Some(_) => 0,
    };
    let unknown = summary.errors + needed;
    // Those were answered.
    let is_answered = summary.unjudged() + summary.not_judged > 0;
    let what = if is_answered {
        "a verdict"
    } else {
        "an answer"
    };
    let all = summary.scored + unknown;
    (unknown > 0).then(|| format!("{unknown} of {all} without {what}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn with_errors_it_is_a_range() {
        fn check(share: Option<f64>, bounds: Option<[f64; 2]>, expect: Option<&str>) {
            assert_eq!(shown(share, bounds).as_deref(), expect);
        }
        check(
            Some(1.0),
            Some([20.0 / 30.0, 1.0]),
            Some("66.7 % to 100.0 %"),
        );
        check(None, Some([0.0, 1.0]), Some("0.0 % to 100.0 %"));
        check(Some(0.5), Some([0.5, 0.5]), Some("50.0 %"));
        // As runs of older versions have it.
        check(Some(0.5), None, Some("50.0 %"));
        check(None, None, None);
    }
}
