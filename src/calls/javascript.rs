//! JavaScript call text to calls. Values stay source text; the checker converts them by type.

use tree_sitter::{Node, Tree};

use super::fast;
use super::syntax_tree::{self, children};
use super::{DecodeFault, DecodeResult};
use super::{Dict, Value};

/// The first statement that is a call: `[{name: {argument: text}}]`, or `None` without one.
pub(super) fn calls(text: &str) -> DecodeResult<Value> {
    fast::javascript_call(text).map_or_else(|| calls_in(&syntax_tree::javascript(text)?, text), Ok)
}

/// The calls in a syntax tree.
pub(super) fn calls_in(tree: &Tree, text: &str) -> DecodeResult<Value> {
    for statement in children(tree.root_node()) {
        if statement.kind() != "expression_statement" {
            continue;
        }
        for call in children(statement) {
            if call.kind() == "call_expression" {
                return read_call(call, text);
            }
        }
    }
    Ok(Value::None)
}

fn read_call(call: Node<'_>, text: &str) -> DecodeResult<Value> {
    let parts = children(call);
    let [function, arguments, ..] = &*parts else {
        return Err(DecodeFault::new("list index out of range"));
    };
    let mut dict = Dict::new();
    for argument in children(*arguments) {
        let (name, value) = match argument.kind() {
            "assignment_expression" => {
                let parts = children(argument);
                let [name, _, value, ..] = &*parts else {
                    return Err(DecodeFault::new("list index out of range"));
                };
                let value = unquoted(&text[value.byte_range()]);
                (Value::text(&text[name.byte_range()]), value)
            }
            "identifier" | "true" => (Value::None, &text[argument.byte_range()]),
            _ => continue,
        };
        insert_once(&mut dict, name, Value::text(value))?;
    }
    let name = Value::text(&text[function.byte_range()]);
    let call = Dict::of(name, Value::Dict(dict));
    Ok(Value::List(vec![Value::Dict(call)]))
}

/// Removes the quotes around it. A single quote character counts as both.
fn unquoted(text: &str) -> &str {
    for quote in ['"', '\''] {
        if let Some(rest) = text.strip_prefix(quote)
            && text.ends_with(quote)
        {
            return rest.strip_suffix(quote).unwrap_or(rest);
        }
    }
    text
}

/// A duplicate name is a fault, including the missing name of positional arguments.
pub(super) fn insert_once(dict: &mut Dict, name: Value, value: Value) -> DecodeResult<()> {
    if dict.get(&name).is_some() {
        return Err(DecodeFault::new(
            "Error: Multiple arguments with the same name are not supported.",
        ));
    }
    dict.insert(name, value);
    Ok(())
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
        check("f(a=1)", Some("[{'f': {'a': '1'}}]"));
        check(
            "a.b.c(x='é', y=\"z\")",
            Some("[{'a.b.c': {'x': 'é', 'y': 'z'}}]"),
        );
        check(
            "f(a=[1, 2], b={c:  1})",
            Some("[{'f': {'a': '[1, 2]', 'b': '{c:  1}'}}]"),
        );
        check("f(a, 5, 'x')", Some("[{'f': {None: 'a'}}]"));
        check("f(true)", Some("[{'f': {None: 'true'}}]"));
        check("f(a, b)", None);
        check("f(a=1, a=2)", None);
        check("f(a=1); g(b=2)", Some("[{'f': {'a': '1'}}]"));
        check("f(a=1), g(b=2)", Some("None"));
        check("x = f(a=1)", Some("None"));
        check("await f(a=1)", Some("None"));
        check("", Some("None"));
        check("f(a=1", None);
        check("f(a=)", None);
        check("f(a=(x) => x * 2)", Some("[{'f': {'a': '(x) => x * 2'}}]"));
        check("f?.(a=1)", Some("[{'f': {}}]"));
        // A statement ends before a template literal, so another fence changes nothing.
        check("f(a=1)\n```\n\nThis calls `f", Some("[{'f': {'a': '1'}}]"));
        check(
            "f(a=1)\n```\n\nor\n\n```javascript\nf(a=1)",
            Some("[{'f': {'a': '1'}}]"),
        );
        check("f(a={}; g()", None);
        check("f(a=#\x7f in o)", Some("[{'f': {'a': '#\\x7f in o'}}]"));
        check("f(a=#\x1f in o)", None);
        // White space and letters are those of a UTF-8 locale: `iné` is a name, so a statement ends before it.
        check("f(a=1)\u{2003}\n\u{3000}b", Some("[{'f': {'a': '1'}}]"));
        check("f(a=1)\u{a0}\nb", None);
        check("f(a=1)\niné", Some("[{'f': {'a': '1'}}]"));
        check("f(a=1)\nin", None);
    }
}
