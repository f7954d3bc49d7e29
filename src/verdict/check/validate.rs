//! Checks of gates before anything starts: each must make sense, match samples, and have a unique name.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use crate::data::ConversationEnd;
use crate::data::DetailBounds;
use crate::data::record::perturb::PerturbKind;
use crate::error::{Error, Result, nearest};
use crate::stats::as_f64;
use crate::text::clean;
use crate::verdict::facts::Facts;
use crate::verdict::gate::figure::VALUE;
use crate::verdict::gate::{
    CORRECTED, DIFFICULTY_DROP, DROP, ERROR_RATE, Gate, MACRO_F1, MEAN, MIN_SAMPLES, OWN, RATE,
    Slice, WrittenIn,
};
use crate::verdict::judged::items::CORRECT;
use crate::verdict::metric::{KnownMeans, LISTED, own_names};
use crate::verdict::result::{GateResult, Verdict};
use crate::verdict::summary::{PERTURB, Summary};

/// The detail that names a label.
const LABEL: &str = "label";

/// What a gate may refer to.
#[derive(Clone, Debug, Default)]
pub(crate) struct Known {
    /// The values of each slice dimension.
    pub slices: BTreeMap<String, BTreeSet<String>>,
    /// The names of its tiers.
    pub(crate) tiers: Vec<String>,
    /// The names of the eval's scorers, the deciding one first.
    pub scorers: Vec<String>,
    /// The means that a finished run has.
    pub means: Option<KnownMeans>,
    /// The details of each scorer's scores by its name; `None` if unknown before the run.
    pub details: BTreeMap<String, Option<Vec<Cow<'static, str>>>>,
    /// The lowest and highest values of details, if scorers declare them.
    pub bounds: DetailBounds,
    /// The scorers that use a judge, and whether their calibration is named; `None` if that no longer matters.
    pub(crate) calibrated: Option<BTreeMap<String, bool>>,
    /// In which ways questions are perturbed.
    pub(crate) perturb: Vec<PerturbKind>,
    /// Epochs per sample.
    pub epochs: u32,
    /// The names of the benchmark's own metrics, if known.
    pub metrics: Option<Vec<String>>,
}

impl Known {
    /// From the slices of samples, and the names of the scorers.
    #[cfg(test)]
    pub(crate) fn of(
        samples: &[crate::data::Sample],
        scorers: impl IntoIterator<Item = impl Into<String>>,
    ) -> Self {
        let mut slices = BTreeMap::<String, BTreeSet<String>>::new();
        for (dimension, value) in samples.iter().flat_map(|sample| &sample.slices) {
            if !slices.contains_key(dimension) {
                slices.insert(dimension.clone(), BTreeSet::new());
            }
            if let Some(values) = slices.get_mut(dimension)
                && !values.contains(value)
            {
                values.insert(value.clone());
            }
        }
        Self {
            slices,
            tiers: Vec::new(),
            scorers: scorers.into_iter().map(Into::into).collect(),
            means: None,
            details: BTreeMap::new(),
            bounds: DetailBounds::new(),
            calibrated: None,
            perturb: Vec::new(),
            epochs: 1,
            metrics: None,
        }
    }

    /// From a finished run.
    pub(crate) fn of_run(summary: &Summary, scorers: &[String], epochs: u32) -> Self {
        let slices = summary.slices.iter();
        let slices = slices.map(|(dimension, values)| {
            let values = values.keys().cloned().collect();
            (dimension.clone(), values)
        });
        Self {
            slices: slices.collect(),
            tiers: Vec::new(),
            scorers: scorers.to_vec(),
            means: Some(KnownMeans::of(summary, &DetailBounds::new())),
            details: BTreeMap::new(),
            bounds: DetailBounds::new(),
            calibrated: None,
            perturb: summary.perturb.keys().copied().collect(),
            epochs,
            metrics: Some(own_names(&summary.metrics)),
        }
    }
}

/// What to write so that a kind is asked.
fn asked_with(kind: &str) -> String {
    format!("write `perturb: {{ seed: 7, kinds: [{kind}] }}` into the spec")
}

