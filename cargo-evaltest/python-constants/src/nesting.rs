//! How deep a text nests, found without recursion before a recursive parser sees it; and on the way what is no Python
//! at a glance, such as prose.

/// Python's tokenizer refuses more open brackets.
const MAX_BRACKETS: usize = 200;

/// Python's parser gives up on deeper trees (its recursion limit, less what the official program has on
/// the stack).
const MAX_DEPTH: usize = 2950;

/// Up to this depth the ordinary stack does.
pub(crate) const SHALLOW: usize = 64;

/// An upper bound of the depth of the syntax tree, or `None` where Python cannot read the text: too deep,
/// brackets that do not match, a string without an end, a sign that Python does not have, two names in a row as in
/// prose, an operator or a brace that cannot follow what is before it.
///
/// Every operator counts as a level until the next comma, so the bound is generous for long sums and exact
/// enough for what people write.
pub(crate) fn depth(text: &str) -> Option<usize> {
    let mut scan = Scan {
        bytes: text.as_bytes(),
        place: 0,
        levels: vec![Level::default()],
        last: Last::Opening,
        depth: 0,
        deepest: 0,
    };
    scan.run()?;
    (scan.levels.len() == 1).then_some(scan.deepest)
}

/// Whether a word is no name anywhere.
#[rustfmt::skip]
pub fn is_keyword(word: &[u8]) -> bool {
    // The shortest and the longest of them.
    (2..=8).contains(&word.len()) && matches!(
        word,
        b"False" | b"None" | b"True" | b"and" | b"as" | b"assert" | b"async" | b"await" | b"break" | b"class"
            | b"continue" | b"def" | b"del" | b"elif" | b"else" | b"except" | b"finally" | b"for" | b"from" | b"global"
            | b"if" | b"import" | b"in" | b"is" | b"lambda" | b"nonlocal" | b"not" | b"or" | b"pass" | b"raise"
            | b"return" | b"try" | b"while" | b"with" | b"yield"
    )
}

/// What was read last, as far as it says what cannot follow. White space and comments change nothing.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Last {
    /// The start, an opening bracket or a comma.
    Opening,
    /// A name or a closing bracket.
    Operand,
    /// A string, which only another string can follow of these.
    Text,
    /// Nothing is concluded from anything else.
    Other,
}

/// What comes next.
#[derive(Clone, Copy)]
enum Next {
    /// A name that is no keyword.
    Name,
    Number,
    Text,
    /// Letters before the quote of a string.
    Prefix,
    Brace,
    /// An operator that has a side before it.
    Operator,
    /// A sign that Python does not have.
    Foreign,
}

impl Next {
    /// Whether this cannot stand behind what was last.
    fn cannot_follow(self, last: Last) -> bool {
        match self {
            Self::Name | Self::Number | Self::Brace => matches!(last, Last::Operand | Last::Text),
            Self::Text | Self::Prefix => last == Last::Operand,
            Self::Operator => last == Last::Opening,
            Self::Foreign => true,
        }
    }
}

#[derive(Default)]
struct Level {
    open: u8,
    operators: usize,
}

struct Scan<'a> {
    bytes: &'a [u8],
    place: usize,
    levels: Vec<Level>,
    last: Last,
    /// Open brackets, and the operators of each level.
    depth: usize,
    deepest: usize,
}

