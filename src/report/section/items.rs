//! Judged items and pairs: points by dimension, how many pass and are excellent, wins, ties and losses.
//!
//! Nobody answered a question here, so these are the figures in place of right answers. The reports of a flow have the
//! same blocks.

use std::fmt;

use super::judges::pair_lines;
use super::source::Source;
use crate::figure::{Interval, Scale, Share, ci95, counted, or_dash, share_cell};
use crate::report::document::Align::{Left, Right};
use crate::report::document::{Block, Line, Table, list};
use crate::verdict::judged::pairs::PairsSummary;
use crate::verdict::summary::{
    CountedShare, DimensionPoints, JudgedPoints, PointMean, Subject, Summary,
};

/// The verdicts on items or pairs, if no answer was right or wrong.
pub(super) fn items(source: &Source<'_>) -> Vec<Block> {
    let summary = source.summary;
    if let Some(pairs) = deciding_pairs(summary) {
        // A terminal has them below the judge.
        if source.is_brief() {
            return Vec::new();
        }
        let mut blocks = vec![Block::section("Wins, ties and losses")];
        blocks.extend(compared(pairs, first_text(summary)));
        blocks.extend(list(pair_lines(pairs).into_iter().skip(2)));
        return blocks;
    }
    let several = all_points(summary).count() > 1;
    let judges = all_points(summary).flat_map(|(name, of)| {
        let by = if several {
            format!(" of {name}")
        } else {
            String::new()
        };
        if source.is_brief() {
            let table = means("points", of.dimensions.iter().chain([&total(of)])).block();
            return match &*by {
                "" => table.into_iter().collect(),
                by => vec![Block::group(format!("points{by}:"), table)],
            };
        }
        let mut blocks = vec![Block::section(format!("Points{by}"))];
        let rates = [of.pass, of.excellent];
        blocks.extend(points(&of.total, rates, &of.dimensions));
        blocks
    });
    judges.collect()
}

/// The pairs, if they decide.
pub(in crate::report) fn deciding_pairs(summary: &Summary) -> Option<&PairsSummary> {
    if summary.subject() != Subject::Pairs {
        return None;
    }
    let judge = summary.judge.as_ref()?;
    judge.scorers.get(summary.scorer.as_ref()?)?.pairs.as_ref()
}

/// The points of the deciding scorer, if items are judged.
pub(in crate::report) fn deciding_points(summary: &Summary) -> Option<&JudgedPoints> {
    let scorer = summary.scorer.as_ref()?;
    let judge = summary.judge.as_ref()?.scorers.get(scorer)?;
    judge.points.as_ref()
}

fn all_points(summary: &Summary) -> impl Iterator<Item = (&String, &JudgedPoints)> {
    let judges = summary.judge.iter().flat_map(|judge| &judge.scorers);
    judges.filter_map(|(name, judge)| Some((name, judge.points.as_ref()?)))
}

/// The text whose wins are counted.
fn first_text(summary: &Summary) -> &'static str {
    if summary.judges_items {
        "item"
    } else {
        "answer"
    }
}

fn total(of: &JudgedPoints) -> DimensionPoints {
    DimensionPoints {
        name: "total".to_owned(),
        points: of.total,
    }
}

/// The total, how many pass and are excellent, and each dimension.
pub(crate) fn points(
    total: &PointMean,
    [pass, excellent]: [CountedShare; 2],
    dimensions: &[DimensionPoints],
) -> Vec<Block> {
    let average = Line::from(format!("Mean of {}: ", counted(total.n, "item")));
    let average = average.strong(total.text());
    let rates = [("pass", pass), ("excellent", excellent)];
    let rates = rates.into_iter().filter(|(_, share)| share.of > 0);
    let blocks = [
        Some(Block::Paragraph(
            average.plain(format!("{}.", rated(total))),
        )),
        shares(["by the rubric", "items"], rates).block(),
        means("dimension", dimensions).block(),
    ];
    blocks.into_iter().flatten().collect()
}

/// Wins, ties, losses and inconsistent pairs, and the win rate. `first` is the text whose wins are counted.
pub(crate) fn compared(pairs: &PairsSummary, first: &str) -> Vec<Block> {
    let read = pairs.n.saturating_sub(pairs.unreadable);
    let verdicts = [
        ("wins", pairs.wins),
        ("ties", pairs.ties),
        ("losses", pairs.losses),
        ("inconsistent", pairs.inconsistent),
    ];
    let verdicts = verdicts.map(|(verdict, count)| (verdict, CountedShare::of(count, read)));
    let mut blocks = vec![Block::paragraph(format!(
        "The judge saw each of {} twice, once in each order. The same verdict both times is a win for the \
         {first} of this run, a loss or a tie; two different verdicts are inconsistent.",
        counted(pairs.n, "pair")
    ))];
    blocks.extend(shares(["verdict", "pairs"], verdicts).block());
    if let Some(rate) = win_rate(pairs) {
        blocks.push(Block::Paragraph(
            Line::default()
                .plain("Win rate ")
                .strong(rate)
                .plain(": ties and inconsistent pairs count half; 50 % means equally good."),
        ));
    }
    blocks
}