impl Gate {
    /// Refuses a gate that makes no sense, or whose slice or scorer does not exist.
    pub(crate) fn validate(&self, known: &Known) -> Result<()> {
        self.validate_alone()?;
        // A name with a closing bracket, for example, would give a summary that cannot be read back.
        if !self
            .to_string()
            .parse()
            // In an eval without tiers a slice may have that name.
            .is_ok_and(|gate: Self| gate == *self || gate.without_tiers() == *self)
        {
            let message = format!("gate `{self}` cannot be written as a text");
            return Err(Error::usage(message));
        }
        let name = self.metric.argument();
        if let (true, Some(means)) = (self.metric.is(MEAN), &known.means)
            && !means.first.is_empty()
            && let Err(why) = means.find(name)
        {
            let error = Error::usage(format!("gate `{self}`: {why}"));
            return Err(error.hint("write an existing figure, such as `mean(value) >= 0.5`"));
        }
        self.validate_ended()?;
        self.validate_corrected(known)?;
        self.validate_scale(known)?;
        self.validate_labels(known)?;
        if let (true, Some(names)) = (self.metric.is(OWN), &known.metrics)
            && !names.iter().any(|known| known == name)
        {
            let message = format!("gate `{self}`: the benchmark has no metric `{name}` here");
            let names = names.iter().map(String::as_str);
            return Err(Error::usage(message).hint(choices("metrics", name, names)));
        }
        self.validate_levels(known)?;
        self.validate_perturbed(known)?;
        if let Some(scorer) = self.metric.scorer() {
            let names = known.scorers.iter().map(String::as_str);
            if !names.clone().any(|name| name == scorer) {
                let message = format!("gate `{self}`: no scorer is called `{scorer}`");
                return Err(Error::usage(message).hint(choices("scorers", scorer, names)));
            }
        }
        self.validate_figure(known)?;
        if self.metric.epochs() > known.epochs {
            let (needed, epochs) = (self.metric.epochs(), known.epochs);
            let message =
                format!("gate `{self}` needs {needed} answers per sample, the eval has {epochs}");
            let hint = format!("write `epochs: {needed}`");
            return Err(Error::usage(message).hint(hint));
        }
        self.validate_tier(&known.tiers)?;
        let Some(Slice { dimension, value }) = &self.slice else {
            return Ok(());
        };
        let Some(values) = known.slices.get(dimension) else {
            let message = format!("gate `{self}`: no sample has a `{dimension}`");
            if dimension == PERTURB {
                return Err(Error::usage(message).hint(asked_with(value)));
            }
            if let Some(hint) = missing(dimension, value) {
                return Err(Error::usage(message).hint(hint));
            }
            let dimensions = known.slices.keys().map(String::as_str);
            return Err(Error::usage(message).hint(choices("slices", dimension, dimensions)));
        };
        if !values.contains(value) {
            let message = format!("gate `{self}` matches no sample");
            let values = values.iter().map(String::as_str);
            let title = format!("values of `{dimension}`");
            return Err(Error::usage(message).hint(choices(&title, value, values)));
        }
        Ok(())
    }

    /// Refuses a figure of a scorer that the eval does not have, or that the scorer does not give.
    fn validate_figure(&self, known: &Known) -> Result<()> {
        let figure = self.figure().and_then(|figure| figure.split_once('.'));
        let Some((scorer, detail)) = figure.filter(|_| !known.scorers.is_empty()) else {
            return Ok(());
        };
        let names = known.scorers.iter().map(String::as_str);
        if !names.clone().any(|name| name == scorer) {
            let message = format!("gate `{self}`: no scorer is called `{scorer}`");
            return Err(Error::usage(message).hint(choices("scorers", scorer, names)));
        }
        let Some(Some(details)) = known.details.get(scorer) else {
            return Ok(());
        };
        let details = details.iter().map(AsRef::as_ref).chain([VALUE]);
        if details.clone().all(|name| name != detail) {
            let message = format!("gate `{self}`: scorer `{scorer}` gives no `{detail}`");
            let title = format!("figures of `{scorer}`");
            return Err(Error::usage(message).hint(choices(&title, detail, details)));
        }
        Ok(())
    }

