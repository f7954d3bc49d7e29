//! How often the answers of a run win, in lines for people.

use crate::figure::{Interval, Share};
use crate::verdict::judged::pairs::{PairsSummary, Standing};

/// The counts, the rate with its interval, what order and length do, and what follows.
pub fn lines(pairs: &PairsSummary) -> Vec<String> {
    let PairsSummary {
        wins,
        losses,
        ties,
        inconsistent,
        ..
    } = pairs;
    let mut counts = format!(
        "{} pairs of {} items: {wins} wins, {losses} losses, {ties} ties, {inconsistent} inconsistent (the verdict changes \
         with the order; half a win)",
        pairs.n.saturating_sub(pairs.unreadable),
        pairs.items
    );
    if pairs.unreadable > 0 {
        counts = format!("{counts}; {} more unreadable (left out)", pairs.unreadable);
    }
    let mut lines = vec![counts];
    if let (Some(rate), Some(ci95)) = (pairs.win_rate, pairs.ci95) {
        lines.push(format!(
            "win rate {}, {}: {}",
            Share(rate),
            Interval(ci95.map(Share)).ci95(),
            match pairs.standing {
                Some(Standing::Above) => "above one half",
                Some(Standing::Below) => "below one half",
                _ => "not told apart from one half",
            }
        ));
    }
    if let Some(bias) = pairs.position_bias {
        lines.push(format!(
            "position bias {}: the first shown was preferred both times in {} of {inconsistent} inconsistent pairs",
            Share(bias),
            pairs.first_shown_wins
        ));
    }
    if let Some(length) = pairs.length_coefficient {
        let ci95 = pairs.length_ci95.map_or_else(
            || "without an interval".to_owned(),
            |ends| Interval(ends.map(|end| format!("{end:+.2}"))).ci95(),
        );
        lines.push(format!(
            "length coefficient {length:+.2}, {ci95}: what the win rate gains where the answer is much longer than the other"
        ));
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::verdict::judged::pairs::JudgedPair;
    use crate::verdict::judged::winrate::Preferred;

    #[test]
    fn the_sentence_is_of_the_interval() {
        let pairs: Vec<_> = (0..20)
            .map(|item| JudgedPair {
                item: item.to_string(),
                preferred: [Preferred::A, Preferred::B],
                lengths: [10, 10],
            })
            .collect();
        assert_eq!(
            lines(&PairsSummary::of(&pairs, 1)),
            [
                "20 pairs of 20 items: 0 wins, 0 losses, 0 ties, 20 inconsistent (the verdict changes with the order; half \
                 a win); 1 more unreadable (left out)",
                "win rate 50.0 %, 95 % interval 41.0 % to 59.0 %: not told apart from one half",
                "position bias 100.0 %: the first shown was preferred both times in 20 of 20 inconsistent pairs",
            ]
        );
    }
}
