//! How deep a text nests, found without recursion before a recursive parser sees it.

/// Python's tokenizer refuses more open brackets.
const MAX_BRACKETS: usize = 200;

/// Python's parser gives up on deeper trees (its recursion limit, less what the official program has on
/// the stack).
const MAX_DEPTH: usize = 2950;

/// Up to this depth the ordinary stack does.
pub(super) const SHALLOW: usize = 64;

/// An upper bound of the depth of the syntax tree, or `None` where Python cannot read the text: too deep,
/// brackets that do not match, a string without an end, a sign that Python does not have.
///
/// Every operator counts as a level until the next comma, so the bound is generous for long sums and exact
/// enough for what people write.
pub(super) fn depth(text: &str) -> Option<usize> {
    if text.len() <= SHALLOW {
        return Some(SHALLOW);
    }
    let mut scan = Scan {
        bytes: text.as_bytes(),
        place: 0,
        levels: vec![Level::default()],
        depth: 0,
        deepest: 0,
    };
    scan.run()?;
    (scan.levels.len() == 1).then_some(scan.deepest)
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
                }
                b'#' => {
                    let rest = &self.bytes[self.place..];
                    self.place += rest.iter().position(|&b| b == b'\n').unwrap_or(rest.len());
                }
                b'\'' | b'"' => self.string(byte)?,
                b'a'..=b'z' | b'A'..=b'Z' | b'_' | 0x80.. => self.word()?,
                b'+' | b'-' | b'*' | b'/' | b'%' | b'@' | b'&' | b'|' | b'^' | b'~' | b'<'
                | b'>' | b'=' | b'!' | b'.' => self.operator()?,
                b'`' | b'$' | b'?' => return None,
                _ => {}
            }
        }
        Some(())
    }

    fn deeper(&mut self) -> Option<()> {
        self.depth += 1;
        self.deepest = self.deepest.max(self.depth);
        (self.depth <= MAX_DEPTH).then_some(())
    }

    fn operator(&mut self) -> Option<()> {
        self.levels.last_mut()?.operators += 1;
        self.deeper()
    }

    fn open(&mut self, open: u8) -> Option<()> {
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
        self.operator()
    }

    /// A name, a keyword, or the prefix of a string.
    fn word(&mut self) -> Option<()> {
        let start = self.place - 1;
        let rest = &self.bytes[self.place..];
        let is_word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80;
        self.place += rest.iter().position(|&b| !is_word(b)).unwrap_or(rest.len());
        let word = &self.bytes[start..self.place];
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

    /// Enough text to be looked at, at no depth.
    const PAD: &str = "'----------------------------------------------------------------------'";

    fn check(text: &str, expect: Option<usize>) {
        let text = format!("{text},{PAD}");
        assert_eq!(depth(&text), expect, "{text}");
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
        check(&"a()".repeat(3000), None);
        check(&"-1,".repeat(3000), Some(1));
        check(&format!("f'{}'", "{x}".repeat(201)), None);
    }
}
