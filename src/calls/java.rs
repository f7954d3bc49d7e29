//! Java call text to calls. Values stay text, mostly as in the source; the checker converts them.

use tree_sitter::{Node, Tree};

use super::fast;
use super::javascript::insert_once;
use super::syntax_tree::{self, children};
use super::{DecodeFault, DecodeResult};
use super::{Dict, Value};

/// Python's recursion limit, minus the calls of the official program. A level of the search takes one call, a level of
/// a value two.
const MAX_CALLS: usize = 980;

/// The first method invocation: `[{name: {argument: text}}]`, or `{}` without one.
pub(super) fn calls(text: &str) -> DecodeResult<Value> {
    fast::java_call(text).map_or_else(|| calls_in(&syntax_tree::java(text)?, text), Ok)
}

/// The calls in a syntax tree.
pub(super) fn calls_in(tree: &Tree, text: &str) -> DecodeResult<Value> {
    let reader = JavaReader::new(text);
    let found = reader.search(tree.root_node())?;
    Ok(found.unwrap_or_else(|| Value::Dict(Dict::new())))
}

struct JavaReader<'a> {
    text: &'a str,
    /// The byte offset of each character, if some take several bytes.
    starts: Vec<usize>,
}

impl<'a> JavaReader<'a> {
    fn new(text: &'a str) -> Self {
        let starts = if text.is_ascii() {
            Vec::new()
        } else {
            text.char_indices().map(|(start, _)| start).collect()
        };
        Self { text, starts }
    }

