//! Reads the usual Java and JavaScript call without a syntax tree: `a.b(c="x", d=[1, true])`.
//!
//! It takes a hundredth of the time, and gives up on anything that is not plain: keywords, positional arguments,
//! operators, nested calls, comments, letters beyond ASCII in Java. The result equals that of the syntax tree; `tests`
//! compares the two.

#[cfg(test)]
mod tests;

use super::super::{Dict, Value};
use super::CodeCursor;

/// Deeper lists and objects are left to the parser.
const MAX_DEPTH: usize = 8;

/// From this length in bytes the parser inserts a missing `;` after a Java call. For shorter text it prefers an error
/// node, which costs 600 plus the length, against 610 for the token.
const LONG: usize = 24;

#[derive(Clone, Copy, PartialEq)]
enum Language {
    Java,
    JavaScript,
}

/// Reads a Java text that is a single call: `[{name: {argument: text}}]`.
pub(super) fn java(text: &str) -> Option<Value> {
    let mut reader = Reader::new(text, Language::Java);
    let call = reader.call()?;
    let is_ended = reader.at.eat(b';') || text.len() >= LONG;
    (is_ended && reader.at.is_at_end()).then_some(call)
}

/// Reads a JavaScript text that is a single call. An object instead, also after a name, gives [`Value::None`].
pub(super) fn javascript(text: &str) -> Option<Value> {
    let mut reader = Reader::new(text, Language::JavaScript);
    let call = match reader.call() {
        Some(call) => {
            reader.at.eat(b';');
            call
        }
        None => reader.object_alone()?,
    };
    reader.at.is_at_end().then_some(call)
}

struct Reader<'a> {
    at: CodeCursor<'a>,
    language: Language,
}

impl<'a> Reader<'a> {
    fn new(text: &'a str, language: Language) -> Self {
        Self {
            at: CodeCursor::new(text),
            language,
        }
    }

