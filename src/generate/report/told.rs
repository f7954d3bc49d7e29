//! Figures in words.

use crate::text::percent;

/// `1 item`, `3 items`; `1 reply`, `2 replies`.
pub(super) fn count(number: u64, what: &str) -> String {
    if number == 1 {
        return format!("1 {what}");
    }
    match what.strip_suffix('y') {
        Some(stem) => format!("{number} {stem}ies"),
        None => format!("{number} {what}s"),
    }
}

/// `90.0 % (74.4 % to 96.5 %)`, the second being the 95 % interval.
pub(super) fn share_cell(share: Option<f64>, ci95: Option<[f64; 2]>) -> String {
    match (share, ci95) {
        (Some(share), Some([low, high])) => {
            format!("{} ({} to {})", percent(share), percent(low), percent(high))
        }
        _ => "-".to_owned(),
    }
}

/// `27 of 30 (90.0 %, 95 % interval 74.4 % to 96.5 %)`.
pub(super) fn of_whole(
    part: u64,
    whole: u64,
    share: Option<f64>,
    ci95: Option<[f64; 2]>,
) -> String {
    match (share, ci95) {
        (Some(share), Some([low, high])) => format!(
            "{part} of {whole} ({}, 95 % interval {} to {})",
            percent(share),
            percent(low),
            percent(high)
        ),
        _ => format!("{part} of {whole}"),
    }
}