    /// The official program uses the parser's byte offsets as character offsets, so every character beyond ASCII shifts
    /// the slice: for `"mäpArea"` it reads `mäpArea"`.
    fn slice(&self, node: Node<'_>) -> &'a str {
        if self.text.is_ascii() {
            return &self.text[node.byte_range()];
        }
        let at = |place: usize| self.starts.get(place).copied().unwrap_or(self.text.len());
        &self.text[at(node.start_byte())..at(node.end_byte())]
    }

    /// Depth first, without recursion.
    fn search(&self, root: Node<'_>) -> DecodeResult<Option<Value>> {
        let mut cursor = root.walk();
        let mut depth = 1;
        loop {
            let node = cursor.node();
            if depth > MAX_CALLS {
                return Err(too_deep());
            }
            if node.kind() == "method_invocation" {
                if let Some(call) = self.invocation(node)? {
                    return Ok(Some(call));
                }
            } else if cursor.goto_first_child() {
                depth += 1;
                continue;
            }
            while !cursor.goto_next_sibling() {
                if !cursor.goto_parent() {
                    return Ok(None);
                }
                depth -= 1;
            }
        }
    }

    fn invocation(&self, node: Node<'_>) -> DecodeResult<Option<Value>> {
        let missing = || DecodeFault::new("'NoneType' object has no attribute 'start_byte'");
        let method = self.slice(node.child_by_field_name("name").ok_or_else(missing)?);
        let name = match node.child_by_field_name("object") {
            Some(object) => format!("{}.{method}", self.slice(object)),
            None => method.to_owned(),
        };
        let Some(arguments) = node.child_by_field_name("arguments") else {
            return Ok(None);
        };
        let arguments = Value::Dict(self.arguments(arguments)?);
        let call = Value::Dict(Dict::of(Value::text(name), arguments));
        Ok(Some(Value::List(vec![call])))
    }

    fn arguments(&self, node: Node<'_>) -> DecodeResult<Dict> {
        let mut dict = Dict::new();
        for argument in children(node) {
            let (name, value) = match argument.kind() {
                "assignment_expression" => {
                    let parts = children(argument);
                    let [name, _, value, ..] = &*parts else {
                        return Err(DecodeFault::new("list index out of range"));
                    };
                    (Value::text(self.slice(*name)), *value)
                }
                "identifier" | "class_literal" => (Value::None, argument),
                _ => continue,
            };
            let mut text = String::new();
            match value.kind() {
                // Only the outermost literal loses its quotes.
                "string_literal" | "character_literal" => {
                    text.push_str(unquoted(self.slice(value)));
                }
                _ => self.write(value, MAX_CALLS, &mut text)?,
            }
            insert_once(&mut dict, name, Value::text(text))?;
        }
        Ok(dict)
    }

    fn write(&self, node: Node<'_>, calls: usize, out: &mut String) -> DecodeResult<()> {
        let inner = calls.checked_sub(2).ok_or_else(too_deep)?;
        let missing = || DecodeFault::new("'NoneType' object has no attribute 'type'");
        match node.kind() {
            "string_literal" | "character_literal" | "identifier" | "class_literal"
            | "type_identifier" | "method_invocation" => out.push_str(self.slice(node)),
            "array_creation_expression" => {
                let kind = node.child_by_field_name("type").ok_or_else(missing)?;
                let value = node.child_by_field_name("value").ok_or_else(missing)?;
                out.push_str("new ");
                self.write(kind, inner, out)?;
                out.push_str("[]");
                self.write(value, inner, out)?;
            }
            // The class body is dropped.
            "object_creation_expression" => {
                let kind = node.child_by_field_name("type").ok_or_else(missing)?;
                out.push_str("new ");
                self.write(kind, inner, out)?;
                out.push('(');
                let arguments = node
                    .child_by_field_name("arguments")
                    .map(children)
                    .unwrap_or_default();
                let mut separator = "";
                for argument in arguments {
                    if !matches!(argument.kind(), "," | "(" | ")") {
                        out.push_str(separator);
                        separator = ", ";
                        self.write(argument, inner, out)?;
                    }
                }
                out.push(')');
            }
            _ if node.child_count() > 0 => {
                for child in children(node) {
                    self.write(child, inner, out)?;
                }
            }
            _ => out.push_str(self.slice(node)),
        }
        Ok(())
    }
}

fn too_deep() -> DecodeFault {
    DecodeFault::new("maximum recursion depth exceeded")
}

fn unquoted(text: &str) -> &str {
    let mut chars = text.chars();
    chars.next();
    chars.next_back();
    chars.as_str()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::calls::tests::check_calls;

    #[test]
    fn calls_in_texts() {
        fn check(text: &str, expect: Option<&str>) {
            check_calls(text, &calls(text), expect);
        }
        check("f(a=1)", None);
        check("f(a=1);", Some("[{'f': {'a': '1'}}]"));
        check(
            "A.b.c(x=\"y\", z='w');",
            Some("[{'A.b.c': {'x': 'y', 'z': 'w'}}]"),
        );
        check(
            "f(a=new int[]{1,  2});",
            Some("[{'f': {'a': 'new int[]{1,2}'}}]"),
        );
        check("f(a=new int[3]);", None);
        check(
            "f(a=new A<String>(\"x\",  y) {{ put(1); }});",
            Some("[{'f': {'a': 'new A<String>(\"x\", y)'}}]"),
        );
        check("f(a, 5);", Some("[{'f': {None: 'a'}}]"));
        check("f(a, b);", None);
        check("f(A.class);", Some("[{'f': {None: 'A.class'}}]"));
        check("f(a=1, a=2);", None);
        check("f(a=g(x = 1));", Some("[{'f': {'a': 'g(x = 1)'}}]"));
        check("f(a=x  +  1);", Some("[{'f': {'a': 'x+1'}}]"));
        check("f(a=x, b=true;", Some("[{'f': {'a': 'x', 'b': 'true'}}]"));
        check("f(a=1)\u{3000};", None);
        check("f(a=1);\u{3000}", None);
        check("f(a=1)\u{2003};", None);
        check("\u{feff}f(a=1);", Some("[{'a': {'1': ';'}}]"));
        check("x;", Some("{}"));
        check("", Some("{}"));
        check(
            "f(a=\"mäp\", b=1);",
            Some("[{'f': {'a': 'mäp\"', '=': ')'}}]"),
        );
    }
}
