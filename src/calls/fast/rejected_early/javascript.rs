//! Detects JavaScript keywords without their required next token, and adjacent values in brackets.

use super::OpenBrackets;
use super::signs::{BraceLanguage, Sign, Signs};

/// Whether a text certainly has an error node.
pub(crate) fn in_javascript(text: &str) -> bool {
    let mut scanner = Scanner {
        signs: Signs::new(text, BraceLanguage::JavaScript),
        brackets: OpenBrackets::default(),
        place: Place::Statement,
        is_behind_word: false,
    };
    loop {
        if let Some(is_rejected) = scanner.step() {
            return is_rejected;
        }
    }
}

struct Scanner<'a> {
    signs: Signs<'a>,
    brackets: OpenBrackets,
    place: Place,
    is_behind_word: bool,
}

/// What may come next.
#[derive(Clone, Copy, PartialEq)]
enum Place {
    /// A statement may start here.
    Statement,
    /// A value has ended.
    Value,
    /// A block or a value has ended.
    Brace,
    /// A value must follow: no statement can, so statement keywords are names.
    Operator,
    Unsure,
}

impl Scanner<'_> {
    /// Reads the next token. Returns the verdict if that decides it.
    fn step(&mut self) -> Option<bool> {
        let sign = self.signs.next();
        let is_within_list = self.brackets.is_within_list();
        if let Sign::Mark(mark) = sign {
            if is_within_list && self.may_be_closed_before(mark) {
                return Some(false);
            }
            if let Some(is_rejected) = self.brackets.take(mark) {
                return Some(is_rejected);
            }
        }
        self.is_behind_word = matches!(sign, Sign::Word(_));
        self.place = match sign {
            Sign::Broken => return Some(true),
            Sign::Unsure | Sign::Word("export") => return Some(false),
            Sign::Word(word) if is_special(word) => Place::Unsure,
            Sign::Word(_) | Sign::Number | Sign::Text
                if is_within_list && self.place == Place::Value =>
            {
                return Some(true);
            }
            Sign::Word(word) => match (self.place, asks_for(word)) {
                (_, AwaitedToken::Anything) | (Place::Operator, AwaitedToken::Bracket(_)) => {
                    Place::Value
                }
                (Place::Operator | Place::Unsure, _) => return Some(false),
                (_, next) => return Some(self.is_missing(next)),
            },
            Sign::Number | Sign::Text | Sign::Template | Sign::Mark(b')' | b']') => Place::Value,
            Sign::Mark(b';') => Place::Statement,
            Sign::Mark(b'}') => Place::Brace,
            // Of a label, an object, `++`.
            Sign::Mark(b'{' | b':' | b'+' | b'-') => Place::Unsure,
            Sign::Mark(_) => Place::Operator,
        };
        None
    }

    /// Whether the parser may insert the list's closing bracket before a mark, which is one that can follow a list but
    /// not be in it.
    fn may_be_closed_before(&self, mark: u8) -> bool {
        match mark {
            b';' | b':' => true,
            b'=' => !self.is_behind_word,
            b'{' => self.place == Place::Value,
            _ => false,
        }
    }

    /// Whether the required token does not come next.
    fn is_missing(&mut self, next: AwaitedToken) -> bool {
        let sign = self.signs.next();
        match (next, sign) {
            (AwaitedToken::Anything, _)
            | (AwaitedToken::Function, Sign::Mark(b'*'))
            | (AwaitedToken::Class, Sign::Word("extends")) => false,
            (AwaitedToken::Bracket(bracket), sign) => sign.is_not(bracket),
            (AwaitedToken::Function, Sign::Word(_)) => self.signs.next().is_not(b'('),
            (AwaitedToken::Function, sign) => sign.is_not(b'('),
            (AwaitedToken::Class, Sign::Word(_)) => match self.signs.next() {
                Sign::Word("extends") => false,
                sign => sign.is_not(b'{'),
            },
            (AwaitedToken::Class, sign) => sign.is_not(b'{'),
            (AwaitedToken::Import, Sign::Word(_)) => match self.signs.next() {
                Sign::Word("from") => false,
                Sign::Mark(b',') => {
                    matches!(self.signs.next(), Sign::Word(_) | Sign::Number | Sign::Text)
                }
                sign => sign.is_not(b','),
            },
            (AwaitedToken::Import, _) => false,
        }
    }
}

/// The token required after a word that starts a statement.
#[derive(Clone, Copy)]
enum AwaitedToken {
    Anything,
    Bracket(u8),
    /// `name(` or `(`.
    Function,
    /// `Name {` or `{`.
    Class,
    /// `name from`, `name, {`, and forms left to the parser.
    Import,
}

fn asks_for(word: &str) -> AwaitedToken {
    match word {
        "for" | "if" | "while" | "with" | "switch" => AwaitedToken::Bracket(b'('),
        "try" => AwaitedToken::Bracket(b'{'),
        "function" => AwaitedToken::Function,
        "class" => AwaitedToken::Class,
        "import" => AwaitedToken::Import,
        _ => AwaitedToken::Anything,
    }
}

/// Other keywords, except those that are values.
#[rustfmt::skip]
fn is_special(word: &str) -> bool {
    matches!(
        word,
        "as" | "async" | "await" | "break" | "case" | "catch" | "const" | "continue" | "debugger" | "default"
            | "delete" | "do" | "else" | "extends" | "finally" | "from" | "get" | "in" | "instanceof" | "let" | "meta"
            | "new" | "of" | "return" | "set" | "static" | "super" | "target" | "throw" | "typeof" | "undefined"
            | "var" | "void" | "yield"
    )
}
