//! Python values: what a decoded call holds, with Python's equality.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use super::half;
use super::integer::Int;

/// A Python value.
///
/// A text may hold lone surrogates in Python, not in Rust: [`Value::Str`] has private characters in their place, and
/// marks those that mean themselves. [`Value::text`] makes it of a text of Rust.
#[derive(Clone, Debug)]
pub enum Value {
    /// `None`.
    None,
    /// `True` or `False`, which equal 1 and 0.
    Bool(bool),
    /// An integer of any size.
    Int(Int),
    /// A double.
    Float(f64),
    /// Real and imaginary part.
    Complex(f64, f64),
    /// A text.
    Str(String),
    /// A byte string.
    Bytes(Vec<u8>),
    /// `[…]`.
    List(Vec<Value>),
    /// `(…)`, never equal to a list.
    Tuple(Vec<Value>),
    /// `{…}`; only XML answers can hold one.
    Set(Vec<Value>),
    /// `{…: …}`.
    Dict(Dict),
    /// `Ellipsis`; only XML answers can hold one, elsewhere it is the text `...`.
    Ellipsis,
}

impl Value {
    /// A text.
    pub fn text(text: impl AsRef<str>) -> Self {
        Self::Str(half::encode(text.as_ref()).into_owned())
    }

    /// The name of its type, as Python's `type(value).__name__`.
    pub fn type_name(&self) -> &'static str {
        match self {
            Self::None => "NoneType",
            Self::Bool(_) => "bool",
            Self::Int(_) => "int",
            Self::Float(_) => "float",
            Self::Complex(..) => "complex",
            Self::Str(_) => "str",
            Self::Bytes(_) => "bytes",
            Self::List(_) => "list",
            Self::Tuple(_) => "tuple",
            Self::Set(_) => "set",
            Self::Dict(_) => "dict",
            Self::Ellipsis => "ellipsis",
        }
    }

    /// The text, if it is one.
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Self::Str(text) => Some(text),
            _ => None,
        }
    }

    /// The dictionary, if it is one.
    pub fn as_dict(&self) -> Option<&Dict> {
        match self {
            Self::Dict(dict) => Some(dict),
            _ => None,
        }
    }

    /// The items of a list.
    pub fn as_list(&self) -> Option<&[Value]> {
        match self {
            Self::List(items) => Some(items),
            _ => None,
        }
    }

    /// Whether it is the text without a character, with which the data marks what may be left out.
    pub fn is_empty_text(&self) -> bool {
        matches!(self, Self::Str(text) if text.is_empty())
    }

    /// The integer behind an `int` or a `bool`.
    pub fn as_integer(&self) -> Option<Int> {
        match self {
            Self::Bool(value) => Some(Int::from(i64::from(*value))),
            Self::Int(value) => Some(value.clone()),
            _ => None,
        }
    }

    /// Whether Python can use it as a key.
    pub fn is_hashable(&self) -> bool {
        match self {
            Self::List(_) | Self::Set(_) | Self::Dict(_) => false,
            Self::Tuple(items) => items.iter().all(Self::is_hashable),
            _ => true,
        }
    }

    /// Equal values have equal hashes. Big integers and floats share one through the nearest double.
    fn hash(&self, hasher: &mut DefaultHasher) {
        match self {
            Self::Bool(value) => hash_number(f64::from(u8::from(*value)), hasher),
            Self::Int(value) => hash_number(value.nearest_f64(), hasher),
            Self::Float(value) | Self::Complex(value, _) => hash_number(*value, hasher),
            Self::Str(text) => text.hash(hasher),
            Self::Bytes(bytes) => bytes.hash(hasher),
            Self::Tuple(items) => items.iter().for_each(|item| item.hash(hasher)),
            other => other.type_name().hash(hasher),
        }
    }
}

fn hash_number(value: f64, hasher: &mut DefaultHasher) {
    // Minus zero is zero.
    (value + 0.0).to_bits().hash(hasher);
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::Str(text.to_owned())
    }
}

