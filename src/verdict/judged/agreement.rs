//! How far a judge agrees with the labels of people.

use std::collections::HashMap;

use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::{Map, Value};

use crate::error::{Error, Result};
use crate::stats::{Alphas, DRAWS, Kappas, Unit, bootstrap95, ratio, scaled, wilson95};

use super::{InputLine, missing, wrong};
use crate::data::labels::{LabelClass, LabelClasses};

/// With more classes, table cells without items are omitted.
const FULL_TABLE: usize = 100;

/// An item with its labels by people and the judge's verdict.
#[derive(Clone, Debug, PartialEq)]
pub struct LabelledItem {
    /// One for each person who gave one.
    pub labels: Vec<LabelClass>,
    /// The judge's verdict; `None` if it is missing.
    pub judge: Option<LabelClass>,
}

impl InputLine for LabelledItem {
    const EXAMPLE: &'static str = r#"{"labels": [1, 2, null], "judge": 1}"#;

    fn read(fields: &Map<String, Value>) -> Result<Self> {
        let class = |name: &str, value: &Value| match value {
            Value::Null => Ok(None),
            value => LabelClass::of(value)
                .map(Some)
                .ok_or_else(|| wrong(name, "a text, a number, a bool or null", value)),
        };
        let labels = match fields.get("labels") {
            Some(Value::Array(labels)) => labels,
            Some(other) => {
                return Err(wrong(
                    "labels",
                    "an array with a label of each person",
                    other,
                ));
            }
            None => return Err(missing("labels")),
        };
        let labels = labels.iter().map(|label| class("labels[]", label));
        let labels: Result<Vec<_>> = labels.collect();
        let judge = fields.get("judge").unwrap_or(&Value::Null);
        Ok(Self {
            labels: labels?.into_iter().flatten().collect(),
            judge: class("judge", judge)?,
        })
    }
}

/// How far a judge agrees with people.
///
/// The label of an item is that of more than half of its labels; an item without such a majority counts only in the
/// alphas. The kappas, AC1 and the agreement compare this label with the verdict; the alphas are over all labels, with
/// the verdict as one more rater. Figures are `null` if they are 0 / 0.
#[derive(Clone, Debug, PartialEq)]
pub struct JudgeAgreement {
    /// Items with a label and a verdict.
    pub n: u64,
    /// The figures.
    pub figures: AgreementFigures<f64>,
    /// Figures by class, for items with a label and a verdict, in order; in JSON keyed by the class as text.
    pub classes: Vec<(String, ClassFigures)>,
    /// The number of items with each label and verdict: `{label: {verdict: n}}`. With more than 100 classes, empty
    /// cells are omitted.
    pub confusion: Vec<(String, Vec<(String, u64)>)>,
    /// 95 % confidence intervals `[low, high]` by the percentile bootstrap over items; of the agreement, which is a share,
    /// by Wilson's method, as the bootstrap is too narrow near 1.
    pub ci95: AgreementFigures<[f64; 2]>,
    /// All items.
    pub items: u64,
    /// Items whose labels have no majority.
    pub undecided: u64,
}

/// A value for each figure of agreement.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AgreementFigures<T> {
    /// The share of items whose verdict equals their label.
    pub agreement: Option<T>,
    /// The share of the most frequent label: the agreement of a judge that always gives it.
    pub constant_agreement: Option<T>,
    /// Cohen's kappa.
    pub kappa: Option<T>,
    /// Weighted by the number of classes between label and verdict; `null` if classes are not numbers.
    pub kappa_linear: Option<T>,
    /// Weighted by the square of this number.
    pub kappa_quadratic: Option<T>,
    /// Gwet's AC1.
    pub ac1: Option<T>,
    /// Krippendorff's alpha.
    pub alpha_nominal: Option<T>,
    /// The same by squared distances; `null` if classes are not numbers.
    pub alpha_interval: Option<T>,
}

/// The figures of a judge for one class.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct ClassFigures {
    /// The share of items with this verdict that have this label.
    pub precision: Option<f64>,
    /// The share of items with this label that have this verdict.
    pub recall: Option<f64>,
    /// Items with this label.
    pub n: u64,
}

impl<T> AgreementFigures<T> {
    /// In the order of the fields.
    fn of(figures: [Option<T>; 8]) -> Self {
        let mut figures = figures.into_iter();
        let mut next = || figures.next().flatten();
        Self {
            agreement: next(),
            constant_agreement: next(),
            kappa: next(),
            kappa_linear: next(),
            kappa_quadratic: next(),
            ac1: next(),
            alpha_nominal: next(),
            alpha_interval: next(),
        }
    }
}

