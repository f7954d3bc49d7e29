//! Reads the usual Python calls without a syntax tree: `[f(a=1, b='x'), g.h(c=[1.5, True])]`.
//!
//! It takes a tenth of the time, and gives up ([`Plain::Other`]) on anything that is not plain: most escapes, prefixes,
//! arithmetic, nested calls, positional arguments, names beyond ASCII. The result equals that of the full Python
//! parser; the tests compare the two.

use std::borrow::Cow;

use super::super::is_keyword;
use super::super::{Dict, Value};
use super::CodeCursor;

/// The result of reading a text.
#[derive(Debug)]
pub(super) enum Plain {
    /// Calls.
    Calls(Vec<Value>),
    /// A list that contains constants, such as JSON.
    Constants,
    /// Not plain: left to the parser.
    Other,
}

/// Deeper lists and dictionaries are left to the parser.
const MAX_DEPTH: usize = 8;

/// An integer of this many digits fits a machine word.
const MAX_DIGITS: usize = 18;

/// Reads a text in brackets.
pub(super) fn calls(text: &str) -> Plain {
    let mut reader = Reader {
        at: CodeCursor::new(text),
    };
    if !reader.at.eat(b'[') {
        return Plain::Other;
    }
    match reader.calls() {
        Some(plain) if reader.at.is_at_end() => plain,
        _ => Plain::Other,
    }
}

struct Reader<'a> {
    at: CodeCursor<'a>,
}