    /// Refuses a drop between levels that are not adjacent, or if there are fewer than two levels.
    fn validate_levels(&self, known: &Known) -> Result<()> {
        if !self.metric.is(DIFFICULTY_DROP) {
            return Ok(());
        }
        let step = self.metric.levels();
        let levels = known.slices.get("level").into_iter().flatten();
        let mut levels: Vec<(i64, &String)> = levels
            .filter_map(|level| Some((level.trim().parse().ok()?, level)))
            .collect();
        levels.sort();
        let steps = levels.windows(2).map(|pair| (pair[0].1, pair[1].1));
        let is_wanted = |(from, to): (&String, &String)| {
            step.as_ref()
                .is_none_or(|step| (&step.from, &step.to) == (from, to))
        };
        if steps.clone().any(is_wanted) {
            return Ok(());
        }
        let steps: Vec<_> = steps.map(|(from, to)| format!("`{from}->{to}`")).collect();
        let message = format!("gate `{self}`: no such step from level to level");
        Err(Error::usage(message).hint(if steps.is_empty() {
            "the samples have no two `level` values that are whole numbers".to_owned()
        } else {
            format!("the steps are {}", steps.join(", "))
        }))
    }

    /// Refuses a drop by a kind of perturbation that the eval does not ask for.
    fn validate_perturbed(&self, known: &Known) -> Result<()> {
        if !self.metric.is(DROP) {
            return Ok(());
        }
        let refused = |error: Error| error.at(format_args!("gate `{self}`"));
        let kind: PerturbKind = self.metric.argument().parse().map_err(refused)?;
        if known.perturb.contains(&kind) {
            return Ok(());
        }
        let error = Error::usage(format!("gate `{self}`: no question is asked with `{kind}`"));
        Err(error.hint(asked_with(kind.as_str())))
    }

    /// Refuses a correction of a figure that is not a judge's, or of a judge without calibration.
    fn validate_corrected(&self, known: &Known) -> Result<()> {
        if !self.metric.is(CORRECTED) {
            return Ok(());
        }
        let name = self.metric.argument();
        let refuse = |why: String| Error::usage(format!("gate `{self}`: {why}"));
        let Some(means) = &known.means else {
            return Ok(());
        };
        let found = means.find_corrected(name).map_err(|why| {
            refuse(why).hint("name a judge and its figure, such as `corrected(judge.total) >= 4`")
        })?;
        let (Some(calibrated), Some(scorer)) = (
            &known.calibrated,
            found.scorer.as_ref().or(known.scorers.first()),
        ) else {
            return Ok(());
        };
        match calibrated.get(scorer) {
            None => Err(refuse(format!("scorer `{scorer}` asks no judge"))
                .hint(format!("write `mean({name})`, which needs no labels of people"))),
            Some(false) => Err(refuse(format!("judge `{scorer}` has no `calibration`")).hint(
                "run without the gate, have people label the run, then `cargo evaltest judge calibrate RUN_DIR --labels \
                 FILE`, and name the file it writes: `calibration: FILE`",
            )),
            Some(true) => Ok(()),
        }
    }

    /// Refuses a mean of points whose result follows from the scale, and percentages of points.
    fn validate_scale(&self, known: &Known) -> Result<()> {
        let is_match = [MEAN, CORRECTED].contains(&self.metric.name);
        let Some((op, threshold)) = self.bound.filter(|_| is_match) else {
            return Ok(());
        };
        let name = self.metric.argument();
        let means = known.means.as_ref();
        let found = means.and_then(|means| match self.metric.name {
            CORRECTED => means.find_corrected(name).ok(),
            _ => means.find(name).ok(),
        });
        let scale = found.and_then(|found| {
            if found.detail == CORRECT {
                return Some([0.0, 1.0]);
            }
            let scorer = found.scorer.as_ref().or(known.scorers.first())?;
            known.bounds.get(scorer)?.get(&found.detail).copied()
        });
        let Some([low, high]) = scale else {
            return Ok(());
        };
        let is_off = !(low..=high).contains(&threshold);
        let why = match (op.holds(low, threshold), op.holds(high, threshold)) {
            (false, false) => "can never pass",
            (true, true) if is_off => "always passes",
            _ if matches!(self.unit, WrittenIn::Percent) && (low < 0.0 || high > 1.0) => {
                "has `%`, but the figure is in points"
            }
            _ => return Ok(()),
        };
        let message = format!("gate `{self}` {why}: `{name}` goes from {low} to {high}");
        let middle = f64::midpoint(low, high);
        Err(Error::usage(message).hint(format!(
            "write a number in this range, such as `{} {op} {middle}`",
            self.name()
        )))
    }

