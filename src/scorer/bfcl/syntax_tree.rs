//! Parsing with tree-sitter, and the texts of nodes.

use std::cell::RefCell;

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
    JAVA.with_borrow_mut(|parser| parse(parser, text))
}

/// The tree of a JavaScript text.
pub(super) fn javascript(text: &str) -> Result<Tree> {
    JAVASCRIPT.with_borrow_mut(|parser| parse(parser, text))
}

/// A tree without an error. Nodes that the parser made up because they were missing are none.
fn parse(parser: &mut Option<Parser>, text: &str) -> Result<Tree> {
    let fault = || DecodeFault::new("Error parsing the source code.");
    let tree = parser
        .as_mut()
        .and_then(|parser| parser.parse(text, None))
        .ok_or_else(fault)?;
    if tree.root_node().has_error() && has_error_node(tree.root_node()) {
        return Err(fault());
    }
    Ok(tree)
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
