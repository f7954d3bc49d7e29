//! Parsing with tree-sitter, and the texts of nodes.

#[cfg(test)]
pub(super) mod tests;

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use tree_sitter::{Language, LogType, Node, Parser, Tree};

use super::decode::{DecodeFault, Result};
use super::fast::hopeless;
use super::fast::outlook::Outlook;

thread_local! {
    static JAVA: RefCell<Option<Reader>> =
        RefCell::new(Reader::new(&tree_sitter_java::language()));
    static JAVASCRIPT: RefCell<Option<Reader>> =
        RefCell::new(Reader::new(&tree_sitter_javascript::LANGUAGE.into()));
}

/// The tree of a Java text.
pub(super) fn java(text: &str) -> Result<Tree> {
    let tree = if hopeless::in_java(text) {
        None
    } else {
        JAVA.with_borrow_mut(|reader| reader.as_mut()?.tree(text))
    };
    tree.ok_or_else(|| DecodeFault::new("Error parsing java the source code."))
}

/// The tree of a JavaScript text.
pub(super) fn javascript(text: &str) -> Result<Tree> {
    let tree = if hopeless::in_javascript(text) {
        None
    } else {
        JAVASCRIPT.with_borrow_mut(|reader| reader.as_mut()?.tree(text))
    };
    tree.ok_or_else(|| DecodeFault::new("Error js parsing the source code."))
}

/// Up to this length a text that starts as a call is just parsed: watching the parser takes longer.
const SHORT: usize = 512;

/// How much of a text is handed to a parser that is watched. What it has is parsed to its end even if all is lost.
const STEP: usize = 8;

/// The most lost beginnings that are kept, and the longest.
const MOST_LOST: usize = 16;
const LONGEST_LOST: usize = 64;

/// A parser, and beginnings after which nothing can be mended: the answers of a model begin alike.
pub(super) struct Reader {
    parser: Parser,
    lost: Vec<String>,
    /// Which of them makes room for the next one.
    oldest: usize,
}

impl Reader {
    pub(super) fn new(language: &Language) -> Option<Self> {
        let mut parser = Parser::new();
        parser.set_language(language).ok()?;
        Some(Self {
            parser,
            lost: Vec::new(),
            oldest: 0,
        })
    }

    /// A tree without an error node. Nodes that the parser made up because they were missing are none.
    fn tree(&mut self, text: &str) -> Option<Tree> {
        let tree = if text.len() <= SHORT && starts_as_call(text) {
            self.parser.parse(text, None)
        } else if self.lost.iter().any(|lost| text.starts_with(lost)) {
            None
        } else {
            self.watched(text)
        };
        tree.filter(|tree| !tree.root_node().has_error() || !has_error_node(tree.root_node()))
    }

    /// Parses until all is lost. The parser takes quadratic time to go on after errors, so a text with very many of
    /// them is given up, too.
    fn watched(&mut self, text: &str) -> Option<Tree> {
        let outlook = Rc::new(Cell::new(Outlook::default()));
        let heard = Rc::clone(&outlook);
        self.parser.set_logger(Some(Box::new(move |kind, message| {
            // The lexer has a message for each character.
            if kind == LogType::Parse {
                let mut outlook = heard.get();
                outlook.hear(message);
                heard.set(outlook);
            }
        })));
        // How far it was read when all was lost, unless its end was seen.
        let mut known = Some(0);
        let mut read = |place: usize, _| {
            let outlook = outlook.get();
            if outlook.is_lost() || outlook.is_endless() {
                return "".as_bytes();
            }
            // Whole characters: the parser asks for the rest of half a one, and must not find the end there.
            let end = text.floor_char_boundary(place + STEP);
            known = known
                .filter(|_| place < text.len())
                .map(|known: usize| known.max(end));
            text.as_bytes().get(place..end).unwrap_or_default()
        };
        let tree = self.parser.parse_with(&mut read, None);
        self.parser.set_logger(None);
        let outlook = outlook.get();
        if outlook.is_lost()
            && let Some(known) = known.filter(|&known| known <= LONGEST_LOST)
        {
            self.remember(&text[..known]);
        }
        tree.filter(|_| !outlook.is_lost() && !outlook.is_endless())
    }

    fn remember(&mut self, lost: &str) {
        if self.lost.len() < MOST_LOST {
            self.lost.push(lost.to_owned());
        } else {
            lost.clone_into(&mut self.lost[self.oldest]);
            self.oldest = (self.oldest + 1) % MOST_LOST;
        }
    }
}

/// Whether a text starts as answers should, with `a.b(`.
fn starts_as_call(text: &str) -> bool {
    let is_in_name = |c: char| c.is_alphanumeric() || matches!(c, '.' | '_' | '$');
    let rest = text.trim_start_matches(is_in_name);
    rest.len() < text.len() && rest.starts_with('(')
}

pub(super) fn has_error_node(root: Node<'_>) -> bool {
    let mut cursor = root.walk();
    loop {
        let node = cursor.node();
        if node.is_error() {
            return true;
        }
        if node.has_error() && cursor.goto_first_child() {
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return false;
            }
        }
    }
}

/// The children, also those that are only a sign.
pub(super) fn children(node: Node<'_>) -> Vec<Node<'_>> {
    node.children(&mut node.walk()).collect()
}
