//! Scorers that wrap scorers: methods that a wrapper does not decide itself are forwarded.

/// Forwards every method of [`Scorer`](super::super::Scorer) that has a default, except `fingerprint`, to another scorer or to
/// [`NamedScorers`](super::parts::NamedScorers). `details`, `bounds`, `judge_rule` and `calibration` are excluded: only
/// wrappers that return the inner score unchanged share them. Add new trait methods here, so that no wrapper misses
/// them.
///
/// `forward!(self => self.0)` forwards to `self.0`; `but reads`, and `but needs_target, criterion`, leave those to the
/// wrapper.
macro_rules! forward {
    ($self:ident => $to:expr) => {
        forward!(@needs_target $self $to);
        forward!(@reads $self $to);
        forward!(@criterion $self $to);
        forward!(@rest $self $to);
    };
    ($self:ident => $to:expr, but needs_target, criterion) => {
        forward!(@reads $self $to);
        forward!(@rest $self $to);
    };
    ($self:ident => $to:expr, but reads) => {
        forward!(@needs_target $self $to);
        forward!(@criterion $self $to);
        forward!(@rest $self $to);
    };
    (@needs_target $self:ident $to:expr) => {
        fn needs_target(&$self) -> bool {
            $to.needs_target()
        }
    };
    (@reads $self:ident $to:expr) => {
        fn reads(&$self) -> $crate::scorer::Reads {
            $to.reads()
        }
    };
    (@criterion $self:ident $to:expr) => {
        fn criterion(&$self, sample: &$crate::data::Sample) -> $crate::error::Result<Option<String>> {
            $to.criterion(sample)
        }
    };
    (@rest $self:ident $to:expr) => {
        fn extract(&$self) -> Option<$crate::scorer::extract::Extract> {
            $to.extract()
        }

        fn check_samples(&$self, is_there: &dyn Fn(&str) -> bool) -> $crate::error::Result<()> {
            $to.check_samples(is_there)
        }

        fn judges(&$self, answer: &$crate::scorer::Answer<'_>) -> bool {
            $to.judges(answer)
        }

        fn secrets(&$self) -> Vec<String> {
            $to.secrets()
        }

        fn agents(&$self) -> Vec<std::sync::Arc<dyn $crate::agent::Agent>> {
            $to.agents()
        }

        fn asks_opinions(&$self) -> bool {
            $to.asks_opinions()
        }

        fn secret_variables(&$self) -> Vec<(String, String)> {
            $to.secret_variables()
        }

        fn unset_variables(&$self) -> Vec<String> {
            $to.unset_variables()
        }

        fn notices(&$self) -> Vec<String> {
            $to.notices()
        }

        fn begin(&$self, about: &$crate::scorer::Beginning<'_>) -> $crate::error::Result<()> {
            $to.begin(about)
        }
    };
}

pub(crate) use forward;

#[cfg(test)]
mod tests {
    use std::borrow::Cow;
    use std::path::Path;
    use std::sync::Arc;

    use serde_json::json;

    use crate::agent::{Agent, Echo};
    use crate::data::{JudgeRule, Sample, Score};
    use crate::error::Result;
    use crate::eval::registry::Registry;
    use crate::eval::registry::scorers::{Context, from_value};
    use crate::scorer::extract::Extract;
    use crate::scorer::{All, Answer, Any, AnyOf, List, Not, Reads, Scorer, Weighted};

    /// Overrides every default method of the trait.
    struct Odd;

    impl Scorer for Odd {
        fn name(&self) -> &'static str {
            "odd"
        }

        fn score(&self, _: &Answer<'_>) -> Result<Score> {
            Ok(Score::new(0.25, true, "odd"))
        }

        fn needs_target(&self) -> bool {
            false
        }

        fn extract(&self) -> Option<Extract> {
            Some(Extract::boxed())
        }

        fn criterion(&self, _: &Sample) -> Result<Option<String>> {
            Ok(Some("odd criterion".to_owned()))
        }

        fn check_samples(&self, is_there: &dyn Fn(&str) -> bool) -> Result<()> {
            let no_sample = || crate::error::Error::usage("no odd sample");
            is_there("odd").then_some(()).ok_or_else(no_sample)
        }

        fn reads(&self) -> Reads {
            Reads::Roles
        }

        fn fingerprint(&self) -> String {
            "odd fingerprint".to_owned()
        }