impl<T: Copy> AgreementFigures<T> {
    /// By name, in the order of the fields.
    fn named(&self) -> [(&'static str, Option<T>); 8] {
        [
            ("agreement", self.agreement),
            ("constant_agreement", self.constant_agreement),
            ("kappa", self.kappa),
            ("kappa_linear", self.kappa_linear),
            ("kappa_quadratic", self.kappa_quadratic),
            ("ac1", self.ac1),
            ("alpha_nominal", self.alpha_nominal),
            ("alpha_interval", self.alpha_interval),
        ]
    }
}

impl<T: Copy + Serialize> Serialize for AgreementFigures<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.named())
    }
}

/// The figures inlined, classes by name: `{"n", …, "classes": {c: {…}}, "confusion": {c: {c: n}}, "ci95": {…}}`.
impl Serialize for JudgeAgreement {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let rows = self.confusion.iter();
        let rows = rows.map(|(name, cells)| (name.clone(), ByName(cells)));
        let mut object = serializer.serialize_map(None)?;
        object.serialize_entry("n", &self.n)?;
        for (name, figure) in self.figures.named() {
            object.serialize_entry(name, &figure)?;
        }
        object.serialize_entry("classes", &ByName(&self.classes))?;
        object.serialize_entry("confusion", &ByName(&rows.collect::<Vec<_>>()))?;
        object.serialize_entry("ci95", &self.ci95)?;
        object.end()
    }
}

/// Serialises pairs as an object, in order.
struct ByName<'a, T>(&'a [(String, T)]);

impl<T: Serialize> Serialize for ByName<'_, T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, value)| (name, value)))
    }
}

/// Items that are equal for every figure; most files have few kinds.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct ItemKind {
    /// Label and verdict, if there are both.
    pair: Option<(usize, usize)>,
    /// All labels and the verdict, sorted.
    values: Vec<usize>,
}

impl JudgeAgreement {
    /// The figures of these items.
    ///
    /// # Errors
    ///
    /// Without items.
    pub fn of(items: &[LabelledItem]) -> Result<Self> {
        Self::drawn(items, DRAWS)
    }

    /// With `draws` bootstrap draws.
    pub(super) fn drawn(items: &[LabelledItem], draws: usize) -> Result<Self> {
        if items.is_empty() {
            return Err(Error::usage("there are no items"));
        }
        let classes = items
            .iter()
            .flat_map(|item| item.labels.iter().chain(&item.judge));
        let classes = LabelClasses::of(classes);
        let mut undecided = 0;
        let mut places = HashMap::new();
        let mut kinds = Vec::with_capacity(items.len());
        let mut different = Vec::new();
        for item in items {
            let kind = item.kind(&classes);
            let has_label = item.majority(&classes).is_some();
            undecided += u64::from(!item.labels.is_empty() && !has_label);
            let place = *places.entry(kind.clone()).or_insert(different.len());
            if place == different.len() {
                different.push(kind);
            }
            kinds.push(place);
        }
        let mut counts = vec![0; different.len()];
        for place in &kinds {
            counts[*place] += 1;
        }
        let compared = CountedKinds::of(&different, &classes);
        let pairs: Vec<_> = compared.pairs(&counts).collect();
        let table = ClassTable::of(&pairs, &classes);
        let n = pairs.iter().map(|(_, _, count)| count).sum();
        let agreed = pairs.iter().filter(|(label, judge, _)| label == judge);
        let agreed = agreed.map(|(_, _, count)| count).sum();
        let drawn = bootstrap95(&kinds, different.len(), draws, |counts| {
            compared.figures(counts)
        });
        Ok(Self {
            n,
            figures: AgreementFigures::of(compared.figures(&counts)),
            classes: table.classes(),
            confusion: table.cells(),
            ci95: AgreementFigures {
                agreement: wilson95(agreed, n),
                ..AgreementFigures::of(drawn)
            },
            items: items.len() as u64,
            undecided,
        })
    }
}

impl LabelledItem {
    fn kind(&self, classes: &LabelClasses) -> ItemKind {
        let label = self.majority(classes);
        let judge = self.judge.as_ref().and_then(|judge| classes.place(judge));
        let mut values = self.places(classes);
        values.extend(judge);
        values.sort_unstable();
        ItemKind {
            pair: label.zip(judge),
            values,
        }
    }

    fn places(&self, classes: &LabelClasses) -> Vec<usize> {
        let labels = self.labels.iter();
        labels.filter_map(|label| classes.place(label)).collect()
    }

