//! `LabelClass`: the value of a label.

use std::collections::BTreeMap;

use serde_json::{Number, Value};

/// A class assigned by a person or a judge: a text, a number or a boolean.
///
/// Classes with the same text are equal: `1`, `1.0` and `"1"`, or `true` and `"true"`.
#[derive(Clone, Debug, PartialEq)]
pub struct LabelClass {
    text: String,
    /// Its number, if it was given as a number and is exact.
    number: Option<f64>,
}

impl LabelClass {
    /// `None` if the value is not a class.
    pub fn of(value: &Value) -> Option<Self> {
        Some(match value {
            Value::String(text) => Self {
                text: text.clone(),
                number: None,
            },
            Value::Bool(is) => Self {
                text: is.to_string(),
                number: None,
            },
            Value::Number(number) => Self::of_number(number)?,
            Value::Null | Value::Array(_) | Value::Object(_) => return None,
        })
    }

    /// The class as a text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The class as JSON: the original value or an equal class.
    pub(crate) fn to_value(&self) -> Value {
        match (self.number, self.truth()) {
            (Some(number), _) if number.fract() == 0.0 => {
                serde_json::from_str(&self.text).unwrap_or_else(|_| number.into())
            }
            (Some(number), _) => number.into(),
            (None, Some(is)) => is.into(),
            (None, None) => self.text.as_str().into(),
        }
    }

    /// Its number, if it is a number or the text of one.
    pub fn number(&self) -> Option<f64> {
        let finite = |number: &f64| number.is_finite();
        self.number
            .or_else(|| self.text.parse().ok())
            .filter(finite)
    }

    /// Its boolean, if it is `true` or `false`.
    pub(crate) fn truth(&self) -> Option<bool> {
        self.text.parse().ok()
    }

    fn of_number(number: &Number) -> Option<Self> {
        /// 2⁵³: every smaller integer is represented exactly.
        const EXACT: f64 = 9_007_199_254_740_992.0;
        let value = number.as_f64()?;
        let is_small = value.abs() < EXACT;
        let text = if is_small && value.fract() == 0.0 {
            // Avoid `-0`.
            format!("{:.0}", value + 0.0)
        } else {
            number.to_string()
        };
        Some(Self {
            text,
            number: (is_small || number.is_f64()).then_some(value),
        })
    }
}

/// The classes of a file, sorted by number if all are numbers, otherwise by text.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct LabelClasses {
    pub(crate) names: Vec<String>,
    /// Their numbers, if all are numbers.
    pub(crate) numbers: Option<Vec<f64>>,
    places: BTreeMap<String, usize>,
}

impl LabelClasses {
    pub(crate) fn of<'a>(found: impl Iterator<Item = &'a LabelClass>) -> Self {
        let mut numbers = BTreeMap::<&str, Option<f64>>::new();
        for class in found {
            let number = numbers.entry(&class.text).or_default();
            *number = number.or(class.number);
        }
        let mut sorted: Vec<_> = numbers.into_iter().collect();
        let are_numbers = sorted.iter().all(|(_, number)| number.is_some());
        if are_numbers {
            let key = |number: Option<f64>| number.unwrap_or_default();
            sorted.sort_by(|(_, one), (_, other)| key(*one).total_cmp(&key(*other)));
        }
        let names = sorted.iter().map(|(text, _)| (*text).to_owned());
        let names: Vec<_> = names.collect();
        Self {
            numbers: sorted.into_iter().map(|(_, number)| number).collect(),
            places: names.iter().cloned().zip(0..).collect(),
            names,
        }
    }

    /// Index of a class in this order.
    pub(crate) fn place(&self, class: &LabelClass) -> Option<usize> {
        self.places.get(&class.text).copied()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check(values: &Value, names: &[&str], numbers: Option<&[f64]>) {
        let found: Vec<_> = values
            .as_array()
            .unwrap()
            .iter()
            .filter_map(LabelClass::of)
            .collect();
        let classes = LabelClasses::of(found.iter());
        assert_eq!(classes.names, names, "{values}");
        assert_eq!(classes.numbers.as_deref(), numbers, "{values}");
        let place = |class| classes.names[classes.place(class).unwrap()].clone();
        assert!(found.iter().all(|class| place(class) == class.text));
    }

    #[test]
    fn classes_are_distinguished_by_text() {
        check(
            &json!([1, 1.0, 0, -0.0, 10, 2]),
            &["0", "1", "2", "10"],
            Some(&[0.0, 1.0, 2.0, 10.0]),
        );
        check(&json!([0.5, 5e-1, -1]), &["-1", "0.5"], Some(&[-1.0, 0.5]));
        check(&json!(["b", "a", "a", ""]), &["", "a", "b"], None);
        check(&json!([true, "true", false]), &["false", "true"], None);
        check(&json!([1, "tie"]), &["1", "tie"], None);
        check(&json!(["1", "2"]), &["1", "2"], None);
        // A judge that writes its numbers as texts.
        check(&json!([1, 2, "1"]), &["1", "2"], Some(&[1.0, 2.0]));
        check(&json!([null, [], {}]), &[], Some(&[]));
        // As floats the two would be equal.
        check(
            &json!([9_007_199_254_740_993_u64, 9_007_199_254_740_992_u64]),
            &["9007199254740992", "9007199254740993"],
            None,
        );
    }
}
