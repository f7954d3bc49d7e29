//! The key of a spec that an error is about.
//!
//! Whoever finds a mistake knows the key by its own name alone. Each map and list around it adds its step when
//! the error passes through, so that in the end the way leads from the top of the spec to the key. Where that
//! stands in the text is for `data::yaml_places` to say.

use super::Error;

/// One step on the way: into the value of a key, or to an item of a list, counted from 0.
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

/// The way to what an error is about.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct KeyPath {
    /// From the inside to the outside.
    steps: Vec<Step>,
    /// Whether the key itself is meant, which should not be there, and not its value.
    is_key: bool,
}

impl KeyPath {
    /// The steps, from the top of the spec to the key.
    pub(crate) fn steps(&self) -> impl ExactSizeIterator<Item = &Step> {
        self.steps.iter().rev()
    }

    /// The same with other steps at its beginning, in place of the first `taken`.
    pub(crate) fn with_head<const N: usize>(&self, taken: usize, head: [Step; N]) -> Self {
        let mut path = self.clone();
        path.steps.truncate(path.steps.len().saturating_sub(taken));
        path.steps.extend(head.into_iter().rev());
        path
    }

    /// Whether the key itself is meant, and not its value.
    pub(crate) fn is_key(&self) -> bool {
        self.is_key
    }
}

/// From the top to the value.
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
    /// The key itself is the mistake: it is unknown, or not to be given here.
    #[must_use]
    pub(crate) fn of_key(mut self, key: &str) -> Self {
        self.0.key = Some(KeyPath {
            steps: vec![key.into()],
            is_key: true,
        });
        self
    }

    /// What the error is about lies in the value of this key or in this item; with nothing said so far, it is
    /// the value itself. A value that is missing stands for the map in which it is.
    #[must_use]
    pub(crate) fn under(mut self, step: impl Into<Step>) -> Self {
        let path = self.0.key.get_or_insert_default();
        path.steps.push(step.into());
        self
    }

    /// As [`Error::under`] for an error that does not know its key, as those of a user's own code.
    #[must_use]
    pub(crate) fn or_under(self, step: impl Into<Step>) -> Self {
        match self.0.key {
            Some(_) => self,
            None => self.under(step),
        }
    }

    /// The same, with what it is about named otherwise.
    #[must_use]
    pub(crate) fn moved(mut self, to: impl FnOnce(&KeyPath) -> KeyPath) -> Self {
        let path = self.0.key.take();
        self.0.key = path.map(|path| to(&path));
        self
    }

    /// The key that it is about, if it is about one.
    pub(crate) fn key_path(&self) -> Option<&KeyPath> {
        self.0.key.as_ref()
    }
}

/// [`Error::under`] and its like, for results.
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
