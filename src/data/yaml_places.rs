//! Positions of keys, values and items in a YAML text (a spec or a rubric): maps a key path to line and column.
//!
//! `serde_yaml` only reports positions of its own errors. This module builds a tree from the events of the same
//! parser, with their positions. An alias has the position where it is written; its content has that of its anchor.

use std::collections::{HashMap, HashSet};
use std::fmt;

use libyaml_safer::{Encoding, EventData, Mark, Parser, ScalarStyle};

use crate::error::{KeyPath, Step};
use crate::system::panics;
use crate::text::yaml;

mod spelling;

pub(crate) use spelling::with_spellings;

/// A position in a text, from 1; columns count characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Position {
    pub(crate) line: usize,
    pub(crate) column: usize,
}

impl Position {
    pub(crate) const START: Self = Self { line: 1, column: 1 };

    fn of(mark: Mark) -> Self {
        let count = |from_zero| usize::try_from(from_zero).map_or(usize::MAX, |count| count + 1);
        Self {
            line: count(mark.line),
            column: count(mark.column),
        }
    }
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.line, self.column)
    }
}

/// The positions of a text.
#[derive(Default)]
pub(crate) struct YamlPlaces {
    /// The first is the root, if any.
    nodes: Vec<Node>,
    /// Start of a second document.
    second_document: Option<Position>,
}

struct Node {
    place: Position,
    content: Content,
}

enum Content {
    Scalar(String),
    /// A scalar without quotes and tag, and where it ends, in bytes.
    Plain(String, usize),
    List(Vec<Id>),
    Map(Vec<MapEntry>),
    Alias(Id),
}

struct MapEntry {
    key: String,
    place: Position,
    value: Id,
}

type Id = usize;

/// The root.
const TOP: Id = 0;

impl YamlPlaces {
    /// Parses a text as far as it is valid YAML.
    pub(crate) fn of(text: &str) -> Self {
        if yaml::is_too_deep(text) {
            return Self::default();
        }
        let read = || {
            let mut reading = Reading::default();
            let mut bytes = text.as_bytes();
            let mut parser = Parser::new();
            parser.set_input_string(&mut bytes);
            // Otherwise the parser would remove a byte order mark, which then has no column.
            parser.set_encoding(Encoding::Utf8);
            for event in parser.map_while(Result::ok) {
                let place = Position::of(event.start_mark);
                let end = usize::try_from(event.end_mark.index).unwrap_or_default();
                if reading.take(event.data, place, end).is_none() {
                    break;
                }
            }
            reading.places
        };
        // The parser panics on a tag before a comma, such as `[!tag, x]`: then there are no positions.
        panics::catch(read).unwrap_or_default()
    }

    /// Position of this key or value. If it does not exist, that of its innermost existing parent.
    pub(crate) fn at(&self, path: &KeyPath) -> Option<Position> {
        let mut node = TOP;
        let steps = path.steps();
        let last = steps.len();
        for (step, number) in steps.zip(1..) {
            match self.entry(node, step) {
                Some((Some(key), _)) if number == last && path.is_key() => return Some(key),
                Some((_, value)) => node = value,
                None => break,
            }
        }
        self.place(node)
    }

    /// Whether the value exists.
    pub(crate) fn has(&self, path: &KeyPath) -> bool {
        let mut steps = path.steps();
        let end = steps.try_fold(TOP, |node, step| Some(self.entry(node, step)?.1));
        end.is_some_and(|node| node < self.nodes.len())
    }

    /// The node for a path as in `serde_yaml`'s messages: `benchmark.samples[0]`.
    pub(crate) fn named(&self, path: &str) -> Option<NamedNode<'_>> {
        let node = self.follow(TOP, path)?;
        Some(NamedNode { places: self, node })
    }

    /// The root node.
    pub(crate) fn top(&self) -> NamedNode<'_> {
        NamedNode {
            places: self,
            node: TOP,
        }
    }

    /// The first duplicate key with its position.
    pub(crate) fn repeated_key(&self) -> Option<(&str, Position)> {
        let maps = self.nodes.iter().filter_map(|node| match &node.content {
            Content::Map(entries) => Some(entries),
            _ => None,
        });
        let repeated = maps.filter_map(|entries| {
            let mut seen = HashSet::new();
            let again = entries.iter().find(|entry| !seen.insert(&entry.key))?;
            Some((again.key.as_str(), again.place))
        });
        repeated.min_by_key(|(_, place)| (place.line, place.column))
    }

    /// Start of a second document.
    pub(crate) fn second_document(&self) -> Option<Position> {
        self.second_document
    }

    fn place(&self, node: Id) -> Option<Position> {
        self.nodes.get(node).map(|node| node.place)
    }

    /// The target of an alias.
    fn resolved(&self, node: Id) -> Id {
        match self.nodes.get(node).map(|node| &node.content) {
            Some(Content::Alias(target)) => *target,
            _ => node,
        }
    }

    fn content(&self, node: Id) -> Option<&Content> {
        Some(&self.nodes.get(self.resolved(node))?.content)
    }

    /// The value of a step and the position of its key, if it has one. The last of duplicate keys counts.
    fn entry(&self, node: Id, step: &Step) -> Option<(Option<Position>, Id)> {
        match (self.content(node)?, step) {
            (Content::Map(entries), Step::Key(key)) => {
                let Some(entry) = entries.iter().rfind(|entry| entry.key == *key) else {
                    let mut merged = self.merged(entries).into_iter();
                    return merged.find_map(|node| self.entry(node, step));
                };
                Some((Some(entry.place), entry.value))
            }
            (Content::List(items), Step::Item(item)) => Some((None, *items.get(*item)?)),
            _ => None,
        }
    }

    /// The maps of a merge key, the first that counts first.
    fn merged(&self, entries: &[MapEntry]) -> Vec<Id> {
        let merge = entries.iter().find(|entry| entry.key == yaml::MERGE);
        let Some(merge) = merge else {
            return Vec::new();
        };
        match self.content(merge.value) {
            Some(Content::List(maps)) => maps.clone(),
            _ => vec![merge.value],
        }
    }

    /// Finds the end of each key by comparing with existing keys, because keys may contain dots and brackets.
    fn follow(&self, node: Id, path: &str) -> Option<Id> {
        if path.is_empty() {
            return Some(node);
        }
        let (value, rest) = match self.content(node)? {
            Content::List(items) => {
                let (item, rest) = path.strip_prefix('[')?.split_once(']')?;
                (*items.get(item.parse::<usize>().ok()?)?, rest)
            }
            Content::Map(entries) => {
                let mut ways = entries.iter().rev().filter(|entry| !entry.key.is_empty());
                let own = ways.find_map(|entry| {
                    let rest = path.strip_prefix(&*entry.key)?;
                    let is_end = rest.is_empty() || rest.starts_with(['.', '[']);
                    let rest = rest.strip_prefix('.').unwrap_or(rest);
                    is_end.then(|| self.follow(entry.value, rest))?
                });
                let mut merged = self.merged(entries).into_iter();
                return own.or_else(|| merged.find_map(|node| self.follow(node, path)));
            }
            Content::Scalar(_) | Content::Plain(..) | Content::Alias(_) => return None,
        };
        self.follow(value, rest.strip_prefix('.').unwrap_or(rest))
    }
}

