//! Calls as XML: verbose (values in attributes) and concise (values as text).

use std::borrow::Cow;

use evaltest_xml_names as xml_names;
use roxmltree::{Document, Node};

use super::{DecodeFault, DecodeResult};
use super::{Dict, Int, Value};
use crate::calls;
use crate::text::{is_py_space, py_float, py_lower};

/// `<function name="f"><params><param name="a" value="1" type="integer"/></params></function>`; the enclosing `params`
/// is optional.
pub(super) fn verbose_calls(text: &str) -> DecodeResult<Value> {
    calls(text, |function, arguments| {
        let container = children(function, "params").next().unwrap_or(function);
        for param in children(container, "param") {
            let name = param.attribute("name").map_or(Value::None, Value::text);
            let value = param.attribute("value").unwrap_or_default();
            arguments.insert(name, convert(value, param)?);
        }
        Ok(())
    })
}

/// `<function name="f"><param name="a" type="integer">1</param></function>`.
pub(super) fn concise_calls(text: &str) -> DecodeResult<Value> {
    calls(text, |function, arguments| {
        for param in children(function, "param") {
            let name = attribute(param, "name")?;
            // The text before the first element; comments do not end it.
            let text: String = param
                .children()
                .take_while(|child| !child.is_element())
                .filter(Node::is_text)
                .filter_map(|child| child.text())
                .collect();
            let value = convert(text.trim_matches(is_py_space), param)?;
            arguments.insert(name, value);
        }
        Ok(())
    })
}

fn calls(
    text: &str,
    read: impl Fn(Node<'_, '_>, &mut Dict) -> DecodeResult<()>,
) -> DecodeResult<Value> {
    let malformed = || DecodeFault::new("not well-formed (invalid token)");
    let text = with_plain_line_ends(text);
    let text = xml_names::without_colons(&text).ok_or_else(malformed)?;
    let document = Document::parse(&text).map_err(|fault| DecodeFault::new(fault.to_string()))?;
    if !xml_names::are_old(&document) || xml_names::has_odd_references(&text) {
        return Err(malformed());
    }
    if !xml_names::are_bound(&document) {
        return Err(DecodeFault::new("unbound prefix, or a wrong namespace"));
    }
    let mut calls = Vec::new();
    for function in children(document.root_element(), "function") {
        let name = attribute(function, "name")?;
        let mut arguments = Dict::new();
        read(function, &mut arguments)?;
        calls.push(Value::Dict(Dict::of(name, Value::Dict(arguments))));
    }
    Ok(Value::List(calls))
}

/// XML parsers turn every line end into `\n` first. This one misses those before a reference.
fn with_plain_line_ends(text: &str) -> Cow<'_, str> {
    if text.contains('\r') {
        Cow::Owned(text.replace("\r\n", "\n").replace('\r', "\n"))
    } else {
        Cow::Borrowed(text)
    }
}

/// Child elements with this name, in no namespace.
fn children<'a, 'i>(node: Node<'a, 'i>, name: &'static str) -> impl Iterator<Item = Node<'a, 'i>> {
    node.children()
        .filter(move |child| child.tag_name().name() == name && xml_names::is_in_none(*child))
}

fn attribute(node: Node<'_, '_>, name: &str) -> DecodeResult<Value> {
    node.attribute(name)
        .map(Value::text)
        .ok_or_else(|| DecodeFault::new(format!("'{name}'")))
}

