//! Ground truths in scripts without spaces, which scorers of words do not split.

use serde_json::Value;

use crate::data::Sample;
use crate::scorer::Scorer;

/// Scorers that split at white space.
const BY_WORDS: [&str; 2] = ["token_f1", "qa_f1"];

/// Counts ground truths in such scripts.
#[derive(Clone, Debug, Default)]
pub(crate) struct Unspaced {
    count: usize,
    first: String,
}

impl Unspaced {
    /// Whether a scorer, or a part of it, splits at white space.
    pub(crate) fn concerns(scorer: &dyn Scorer) -> bool {
        let fingerprint = scorer.fingerprint();
        BY_WORDS.iter().any(|name| fingerprint.contains(name))
    }

    /// Counts a sample.
    pub(crate) fn add(&mut self, sample: &Sample) {
        let has = |value: &Value| {
            value
                .as_str()
                .is_some_and(|text| text.contains(is_unspaced))
        };
        let is_in = match sample.target.as_ref().map(|target| &target.0) {
            Some(Value::Array(texts)) => texts.iter().any(has),
            Some(one) => has(one),
            None => false,
        };
        if is_in {
            if self.count == 0 {
                self.first.clone_from(&sample.id);
            }
            self.count += 1;
        }
    }

    /// The notice for a run, if there is one.
    pub(crate) fn notice(&self) -> Option<String> {
        let Self { count, first } = self;
        let (samples, have) = if *count == 1 {
            ("sample", "has")
        } else {
            ("samples", "have")
        };
        (*count > 0).then(|| {
            format!(
                "{count} {samples}, such as `{}`, {have} a ground truth in a script without spaces, where `token_f1` and \
                 `qa_f1` take a sentence for one word: `exact`, `includes` or `fuzzy` compare such texts",
                first.escape_debug()
            )
        })
    }
}

/// Whether a character is of Chinese, Japanese, Thai, Lao, Khmer or Burmese.
fn is_unspaced(c: char) -> bool {
    matches!(c,
        '\u{e00}'..='\u{eff}'
        | '\u{1000}'..='\u{109f}'
        | '\u{1780}'..='\u{17ff}'
        | '\u{3040}'..='\u{30ff}'
        | '\u{31f0}'..='\u{31ff}'
        | '\u{3400}'..='\u{4dbf}'
        | '\u{4e00}'..='\u{9fff}'
        | '\u{a9e0}'..='\u{a9ff}'
        | '\u{aa60}'..='\u{aa7f}'
        | '\u{f900}'..='\u{faff}'
        | '\u{ff66}'..='\u{ff9d}'
        | '\u{20000}'..='\u{3ffff}')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scorer::{AnyOf, Exact, QaScorer, TokenF1};

    #[test]
    fn the_notice_names_what_to_use() {
        let mut unspaced = Unspaced::default();
        for (id, truth) in [
            ("a", "Paris"),
            ("b", "파리 타워"),
            ("c", "埃菲尔铁塔"),
            ("d", "หอไอเฟล"),
        ] {
            unspaced.add(&Sample::new(id, "?").target(truth));
        }
        let notice = unspaced.notice().unwrap();
        assert!(
            notice.starts_with("2 samples, such as `c`, have"),
            "{notice}"
        );
        assert!(
            notice.contains("`exact`, `includes` or `fuzzy`"),
            "{notice}"
        );
        assert_eq!(Unspaced::default().notice(), None);
        for text in ["東", "か", "ກ", "ខ", "မ", "ｶ", "𠀀"] {
            assert!(text.contains(is_unspaced), "{text}");
        }
    }

    #[test]
    fn it_concerns_scorers_of_words() {
        assert!(Unspaced::concerns(&TokenF1::default()));
        assert!(Unspaced::concerns(&QaScorer));
        assert!(Unspaced::concerns(&AnyOf::new(TokenF1::default())));
        assert!(!Unspaced::concerns(&Exact::default()));
    }
}
