//! The call that nearly all answers in Java and JavaScript are, without a syntax tree: `a.b(c="x", d=[1, true])`.
//!
//! It takes a hundredth of the time, and stands aside for whatever is not plain: words that mean something in the
//! language, positional arguments, operators, calls in calls, comments, letters beyond ASCII in Java. What it reads is
//! equal to what is read off the syntax tree; `tests` compares the two.

#[cfg(test)]
mod tests;

use super::super::{Dict, Value};
use super::cursor::CodeCursor;

/// Deeper lists and objects are the parser's.
const MAX_DEPTH: usize = 8;

/// From this length on the parser makes up the `;` that is missing behind a Java call. Around shorter text it rather
/// puts an error node: that costs 600 and the length, the sign 610.
const LONG: usize = 24;

#[derive(Clone, Copy, PartialEq)]
enum Language {
    Java,
    JavaScript,
}

/// A whole Java text that is one call: `[{name: {argument: text}}]`.
pub(super) fn java(text: &str) -> Option<Value> {
    let mut reader = Reader::new(text, Language::Java);
    let call = reader.call()?;
    let is_ended = reader.at.eat(b';') || text.len() >= LONG;
    (is_ended && reader.at.is_at_end()).then_some(call)
}

/// A whole JavaScript text that is one call, or an object in its place, which is `None`, also behind a name.
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

    /// An ASCII word. That the next letter is none beyond ASCII shows in the sign that has to follow.
    fn word(&mut self) -> Option<&'a str> {
        let is_letter = |byte: u8| byte.is_ascii_alphabetic() || matches!(byte, b'_' | b'$');
        self.at.word(is_letter)
    }

    /// A word that is a name wherever it stands.
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

    /// The text of a value, of a string without its quotes.
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

    /// A value; that nothing else belongs to it shows in the comma or bracket that has to follow.
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

    /// A string on one line, or a Java character, which may have any length but none.
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
                    // Not of a number, nor Java's `\{`.
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
        // Two quotes may be the start of three.
        let is_odd = is_java && is_empty && (quote == b'\'' || self.at.peek() == Some(quote));
        (!is_odd).then_some(())
    }

    /// Decimal, with no digit more than needed in front.
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

    /// An object as a statement, which its first key shows, maybe on the line after a name.
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

    /// Whether a word may mean something to the language.
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