    /// Refuses a figure of labels if the scorer is known to have none.
    fn validate_labels(&self, known: &Known) -> Result<()> {
        if !self.metric.is(MACRO_F1) {
            return Ok(());
        }
        let scorer = self.metric.argument.as_ref();
        let scorer = scorer.or(known.scorers.first());
        let details = scorer.and_then(|scorer| known.details.get(scorer)?.as_ref());
        match (scorer, details) {
            (Some(scorer), Some(details)) if !details.iter().any(|name| name == LABEL) => Err(
                Error::usage(format!("gate `{self}`: scorer `{scorer}` judges no labels")).hint(
                    "use `choice`, or `exact` with `labels`: \
                 `scorer: { type: exact, labels: true }`",
                ),
            ),
            _ => Ok(()),
        }
    }

    /// Refuses a gate that requires more samples than there are, if their number is known.
    pub(crate) fn validate_size(&self, size: &dyn Fn(Option<&Slice>) -> Option<u64>) -> Result<()> {
        let Some((_, least)) = self.bound.filter(|_| self.metric.is(MIN_SAMPLES)) else {
            return Ok(());
        };
        match size(self.slice.as_ref()) {
            Some(size) if as_f64(size) < least => Err(Error::usage(format!(
                "gate `{self}` can never pass: the eval has {size} samples"
            ))
            .hint(format!(
                "write `{} >= {size}`, or raise `limits.limit`",
                self.name()
            ))),
            _ => Ok(()),
        }
    }

    /// Refuses a way in which no conversation ends.
    fn validate_ended(&self) -> Result<()> {
        let why = self.metric.argument();
        let legal = ConversationEnd::ALL.map(ConversationEnd::as_str);
        let known = why.strip_prefix("ended=").map(str::trim);
        if !self.metric.is(RATE) || known.is_some_and(|why| legal.contains(&why)) {
            return Ok(());
        }
        let error = Error::usage(format!("gate `{self}`: no conversation ends by `{why}`"));
        Err(error.hint(format!(
            "write `rate(ended=max_turns)`; they end by `{}`",
            legal.join("`, `")
        )))
    }

    /// The checks that need only the gate.
    fn validate_alone(&self) -> Result<()> {
        self.validate_as(&self.to_string())
    }
}

/// "did you mean" with the legal names.
fn choices<'a>(title: &str, given: &str, legal: impl Iterator<Item = &'a str> + Clone) -> String {
    let count = legal.clone().count();
    if count == 0 {
        return format!("there are no {title}");
    }
    let mut listed: Vec<String> = legal.clone().map(|name| format!("`{name}`")).collect();
    listed.truncate(LISTED);
    let mut text = format!("the {title} are {}", listed.join(", "));
    if count > LISTED {
        text = format!("{text} and {} more", count - LISTED);
    }
    match nearest(given, legal) {
        Some(near) => format!("did you mean `{near}`? {text}"),
        None => text,
    }
}

// Which gates are evaluated in a run of a tier.
//
// A gate that names a tier is evaluated only there. One that names none is evaluated in the largest tier and in runs
// without a tier: a threshold for all samples is chance for five of them. The error rate of a whole run is checked in
// every tier, as it shows whether the other gates can be trusted.

impl Facts<'_> {
    /// The result of a gate that is not evaluated in the tier of this run; `None` if it is.
    pub(super) fn of_other_tier(&self, gate: &Gate, gates: &[Gate]) -> Option<GateResult> {
        let ran = self.tier.as_deref();
        let why = match (gate.tier.as_deref(), ran) {
            (Some(of), Some(ran)) if of == ran => return None,
            (Some(of), Some(ran)) => {
                format!("it is for tier `{of}`, and this run is of tier `{ran}`")
            }
            (Some(of), None) => {
                format!(
                    "it is for tier `{of}`, and this run has all samples; `--tier {of}` evaluates it"
                )
            }
            (None, Some(ran)) => {
                let largest = self.below_tier.as_deref()?;
                let is_errors = gate.metric.is(ERROR_RATE) && gate.slice.is_none();
                let has_own = |other: &Gate| {
                    other.metric.is(ERROR_RATE)
                        && other.slice.is_none()
                        && other.tier.as_deref() == Some(ran)
                };
                if is_errors && !gates.iter().any(has_own) {
                    return None;
                }
                let meant = gate.clone().tier(ran).name();
                format!(
                    "tier `{ran}` is smaller than `{largest}`, where gates without a tier are evaluated; for this tier write \
                     `{meant}`"
                )
            }
            (None, None) => return None,
        };
        Some(GateResult {
            other_tier: true,
            ..GateResult::of(gate, Verdict::Ignored, None, why)
        })
    }
}

