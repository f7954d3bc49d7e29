//! `ComparedPair`: the results for two texts shown in both orders, and the score.

use serde_json::{Value, json};

use crate::data::{JudgeRule, Score};
use crate::scorer::ask::judge::reading::Reading;

/// The names of the verdicts. They do not reveal whose text it is.
pub(super) const FIRST: &str = "first";
pub(super) const SECOND: &str = "second";
pub(super) const TIE: &str = "tie";

/// The details whose means are rates.
pub(super) const RATES: [&str; 4] = ["win", "tie", "loss", "inconsistent"];

/// Which text is better, independent of the order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Better {
    /// The judged answer.
    Own,
    /// The text it is compared with.
    Other,
    Neither,
}

impl Better {
    /// The result of a reply; `own_first` tells whether the judged answer was shown first.
    pub(super) fn of(reading: &Reading, own_first: bool) -> Self {
        match reading.verdict.as_ref().and_then(Value::as_str) {
            Some(FIRST) if own_first => Self::Own,
            Some(SECOND) if !own_first => Self::Own,
            Some(TIE) | None => Self::Neither,
            Some(_) => Self::Other,
        }
    }

    /// The form that `judge winrate` reads.
    fn as_str(self) -> &'static str {
        match self {
            Self::Own => "A",
            Self::Other => "B",
            Self::Neither => "tie",
        }
    }
}

/// Two texts shown in both orders.
pub(super) struct ComparedPair {
    /// Which was better with the judged answer shown first, and with it shown second.
    pub(super) better: [Better; 2],
    /// The judge's reasons.
    pub(super) reasons: [String; 2],
    /// Characters of the answer, and of the other text.
    pub(super) lengths: [u64; 2],
    /// The number of repairs to the replies.
    pub(super) repaired: u32,
}

impl ComparedPair {
    /// The score.
    pub(super) fn score(self) -> Score {
        let (value, word) = match self.better {
            [Better::Own, Better::Own] => (1.0, "win"),
            [Better::Other, Better::Other] => (0.0, "loss"),
            [Better::Neither, Better::Neither] => (0.5, "tie"),
            _ => (0.5, "inconsistent"),
        };
        let score = Score::new(value, word == "win", word);
        let score = RATES.into_iter().fold(score, |score, rate| {
            score.detail(rate, u64::from(rate == word))
        });
        let score = score.detail("verdict", word);
        let [first, second] = self.better.map(Better::as_str);
        let [length, length_against] = self.lengths;
        let score = score
            .detail("first", first)
            .detail("second", second)
            .detail("length", length)
            .detail("length_against", length_against)
            .detail("reasons", json!(self.reasons));
        match self.repaired {
            0 => score,
            repaired => score.detail("repaired", repaired),
        }
    }
}

/// The labels of a pair by people, and their values: they state which text is better, without orders.
pub(super) fn rule() -> JudgeRule {
    let values = [("win", 1.0), ("tie", 0.5), ("loss", 0.0)];
    JudgeRule {
        pass: Some(1.0),
        choices: values.map(|(word, value)| (word.to_owned(), value)).into(),
        ..JudgeRule::default()
    }
}

/// The reason given in a reply.
pub(super) fn reason(reading: &Reading) -> String {
    let reason = reading.comments.get("reason").and_then(Value::as_str);
    reason.unwrap_or_default().trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scorer::ask::judge::reading;

    #[track_caller]
    fn check(replies: [&str; 2], value: f64, word: &str) {
        let [first, second] = replies.map(|reply| {
            let text = json!({ "reason": "so", "verdict": reply }).to_string();
            reading::choices(&text, &[FIRST, SECOND, TIE])
        });
        let compared = ComparedPair {
            better: [Better::of(&first, true), Better::of(&second, false)],
            reasons: [reason(&first), reason(&second)],
            lengths: [3, 4],
            repaired: 0,
        };
        let score = compared.score();
        assert!((score.value - value).abs() < 1e-12, "{replies:?}");
        assert_eq!((score.correct, &*score.reason), (word == "win", word));
        for rate in RATES {
            let expect = u64::from(rate == word);
            assert_eq!(score.details.get(rate), Some(&expect.into()), "{replies:?}");
        }
        assert_eq!(score.details.get("reasons"), Some(&json!(["so", "so"])));
    }

    #[test]
    fn one_verdict_in_both_orders_is_one() {
        check([FIRST, SECOND], 1.0, "win");
        check([SECOND, FIRST], 0.0, "loss");
        check([TIE, TIE], 0.5, "tie");
    }

    #[test]
    fn two_that_differ_are_inconsistent() {
        for replies in [
            [FIRST, FIRST],
            [SECOND, SECOND],
            [FIRST, TIE],
            [TIE, SECOND],
            [TIE, FIRST],
        ] {
            check(replies, 0.5, "inconsistent");
        }
    }
}
