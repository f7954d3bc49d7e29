//! Figures of a flow in words.

use crate::flow::figures::{ComparedItems, CountedShare, PointMean};
use crate::text::percent;

/// `1 item`, `2 items`.
pub(in crate::flow) fn count(number: u64, what: &str) -> String {
    let end = if number == 1 { "" } else { "s" };
    format!("{number} {what}{end}")
}

/// `12 of 80 items (15.0 %, 95 % interval 8.8 to 24.4 %)`.
pub(in crate::flow) fn counted(share: &CountedShare, of: &str) -> String {
    let CountedShare { part, of: all, .. } = share;
    match rate(share) {
        Some(rate) => format!("{part} of {all} {of} ({rate})"),
        None => format!("{part} of {all} {of}"),
    }
}

/// `15.0 %, 95 % interval 8.8 to 24.4 %`; `None` of nothing.
pub(in crate::flow) fn rate(share: &CountedShare) -> Option<String> {
    Some(rate_of(share.share?, share.ci95?))
}

/// `15.0 % (8.8 to 24.4 %)`, below a head that says what the brackets are; `-` of nothing.
pub(in crate::flow) fn cell(share: &CountedShare) -> String {
    match (share.share, share.ci95) {
        (Some(share), Some([low, high])) => {
            let low = percent(low);
            let low = low.trim_end_matches(" %");
            format!("{} ({low} to {})", percent(share), percent(high))
        }
        _ => "-".to_owned(),
    }
}

/// The same in words, of any share.
pub(in crate::flow) fn rate_of(share: f64, [low, high]: [f64; 2]) -> String {
    let low = percent(low);
    let low = low.trim_end_matches(" %");
    format!(
        "{}, 95 % interval {low} to {}",
        percent(share),
        percent(high)
    )
}

/// `4.20/5.0 (95 % interval 3.95 to 4.45)`.
pub(in crate::flow) fn points(mean: &PointMean) -> String {
    let Some(value) = mean.mean else {
        return "unknown".to_owned();
    };
    let of = mean.scale.map(|[_, high]| format!("/{high:.1}"));
    let value = format!("{value:.2}{}", of.unwrap_or_default());
    match interval(mean) {
        Some(interval) => format!("{value} (95 % interval {interval})"),
        None => value,
    }
}

/// `3.95 to 4.45`.
pub(in crate::flow) fn interval(mean: &PointMean) -> Option<String> {
    let [low, high] = mean.ci95?;
    Some(format!("{low:.2} to {high:.2}"))
}

/// `9 wins, 3 ties, 8 losses of 20 pairs (wins 45.0 %, 95 % interval 25.8 to 65.8 %; win rate 52.5 %, …)`.
pub(in crate::flow) fn pairs(compared: &ComparedItems) -> String {
    let pairs = &compared.pairs;
    let mut parts = vec![
        count(pairs.wins, "win"),
        count(pairs.ties, "tie"),
        match pairs.losses {
            1 => "1 loss".to_owned(),
            losses => format!("{losses} losses"),
        },
    ];
    if pairs.inconsistent > 0 {
        parts.push(format!("{} inconsistent", pairs.inconsistent));
    }
    let all = count(compared.read(), "pair");
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

/// What it cost, to a readable number of digits.
pub(in crate::flow) fn usd(cost: f64) -> String {
    if cost == 0.0 || cost >= 1.0 {
        format!("${cost:.2}")
    } else {
        format!("${cost:.4}")
    }
}