    /// An ASCII word. A letter beyond ASCII after it fails the check for the next token.
    fn word(&mut self) -> Option<&'a str> {
        let is_letter = |byte: u8| byte.is_ascii_alphabetic() || matches!(byte, b'_' | b'$');
        self.at.word(is_letter)
    }

    /// A word that is always a name.
    fn name(&mut self) -> Option<&'a str> {
        self.word().filter(|word| !self.is_special(word))
    }

    /// `a.b.c`.
    fn dotted_name(&mut self) -> Option<&'a str> {
        let start = self.at.place();
        self.name()?;
        self.rest_of_dotted_name(start)
    }

    /// `.b.c`, in Java also `.b.class`.
    fn rest_of_dotted_name(&mut self, start: usize) -> Option<&'a str> {
        let mut parts = 1;
        while self.at.eat(b'.') {
            let part = self.word()?;
            if self.language == Language::Java && part == "class" {
                break;
            }
            if self.is_special(part) {
                return None;
            }
            parts += 1;
            if parts > MAX_DEPTH {
                return None;
            }
        }
        Some(self.at.since(start))
    }

    fn call(&mut self) -> Option<Value> {
        let name = self.dotted_name()?;
        let is_class = name.rsplit('.').next() == Some("class");
        if is_class || !self.at.eat(b'(') {
            return None;
        }
        let mut arguments = Dict::new();
        loop {
            self.at.space();
            let argument = self.name()?;
            if arguments.get_str(argument).is_some() {
                return None;
            }
            self.at.space();
            if !self.at.eat(b'=') {
                return None;
            }
            self.at.space();
            let value = self.argument()?;
            arguments.insert(Value::from(argument), Value::text(value));
            self.at.space();
            if self.at.eat(b')') {
                break;
            }
            if !self.at.eat(b',') {
                return None;
            }
        }
        let call = Dict::of(Value::from(name), Value::Dict(arguments));
        Some(Value::List(vec![Value::Dict(call)]))
    }

    /// The text of a value; a string without its quotes.
    fn argument(&mut self) -> Option<&'a str> {
        let start = self.at.place();
        match self.at.peek()? {
            b'\'' | b'"' => {
                self.string()?;
                let quoted = self.at.since(start);
                Some(&quoted[1..quoted.len() - 1])
            }
            _ => {
                self.value(0)?;
                Some(self.at.since(start))
            }
        }
    }

    /// A value. The comma or bracket that must follow shows that it is complete.
    fn value(&mut self, depth: usize) -> Option<()> {
        match self.at.peek()? {
            b'\'' | b'"' => self.string(),
            b'-' | b'0'..=b'9' => self.number(),
            _ if self.language == Language::Java => self.word_value(),
            b'[' if depth < MAX_DEPTH => self.list(depth + 1),
            b'{' if depth < MAX_DEPTH => self.object(depth + 1),
            _ => self.word_value(),
        }
    }

    fn word_value(&mut self) -> Option<()> {
        let start = self.at.place();
        match self.word()? {
            "true" | "false" | "null" => {}
            word if self.is_special(word) => return None,
            _ => {
                self.rest_of_dotted_name(start)?;
            }
        }
        Some(())
    }

    /// A string on one line, or a Java character literal, which may have any length but 0.
    fn string(&mut self) -> Option<()> {
        let quote = self.at.peek()?;
        let is_java = self.language == Language::Java;
        self.at.skip(1);
        let start = self.at.place();
        loop {
            match self.at.peek()? {
                byte if byte == quote => break,
                b'\\' => {
                    self.at.skip(1);
                    // Not a numeric escape, nor Java's `\{`.
                    self.at.peek().filter(|byte| {
                        matches!(byte, b'"' | b'\'' | b'\\' | b'/' | b'b' | b'n' | b't')
                    })?;
                }
                ..b' ' | 0x7f => return None,
                0x80.. if is_java => return None,
                _ => {}
            }
            self.at.skip(1);
        }
        let is_empty = self.at.place() == start;
        self.at.skip(1);
        // Two quotes may start a triple quote.
        let is_odd = is_java && is_empty && (quote == b'\'' || self.at.peek() == Some(quote));
        (!is_odd).then_some(())
    }

    /// A decimal number without superfluous leading digits.
    fn number(&mut self) -> Option<()> {
        self.at.eat(b'-');
        let digits = self.at.eat_while(|byte| byte.is_ascii_digit());
        if digits.is_empty() || (digits.starts_with('0') && digits.len() > 1) {
            return None;
        }
        if self.at.eat(b'.') && self.at.eat_while(|byte| byte.is_ascii_digit()).is_empty() {
            return None;
        }
        Some(())
    }

    fn list(&mut self, depth: usize) -> Option<()> {
        self.at.skip(1);
        self.at.space();
        if self.at.eat(b']') {
            return Some(());
        }
        loop {
            self.value(depth)?;
            self.at.space();
            if self.at.eat(b']') {
                return Some(());
            }
            if !self.at.eat(b',') {
                return None;
            }
            self.at.space();
        }
    }

    fn object(&mut self, depth: usize) -> Option<()> {
        self.at.skip(1);
        self.at.space();
        if self.at.eat(b'}') {
            return Some(());
        }
        loop {
            match self.at.peek()? {
                b'\'' | b'"' => self.string()?,
                _ => {
                    self.name()?;
                }
            }
            self.at.space();
            if !self.at.eat(b':') {
                return None;
            }
            self.at.space();
            self.value(depth)?;
            self.at.space();
            if self.at.eat(b'}') {
                return Some(());
            }
            if !self.at.eat(b',') {
                return None;
            }
            self.at.space();
        }
    }

    /// An object as a statement, recognised by its first key, possibly on the line after a name.
    fn object_alone(&mut self) -> Option<Value> {
        self.at.go_to(0);
        if self.at.peek() != Some(b'{') {
            self.dotted_name()?;
            if !self.at.eat(b'\n') || self.at.peek() != Some(b'{') {
                return None;
            }
        }
        let rest = self.at.rest()[1..].trim_start_matches([' ', '\n']);
        if !rest.starts_with('"') {
            return None;
        }
        self.object(0)?;
        Some(Value::None)
    }

    /// Whether a word may be a keyword of the language.
    fn is_special(&self, word: &str) -> bool {
        match self.language {
            Language::Java => is_special_in_java(word),
            Language::JavaScript => is_special_in_javascript(word),
        }
    }
}

#[rustfmt::skip]
fn is_special_in_java(word: &str) -> bool {
    matches!(
        word,
        "_" | "abstract" | "assert" | "boolean" | "break" | "byte" | "case" | "catch" | "char" | "class" | "continue"
            | "default" | "do" | "double" | "else" | "enum" | "exports" | "extends" | "false" | "final" | "finally"
            | "float" | "for" | "if" | "implements" | "import" | "instanceof" | "int" | "interface" | "long" | "module"
            | "native" | "new" | "non" | "null" | "open" | "opens" | "package" | "permits" | "private" | "protected"
            | "provides" | "public" | "record" | "requires" | "return" | "sealed" | "short" | "static" | "strictfp"
            | "super" | "switch" | "synchronized" | "this" | "throw" | "throws" | "transient" | "transitive"
            | "true" | "try" | "uses" | "void" | "volatile" | "when" | "while" | "with" | "yield"
    )
}

#[rustfmt::skip]
fn is_special_in_javascript(word: &str) -> bool {
    matches!(
        word,
        "as" | "async" | "await" | "break" | "case" | "catch" | "class" | "const" | "continue" | "debugger" | "default"
            | "delete" | "do" | "else" | "export" | "extends" | "false" | "finally" | "for" | "from" | "function" | "get"
            | "if" | "import" | "in" | "instanceof" | "let" | "meta" | "new" | "null" | "of" | "return" | "set" | "static"
            | "super" | "switch" | "target" | "this" | "throw" | "true" | "try" | "typeof" | "undefined" | "var" | "void"
            | "while" | "with" | "yield"
    )
}