impl From<i64> for Value {
    fn from(value: i64) -> Self {
        Self::Int(Int::from(value))
    }
}

/// Python's `==`.
impl PartialEq for Value {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::None, Self::None) | (Self::Ellipsis, Self::Ellipsis) => true,
            (Self::Str(a), Self::Str(b)) => a == b,
            (Self::Bytes(a), Self::Bytes(b)) => a == b,
            (Self::List(a), Self::List(b)) | (Self::Tuple(a), Self::Tuple(b)) => a == b,
            (Self::Set(a), Self::Set(b)) => {
                a.len() == b.len() && a.iter().all(|item| b.contains(item))
            }
            (Self::Dict(a), Self::Dict(b)) => a == b,
            (Self::Int(a), Self::Int(b)) => a == b,
            (a, b) => equal_numbers(a, b),
        }
    }
}

/// Integers and floats are compared exactly: 2⁵³ + 1 is no double.
#[expect(clippy::float_cmp, reason = "Python compares exactly")]
fn equal_numbers(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Float(a), Value::Float(b)) => a == b,
        (Value::Complex(re, im), other) | (other, Value::Complex(re, im)) => match other {
            Value::Complex(other_re, other_im) => re == other_re && im == other_im,
            other => *im == 0.0 && equal_numbers(&Value::Float(*re), other),
        },
        (Value::Float(float), other) | (other, Value::Float(float)) => other
            .as_integer()
            .is_some_and(|integer| integer.equals_f64(*float)),
        (a, b) => a
            .as_integer()
            .zip(b.as_integer())
            .is_some_and(|(a, b)| a == b),
    }
}

/// Beyond this size a dictionary keeps an index of its keys, so that megabytes of keys take linear time.
const INDEXED_FROM: usize = 16;

/// A Python dictionary: in order of insertion, keys compared as Python does.
#[derive(Clone, Debug, Default)]
pub struct Dict {
    entries: Vec<(Value, Value)>,
    #[expect(
        clippy::box_collection,
        reason = "few have one, and every value would take twice the space"
    )]
    index: Option<Box<HashMap<u64, Vec<usize>>>>,
}

impl Dict {
    /// An empty dictionary.
    pub fn new() -> Self {
        Self::default()
    }

    /// One with a single entry.
    pub fn of(key: Value, value: Value) -> Self {
        Self {
            entries: vec![(key, value)],
            index: None,
        }
    }

    /// Number of entries.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there is no entry.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The entries in order.
    pub fn iter(&self) -> std::slice::Iter<'_, (Value, Value)> {
        self.entries.iter()
    }

    /// The value of a key.
    pub fn get(&self, key: &Value) -> Option<&Value> {
        self.place(key).map(|place| &self.entries[place].1)
    }

    /// Takes the value of a key that is a text, and leaves `None` there.
    pub fn take(&mut self, key: &str) -> Option<Value> {
        let mut entries = self.entries.iter_mut();
        let (_, value) = entries.find(|(k, _)| k.as_str() == Some(key))?;
        Some(std::mem::replace(value, Value::None))
    }

    /// The value of a key that is a text.
    pub fn get_str(&self, key: &str) -> Option<&Value> {
        if self.index.is_none() {
            let entry = self.entries.iter().find(|(k, _)| k.as_str() == Some(key));
            return entry.map(|(_, value)| value);
        }
        self.get(&Value::from(key))
    }

    /// Sets a key. An equal key stays where and what it is, as in Python.
    pub fn insert(&mut self, key: Value, value: Value) {
        if let Some(place) = self.place(&key) {
            self.entries[place].1 = value;
            return;
        }
        self.entries.push((key, value));
        if self.entries.len() == INDEXED_FROM {
            for place in 0..INDEXED_FROM {
                self.remember(place);
            }
        } else if self.entries.len() > INDEXED_FROM {
            self.remember(self.entries.len() - 1);
        }
    }

    fn remember(&mut self, place: usize) {
        let hash = key_hash(&self.entries[place].0);
        let index = self.index.get_or_insert_default();
        index.entry(hash).or_default().push(place);
    }

    fn place(&self, key: &Value) -> Option<usize> {
        let Some(index) = &self.index else {
            return self.entries.iter().position(|(k, _)| k == key);
        };
        let places = index.get(&key_hash(key))?;
        let mut places = places.iter().copied();
        places.find(|&place| self.entries[place].0 == *key)
    }
}

