//! Figures of a flow in words.

use crate::figure::{Interval, Scale, Share, counted, or_dash};
use crate::flow::figures::{ComparedItems, CountedShare, PointMean};

/// `12 of 80 items (15.0 %, 95 % confidence interval 8.8 % to 24.4 %)`.
pub(in crate::flow) fn part(share: &CountedShare, of: &str) -> String {
    let CountedShare { part, of: all, .. } = share;
    match rate(share) {
        Some(rate) => format!("{part} of {all} {of} ({rate})"),
        None => format!("{part} of {all} {of}"),
    }
}

/// `15.0 %, 95 % confidence interval 8.8 % to 24.4 %`; `None` of nothing.
fn rate(share: &CountedShare) -> Option<String> {
    Some(rate_of(share.share?, share.ci95?))
}

/// `15.0 % (8.8 % to 24.4 %)`, below a head that says what the brackets are; `-` of nothing.
pub(in crate::flow) fn cell(share: &CountedShare) -> String {
    or_dash(
        share
            .share
            .zip(share.ci95)
            .map(|(share, ci95)| Share(share).with_interval(ci95)),
    )
}

/// The same in words, of any share.
pub(in crate::flow) fn rate_of(share: f64, ci95: [f64; 2]) -> String {
    format!("{}, {}", Share(share), Interval(ci95.map(Share)).ci95())
}

/// `4.20/5.0 (95 % confidence interval 3.95 to 4.45)`.
pub(in crate::flow) fn mean_points(mean: &PointMean) -> String {
    let Some(value) = mean.mean else {
        return "unknown".to_owned();
    };
    let of = mean.scale.map(|[_, high]| format!("/{high:.1}"));
    let value = format!("{}{}", Scale(value, 2), of.unwrap_or_default());
    match mean_interval(mean) {
        Some(interval) => format!("{value} ({})", interval.ci95()),
        None => value,
    }
}

/// `3.95 to 4.45`.
pub(in crate::flow) fn mean_interval(mean: &PointMean) -> Option<Interval<Scale>> {
    Some(Interval(mean.ci95?.map(|end| Scale(end, 2))))
}

/// `9 wins, 3 ties, 8 losses of 20 pairs (wins 45.0 %, 95 % confidence interval 25.8 % to 65.8 %; win rate 52.5 %, …)`.
pub(in crate::flow) fn pairs(compared: &ComparedItems) -> String {
    let pairs = &compared.pairs;
    let mut parts = vec![
        counted(pairs.wins, "win"),
        counted(pairs.ties, "tie"),
        counted(pairs.losses, "loss"),
    ];
    if pairs.inconsistent > 0 {
        parts.push(format!("{} inconsistent", pairs.inconsistent));
    }
    let all = counted(compared.read(), "pair");
    let mut rates = Vec::new();
    if let Some(wins) = rate(&compared.share(pairs.wins)) {
        rates.push(format!("wins {wins}"));
    }
    if let (Some(rate), Some(ci95)) = (pairs.win_rate, pairs.ci95) {
        rates.push(format!("win rate {}", rate_of(rate, ci95)));
    }
    let rates = rates.join("; ");
    format!("{} of {all} ({rates})", parts.join(", "))
}