/// `59.1 %, 95 % confidence interval 36.2 % to 78.9 %`.
pub(in crate::report) fn win_rate(pairs: &PairsSummary) -> Option<String> {
    let (rate, ci95) = pairs.win_rate.zip(pairs.ci95)?;
    let interval = Interval(ci95.map(Share)).ci95();
    Some(format!("{}, {interval}", Share(rate)))
}

/// `5 wins, 1 tie, 3 losses, 2 inconsistent of 11 pairs`.
pub(crate) fn pair_counts(pairs: &PairsSummary) -> String {
    let inconsistent = match pairs.inconsistent {
        0 => String::new(),
        inconsistent => format!(", {inconsistent} inconsistent"),
    };
    let read = counted(pairs.n.saturating_sub(pairs.unreadable), "pair");
    format!("{}{inconsistent} of {read}", wins_ties_losses(pairs))
}

/// `5 wins, 1 tie, 3 losses`.
pub(super) fn wins_ties_losses(pairs: &PairsSummary) -> String {
    [
        (pairs.wins, "win"),
        (pairs.ties, "tie"),
        (pairs.losses, "loss"),
    ]
    .map(|(count, noun)| counted(count, noun))
    .join(", ")
}

/// A table of counts with their shares; the head explains the brackets.
pub(crate) fn shares<'a>(
    [what, noun]: [&str; 2],
    rows: impl IntoIterator<Item = (&'a str, CountedShare)>,
) -> Table {
    let mut table = Table::new(&[(what, Left), (noun, Right), (ci95!("share ("; ")"), Left)]);
    for (name, share) in rows {
        table.row([
            name.to_owned(),
            share.part.to_string(),
            share_cell(share.share, share.ci95),
        ]);
    }
    table
}

/// Means with their ratings.
pub(crate) fn means<'a>(what: &str, rows: impl IntoIterator<Item = &'a DimensionPoints>) -> Table {
    let mut table = Table::new(&[
        (what, Left),
        ("mean", Right),
        (ci95!(), Right),
        ("rating", Left),
        ("items", Right),
    ]);
    for DimensionPoints { name, points } in rows {
        let rating = points.mean.zip(points.scale);
        table.row([
            name.replace('_', " "),
            or_dash(points.mean.map(|mean| Scale(mean, 2))),
            or_dash(points.ci95()),
            or_dash(rating.map(|(mean, scale)| ItemRating::of(mean, scale))),
            points.n.to_string(),
        ]);
    }
    table
}

/// The rating of a mean and the ratings of its interval: `, which is good; the interval runs from acceptable to excellent`.
fn rated(mean: &PointMean) -> String {
    let (Some(value), Some(scale)) = (mean.mean, mean.scale) else {
        return String::new();
    };
    let rating = ItemRating::of(value, scale);
    let ends = mean.ci95;
    match ends.map(|ends| ends.map(|end| ItemRating::of(end, scale))) {
        Some([low, high]) if low < high => {
            format!(", which is {rating}; the interval runs from {low} to {high}")
        }
        _ => format!(", which is {rating}"),
    }
}

/// A rating for points.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum ItemRating {
    /// Less than 3.0.
    Poor,
    /// 3.0 or more.
    Weak,
    /// 3.5 or more.
    Acceptable,
    /// 4.0 or more.
    Good,
    /// 4.5 or more.
    Excellent,
}

/// The ratings with their minimum points, on the scale from 1 to 5.
const RATINGS: [(f64, ItemRating); 4] = [
    (4.5, ItemRating::Excellent),
    (4.0, ItemRating::Good),
    (3.5, ItemRating::Acceptable),
    (3.0, ItemRating::Weak),
];

impl ItemRating {
    /// The rating of a mean; other scales are mapped to 1 to 5.
    fn of(points: f64, [low, high]: [f64; 2]) -> Self {
        let points = 1.0 + 4.0 * (points - low) / (high - low);
        let found = RATINGS.iter().find(|(least, _)| points >= *least);
        found.map_or(Self::Poor, |(_, rating)| *rating)
    }
}

impl fmt::Display for ItemRating {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Poor => "poor",
            Self::Weak => "weak",
            Self::Acceptable => "acceptable",
            Self::Good => "good",
            Self::Excellent => "excellent",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rating_scale_starts_at_stated_minimum() {
        let check = |points: f64, expect: &str| {
            assert_eq!(ItemRating::of(points, [1.0, 5.0]).to_string(), expect);
        };
        check(5.0, "excellent");
        check(4.5, "excellent");
        check(4.499, "good");
        check(4.0, "good");
        check(3.999, "acceptable");
        check(3.5, "acceptable");
        check(3.4, "weak");
        check(3.0, "weak");
        check(2.99, "poor");
        check(1.0, "poor");
        // 9 of 10 is 4.6 of 5.
        assert_eq!(ItemRating::of(9.0, [0.0, 10.0]), ItemRating::Excellent);
    }
}