impl Gate {
    /// Refuses a tier that the eval does not have.
    pub(super) fn validate_tier(&self, tiers: &[String]) -> Result<()> {
        let Some(tier) = self.tier.as_deref() else {
            return Ok(());
        };
        if tiers.iter().any(|known| known == tier) {
            return Ok(());
        }
        let error = Error::usage(format!(
            "gate `{self}`: the eval has no tier `{}`",
            clean(tier)
        ));
        if let Some(hint) = missing("tier", tier).filter(|_| tiers.is_empty()) {
            return Err(error.hint(hint));
        }
        let all = tiers.join("`, `");
        Err(
            error.hint(match nearest(tier, tiers.iter().map(String::as_str)) {
                Some(near) => format!("did you mean `[tier={near}]`? its tiers: `{all}`"),
                None => format!("its tiers: `{all}`"),
            }),
        )
    }
}

/// The hint if a slice is meant as a tier.
pub(super) fn missing(dimension: &str, value: &str) -> Option<String> {
    (dimension == "tier").then(|| {
        let tier = clean(value);
        format!("if it is a tier, define it: `tiers: {{ {tier}: {{ limit: 5 }}, full: {{}} }}`")
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Sample;
    use crate::verdict::gate::check_unique;

    #[test]
    fn finds_what_does_not_exist() {
        fn check(gate: &Gate, expect: Option<(&str, &str)>) {
            let samples = [
                Sample::new("a", "?").slice("level", "1"),
                Sample::new("b", "?").slice("level", "2"),
                Sample::new("c", "?").slice("category", "simple"),
            ];
            let result = gate.validate(&Known::of(&samples, ["gaia", "fuzzy"]));
            match (result, expect) {
                (Ok(()), None) => {}
                (Err(error), Some((message, hint))) => {
                    assert!(error.message().contains(message), "{error}");
                    assert!(error.hint_text().unwrap_or("").contains(hint), "{error}");
                    assert_eq!(error.exit(), crate::Exit::Usage);
                }
                (result, _) => panic!("{gate}: {result:?}"),
            }
        }
        let gate = Gate::accuracy(0.5);
        check(&gate, None);
        check(&gate.clone().slice("level", "2"), None);
        check(
            &gate.clone().slice("level", "3"),
            Some(("matches no sample", "values of `level` are `1`, `2`")),
        );
        check(
            &gate.clone().slice("levle", "1"),
            Some(("no sample has a `levle`", "did you mean `level`?")),
        );
        check(&Gate::difficulty_drop(0.3), None);
        check(&Gate::difficulty_drop_between("1", "2", 0.3), None);
        check(
            &Gate::difficulty_drop_between("2", "1", 0.3),
            Some(("no such step", "the steps are `1->2`")),
        );
        check(
            &Gate::difficulty_drop(30.0),
            Some(("at most 1", "`0.3`, or `30%`")),
        );
        check(
            &Gate::difficulty_drop(0.3).slice("level", "1"),
            Some(("for the whole run", "difficulty_drop(1->2)")),
        );
        check(&Gate::accuracy_of("fuzzy", 0.5), None);
        check(
            &Gate::accuracy_of("f1", 0.5),
            Some(("no scorer is called `f1`", "`gaia`, `fuzzy`")),
        );
        check(&Gate::accuracy(60.0), Some(("between 0 and 1", "0.6")));
        check(&Gate::accuracy(f64::NAN), Some(("is not a number", "")));
        check(
            &Gate::mean("x", f64::INFINITY),
            Some(("is not a number", "")),
        );
        check(
            &Gate::mean("f(1)", 0.5),
            Some(("cannot be written as a text", "")),
        );
        check(&gate.alpha(0.1), Some(("belongs to `no_regression`", "")));
        check(
            &Gate::no_regression().alpha(f64::NAN),
            Some(("`alpha`", "")),
        );
        check(&Gate::no_regression().max_drop(0.0), None);
        check(
            &Gate::latency_percentile(f64::NAN, 1.0),
            Some(("percentile", "")),
        );
    }

    #[test]
    fn a_mean_of_points_is_on_their_scale() {
        let bounds = [
            ("tone", [1.0, 5.0]),
            ("share", [0.0, 1.0]),
            ("wide", [0.0, 10.0]),
        ];
        let names = bounds.iter().map(|(name, _)| Cow::Borrowed(*name));
        let details = [
            ("exact".to_owned(), Some(Vec::new())),
            ("judge".to_owned(), Some(names.collect())),
        ];
        let known = Known {
            means: KnownMeans::of_details(&details),
            bounds: [(
                "judge".to_owned(),
                bounds.map(|(name, ends)| (name.to_owned(), ends)).into(),
            )]
            .into(),
            ..Known::of(&[], ["exact", "judge"])
        };
        let check = |gate: &str, expect: Option<&str>| {
            let checked = gate.parse::<Gate>().unwrap().validate(&known);
            let message = checked.as_ref().err().map(|error| {
                assert!(error.hint_text().is_some(), "{gate}");
                error.message()
            });
            match (message, expect) {
                (None, None) => {}
                (Some(message), Some(expect)) => assert!(message.contains(expect), "{message}"),
                other => panic!("{gate}: {other:?}"),
            }
        };
        check(
            "mean(judge.tone) >= 7",
            Some("can never pass: `judge.tone` goes from 1 to 5"),
        );
        check("mean(tone) <= 0.5", Some("can never pass"));
        check("mean(tone) > 5", Some("can never pass"));
        check("mean(tone) <= 7", Some("always passes"));
        check("mean(tone) >= 60%", Some("always passes"));
        check(
            "mean(wide) >= 60%",
            Some("has `%`, but the figure is in points"),
        );
        check("mean(tone) >= 5", None);
        check("mean(tone) >= 1", None);
        check("mean(share) >= 60%", None);
        // The scale is unknown.
        check("mean(value) >= 7", None);
    }

    #[test]
    fn names_are_unique() {
        fn check(gates: &[&str], expect: Option<&str>) {
            let gates: Vec<Gate> = gates.iter().map(|text| text.parse().unwrap()).collect();
            let message = check_unique(&gates)
                .err()
                .map(|error| error.message().to_owned());
            assert_eq!(message.as_deref(), expect);
        }
        check(
            &[
                "accuracy >= 0.6",
                "accuracy[level=1] >= 0.6",
                "no_regression",
            ],
            None,
        );
        check(
            &["samples >= 3", "min_samples(4)"],
            Some("two gates are called `min_samples`: `min_samples >= 3` and `min_samples >= 4`"),
        );
    }
}

#[cfg(test)]
mod tier_tests {
    use super::*;
    use crate::data::{Record, Score};
    use crate::verdict::gate::with_default;
    use crate::verdict::summary::Summary;

    #[test]
    fn each_tier_asks_its_own_gates() {
        fn check(own: &[&str], tier: Option<(&str, bool)>, expect: &[&str]) {
            let records = [Record::scored("a", Score::binary(true))];
            let own: Vec<Gate> = own.iter().map(|text| text.parse().unwrap()).collect();
            let name = tier.map(|(name, _)| name.to_owned());
            let facts = Facts {
                selected: 1,
                total: 1,
                below_tier: tier
                    .filter(|(_, is_largest)| !is_largest)
                    .map(|_| "full".to_owned()),
                tier: name.clone(),
                ci: true,
                ..Facts::of(Summary::of("e", &records))
            };
            let gates = with_default(Some(&own), name.as_deref(), false);
            let results = facts.check(&gates);
            let requested = results.iter().filter(|result| !result.other_tier);
            let requested: Vec<_> = requested.map(|result| result.gate.name()).collect();
            assert_eq!(requested, expect, "{tier:?}");
            let summary = facts.conclude(&gates);
            assert_eq!(summary.exit_code.code(), 0);
        }
        let gates = ["accuracy > 0", "accuracy[tier=quick] > 0"];
        check(&gates, None, &["accuracy", "error_rate"]);
        check(&gates, Some(("full", true)), &["accuracy", "error_rate"]);
        let quick = Some(("quick", false));
        check(&gates, quick, &["accuracy[tier=quick]", "error_rate"]);
        check(&gates, Some(("some", false)), &["error_rate"]);
        check(&["error_rate <= 0.1"], quick, &["error_rate"]);
        let both = ["error_rate <= 0.1", "error_rate[tier=quick] <= 0.5"];
        check(&both, quick, &["error_rate[tier=quick]"]);
        check(&both, None, &["error_rate"]);
    }
}