impl Scan<'_> {
    fn run(&mut self) -> Option<()> {
        while let Some(&byte) = self.bytes.get(self.place) {
            self.place += 1;
            match byte {
                b'(' | b'[' | b'{' => self.open(byte)?,
                b')' | b']' | b'}' => self.close(byte)?,
                b',' => {
                    if let Some(level) = self.levels.last_mut() {
                        self.depth -= level.operators;
                        level.operators = 0;
                    }
                    self.last = Last::Opening;
                }
                b'#' => {
                    let rest = &self.bytes[self.place..];
                    self.place += rest.iter().position(|&b| b == b'\n').unwrap_or(rest.len());
                }
                b'\'' | b'"' if self.cannot_be(Next::Text) => return None,
                b'\'' | b'"' => self.string(byte)?,
                b'a'..=b'z' | b'A'..=b'Z' | b'_' | 0x80.. => self.word()?,
                b'0'..=b'9' if self.cannot_be(Next::Number) => return None,
                b'<' | b'>' | b'=' | b'|' | b'&' | b'^' | b'%'
                    if self.cannot_be(Next::Operator) =>
                {
                    return None;
                }
                b'+' | b'-' | b'*' | b'/' | b'%' | b'@' | b'&' | b'|' | b'^' | b'~' | b'<'
                | b'>' | b'=' | b'!' | b'.' => self.operator()?,
                b'`' | b'$' | b'?' if self.cannot_be(Next::Foreign) => return None,
                b' ' | b'\n' | b'\t' => {}
                _ => self.last = Last::Other,
            }
        }
        Some(())
    }

    fn deeper(&mut self) -> Option<()> {
        self.depth += 1;
        self.deepest = self.deepest.max(self.depth);
        (self.depth <= MAX_DEPTH).then_some(())
    }

    fn cannot_be(&self, next: Next) -> bool {
        next.cannot_follow(self.last)
    }

    fn operator(&mut self) -> Option<()> {
        self.last = Last::Other;
        self.levels.last_mut()?.operators += 1;
        self.deeper()
    }

    fn open(&mut self, open: u8) -> Option<()> {
        if open == b'{' && self.cannot_be(Next::Brace) {
            return None;
        }
        self.last = Last::Opening;
        let level = Level { open, operators: 0 };
        self.levels.push(level);
        (self.levels.len() <= MAX_BRACKETS + 1).then_some(())?;
        self.deeper()
    }

    fn close(&mut self, close: u8) -> Option<()> {
        let level = self.levels.pop()?;
        let fits = matches!(
            (level.open, close),
            (b'(', b')') | (b'[', b']') | (b'{', b'}')
        );
        if !fits {
            return None;
        }
        self.depth -= level.operators + 1;
        // `f()()()` is one level for each pair.
        self.operator()?;
        self.last = Last::Operand;
        Some(())
    }

    /// A name, a keyword, or the prefix of a string.
    fn word(&mut self) -> Option<()> {
        let start = self.place - 1;
        let rest = &self.bytes[self.place..];
        let is_word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80;
        self.place += rest.iter().position(|&b| !is_word(b)).unwrap_or(rest.len());
        let word = &self.bytes[start..self.place];
        let is_prefix = matches!(self.bytes.get(self.place), Some(b'\'' | b'"'));
        let is_keyword = is_keyword(word);
        // `0xfor x` is `0xf or x`.
        let is_in_number = match self.bytes[..start] {
            [.., digit, b'.'] | [.., digit] => digit.is_ascii_digit(),
            [] => false,
        };
        let next = if is_prefix { Next::Prefix } else { Next::Name };
        if !is_keyword && self.cannot_be(next) {
            return None;
        }
        self.last = if is_keyword || is_prefix || is_in_number {
            Last::Other
        } else {
            Last::Operand
        };
        if let Some(&quote @ (b'\'' | b'"')) = self.bytes.get(self.place)
            && word.len() <= 2
            && word
                .iter()
                .any(|byte| matches!(byte, b'f' | b'F' | b't' | b'T'))
        {
            self.place += 1;
            return self.interpolated(quote);
        }
        match word {
            b"not" | b"lambda" | b"if" | b"else" | b"await" | b"yield" | b"or" | b"and" | b"in"
            | b"is" | b"for" | b"async" => self.operator(),
            _ => Some(()),
        }
    }

    /// Skips a string of which the opening quote is read.
    fn string(&mut self, quote: u8) -> Option<()> {
        self.last = Last::Text;
        let triple = self.bytes[self.place..].starts_with(&[quote, quote]);
        if triple {
            self.place += 2;
        }
        loop {
            let byte = *self.bytes.get(self.place)?;
            self.place += 1;
            match byte {
                b'\\' => self.place += 1,
                b'\n' if !triple => return None,
                byte if byte == quote => {
                    if !triple {
                        return Some(());
                    }
                    if self.bytes[self.place..].starts_with(&[quote, quote]) {
                        self.place += 2;
                        return Some(());
                    }
                }
                _ => {}
            }
        }
    }

    /// A string whose braces hold expressions: each of its bytes that could nest counts.
    fn interpolated(&mut self, quote: u8) -> Option<()> {
        let start = self.place;
        self.string(quote)?;
        let inside = &self.bytes[start..self.place];
        let counts = |byte: &&u8| !byte.is_ascii_alphanumeric() && !byte.is_ascii_whitespace();
        let nested = inside.iter().filter(counts).count();
        let brackets = |byte: &&u8| matches!(byte, b'(' | b'[' | b'{');
        if inside.iter().filter(brackets).count() > MAX_BRACKETS {
            return None;
        }
        self.depth += nested;
        self.levels.last_mut()?.operators += nested;
        self.deepest = self.deepest.max(self.depth);
        (self.depth <= MAX_DEPTH).then_some(())
    }
}

#[cfg(test)]
mod tests {
    use super::depth;
    use crate::parse::parse_to;

    fn check(text: &str, expect: Option<usize>) {
        assert_eq!(depth(text), expect, "{text}");
    }

