//! How far a judge agrees with the labels of people.

use std::collections::HashMap;

use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::{Map, Value};

use crate::error::{Error, Result};
use crate::stats::{Alphas, DRAWS, Kappas, Unit, bootstrap95, ratio, scaled};

use super::{JudgedLine, missing, wrong};
use crate::data::labels::{LabelClass, LabelClasses};

/// With more classes than so many, cells without an item are left out of the table.
const FULL_TABLE: usize = 100;

/// An item with what people and the judge say of it.
#[derive(Clone, Debug, PartialEq)]
pub struct LabelledItem {
    /// Of those who gave one.
    pub labels: Vec<LabelClass>,
    /// The judge's verdict; `None` where it is missing.
    pub judge: Option<LabelClass>,
}

impl JudgedLine for LabelledItem {
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
/// The label of an item is the one that more than half of its labels are; an item without such counts in the alphas
/// alone. The kappas, AC1 and the agreement compare that label with the verdict; the alphas are over all labels and the
/// verdict, as one rater more. Figures are `null` where they are nothing over nothing.
#[derive(Clone, Debug, PartialEq)]
pub struct JudgeAgreement {
    /// Items with a label and a verdict.
    pub n: u64,
    /// The figures themselves.
    pub figures: AgreementFigures<f64>,
    /// By class, those of items with a label and a verdict, in order; in JSON keyed by the class as text.
    pub classes: Vec<(String, ClassFigures)>,
    /// How many items there are of each label with each verdict: `{label: {verdict: n}}`. Of more than 100 classes,
    /// cells without an item are left out.
    pub confusion: Vec<(String, Vec<(String, u64)>)>,
    /// 95 % confidence intervals `[low, high]` by the percentile bootstrap over items.
    pub ci95: AgreementFigures<[f64; 2]>,
    /// All items.
    pub items: u64,
    /// Items with labels of which none is that of more than half.
    pub undecided: u64,
}

/// A value for each figure of agreement.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AgreementFigures<T> {
    /// The share of items whose verdict is their label.
    pub agreement: Option<T>,
    /// The share of the commonest label: what a judge that always says that would have.
    pub constant_agreement: Option<T>,
    /// Cohen's kappa.
    pub kappa: Option<T>,
    /// Weighted by how many classes label and verdict are apart; `null` where classes are not numbers.
    pub kappa_linear: Option<T>,
    /// Weighted by the square of that.
    pub kappa_quadratic: Option<T>,
    /// Gwet's AC1.
    pub ac1: Option<T>,
    /// Krippendorff's alpha.
    pub alpha_nominal: Option<T>,
    /// The same by the square of distances; `null` where classes are not numbers.
    pub alpha_interval: Option<T>,
}

/// A judge on one class.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct ClassFigures {
    /// Of the items with this verdict, the share with this label.
    pub precision: Option<f64>,
    /// Of the items with this label, the share with this verdict.
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

/// The figures beside the rest, classes by their names: `{"n", …, "classes": {c: {…}}, "confusion": {c: {c: n}},
/// "ci95": {…}}`.
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

/// Pairs as an object, in their order.
struct ByName<'a, T>(&'a [(String, T)]);

impl<T: Serialize> Serialize for ByName<'_, T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, value)| (name, value)))
    }
}

/// Items that are alike to every figure, as there are few of them in most files.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct ItemKind {
    /// The label and the verdict, if there are both.
    pair: Option<(usize, usize)>,
    /// All that was said, sorted.
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

    /// With intervals of so many draws.
    pub(super) fn drawn(items: &[LabelledItem], draws: usize) -> Result<Self> {
        if items.is_empty() {
            return Err(Error::usage("there are no items"));
        }
        let said = items
            .iter()
            .flat_map(|item| item.labels.iter().chain(&item.judge));
        let classes = LabelClasses::of(said);
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
        Ok(Self {
            n: pairs.iter().map(|(_, _, count)| count).sum(),
            figures: AgreementFigures::of(compared.figures(&counts)),
            classes: table.classes(),
            confusion: table.cells(),
            ci95: AgreementFigures::of(bootstrap95(&kinds, different.len(), draws, |counts| {
                compared.figures(counts)
            })),
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

    /// The class of more than half of the labels.
    fn majority(&self, classes: &LabelClasses) -> Option<usize> {
        let mut labels = self.places(classes);
        labels.sort_unstable();
        // What is more than half of them also stands in their middle.
        let middle = *labels.get(labels.len() / 2)?;
        let count = labels.iter().filter(|label| **label == middle).count();
        (2 * count > labels.len()).then_some(middle)
    }
}

/// The kinds of items, ready to be counted.
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

    /// Labels with verdicts, of as many items of each kind.
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

/// How many items there are of each label with each verdict.
struct ClassTable<'a> {
    names: &'a [String],
    /// The classes that there are, in order.
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

    /// The cells with items alone.
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
