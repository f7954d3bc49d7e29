//! Parsing with tree-sitter.

#[cfg(test)]
pub(super) mod tests;

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use tree_sitter::{Language, LogType, Node, Parser, Tree};

use super::fast::{Beginnings, Feasibility, Reach};
use super::{DecodeFault, DecodeResult, fast};

thread_local! {
    static JAVA: RefCell<Option<TreeReader>> =
        RefCell::new(TreeReader::new(&tree_sitter_java::language()));
    static JAVASCRIPT: RefCell<Option<TreeReader>> =
        RefCell::new(TreeReader::new(&evaltest_javascript_grammar::LANGUAGE.into()));
}

/// The tree of a Java text.
pub(super) fn java(text: &str) -> DecodeResult<Tree> {
    let message = "Error parsing java the source code.";
    if fast::is_no_java(text) {
        return Err(DecodeFault::new(message));
    }
    JAVA.with_borrow_mut(|reader| read(reader, text, message))
}

/// The tree of a JavaScript text.
pub(super) fn javascript(text: &str) -> DecodeResult<Tree> {
    let message = "Error js parsing the source code.";
    if fast::is_no_javascript(text) {
        return Err(DecodeFault::new(message));
    }
    JAVASCRIPT.with_borrow_mut(|reader| read(reader, text, message))
}

fn read(reader: &mut Option<TreeReader>, text: &str, message: &str) -> DecodeResult<Tree> {
    let Some(reader) = reader else {
        return Err(DecodeFault::new(message));
    };
    reader.tree(text).ok_or_else(|| {
        if reader.is_spent {
            DecodeFault::limited(message, TOO_MUCH)
        } else {
            DecodeFault::new(message)
        }
    })
}

/// The message for a text whose parse was stopped.
const TOO_MUCH: &str = "the parser was stopped: it took too long to recover from very many errors";

/// A shorter text that starts like a call is parsed unwatched: watching the parser would take longer.
const SHORT: usize = 512;

/// How many bytes a watched parser gets at once. It parses these to the end even if the parse is lost.
const STEP: usize = 8;

/// A parser, and beginnings of texts that it cannot recover from.
pub(super) struct TreeReader {
    parser: Parser,
    pub(super) lost: Beginnings,
    /// Whether the last parse was stopped because it took too long.
    pub(super) is_spent: bool,
}

impl TreeReader {
    pub(super) fn new(language: &Language) -> Option<Self> {
        let mut parser = Parser::new();
        parser.set_language(language).ok()?;
        Some(Self {
            parser,
            lost: Beginnings::default(),
            is_spent: false,
        })
    }

    /// The tree, if it has no error node. Missing nodes that the parser inserted are not error nodes.
    pub(super) fn tree(&mut self, text: &str) -> Option<Tree> {
        self.is_spent = false;
        let tree = if text.len() <= SHORT && starts_as_call(text) {
            self.parser.parse(text, None)
        } else if fast::begins_lost(text, &self.lost) {
            None
        } else {
            self.watched(text)
        };
        tree.filter(|tree| !tree.root_node().has_error() || !has_error_node(tree.root_node()))
    }

    /// Parses until failure is certain or the effort is spent.
    fn watched(&mut self, text: &str) -> Option<Tree> {
        let watch = Rc::new(Cell::new(Watch {
            feasibility: Feasibility::default(),
            effort: Effort::new(text.len()),
        }));
        let shared = Rc::clone(&watch);
        self.parser.set_logger(Some(Box::new(move |kind, message| {
            let mut watch = shared.get();
            // From here on the parser sees an end that is not in the text: ignore its messages.
            if watch.is_over() {
                return;
            }
            if kind == LogType::Parse {
                watch.feasibility.observe(message);
                watch.effort.observe(message);
            } else {
                watch.effort.lex();
            }
            shared.set(watch);
        })));
        let mut reach = Reach::new();
        let mut read = |place: usize, _| {
            if watch.get().is_over() {
                return "".as_bytes();
            }
            // Whole characters: the parser would ask for the rest of a partial one, and must not find the end there.
            let end = text.floor_char_boundary(place + STEP);
            reach.extend(text, place, end);
            text.as_bytes().get(place..end).unwrap_or_default()
        };
        let tree = self.parser.parse_with(&mut read, None);
        self.parser.set_logger(None);
        let watch = watch.get();
        if fast::is_lost(watch.feasibility) {
            self.lost.remember(text, reach);
        }
        self.is_spent = watch.effort.is_spent();
        tree.filter(|_| !watch.is_over())
    }
}