        fn secrets(&self) -> Vec<String> {
            vec!["odd secret".to_owned()]
        }

        fn agents(&self) -> Vec<Arc<dyn Agent>> {
            vec![Arc::new(Echo::default())]
        }

        fn asks_opinions(&self) -> bool {
            false
        }

        fn secret_variables(&self) -> Vec<(String, String)> {
            vec![("ODD".to_owned(), "odd secret".to_owned())]
        }

        fn unset_variables(&self) -> Vec<String> {
            vec!["ODD".to_owned()]
        }

        fn details(&self) -> Option<Vec<Cow<'static, str>>> {
            Some(vec![format!("odd{}", 1).into()])
        }

        fn bounds(&self) -> Vec<(Cow<'static, str>, [f64; 2])> {
            vec![("odd1".into(), [1.0, 5.0])]
        }

        fn judge_rule(&self) -> Option<JudgeRule> {
            Some(JudgeRule {
                pass: Some(3.0),
                ..JudgeRule::default()
            })
        }

        fn calibration(&self) -> Option<&Path> {
            Some(Path::new("odd.json"))
        }
    }

    /// A wrapper that returns the score unchanged has the same details.
    fn check_passes_on(scorer: &dyn Scorer) {
        let details = scorer.details().unwrap();
        assert_eq!(details, ["odd1"], "{}", scorer.name());
        let bounds = scorer.bounds();
        assert_eq!(bounds, [("odd1".into(), [1.0, 5.0])], "{}", scorer.name());
        let rule = scorer.judge_rule().unwrap();
        assert_eq!(rule.pass, Some(3.0), "{}", scorer.name());
        assert_eq!(scorer.calibration(), Some(Path::new("odd.json")));
        check(scorer, false, Reads::Roles);
    }

    fn check(scorer: &dyn Scorer, needs_target: bool, reads: Reads) {
        let name = scorer.name();
        assert_eq!(scorer.needs_target(), needs_target, "{name}");
        assert_eq!(scorer.reads(), reads, "{name}");
        assert_eq!(scorer.extract(), Some(Extract::boxed()), "{name}");
        let criterion = scorer.criterion(&Sample::new("a", "?")).unwrap();
        assert!(criterion.unwrap().contains("odd criterion"), "{name}");
        assert!(scorer.check_samples(&|id| id == "odd").is_ok(), "{name}");
        assert!(scorer.check_samples(&|_| false).is_err(), "{name}");
        assert!(scorer.fingerprint().contains("odd fingerprint"), "{name}");
        assert_eq!(scorer.secrets(), ["odd secret"], "{name}");
        assert_eq!(scorer.agents().len(), 1, "{name}");
        assert!(!scorer.asks_opinions(), "{name}");
        assert_eq!(scorer.secret_variables()[0].0, "ODD", "{name}");
        assert_eq!(scorer.unset_variables(), ["ODD"], "{name}");
    }

    #[test]
    fn a_wrapper_is_what_it_wraps() {
        check_passes_on(&Odd);
        check_passes_on(&Arc::new(Odd));
        let registry = Registry::new().scorer("odd", |_| Ok(Odd));
        let context = Context {
            registry: Some(&registry),
            ..Context::here()
        };
        // Registered, also under another name.
        for spec in [json!("odd"), json!({"type": "odd", "name": "even"})] {
            check_passes_on(&from_value(&spec, &context).unwrap());
        }
    }

    #[test]
    fn a_composition_is_what_its_parts_are() {
        // Its details are the verdicts of its parts.
        let all = All::new([Arc::new(Odd) as Arc<dyn Scorer>]);
        assert_eq!((all.details(), all.bounds()), (None, Vec::new()));
        assert_eq!((all.judge_rule(), all.calibration()), (None, None));
        check(&All::new([Arc::new(Odd)]), false, Reads::Roles);
        check(&Any::new([Arc::new(Odd)]), false, Reads::Roles);
        let weighted = Weighted::new([(1.0, Arc::new(Odd))]).unwrap();
        check(&weighted, false, Reads::Roles);
        // It checks for tool calls.
        check(&Not::new(Odd), false, Reads::Everything);
        // Its ground truth is a list of ground truths for the part.
        check(&AnyOf::new(Odd), true, Reads::Roles);
        check(&List::new(Odd), true, Reads::Roles);
    }
}
