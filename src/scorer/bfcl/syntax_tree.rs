//! Parsing with tree-sitter, and the texts of nodes.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use tree_sitter::{Language, Node, Parser, Tree};

use super::decode::{DecodeFault, Result};

thread_local! {
    static JAVA: RefCell<Option<Parser>> = RefCell::new(parser(&tree_sitter_java::language()));
    static JAVASCRIPT: RefCell<Option<Parser>> =
        RefCell::new(parser(&tree_sitter_javascript::LANGUAGE.into()));
}

fn parser(language: &Language) -> Option<Parser> {
    let mut parser = Parser::new();
    parser.set_language(language).ok()?;
    Some(parser)
}

/// The tree of a Java text.
pub(super) fn java(text: &str) -> Result<Tree> {
    // No token of Java holds these, and nothing before the first string or comment hides them.
    let plain = text.find(['"', '\'', '/']).unwrap_or(text.len());
    if text[..plain].contains(['`', '#', '\\']) {
        return Err(java_fault());
    }
    JAVA.with_borrow_mut(|parser| parse(parser, text))
        .ok_or_else(java_fault)
}

/// The tree of a JavaScript text.
pub(super) fn javascript(text: &str) -> Result<Tree> {
    JAVASCRIPT
        .with_borrow_mut(|parser| parse(parser, text))
        .ok_or_else(|| DecodeFault::new("Error js parsing the source code."))
}

fn java_fault() -> DecodeFault {
    DecodeFault::new("Error parsing java the source code.")
}

/// A tree without an error. Nodes that the parser made up because they were missing are none.
fn parse(parser: &mut Option<Parser>, text: &str) -> Option<Tree> {
    let parser = parser.as_mut()?;
    let tree = if text.len() <= SHORT {
        parser.parse(text, None)
    } else {
        parse_long(parser, text)
    };
    tree.filter(|tree| !tree.root_node().has_error() || !has_error_node(tree.root_node()))
}

/// Up to this length an answer is parsed whatever it is: that takes no longer than watching the parser.
const SHORT: usize = 160;

/// What a longer text may cost before it is given up: a token that is skipped counts 32, an error that may
/// be forgiven (a missing sign, a reading that leads nowhere) one.
const MAX_FAULTS: usize = 256;
const SKIPPED: usize = 32;

/// The parser takes quadratic time to go on after errors, so a long text with many of them is cut off. Of
/// 7,900 texts that were forgiven none had more than 4 tokens skipped.
fn parse_long(parser: &mut Parser, text: &str) -> Option<Tree> {
    let faults = Rc::new(Cell::new(0));
    let seen = Rc::clone(&faults);
    parser.set_logger(Some(Box::new(move |_, message| {
        if message.starts_with("skip_token") {
            seen.set(seen.get() + SKIPPED);
        } else if message.starts_with("detect_error") {
            seen.set(seen.get() + 1);
        }
    })));
    let bytes = text.as_bytes();
    let mut read = |place: usize, _| {
        let given_up = faults.get() > MAX_FAULTS;
        let end = if given_up {
            place
        } else {
            bytes.len().min(place + 64)
        };
        bytes.get(place..end).unwrap_or_default()
    };
    let tree = parser.parse_with(&mut read, None);
    parser.set_logger(None);
    tree.filter(|_| faults.get() <= MAX_FAULTS)
}

fn has_error_node(root: Node<'_>) -> bool {
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
