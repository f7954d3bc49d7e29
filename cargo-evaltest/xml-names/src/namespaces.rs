//! Namespaces as the XML parser of Python has them. The one here takes declarations that that one refuses, so it is
//! given names without colons and knows of no namespace.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::ops::Range;

use roxmltree::{Document, Node};

use super::names::{COLON, behind_section};

/// The attribute that declares the namespace of names without a prefix.
const DEFAULT: &str = "xmlns：";

const XML: &str = "http://www.w3.org/XML/1998/namespace";
const XMLNS: &str = "http://www.w3.org/2000/xmlns/";

/// A text with another mark for the colons in names; `None` where a colon has nothing on a side, or another beside it.
pub fn without_colons(text: &str) -> Option<Cow<'_, str>> {
    let mut marked = String::new();
    let mut end = 0;
    for place in (TagNames {
        text,
        rest: text,
        is_inside: false,
    }) {
        let name = &text[place.clone()];
        let (prefix, local) = match name.split_once(':') {
            Some((prefix, local)) => {
                (!prefix.is_empty() && !local.is_empty()).then_some((prefix, local))?
            }
            None if name == "xmlns" => (name, ""),
            None => ("", name),
        };
        if local.contains(':') || name.contains(COLON) {
            return None;
        }
        if !prefix.is_empty() {
            marked.push_str(&text[end..place.start]);
            marked.push_str(prefix);
            marked.push(COLON);
            marked.push_str(local);
            end = place.end;
        }
    }
    Some(match end {
        0 => Cow::Borrowed(text),
        _ => Cow::Owned(marked + &text[end..]),
    })
}

/// Whether an element is in no namespace; for names without a prefix.
pub fn is_in_none(element: Node<'_, '_>) -> bool {
    let declared = element.ancestors().find_map(|node| node.attribute(DEFAULT));
    declared.is_none_or(str::is_empty)
}

/// Whether every prefix of a document is declared, every declaration allowed and no attribute there twice.
pub fn are_bound(document: &Document<'_>) -> bool {
    let mut bindings = Bindings::default();
    let mut elements = document.descendants().filter(Node::is_element);
    elements.all(|element| bindings.enter(element).is_some())
}

/// Where the names in tags are, also of texts that are no XML.
struct TagNames<'t> {
    text: &'t str,
    rest: &'t str,
    is_inside: bool,
}

impl Iterator for TagNames<'_> {
    type Item = Range<usize>;

    fn next(&mut self) -> Option<Range<usize>> {
        loop {
            if !self.is_inside {
                self.rest = &self.rest[self.rest.find('<')?..];
                let behind = behind_section(self.rest);
                self.is_inside = behind.is_none();
                self.rest = behind.unwrap_or(&self.rest[1..]);
                continue;
            }
            let length = self.rest.find(is_no_name);
            let length = length.unwrap_or(self.rest.len());
            let start = self.text.len() - self.rest.len();
            self.rest = &self.rest[length..];
            if length > 0 {
                return Some(start..start + length);
            }
            let mark = self.rest.chars().next()?;
            self.rest = &self.rest[1..];
            match mark {
                '>' => self.is_inside = false,
                '"' | '\'' => self.rest = &self.rest[self.rest.find(mark)? + 1..],
                _ => {}
            }
        }
    }
}

/// Whether a character ends a name in a tag.
fn is_no_name(c: char) -> bool {
    matches!(
        c,
        ' ' | '\t' | '\r' | '\n' | '<' | '>' | '/' | '=' | '"' | '\'' | '&'
    )
}

/// What prefixes stand for, inside the elements that are open.
#[derive(Default)]
struct Bindings<'d> {
    uris: HashMap<&'d str, Vec<&'d str>>,
    /// Where the elements with declarations end, and the prefixes that they declare.
    open: Vec<(usize, Vec<&'d str>)>,
}

