//! The spec key that an error is about.
//!
//! The code that detects an error knows only the key's own name. Each enclosing map and list adds its step as the
//! error propagates, which gives the path from the root of the spec. `data::yaml_places` maps the path to a position.

use super::Error;

/// One step of a path: to the value of a key, or to an item of a list, from 0.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    Key(String),
    Item(usize),
}

impl From<&str> for Step {
    fn from(key: &str) -> Self {
        Self::Key(key.to_owned())
    }
}

impl From<usize> for Step {
    fn from(item: usize) -> Self {
        Self::Item(item)
    }
}

/// The path to the subject of an error.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct KeyPath {
    /// From the innermost step outwards.
    steps: Vec<Step>,
    /// Whether the error is about the key itself, which should not be there, rather than its value.
    is_key: bool,
}

impl KeyPath {
    /// The steps from the root of the spec.
    pub(crate) fn steps(&self) -> impl ExactSizeIterator<Item = &Step> {
        self.steps.iter().rev()
    }

    /// The same path with `head` in place of its first `taken` steps.
    pub(crate) fn with_head<const N: usize>(&self, taken: usize, head: [Step; N]) -> Self {
        let mut path = self.clone();
        path.steps.truncate(path.steps.len().saturating_sub(taken));
        path.steps.extend(head.into_iter().rev());
        path
    }

    /// Whether the error is about the key itself rather than its value.
    pub(crate) fn is_key(&self) -> bool {
        self.is_key
    }
}

/// Steps from the root to the value.
impl<S: Into<Step>> FromIterator<S> for KeyPath {
    fn from_iter<I: IntoIterator<Item = S>>(steps: I) -> Self {
        let mut steps: Vec<Step> = steps.into_iter().map(Into::into).collect();
        steps.reverse();
        Self {
            steps,
            is_key: false,
        }
    }
}

impl Error {
    /// Marks the key itself as wrong: it is unknown or not allowed here.
    #[must_use]
    pub(crate) fn of_key(mut self, key: &str) -> Self {
        self.0.key = Some(KeyPath {
            steps: vec![key.into()],
            is_key: true,
        });
        self
    }

    /// Adds an outer step: the error is about something in the value of this key or in this item, or about that value
    /// itself if there is no step yet. For a missing value it is the enclosing map.
    #[must_use]
    pub(crate) fn under(mut self, step: impl Into<Step>) -> Self {
        let path = self.0.key.get_or_insert_default();
        path.steps.push(step.into());
        self
    }

    /// Like [`Error::under`], but only if the error has no key yet, as errors of users' code.
    #[must_use]
    pub(crate) fn or_under(self, step: impl Into<Step>) -> Self {
        match self.0.key {
            Some(_) => self,
            None => self.under(step),
        }
    }

    /// Replaces the path.
    #[must_use]
    pub(crate) fn moved(mut self, to: impl FnOnce(&KeyPath) -> KeyPath) -> Self {
        let path = self.0.key.take();
        self.0.key = path.map(|path| to(&path));
        self
    }

    /// The key that the error is about, if any.
    pub(crate) fn key_path(&self) -> Option<&KeyPath> {
        self.0.key.as_ref()
    }
}

/// [`Error::under`] and similar for results.
pub(crate) trait Under {
    fn of_key(self, key: &str) -> Self;
    fn under(self, step: impl Into<Step>) -> Self;
    fn or_under(self, step: impl Into<Step>) -> Self;
}

impl<T> Under for super::Result<T> {
    fn of_key(self, key: &str) -> Self {
        self.map_err(|error| error.of_key(key))
    }

    fn under(self, step: impl Into<Step>) -> Self {
        self.map_err(|error| error.under(step))
    }

    fn or_under(self, step: impl Into<Step>) -> Self {
        self.map_err(|error| error.or_under(step))
    }
}