    /// The majority class of the labels.
    fn majority(&self, classes: &LabelClasses) -> Option<usize> {
        let mut labels = self.places(classes);
        labels.sort_unstable();
        // A majority class is also the median.
        let middle = *labels.get(labels.len() / 2)?;
        let count = labels.iter().filter(|label| **label == middle).count();
        (2 * count > labels.len()).then_some(middle)
    }
}

/// The kinds of items, prepared for counting.
struct CountedKinds {
    pairs: Vec<Option<(usize, usize)>>,
    units: Vec<Unit>,
    values: Option<Vec<f64>>,
    classes: usize,
}

impl CountedKinds {
    fn of(kinds: &[ItemKind], classes: &LabelClasses) -> Self {
        let values = classes.numbers.as_deref().map(scaled);
        let units = kinds.iter();
        let units = units.map(|kind| Unit::of(&kind.values, values.as_deref()));
        Self {
            pairs: kinds.iter().map(|kind| kind.pair).collect(),
            units: units.collect(),
            values,
            classes: classes.names.len(),
        }
    }

    /// Pairs of label and verdict with their counts.
    fn pairs(&self, counts: &[u64]) -> impl Iterator<Item = (usize, usize, u64)> + Clone {
        let pairs = self.pairs.iter().zip(counts);
        pairs.filter_map(|(pair, count)| pair.map(|(label, judge)| (label, judge, *count)))
    }

    /// In the order of [`AgreementFigures`].
    fn figures(&self, counts: &[u64]) -> [Option<f64>; 8] {
        let kappas = Kappas::of(self.pairs(counts), self.classes);
        let units = self.units.iter().zip(counts.iter().copied());
        let alphas = Alphas::of(units, self.values.as_deref(), self.classes);
        let in_order = |kappa: Option<f64>| kappa.filter(|_| self.values.is_some());
        [
            kappas.agreement,
            kappas.constant_agreement,
            kappas.nominal,
            in_order(kappas.linear),
            in_order(kappas.quadratic),
            kappas.ac1,
            alphas.nominal,
            alphas.interval,
        ]
    }
}

/// The number of items with each label and verdict.
struct ClassTable<'a> {
    names: &'a [String],
    /// The classes that occur, in order.
    present: Vec<usize>,
    labels: Vec<u64>,
    verdicts: Vec<u64>,
    cells: HashMap<(usize, usize), u64>,
}

impl<'a> ClassTable<'a> {
    fn of(pairs: &[(usize, usize, u64)], classes: &'a LabelClasses) -> Self {
        let names = &classes.names[..];
        let (mut labels, mut verdicts) = (vec![0; names.len()], vec![0; names.len()]);
        let mut cells = HashMap::new();
        for &(label, verdict, count) in pairs {
            labels[label] += count;
            verdicts[verdict] += count;
            *cells.entry((label, verdict)).or_default() += count;
        }
        let present = (0..names.len()).filter(|&class| labels[class] + verdicts[class] > 0);
        Self {
            names,
            present: present.collect(),
            labels,
            verdicts,
            cells,
        }
    }

    fn classes(&self) -> Vec<(String, ClassFigures)> {
        let figures = |&class: &usize| {
            let right = self.cells.get(&(class, class)).copied().unwrap_or(0);
            let figures = ClassFigures {
                precision: ratio(right, self.verdicts[class]),
                recall: ratio(right, self.labels[class]),
                n: self.labels[class],
            };
            (self.names[class].clone(), figures)
        };
        self.present.iter().map(figures).collect()
    }

    fn cells(&self) -> Vec<(String, Vec<(String, u64)>)> {
        if self.present.len() > FULL_TABLE {
            return self.filled();
        }
        let row = |&label: &usize| {
            let cell = |&verdict: &usize| {
                let count = self.cells.get(&(label, verdict)).copied().unwrap_or(0);
                (self.names[verdict].clone(), count)
            };
            let row = self.present.iter().map(cell).collect();
            (self.names[label].clone(), row)
        };
        self.present.iter().map(row).collect()
    }

    /// The cells that have items.
    fn filled(&self) -> Vec<(String, Vec<(String, u64)>)> {
        let mut cells: Vec<_> = self.cells.iter().map(|(at, count)| (*at, *count)).collect();
        cells.sort_unstable();
        let rows = cells.chunk_by(|((one, _), _), ((other, _), _)| one == other);
        let row = |row: &[((usize, usize), u64)]| {
            let cells = row.iter();
            let cells = cells.map(|((_, verdict), count)| (self.names[*verdict].clone(), *count));
            (self.names[row[0].0.0].clone(), cells.collect())
        };
        rows.map(row).collect()
    }
}
