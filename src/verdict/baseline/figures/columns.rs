//! [`FigureColumns`]: the figures of many samples, by name.

use std::borrow::Cow;
use std::collections::BTreeMap;

use super::{AnswerFigures, Rounded, value_or_verdict};
use crate::verdict::baseline::columns::{Lists, Sparse, number};

/// A number in three bytes; `None` if it is not known.
type Short = [u8; 3];

/// The figures of many samples.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::verdict) struct FigureColumns {
    /// The verdicts on the answers to each sample.
    verdicts: Lists<Option<bool>>,
    /// By name, the number of each answer; the last unknown ones are left out.
    numbers: Vec<(Cow<'static, str>, Vec<Short>)>,
    tools: ToolColumns,
    /// Samples that name a figure and tell no value of any.
    are_blank: Sparse<bool>,
}

/// The tools that each answer took.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct ToolColumns {
    /// By answer: nothing if it does not tell, otherwise 0 and the numbers of its tools, counted from 1.
    taken: Lists<u32>,
    names: Vec<String>,
    known: BTreeMap<String, u32>,
}

/// The figures of one sample.
#[derive(Clone, Copy, Debug)]
pub(in crate::verdict) struct FiguresRow<'a> {
    columns: &'a FigureColumns,
    place: usize,
}

/// No number: no power of ten is that small.
const UNKNOWN: Short = [0, 0, i8::MIN.to_le_bytes()[0]];

fn short(number: Option<Rounded>) -> Short {
    number.map_or(UNKNOWN, |Rounded { digits, exponent }| {
        let [low, high] = digits.to_le_bytes();
        [low, high, exponent.to_le_bytes()[0]]
    })
}

fn long([low, high, exponent]: Short) -> Option<Rounded> {
    ([low, high, exponent] != UNKNOWN).then(|| Rounded {
        digits: i16::from_le_bytes([low, high]),
        exponent: i8::from_le_bytes([exponent]),
    })
}

impl FigureColumns {
    /// Makes room for so many answers.
    pub(in crate::verdict) fn reserve(&mut self, answers: usize) {
        self.verdicts.reserve(answers);
    }

    /// Adds those of the next sample.
    pub(in crate::verdict) fn push(&mut self, figures: &AnswerFigures) {
        let first = self.verdicts.items();
        let place = self.verdicts.len();
        self.verdicts.push(figures.verdicts.iter().copied());
        for (name, values) in &figures.columns {
            if values.iter().all(Option::is_none) {
                continue;
            }
            let column = self.numbers.iter().position(|(known, _)| known == name);
            let column = column.unwrap_or_else(|| {
                let numbers = Vec::with_capacity(self.verdicts.room());
                self.numbers.push((name.clone(), numbers));
                self.numbers.len() - 1
            });
            let column = &mut self.numbers[column].1;
            column.resize(first, UNKNOWN);
            column.extend(values.iter().copied().map(short));
        }
        let answers = figures.verdicts.len();
        self.tools.push(first, &figures.tools, answers);
        let is_blank = !figures.is_empty() && self.row(place).has_no_value();
        self.are_blank.set(place, is_blank);
    }

    pub(in crate::verdict) fn row(&self, place: usize) -> FiguresRow<'_> {
        FiguresRow {
            columns: self,
            place,
        }
    }

    /// The names of all numbers.
    pub(in crate::verdict) fn names(&self) -> impl Iterator<Item = &str> {
        self.numbers.iter().map(|(name, _)| &**name)
    }
}

impl ToolColumns {
    /// Adds the answers from `first` on.
    fn push(&mut self, first: usize, tools: &[Option<Vec<String>>], answers: usize) {
        if self.taken.len() == 0 && tools.iter().all(Option::is_none) {
            return;
        }
        while self.taken.len() < first {
            self.taken.push([]);
        }
        for place in 0..answers {
            let Some(taken) = tools.get(place).and_then(Option::as_deref) else {
                self.taken.push([]);
                continue;
            };
            let numbers: Vec<u32> = taken.iter().map(|tool| self.number_of(tool)).collect();
            self.taken.push([0].into_iter().chain(numbers));
        }
    }

    fn number_of(&mut self, tool: &str) -> u32 {
        if let Some(known) = self.known.get(tool) {
            return *known;
        }
        self.names.push(tool.to_owned());
        let number = number(self.names.len());
        self.known.insert(tool.to_owned(), number);
        number
    }

    fn get(&self, answer: usize) -> Option<Vec<String>> {
        if answer >= self.taken.len() {
            return None;
        }
        let (_, numbers) = self.taken.get(answer).split_first()?;
        let names = numbers
            .iter()
            .map(|number| &self.names[*number as usize - 1]);
        Some(names.cloned().collect())
    }
}

impl<'a> FiguresRow<'a> {
    /// The verdict on each answer.
    pub(in crate::verdict) fn verdicts(self) -> &'a [Option<bool>] {
        self.columns.verdicts.get(self.place)
    }

    fn number(column: &[Short], answer: usize) -> Option<Rounded> {
        column.get(answer).copied().and_then(long)
    }

    fn has_no_value(self) -> bool {
        let mut answers = self.columns.verdicts.range(self.place);
        let numbers = &self.columns.numbers;
        answers.all(|answer| {
            let mut numbers = numbers.iter();
            numbers.all(|(_, column)| Self::number(column, answer).is_none())
                && self.columns.tools.get(answer).is_none()
        })
    }

    /// Whether no answer tells any figure.
    pub(in crate::verdict) fn is_empty(self) -> bool {
        self.has_no_value() && !self.columns.are_blank.value(self.place)
    }

    /// A figure of each answer, `None` where it is not known. The score of a scorer is that of its verdict where it has
    /// no other.
    pub(in crate::verdict) fn get(
        self,
        name: &str,
        decides: Option<&str>,
    ) -> impl Iterator<Item = Option<f64>> + use<'a> {
        let column = self.columns.numbers.iter().find(|(known, _)| known == name);
        let column = column.map_or(&[][..], |(_, column)| &column[..]);
        let or_verdict = value_or_verdict(name, decides);
        let answers = self.columns.verdicts.range(self.place);
        answers
            .zip(self.verdicts())
            .map(move |(answer, verdict)| or_verdict(Self::number(column, answer), *verdict))
    }

    /// The tools of each answer, `None` where they are not known.
    pub(in crate::verdict) fn tools(self) -> impl Iterator<Item = Option<Vec<String>>> + use<'a> {
        let answers = self.columns.verdicts.range(self.place);
        answers.map(move |answer| self.columns.tools.get(answer))
    }

    /// The figures that are told, on their own.
    pub(in crate::verdict) fn to_figures(self) -> AnswerFigures {
        let answers = self.columns.verdicts.range(self.place);
        let columns = self.columns.numbers.iter().map(|(name, column)| {
            let values = answers.clone().map(|answer| Self::number(column, answer));
            (name.clone(), values.collect::<Vec<_>>())
        });
        let tools: Vec<_> = self.tools().collect();
        let has_tools = tools.iter().any(Option::is_some);
        AnswerFigures {
            verdicts: self.verdicts().to_vec(),
            columns: columns
                .filter(|(_, values)| values.iter().any(Option::is_some))
                .collect(),
            tools: if has_tools { tools } else { Vec::new() },
        }
    }
}
