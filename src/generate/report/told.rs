//! Figures in words.

use crate::figure::{Interval, Share, or_dash};

/// `90.0 % (74.4 % to 96.5 %)`, the second being the 95 % confidence interval.
pub(super) fn share_cell(share: Option<f64>, ci95: Option<[f64; 2]>) -> String {
    or_dash(
        share
            .zip(ci95)
            .map(|(share, ci95)| Share(share).with_interval(ci95)),
    )
}

/// `27 of 30 (90.0 %, 95 % confidence interval 74.4 % to 96.5 %)`.
pub(super) fn part(part: u64, whole: u64, share: Option<f64>, ci95: Option<[f64; 2]>) -> String {
    match share.zip(ci95) {
        Some((share, ci95)) => format!(
            "{part} of {whole} ({}, {})",
            Share(share),
            Interval(ci95.map(Share)).ci95()
        ),
        None => format!("{part} of {whole}"),
    }
}