fn key_hash(key: &Value) -> u64 {
    let mut hasher = DefaultHasher::new();
    key.hash(&mut hasher);
    hasher.finish()
}

impl PartialEq for Dict {
    fn eq(&self, other: &Self) -> bool {
        let has = |(key, value): &(Value, Value)| other.get(key).is_some_and(|v| v == value);
        self.len() == other.len() && self.iter().all(has)
    }
}

impl<'a> IntoIterator for &'a Dict {
    type Item = &'a (Value, Value);
    type IntoIter = std::slice::Iter<'a, (Value, Value)>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl FromIterator<(Value, Value)> for Dict {
    fn from_iter<I: IntoIterator<Item = (Value, Value)>>(entries: I) -> Self {
        let mut dict = Self::new();
        for (key, value) in entries {
            dict.insert(key, value);
        }
        dict
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(a: impl Into<Value>, b: impl Into<Value>, expect: bool) {
        let (a, b) = (a.into(), b.into());
        assert_eq!(a == b, expect, "{a:?} {b:?}");
        assert_eq!(b == a, expect, "{b:?} {a:?}");
    }

    #[test]
    fn equality_is_that_of_python() {
        check(Value::Bool(true), Value::from(1), true);
        check(Value::Bool(true), Value::Float(1.0), true);
        check(Value::Bool(false), Value::Float(-0.0), true);
        check(Value::from(1), Value::Complex(1.0, 0.0), true);
        check(Value::Bool(true), Value::Complex(1.0, 0.0), true);
        check(Value::from(1), Value::Complex(1.0, 1.0), false);
        check(Value::from(0), Value::None, false);
        check(Value::from("1"), Value::from(1), false);
        check(Value::Float(f64::NAN), Value::Float(f64::NAN), false);
        check(
            Value::from(9_007_199_254_740_993),
            Value::Float(9_007_199_254_740_992.0),
            false,
        );
        check(
            Value::from(9_007_199_254_740_992),
            Value::Float(9_007_199_254_740_992.0),
            true,
        );
        check(
            Value::List(vec![1.into()]),
            Value::List(vec![Value::Float(1.0)]),
            true,
        );
        check(
            Value::List(vec![1.into()]),
            Value::Tuple(vec![1.into()]),
            false,
        );
        check(
            Value::Bytes(b"a".to_vec()),
            Value::Bytes(b"a".to_vec()),
            true,
        );
        check(Value::from("a"), Value::Bytes(b"a".to_vec()), false);
        check(
            Value::Set(vec![1.into(), 2.into()]),
            Value::Set(vec![2.into(), 1.into()]),
            true,
        );
    }

    #[test]
    fn keys_are_compared_as_python_does() {
        for size in [0, 40] {
            let mut dict: Dict = (0..size).map(|n| (n.into(), Value::None)).collect();
            dict.insert(Value::Float(1.0), "a".into());
            dict.insert(Value::Bool(true), "b".into());
            assert_eq!(dict.get(&Value::from(1)), Some(&"b".into()));
            dict.insert("x".into(), "c".into());
            dict.insert("x".into(), "d".into());
            assert_eq!(dict.get_str("x"), Some(&"d".into()));
            assert_eq!(dict.len(), if size == 0 { 2 } else { 41 });
            assert_eq!(
                dict.get(&Value::from("1")),
                None,
                "a text is not its number"
            );
            assert_eq!(dict, dict.clone());
        }
        let a: Dict = [("a".into(), 1.into()), ("b".into(), 2.into())]
            .into_iter()
            .collect();
        let b: Dict = [("b".into(), 2.into()), ("a".into(), 1.into())]
            .into_iter()
            .collect();
        assert_eq!(a, b, "order does not matter");
    }
}
