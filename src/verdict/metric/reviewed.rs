//! Figures of the reviews by people.

use super::Measured;
use super::figures::Figures;
use crate::data::reviews::ReviewedFigures;
use crate::figure::{Interval, Share};
use crate::verdict::gate::{Gate, Suffix};

impl Figures<'_> {
    /// A figure of the reviews. What nobody looked at leaves none of them open: how much that is has a gate of its own.
    pub(super) fn reviewed(&self, gate: &Gate) -> Result<Measured, String> {
        let Suffix::Word(name) = &gate.metric.suffix else {
            return Err(format!("`{}` names no figure", gate.metric));
        };
        let Some(reviewed) = &self.facts.summary.reviewed else {
            return Err(
                "no item is reviewed: review with `cargo evaltest review RUN_DIR`".to_owned(),
            );
        };
        let ReviewedFigures { n, of, .. } = reviewed;
        let share = |value: f64, ci95: [f64; 2], what: &str| {
            let ci95 = Interval(ci95.map(Share)).ci95();
            let from = format!("{n} of {of} items {what}, {ci95}");
            Ok(Measured::certain(value, from))
        };
        let plain = |value: f64| {
            let from = format!("{n} of {of} items reviewed");
            Ok(Measured::certain(value, from))
        };
        match &**name {
            "share" => {
                let from = format!("{n} of {of} items");
                Ok(Measured::certain(reviewed.share, from))
            }
            "approved" => share(reviewed.approved, reviewed.approved_ci95, "reviewed"),
            "rejected" => plain(reviewed.rejected),
            "needs_revision" => plain(reviewed.needs_revision),
            "agreement" => match &reviewed.agreement {
                Some(agreement) => {
                    let (of, ci95) = (agreement.n, Interval(agreement.ci95.map(Share)).ci95());
                    let from = format!("{of} items judged by people and by the judge, {ci95}");
                    Ok(Measured::certain(agreement.share, from))
                }
                None => Err("no judge gave a verdict on the reviewed items".to_owned()),
            },
            name => match reviewed.means.get(name) {
                Some(mean) => plain(*mean),
                None if name == "total" => plain(reviewed.total),
                None => {
                    let known = reviewed.means.keys().map(String::as_str);
                    let known: Vec<&str> = known.collect();
                    let known = known.join("`, `");
                    Err(format!(
                        "no reviewer gave points for `{name}`; they gave points for `{known}`"
                    ))
                }
            },
        }
    }
}
