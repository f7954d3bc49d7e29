//! The message of a gate on a figure, for people.

use super::{As, FigureComparison, ValueType};
use crate::figure::{Interval, P, Percent, Share, Value, counted};
use crate::printable::on_one_line;
use crate::text::shell_word;
use crate::verdict::baseline::figures::Rounded;
use crate::verdict::check::no_regression::at_level;
use crate::verdict::result::{FigureChange, Verdict};

/// A factor: `1.25`.
struct Times(f64);

impl std::fmt::Display for Times {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let digits = if (self.0 - 1.0).abs() < 0.095 { 3 } else { 2 };
        write!(f, "{:.digits$}", self.0)
    }
}

impl FigureComparison<'_> {
    pub(super) fn message(&self, verdict: Verdict, change: Option<&FigureChange>) -> String {
        let mut lines = vec![self.first_line(change)];
        if let Some(change) = change {
            lines.extend(self.rose(change));
            lines.extend(self.smallest(change));
        }
        if self.open.is_none() {
            lines.extend(self.pairs.repetition.map(|repetition| repetition.message()));
        }
        if verdict == Verdict::Failed
            && let Some(first) = change.and_then(|change| change.rose.first())
        {
            // The run may be of another time than its baseline: by its id.
            let accepted = self.baseline.runs.last().map(|run| run.run_id.as_str());
            let words = [
                &self.facts.summary.eval,
                first,
                accepted.unwrap_or("baseline"),
            ];
            let [eval, first, accepted] = words.map(|word| shell_word(&on_one_line(word)));
            lines.push(format!(
                "compare the answers: cargo evaltest show {eval} {first} --against {accepted}"
            ));
        }
        lines.join("\n")
    }

    fn first_line(&self, change: Option<&FigureChange>) -> String {
        let alpha = self.gate.level();
        let is_tools = self.pairs.value_type == ValueType::Tools;
        let numbers = change.filter(|_| !is_tools);
        let mut text = numbers
            .map(|change| self.changed(change))
            .unwrap_or_default();
        if let Some(tested) = self.tested {
            let adjusted = self.p[As::Nothing as usize];
            let sign = if adjusted < alpha { "<" } else { ">=" };
            let mut p = P(tested.p).at_level(alpha);
            if adjusted.total_cmp(&tested.p).is_ne() {
                p = format!(
                    "{p}, {} corrected for the other gates against the baseline (Holm)",
                    P(adjusted).cell_at_level(alpha)
                );
            }
            let comma = if text.is_empty() { "" } else { ", " };
            text = format!(
                "{text}{comma}{p} {sign} alpha {alpha}, {}",
                counted(self.pairs.pairs.len() as u64, "compared sample")
            );
            if is_tools {
                text = format!("tools and their order: {text}");
            }
        }
        match &self.open {
            Some(open) if text.is_empty() => open.clone(),
            Some(open) => format!("{open}\n{text}"),
            None if self.is_powerless() => format!(
                "powerless: with {} the gate always passes; add samples or epochs\n{text}",
                counted(self.pairs.pairs.len() as u64, "compared sample")
            ),
            None => text,
        }
    }

    /// By how much the figure changed.
    fn changed(&self, change: &FigureChange) -> String {
        let name = &self.pairs.compared.name;
        let by = self.pairs.compared.by;
        let margin = match (by > 0.0, self.pairs.compared.scale.is_ratio()) {
            (false, _) => String::new(),
            (true, true) => format!(", allowed change {}", Percent(by)),
            (true, false) => format!(", allowed change {by}"),
        };
        if let Some(ratio) = change.ratio {
            let interval = change
                .ratio_ci95
                .map(|ends| format!(" ({})", Interval(ends.map(Times)).ci95()));
            let totals = change.ratio_of_totals;
            let totals = totals.map(|totals| format!(", total {} times", Times(totals)));
            return format!(
                "{name} is {} times the baseline{}{}{margin}",
                Times(ratio),
                interval.unwrap_or_default(),
                totals.unwrap_or_default()
            );
        }
        let interval = change
            .difference_ci95
            .map(|ends| format!(" ({})", Interval(ends.map(Value)).ci95()));
        format!(
            "{name} changed by {}{}{margin}",
            Value(change.difference.unwrap_or_default()),
            interval.unwrap_or_default()
        )
    }

    /// The samples that changed most to the worse.
    fn rose(&self, change: &FigureChange) -> Option<String> {
        if self.pairs.value_type == ValueType::Tools {
            let named: Vec<_> = change.rose.iter().map(|id| on_one_line(id)).collect();
            return (!named.is_empty()).then(|| format!("differ most: {}", named.join(", ")));
        }
        let one = |id: &String| {
            let [before, now] = self.pairs.means_of(id)?;
            let name = on_one_line(id);
            Some(format!("{name} ({} to {})", short(before), short(now)))
        };
        let named: Vec<_> = change.rose.iter().filter_map(one).collect();
        let verb = if self.pairs.compared.sign > 0.0 {
            "rose"
        } else {
            "fell"
        };
        (!named.is_empty()).then(|| format!("{verb} most: {}", named.join(", ")))
    }

    fn smallest(&self, change: &FigureChange) -> Option<String> {
        let by = self.pairs.compared.by;
        let smallest = change
            .smallest_change
            .filter(|smallest| *smallest > by + 1e-9)?;
        let verb = if self.pairs.compared.sign > 0.0 {
            "a rise"
        } else {
            "a fall"
        };
        let amount = if self.pairs.compared.scale.is_ratio() {
            Share(smallest).to_string()
        } else {
            Value(smallest).to_string()
        };
        Some(format!(
            "{} can detect {verb} of {amount} or more with 80 % power{}",
            counted(change.n, "pair"),
            at_level(self.together)
        ))
    }
}

/// A mean of figures of three digits.
fn short(value: f64) -> String {
    Rounded::of(value).map_or_else(|| value.to_string(), |rounded| rounded.to_string())
}