/// What is known from the parser's messages.
#[derive(Clone, Copy)]
struct Watch {
    feasibility: Feasibility,
    effort: Effort,
}

impl Watch {
    /// Whether to stop parsing.
    fn is_over(self) -> bool {
        fast::is_lost(self.feasibility) || self.effort.is_spent()
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

/// All children, including anonymous tokens.
pub(super) fn children(node: Node<'_>) -> Vec<Node<'_>> {
    node.children(&mut node.walk()).collect()
}

// Limits the cost of a parse to work proportional to the length of a text.
//
// Errors recovered without an error node cost no more than other tokens. What grows is an error node, which is copied
// with all its content whenever a version leaves the error state, and an unterminated comment or string, which is
// scanned to the end from many places. A text with very many of these takes quadratic time. Repetitive answers of
// models do not, because versions with error nodes are dropped as soon as a better one is found.

/// The cost allowed for any text, and for each of its bytes. The former covers 8,000 returns from the error state.
const FREE: usize = 1 << 19;
const FREE_PER_BYTE: usize = 16;

/// A return from the error state costs 1, plus 1 for this many earlier returns: about the time it takes to copy their
/// nodes.
const COPIED: usize = 64;

/// This many examined characters cost 1.
const LEXED: usize = 8;

/// The cost of a parse so far.
#[derive(Clone, Copy, Debug)]
struct Effort {
    returns: usize,
    lexed: usize,
    spent: usize,
    free: usize,
}

impl Effort {
    /// No cost yet, for a text of `length` bytes.
    fn new(length: usize) -> Self {
        Self {
            returns: 0,
            lexed: 0,
            spent: 0,
            free: FREE + FREE_PER_BYTE * length,
        }
    }

    /// Processes a log message of the parser.
    fn observe(&mut self, message: &str) {
        if message.starts_with("recover_to_previous") {
            self.returns += 1;
            self.spent += 1 + self.returns / COPIED;
        }
    }

    /// Processes a log message of the lexer, which logs each character.
    fn lex(&mut self) {
        self.lexed += 1;
        self.spent += usize::from(self.lexed.is_multiple_of(LEXED));
    }

    /// Whether the limit is exceeded.
    fn is_spent(self) -> bool {
        self.spent > self.free
    }
}

#[cfg(test)]
mod effort_tests {
    use super::*;

    fn returns(length: usize) -> usize {
        let mut effort = Effort::new(length);
        let mut count = 0;
        while !effort.is_spent() {
            effort.observe("recover_to_previous state:1, depth:2");
            effort.observe("skip_token symbol:identifier");
            count += 1;
        }
        count
    }

    #[test]
    fn effort_limit_grows_with_text_length() {
        assert!(returns(0) > 8_000);
        // Each line of twenty bytes has one.
        assert!(returns(20 * 20_000) > 20_000);
        // The limit stays proportional, although the work grows quadratically.
        assert!(returns(1 << 24) < 4 * returns(1 << 20) + 1_000);
        let mut effort = Effort::new(1);
        for _ in 0..LEXED * (FREE + FREE_PER_BYTE) {
            effort.lex();
        }
        assert!(!effort.is_spent());
        for _ in 0..LEXED {
            effort.lex();
        }
        assert!(effort.is_spent());
    }
}