    #[test]
    fn depth_of_texts() {
        check("f", Some(0));
        check("f(a)", Some(1));
        check("f(a=1, b=2)", Some(2));
        check("f(a=-1, b=--2)", Some(4));
        check("'((((' \"]]]\" # ((\n", Some(0));
        check("'''\n'' ((\n'''", Some(0));
        check("r'\\' ('", Some(0));
        check("not not x if y else z", Some(4));
        check("f(()", None);
        check("f(]", None);
        check(")", None);
        check("'a\n'", None);
        check("\"\"\"a\"", None);
        check("'`$?' # `$?\n", Some(0));
        check("f(a)\n```\n", None);
        check("$x", None);
        check("a?", None);
        check(
            &format!("{}{}", "[".repeat(200), "]".repeat(200)),
            Some(200),
        );
        check(&format!("{}{}", "[".repeat(201), "]".repeat(201)), None);
        check(&"-".repeat(3000), None);
        check(&"()".repeat(3000), None);
        check(&"-1,".repeat(3000), Some(1));
        check(&format!("f'{}'", "{x}".repeat(201)), None);
    }

    #[rustfmt::skip]
    #[test]
    fn what_cannot_follow() {
        for text in [
            "I am", "a 'x'", "a 5", "a {", "f() g", "f() {", "x[0] 'y'", "'x' y", "'x' 5", "'x' {", "<a", "[<a>]",
            "f(=1)", "f(a, =1)", "{&}", "a # b\nc", "a\nb", "a b'x'", "type x", "é b", "a é", "a.b c", "I'm", "f'x' y",
        ] {
            check(text, None);
        }
        for text in [
            "a if b else c", "a in b", "not a", "a is not b", "lambda a: b", "'a' 'b'", "'a' b'c'", "1 if a else 0",
            "0xfor x", "1.e5or x", "1_000", "1e5", "(a)(b)[c]", "[*a, **b]", "{'a': {'b': {}}}", "f(a, -1, ~b)",
            "a\\\nb", "[x async for x in y]", "'x'if a else'y'", "a\x0c.b", "1if a else 2", "f'{x}' 'y'",
        ] {
            assert!(depth(text).is_some(), "{text}");
        }
    }

    #[rustfmt::skip]
    const WORDS: &[&str] = &[
        "a ", "b", " or ", "if ", "else ", "for ", "in ", "not ", "lambda ", "is ", "1", "0xf", "1.", ".5", "1e5", "5j",
        "'x'", "\"y\"", "b'z'", "f'{a}'", "f'{a!r:>{b}}'", "r'\\'", "'''", "(", ")", "[", "]", "{", "}", ", ", ":", "=",
        " ", "\n", "\\\n", "\t", "\x0c", "#c\n", "*", "**", "+", "-", "~", "<", ">", "/", "%", "&", "|", "^", "@", "!=",
        ".", "...", ":=", "é", "_", "type ", "match ", "await ", "async ", "yield ", "None", "True ", "f(", "a=1", ";",
    ];

    #[rustfmt::skip]
    const EXPRESSIONS: &[&str] = &[
        "a", "1", "'x'", "f(a=1)", "[a, 'b']", "{'a': 1}", "{a}", "(a, 1)", "-a", "a if b else c", "f'{a}'", "b.c", "a[1:]",
    ];

    /// Expressions side by side, in brackets or not.
    fn text(dice: &mut Dice) -> String {
        let mut text = String::new();
        for _ in 0..=dice.below(4) {
            let pieces = [WORDS, EXPRESSIONS][dice.below(2)];
            text.push_str(pieces[dice.below(pieces.len())]);
            text.push_str(["", " ", ", ", " or "][dice.below(4)]);
        }
        if dice.below(2) > 0 {
            text = format!("[{text}]");
        }
        text
    }

    /// `EVALTEST_FUZZ_CASES=1000000` makes it a million.
    #[test]
    fn what_is_refused_is_no_python() {
        let cases = std::env::var("EVALTEST_FUZZ_CASES").map(|cases| cases.parse().unwrap());
        let (mut read, mut refused, all) = (0, 0, cases.unwrap_or(1_000));
        let mut dice = Dice(0x9e37_79b9_7f4a_7c15);
        for _ in 0..all {
            let text = text(&mut dice);
            let is_read = parse_to(0, &text, &|_, _| Ok(())).is_ok();
            read += u64::from(is_read);
            if depth(&text).is_none() {
                refused += 1;
                assert!(!is_read, "{text:?}");
            }
        }
        assert!(read > all / 20 && refused > all / 20);
    }

    /// Random numbers: Xorshift.
    struct Dice(u64);

    impl Dice {
        fn below(&mut self, end: usize) -> usize {
            self.0 ^= self.0 << 13;
            self.0 ^= self.0 >> 7;
            self.0 ^= self.0 << 17;
            usize::try_from(self.0 >> 33).unwrap() % end
        }
    }
}