impl<'d> Bindings<'d> {
    /// Goes on to the next element; `None` where its names are wrong.
    fn enter<'i: 'd>(&mut self, element: Node<'d, 'i>) -> Option<()> {
        let place = element.range();
        while let Some((_, prefixes)) = self.open.pop_if(|(end, _)| *end <= place.start) {
            for prefix in prefixes {
                self.uris.get_mut(prefix)?.pop();
            }
        }
        let mut prefixes = Vec::new();
        for one in element.attributes() {
            if let Some(prefix) = one.name().strip_prefix(DEFAULT) {
                may_declare(prefix, one.value()).then_some(())?;
                self.uris.entry(prefix).or_default().push(one.value());
                prefixes.push(prefix);
            }
        }
        if !prefixes.is_empty() {
            self.open.push((place.end, prefixes));
        }
        let name = element.tag_name().name();
        if let Some((prefix, _)) = name.split_once(COLON).filter(|_| name != DEFAULT) {
            self.uri(prefix)?;
        }
        let mut seen = HashSet::new();
        for one in element.attributes() {
            if let Some((prefix, local)) = one.name().split_once(COLON)
                && prefix != "xmlns"
            {
                seen.insert((self.uri(prefix)?, local)).then_some(())?;
            }
        }
        Some(())
    }

    fn uri(&self, prefix: &str) -> Option<&'d str> {
        match prefix {
            "xml" => Some(XML),
            _ => self.uris.get(prefix)?.last().copied(),
        }
    }
}

/// Whether a prefix, or none, may stand for a namespace. A brace would end the namespace in the names that Python makes.
fn may_declare(prefix: &str, uri: &str) -> bool {
    (prefix.is_empty() || !uri.is_empty())
        && prefix != "xmlns"
        && (prefix == "xml") == (uri == XML)
        && uri != XMLNS
        && !uri.contains('}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colons_of_names_only() {
        for (text, expect) in [
            ("<a b:c='d:e'>f:g</a>", "<a b：c='d:e'>f:g</a>"),
            (
                "<a:b\nxmlns = \"<'\"/></a:b >",
                "<a：b\nxmlns： = \"<'\"/></a：b >",
            ),
            (
                "<!-- <a:b> --><![CDATA[<a:b>]]><?a <b:c>?><d>：",
                "<!-- <a:b> --><![CDATA[<a:b>]]><?a <b:c>?><d>：",
            ),
            ("<a b='", "<a b='"),
            ("<a b", "<a b"),
        ] {
            assert_eq!(without_colons(text).as_deref(), Some(expect));
        }
        for text in [
            "<:a>",
            "</:a>",
            "<a:>",
            "<a b:c:d=''>",
            "<a b::c=''>",
            "<a：b>",
            "<a :xmlns=''>",
        ] {
            assert_eq!(without_colons(text), None, "{text}");
        }
    }

    fn are_right(text: &str) -> bool {
        let text = without_colons(text).unwrap();
        Document::parse(&text).is_ok_and(|document| are_bound(&document))
    }

    #[test]
    fn declarations() {
        for text in [
            "<a xmlns='' b='c'/>",
            "<a xmlns='u'><b xmlns=''/></a>",
            "<a xmlns:x='u' xmlns:y='v' x:b='' y:b='' b=''/>",
            "<x:a y:b='' xmlns:x='u' xmlns:y=' '><x:b y:c=''/></x:a>",
            "<xml:a xml:b=''/>",
            "<a xmlns:x='u' x:xmlns='v' xml:xmlns=''/>",
            "<xmlns xmlns='u'/>",
            "<a xmlns:xml='http://www.w3.org/XML/1998/namespace'/>",
            "<a><b xmlns:x='u'/><b xmlns:x='v'><x:c/></b></a>",
        ] {
            assert!(are_right(text), "{text}");
        }
        for text in [
            "<a xmlns='' xmlns=''/>",
            "<a xmlns:x=''/>",
            "<a x:b=''/>",
            "<x:a/>",
            "<xmlns:a/>",
            "<a><b xmlns:x='u'/><x:c/></a>",
            "<a xmlns:x='u' xmlns:y='u' x:b='' y:b=''/>",
            "<a xmlns:x='u' xmlns:x='u'/>",
            "<a b='' b=''/>",
            "<a xmlns:xmlns='u'/>",
            "<a xmlns:xml='u'/>",
            "<a xmlns:x='http://www.w3.org/XML/1998/namespace'/>",
            "<a xmlns='http://www.w3.org/XML/1998/namespace'/>",
            "<a xmlns:x='http://www.w3.org/2000/xmlns/'/>",
            "<a xmlns='http://www.w3.org/2000/xmlns/'/>",
            "<a xmlns='u&#125;'/>",
        ] {
            assert!(!are_right(text), "{text}");
        }
    }
}