impl<'a> Reader<'a> {
    /// An ASCII word that starts with a letter.
    fn word(&mut self) -> Option<&'a str> {
        let is_letter = |byte: u8| byte.is_ascii_alphabetic() || byte == b'_';
        self.at.word(is_letter)
    }

    /// A word that is always a name.
    fn name(&mut self) -> Option<&'a str> {
        self.word()
            .filter(|word| !is_keyword(word.as_bytes()) && *word != "__debug__")
    }

    /// Reads from after the opening bracket to the closing one.
    fn calls(&mut self) -> Option<Plain> {
        let mut calls = Vec::new();
        let mut has_constant = false;
        self.at.space();
        if self.at.eat(b']') {
            return Some(Plain::Calls(calls));
        }
        loop {
            if let Some(b'{' | b'[' | b'\'' | b'"' | b'-' | b'0'..=b'9') = self.at.peek() {
                self.value(0)?;
                has_constant = true;
            } else {
                calls.push(self.call()?);
            }
            self.at.space();
            if self.at.eat(b']') {
                return Some(if has_constant {
                    Plain::Constants
                } else {
                    Plain::Calls(calls)
                });
            }
            if !self.at.eat(b',') {
                return None;
            }
            self.at.space();
        }
    }

    fn call(&mut self) -> Option<Value> {
        let start = self.at.place();
        self.name()?;
        let mut parts = 1;
        while self.at.eat(b'.') {
            self.name()?;
            parts += 1;
            if parts > MAX_DEPTH {
                return None;
            }
        }
        let name = self.at.since(start);
        if !self.at.eat(b'(') {
            return None;
        }
        let arguments = self.arguments()?;
        Some(Value::Dict(Dict::of(
            Value::from(name),
            Value::Dict(arguments),
        )))
    }

    fn arguments(&mut self) -> Option<Dict> {
        let mut arguments = Dict::new();
        self.at.space();
        if self.at.eat(b')') {
            return Some(arguments);
        }
        loop {
            let name = self.name()?;
            if arguments.get_str(name).is_some() {
                return None;
            }
            self.at.space();
            if !self.at.eat(b'=') {
                return None;
            }
            self.at.space();
            let value = self.value(0)?;
            arguments.insert(Value::from(name), value);
            self.at.space();
            if self.at.eat(b')') {
                return Some(arguments);
            }
            if !self.at.eat(b',') {
                return None;
            }
            self.at.space();
        }
    }

    /// A value. The comma or bracket that must follow shows that it is complete.
    fn value(&mut self, depth: usize) -> Option<Value> {
        match self.at.peek()? {
            quote @ (b'\'' | b'"') => {
                let text = self.string(quote)?;
                Some(Value::Str(text.into_owned()))
            }
            b'-' | b'0'..=b'9' => self.number(),
            b'[' if depth < MAX_DEPTH => self.list(depth + 1),
            b'(' if depth < MAX_DEPTH => self.tuple(depth + 1),
            b'{' if depth < MAX_DEPTH => self.dict(depth + 1),
            _ => Some(match self.word()? {
                "True" => Value::Bool(true),
                "False" => Value::Bool(false),
                "None" => Value::None,
                word if is_keyword(word.as_bytes()) => return None,
                name => Value::from(name),
            }),
        }
    }

    /// A string on one line, with common escapes only.
    fn string(&mut self, quote: u8) -> Option<Cow<'a, str>> {
        self.at.skip(1);
        let text = self.run(quote)?;
        if self.at.eat(quote) {
            // Two quotes may start a triple quote.
            let may_be_three = text.is_empty() && self.at.peek() == Some(quote);
            return (!may_be_three).then_some(Cow::Borrowed(text));
        }
        let mut out = text.to_owned();
        while self.at.eat(b'\\') {
            out.push(match self.at.peek()? {
                b'n' => '\n',
                b't' => '\t',
                same @ (b'\\' | b'\'' | b'"') => char::from(same),
                _ => return None,
            });
            self.at.skip(1);
            out.push_str(self.run(quote)?);
        }
        self.at.eat(quote).then_some(Cow::Owned(out))
    }

    /// Literal text, up to an escape or the closing quote. Lone surrogates, which here start with the last of these
    /// bytes, are left to the parser.
    fn run(&mut self, quote: u8) -> Option<&'a str> {
        let start = self.at.place();
        let mut rest = self.at.rest().bytes();
        let length =
            rest.position(|byte| byte == quote || matches!(byte, b'\\' | 0..b' ' | 0xf4))?;
        self.at.skip(length);
        Some(self.at.since(start))
    }

    /// A decimal number without superfluous leading digits.
    fn number(&mut self) -> Option<Value> {
        let start = self.at.place();
        let is_negative = self.at.eat(b'-');
        let digits = self.at.eat_while(|byte| byte.is_ascii_digit());
        if digits.is_empty() || digits.len() > MAX_DIGITS {
            return None;
        }
        if digits.starts_with('0') && digits.len() > 1 {
            return None;
        }
        if !self.at.eat(b'.') {
            let value: i64 = digits.parse().ok()?;
            return Some(Value::from(if is_negative { -value } else { value }));
        }
        if self.at.eat_while(|byte| byte.is_ascii_digit()).is_empty() {
            return None;
        }
        let text = self.at.since(start);
        text.parse().ok().map(Value::Float)
    }

    fn list(&mut self, depth: usize) -> Option<Value> {
        self.at.skip(1);
        self.at.space();
        let mut items = Vec::new();
        if self.at.eat(b']') {
            return Some(Value::List(items));
        }
        loop {
            items.push(self.value(depth)?);
            self.at.space();
            if self.at.eat(b']') {
                return Some(Value::List(items));
            }
            if !self.at.eat(b',') {
                return None;
            }
            self.at.space();
        }
    }

    /// A tuple of at least two values: with a single one the comma decides.
    fn tuple(&mut self, depth: usize) -> Option<Value> {
        self.at.skip(1);
        self.at.space();
        let mut items = Vec::new();
        loop {
            items.push(self.value(depth)?);
            self.at.space();
            if self.at.eat(b')') {
                return (items.len() > 1).then_some(Value::Tuple(items));
            }
            if !self.at.eat(b',') {
                return None;
            }
            self.at.space();
        }
    }

    /// A dictionary with string keys.
    fn dict(&mut self, depth: usize) -> Option<Value> {
        self.at.skip(1);
        self.at.space();
        let mut dict = Dict::new();
        if self.at.eat(b'}') {
            return Some(Value::Dict(dict));
        }
        loop {
            let quote = self.at.peek().filter(|byte| matches!(byte, b'\'' | b'"'))?;
            let key = self.string(quote)?;
            self.at.space();
            if !self.at.eat(b':') {
                return None;
            }
            self.at.space();
            let value = self.value(depth)?;
            dict.insert(Value::Str(key.into_owned()), value);
            self.at.space();
            if self.at.eat(b'}') {
                return Some(Value::Dict(dict));
            }
            if !self.at.eat(b',') {
                return None;
            }
            self.at.space();
        }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::tests::fuzz::Dice;

    fn check(text: &str, expect: &str) {
        let got = match calls(text) {
            Plain::Calls(calls) => Value::List(calls).repr().unwrap(),
            Plain::Constants => "constants".to_owned(),
            Plain::Other => "other".to_owned(),
        };
        assert_eq!(got, expect, "{text}");
    }

    #[test]
    fn plain_calls() {
        check("[f()]", "[{'f': {}}]");
        check(
            "[ f(a=1,\n b = -2.50), g.h(c='x\"é', d=\"\") ]",
            "[{'f': {'a': 1, 'b': -2.5}}, {'g.h': {'c': 'x\"é', 'd': ''}}]",
        );
        check(
            "[f(a=[], b=[1, [True, None]], c={}, d={'k': false, \"l\": 0})]",
            "[{'f': {'a': [], 'b': [1, [True, None]], 'c': {}, 'd': {'k': 'false', 'l': 0}}}]",
        );
        check("[]", "[]");
        check(
            r#"[f(a='it\'s\n', b="\\\t\"", type=(1, ('x', None)))]"#,
            r#"[{'f': {'a': "it's\n", 'b': '\\\t"', 'type': (1, ('x', None))}}]"#,
        );
        check("[f(a=-0, b=-0.0)]", "[{'f': {'a': 0, 'b': -0.0}}]");
    }

    #[test]
    fn constants() {
        for text in [
            "[1]",
            "[{'name': 'f', \"arguments\": {'a': [1, true, null]}}]",
            "[f(), 'g()', [-2.5]]",
        ] {
            check(text, "constants");
        }
        for text in [
            "[1, a]",
            "[{'a'}]",
            "[True]",
            "[(1, 2)]",
            "['a' 'b']",
            "[1.x]",
            "[1",
            "[1]]",
        ] {
            check(text, "other");
        }
    }

    #[test]
    fn ambiguous_text_needs_the_parser() {
        for text in [
            "f()",
            "[f(),]",
            "[f(a=1,)]",
            "[f(1)]",
            "[f(*a)]",
            "[f(**a)]",
            "[f(a=1, a=2)]",
            "[f(a==1)]",
            "[f(a='x\\x41')]",
            "[f(a='x' 'y')]",
            "[f(a='''x''')]",
            "[f(a=b'x')]",
            "[f(a=f'x')]",
            "[f(a=01)]",
            "[f(a=1_0)]",
            "[f(a=1.)]",
            "[f(a=.5)]",
            "[f(a=1e5)]",
            "[f(a=1j)]",
            "[f(a=--1)]",
            "[f(a=- 1)]",
            "[f(a=1234567890123456789)]",
            "[f(a=1+1)]",
            "[f(a=g())]",
            "[f(a=(1))]",
            "[f(a=x.y)]",
            "[f(a=x[0])]",
            "[f(a={1: 2})]",
            "[f(a={'x'})]",
            "[f(a=not x)]",
            "[f(class=1)]",
            "[f(a=lambda)]",
            "[f(é=1)]",
            "[f()] ",
            "[f()]]",
            "[f()",
            "[f(a='x)]",
            "[f(a='x\n')]",
            "[f(a=1)\t]",
            "[f(a=1) # x\n]",
            "[f()()]",
            "[f ()]",
            "[f .g()]",
            "[f(a=None.x)]",
            "[None()]",
            "[f(a=[1,])]",
            "[f(a=[*b])]",
            "[f(a:=1)]",
        ] {
            check(text, "other");
        }
        let deep = format!("[f(a={}{})]", "[".repeat(9), "]".repeat(9));
        check(&deep, "other");
    }

    /// Pieces of answers, plain and not.
    #[rustfmt::skip]
    const PIECES: &[&str] = &[
        "f(", "[f(", "g.h(", "a=", "b=", "c = ", "a.b", ")", ")]", "]", "[", "{", "}", "(", ",", ", ", ",\n", "=", ":",
        ": ", ".", "'x'", "\"y\"", "'k': ", "\"l\":", "''", "\"", "'", "1", "-2", "0", "00", "12.50", "-0.0", "1e5",
        "1_0", "123456789012345678", "1234567890123456789", "-", "+", "True", "False", "None", "true", "null", "name",
        "not ", "in", "is ", "if ", "else ", "lambda", "await ", "match", "type ", "_", "class=", "print ", "é", "'é'",
        "'\u{10f800}'", "\\", "\t", "\n", " ", "  ", "#", "*a", "**k", "b'x'", "f'x'", "r\"", "I am", "Sure", "()", "[]",
        "{}", "[1, 2]", "{'k': 1}", "...", "\0", "\r", ";", "a=1", "b='x'", "c=[True, None]", "d={'k': [0.5]}",
    ];

    /// Calls in brackets, and other texts.
    pub(crate) fn text(dice: &mut Dice) -> String {
        // Mostly whole calls, with something else in or after them now and then.
        let rest = dice.below(3) > 0;
        let text = if dice.below(4) > 0 {
            let values = ["1", "'x\\n'", "[1, 2]", "{'k': 0.5}", "-7", "n", "(1, 'y')"];
            let arguments: Vec<String> = (0..dice.below(4))
                .map(|place| {
                    let name = ["a", "b", "k"][if rest { place } else { 0 }];
                    let value = dice.pick(&values);
                    let odd = if rest { "" } else { dice.pick(PIECES) };
                    format!("{name}={value}{odd}")
                })
                .collect();
            let behind = dice.text(PIECES, usize::from(!rest));
            let before = ["", "", "{'a': [1, true]}, ", "'x', "][dice.below(4)];
            format!("{before}f({}){behind}", arguments.join(", "))
        } else {
            dice.text(PIECES, 9)
        };
        format!("[{text}]")
    }

    /// `EVALTEST_FUZZ_CASES=1000000` makes it a million.
    #[test]
    fn the_parser_of_all_of_python_reads_the_same() {
        use std::io::Write as _;

        let (mut plain, mut constant, mut all) = (0, 0, 0);
        crate::tests::fuzz::fuzz(|dice| {
            let text = text(dice);
            all += 1;
            let expect = crate::calls::parsed_calls(&text);
            match calls(&text) {
                Plain::Other => {}
                Plain::Constants => {
                    constant += 1;
                    let got = expect.expect_err("constants");
                    assert_eq!(got.message(), "", "{text:?}");
                }
                Plain::Calls(calls) => {
                    plain += 1;
                    let got = Value::List(calls).repr();
                    let expect = expect.map(|value| value.repr());
                    assert_eq!(Ok(got), expect, "{text:?}");
                }
            }
        });
        let _ = writeln!(
            std::io::stderr(),
            "{all} texts, {plain} plain, {constant} with constants"
        );
        assert!(plain > all / 50 && constant > all / 50);
    }
}