fn convert(text: &str, param: Node<'_, '_>) -> DecodeResult<Value> {
    let fault = |what: &str| DecodeFault::new(format!("could not read {what}: {text:?}"));
    match param.attribute("type").unwrap_or("string") {
        "integer" => Int::from_text(text)
            .map(Value::Int)
            .ok_or_else(|| fault("an integer")),
        "float" => py_float(text)
            .map(Value::Float)
            .ok_or_else(|| fault("a float")),
        "boolean" => Ok(Value::Bool(py_lower(text) == "true")),
        "null" => Ok(Value::None),
        "array" | "tuple" | "object" | "dict" => calls::literal_eval(text),
        _ => Ok(Value::text(text)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(got: &DecodeResult<Value>, expect: Option<&str>) {
        let repr = got.as_ref().ok().map(|value| value.repr().unwrap());
        assert_eq!(repr.as_deref(), expect, "{got:?}");
    }

    #[test]
    fn verbose() {
        let check = |params: &str, expect: Option<&str>| {
            let text = format!("<functions><function name=\"f\">{params}</function></functions>");
            let expect = expect.map(|arguments| format!("[{{'f': {arguments}}}]"));
            check(&verbose_calls(&text), expect.as_deref());
        };
        check("", Some("{}"));
        check(
            r#"<params><param name="a" value="1" type="integer"/></params>"#,
            Some("{'a': 1}"),
        );
        check(r#"<param name="a" value="1"/>"#, Some("{'a': '1'}"));
        check(r#"<params/><param name="a" value="1"/>"#, Some("{}"));
        check(
            r#"<param value="x &lt; &#65;"/><param name="b"/>"#,
            Some("{None: 'x < A', 'b': ''}"),
        );
        check(
            r#"<param name="a" value=" 1.5 " type="float"/>"#,
            Some("{'a': 1.5}"),
        );
        check(
            r#"<param name="a" value="TRUE" type="boolean"/>"#,
            Some("{'a': True}"),
        );
        check(
            r#"<param name="a" value="yes" type="boolean"/>"#,
            Some("{'a': False}"),
        );
        check(
            r#"<param name="a" value="x" type="null"/>"#,
            Some("{'a': None}"),
        );
        check(
            r#"<param name="a" value=" [1, 'b', -2.5, (1,), {'c': None}]" type="array"/>"#,
            Some("{'a': [1, 'b', -2.5, (1,), {'c': None}]}"),
        );
        check(
            r#"<param name="a" value="{1, 1.0, 2}" type="array"/>"#,
            Some("{'a': {1, 2}}"),
        );
        check(
            r#"<param name="a" value="1+2j" type="array"/>"#,
            Some("{'a': (1+2j)}"),
        );
        check(
            r#"<param name="a" value="set()" type="array"/>"#,
            Some("{'a': set()}"),
        );
        check(
            r#"<param name="a" value="..." type="array"/>"#,
            Some("{'a': Ellipsis}"),
        );
        check(r#"<param name="a" value="[x]" type="array"/>"#, None);
        check(r#"<param name="a" value="1+2" type="array"/>"#, None);
        check(r#"<param name="a" value="-True" type="array"/>"#, None);
        check(r#"<param name="a" value="{[]: 1}" type="dict"/>"#, None);
        check(r#"<param name="a" value="" type="array"/>"#, None);
        check(r#"<param name="a" value="1.0" type="integer"/>"#, None);
        check(r#"<param name="a" value="" type="float"/>"#, None);
        check(r#"<param name="a" name="b"/>"#, None);
        check("<param>", None);
        check("&nbsp;", None);
        // Names follow the fourth edition, and need a part before a colon.
        check("<param na\u{feff}me=\"a\"/>", None);
        check("<:param/>", None);
        check("<a><?b:c?></a>", None);
        // White space, or the end, follows the name of an instruction.
        check("<?a?><?a\r?><?a b??>", Some("{}"));
        for instruction in ["<?a/>b?>", "<?a=b?>", "<?a??>", "<?Xml b?>"] {
            check(instruction, None);
        }
        // An empty namespace counts as none, and resets the one around it.
        check(
            r#"<params xmlns=""><param xmlns='' name="a" value="1" type="integer"/></params>"#,
            Some("{'a': 1}"),
        );
        check(
            r#"<params xmlns="u"><param name="a"/></params><param name="b"/>"#,
            Some("{'b': ''}"),
        );
        check(
            r#"<params><x xmlns="u"/><param name="a"/></params>"#,
            Some("{'a': ''}"),
        );
        check(r#"<param name="a" xmlns="" xmlns=""/>"#, None);
        // With a prefix it is a different element or attribute.
        check(
            r#"<xml:param/><param xml:name="a" xmlns:x="u" value="1" x:value="2" x:type="integer"/>"#,
            Some("{None: '1'}"),
        );
        check(r#"<param name="a" x:type="integer"/>"#, None);
        check(r#"<param name="a" xml:lang="" xml:lang=""/>"#, None);
        check(r#"<param name="a" xmlns:x=""/>"#, None);
    }

    #[test]
    fn concise() {
        let check = |params: &str, expect: Option<&str>| {
            let text = format!("<functions><function name=\"f\">{params}</function></functions>");
            let expect = expect.map(|arguments| format!("[{{'f': {arguments}}}]"));
            check(&concise_calls(&text), expect.as_deref());
        };
        check(
            r#"<param name="a" type="integer"> 1 </param>"#,
            Some("{'a': 1}"),
        );
        check(
            r#"<param name="a"> x <!-- c -->y<b/>z</param>"#,
            Some("{'a': 'x y'}"),
        );
        check(
            r#"<param name="a"><![CDATA[<x>]]></param>"#,
            Some("{'a': '<x>'}"),
        );
        check(r#"<param name="a"/>"#, Some("{'a': ''}"));
        check(
            "<param name=\"a\">x\r&amp;\r\n&#13;y</param>",
            Some(r"{'a': 'x\n&\n\ry'}"),
        );
        check(r#"<params><param name="a">1</param></params>"#, Some("{}"));
        check("<param>1</param>", None);
        check(
            r#"<param name="a" xmlns="" xmlns:x="u" x:type="integer">1</param>"#,
            Some("{'a': '1'}"),
        );
        check(r#"<param name="a" xmlns="u">1</param>"#, Some("{}"));
        check(r#"<param xml:name="a">1</param>"#, None);
        check(r#"<param name="a">&#x110000;</param>"#, None);
        check(r#"<param name="a" b="&#57343;"/>"#, None);
        super::tests::check(&concise_calls("<functions><function/></functions>"), None);
        super::tests::check(&concise_calls("<functions></functions>"), Some("[]"));
    }
}