/// A node named in a message of `serde_yaml`.
pub(crate) struct NamedNode<'a> {
    places: &'a YamlPlaces,
    node: Id,
}

impl NamedNode<'_> {
    /// Its position, if it is an alias of the node at `place`.
    pub(crate) fn alias_of(&self, place: Position) -> Option<Position> {
        let target = self.places.resolved(self.node);
        let is_alias = target != self.node && self.places.place(target) == Some(place);
        self.places.place(self.node).filter(|_| is_alias)
    }

    /// Position of a duplicate of one of these keys.
    pub(crate) fn second(&self, keys: &[&str]) -> Option<Position> {
        let Content::Map(entries) = self.places.content(self.node)? else {
            return None;
        };
        let mut same = entries
            .iter()
            .filter(|entry| keys.contains(&entry.key.as_str()));
        same.nth(1).map(|entry| entry.place)
    }

    /// Position of a node inside it.
    pub(crate) fn inside(&self, path: &str) -> Option<Position> {
        let node = self.places.follow(self.node, path)?;
        self.places.place(node)
    }
}

/// The tree under construction.
#[derive(Default)]
struct Reading {
    places: YamlPlaces,
    /// Unfinished maps and lists.
    open: Vec<Open>,
    anchors: HashMap<String, Id>,
    documents: usize,
}

struct Open {
    node: Id,
    /// The key of the next value.
    key: Option<(String, Position)>,
}

impl Reading {
    /// Handles one event; `None` if no more are needed.
    fn take(&mut self, event: EventData, place: Position, end: usize) -> Option<()> {
        let (anchor, content) = match event {
            EventData::StreamStart { .. } | EventData::DocumentEnd { .. } => return Some(()),
            EventData::DocumentStart { .. } => {
                self.documents += 1;
                if self.documents > 1 {
                    self.places.second_document = Some(place);
                    return None;
                }
                return Some(());
            }
            EventData::SequenceEnd | EventData::MappingEnd => return self.open.pop().map(drop),
            EventData::StreamEnd => return None,
            EventData::Alias { anchor } => (None, Content::Alias(*self.anchors.get(&anchor)?)),
            EventData::Scalar {
                anchor,
                value,
                tag: None,
                style: ScalarStyle::Plain,
                ..
            } => (anchor, Content::Plain(value, end)),
            EventData::Scalar { anchor, value, .. } => (anchor, Content::Scalar(value)),
            EventData::SequenceStart { anchor, .. } => (anchor, Content::List(Vec::new())),
            EventData::MappingStart { anchor, .. } => (anchor, Content::Map(Vec::new())),
        };
        let node = self.places.nodes.len();
        let is_open = matches!(content, Content::List(_) | Content::Map(_));
        self.places.nodes.push(Node { place, content });
        self.hang(node, place);
        if let Some(anchor) = anchor {
            self.anchors.insert(anchor, node);
        }
        if is_open {
            self.open.push(Open { node, key: None });
        }
        Some(())
    }

    /// Adds a node to its parent map or list.
    fn hang(&mut self, node: Id, place: Position) {
        let Some(around) = self.open.last_mut() else {
            return;
        };
        let text = match self.places.content(node) {
            Some(Content::Scalar(text) | Content::Plain(text, _)) => text.clone(),
            _ => String::new(),
        };
        match &mut self.places.nodes[around.node].content {
            Content::List(items) => items.push(node),
            Content::Map(entries) => match around.key.take() {
                None => around.key = Some((text, place)),
                Some((key, place)) => entries.push(MapEntry {
                    key,
                    place,
                    value: node,
                }),
            },
            Content::Scalar(_) | Content::Plain(..) | Content::Alias(_) => {}
        }
    }
}

#[cfg(test)]
mod tests;
