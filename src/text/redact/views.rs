//! `View`: a text as a reader may decode it, with positions in the original text.
//!
//! A secret has `\"` for `"` in JSON, `%2F` for `/` in an address, `&amp;` for `&` on a page, and a tool may have broken it
//! into lines or coloured it. Instead of searching all spellings, the plain value is searched in the decoded text.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::ops::Range;

/// How many layers are decoded: JSON may contain JSON, as in the arguments of a tool call in an agent's reply.
pub(super) const DEPTH: usize = 4;
/// The maximum number of views of a text.
const MOST: usize = 16;

/// A decoded text.
pub(super) struct View {
    pub(super) bytes: Vec<u8>,
    /// For each byte, the start and end of its source in the original text.
    pub(super) places: Vec<(usize, usize)>,
}

/// A decoder: if the bytes start with an escape, its length and what it stands for.
type TakeOff = fn(&[u8]) -> Option<(usize, Plain)>;

/// What an escape stands for.
enum Plain {
    Nothing,
    Byte(u8),
    Char(char),
}

/// Passes each view of a text to `see`, but not the text itself. Only views nested in each other exist at the same
/// time.
pub(super) fn each(text: &str, see: &mut dyn FnMut(&View)) {
    let is_mark = |byte: &u8| matches!(*byte, b'\\' | b'%' | b'&' | b'\n' | b'\r' | ESC);
    let bytes = text.as_bytes();
    if bytes.iter().any(is_mark) || HexRun::next(bytes, 0).is_some() {
        let raw = View {
            bytes: text.into(),
            places: (0..text.len()).map(|at| (at, at + 1)).collect(),
        };
        raw.each_below(DEPTH, &mut Seen::default(), see);
    }
}

/// The views of a text so far: hashes of them with the layers left below. `%2F\n` and `\n%2F` lead to the same one.
#[derive(Default)]
struct Seen(HashMap<u64, usize>);

impl Seen {
    /// Adds a view; `false` if it was there with as many layers left.
    fn add(&mut self, view: &View, depth: usize) -> bool {
        let mut hasher = DefaultHasher::new();
        view.bytes.hash(&mut hasher);
        let before = self.0.entry(hasher.finish()).or_insert(0);
        let is_new = *before < depth;
        *before = depth.max(*before);
        is_new
    }

    fn is_full(&self) -> bool {
        self.0.len() >= MOST
    }
}

impl View {
    fn each_below(&self, depth: usize, seen: &mut Seen, see: &mut dyn FnMut(&Self)) {
        // Not decoded further.
        if let Some(view) = self.unseparated() {
            see(&view);
        }
        let readers: [TakeOff; 4] = [escape, percent, entity, layout];
        for reader in readers {
            if depth == 0 || seen.is_full() {
                return;
            }
            if let Some(view) = self.read(reader)
                && seen.add(&view, depth)
            {
                see(&view);
                view.each_below(depth - 1, seen, see);
            }
        }
    }

    /// Removes the separators between hex bytes, if any: `73:33:63`, `73 33 63`, `0x73, 0x33, 0x63`.
    fn unseparated(&self) -> Option<Self> {
        let mut run = HexRun::next(&self.bytes, 0)?;
        let (mut bytes, mut places) = (Vec::new(), Vec::new());
        let mut at = 0;
        loop {
            // Keep the text between two runs: it need not be part of a value, and may be a truncation mark.
            bytes.extend(&self.bytes[at..run.start]);
            places.extend(&self.places[at..run.start]);
            for digits in &run.digits {
                bytes.extend(&self.bytes[digits.clone()]);
                places.extend(&self.places[digits.clone()]);
            }
            at = run.end;
            match HexRun::next(&self.bytes, at) {
                Some(next) => run = next,
                None => break,
            }
        }
        bytes.extend(&self.bytes[at..]);
        places.extend(&self.places[at..]);
        Some(Self { bytes, places })
    }

    /// The view that a decoder makes of it, if that differs.
    fn read(&self, reader: TakeOff) -> Option<Self> {
        let (mut bytes, mut places) = (Vec::new(), Vec::new());
        let mut at = 0;
        let mut has_changed = false;
        while at < self.bytes.len() {
            let Some((length, plain)) = reader(&self.bytes[at..]) else {
                bytes.push(self.bytes[at]);
                places.push(self.places[at]);
                at += 1;
                continue;
            };
            if !has_changed {
                has_changed = true;
                bytes.reserve(self.bytes.len());
                places.reserve(self.bytes.len());
            }
            match plain {
                Plain::Nothing => {}
                Plain::Byte(byte) => bytes.push(byte),
                Plain::Char(c) => bytes.extend(c.encode_utf8(&mut [0; 4]).as_bytes()),
            }
            let place = (self.places[at].0, self.places[at + length - 1].1);
            places.resize(bytes.len(), place);
            at += length;
        }
        has_changed.then_some(Self { bytes, places })
    }
}

/// Escapes of JSON, and those used to show a text on one line, in octal too.
fn escape(bytes: &[u8]) -> Option<(usize, Plain)> {
    let rest = bytes.strip_prefix(b"\\")?;
    let plain = match *rest.first()? {
        b'n' => b'\n',
        b't' => b'\t',
        b'r' => b'\r',
        b'b' => 8,
        b'f' => 12,
        byte @ (b'"' | b'\'' | b'\\' | b'/') => byte,
        b'x' => return Some((4, Plain::Byte(u8::try_from(hex(rest.get(1..3)?)?).ok()?))),
        b'u' => return unicode(&rest[1..]),
        b'0'..=b'3' => return octal(rest),
        _ => return None,
    };
    Some((2, Plain::Byte(plain)))
}

/// The part after `\u`: `00e9`, `d83d\ude00`, `{e9}`.
fn unicode(rest: &[u8]) -> Option<(usize, Plain)> {
    if let Some(inner) = rest.strip_prefix(b"{") {
        let end = inner.iter().take(7).position(|byte| *byte == b'}')?;
        let c = char::from_u32(hex(&inner[..end])?)?;
        return Some((2 + 2 + end, Plain::Char(c)));
    }
    let first = hex(rest.get(..4)?)?;
    if let Some(c) = char::from_u32(first) {
        return Some((6, Plain::Char(c)));
    }
    let low = rest.get(4..10)?.strip_prefix(b"\\u")?;
    let pair = [u16::try_from(first).ok()?, u16::try_from(hex(low)?).ok()?];
    let c = char::decode_utf16(pair).next()?.ok()?;
    Some((12, Plain::Char(c)))
}

/// The part after the backslash: `057`, as in C and git, or `0057`, as `echo` takes it. What is longer in the second form
/// is no character in the first.
fn octal(rest: &[u8]) -> Option<(usize, Plain)> {
    let number = |digits: &[u8]| {
        let digits = std::str::from_utf8(digits).ok();
        u8::from_str_radix(digits.filter(|text| !text.starts_with('+'))?, 8).ok()
    };
    let of_echo = rest.get(..4).filter(|digits| digits[0] == b'0');
    if let Some(byte) = of_echo.and_then(number).filter(|byte| *byte >= b' ') {
        return Some((5, Plain::Byte(byte)));
    }
    Some((4, Plain::Byte(number(rest.get(..3)?)?)))
}

/// `&amp;`, `&#38;`, `&#x26;`: the characters that HTML and XML escape, and any by its number.
fn entity(bytes: &[u8]) -> Option<(usize, Plain)> {
    let rest = bytes.strip_prefix(b"&")?;
    let name = &rest[..rest.iter().take(10).position(|byte| *byte == b';')?];
    let plain = match name {
        b"amp" => '&',
        b"lt" => '<',
        b"gt" => '>',
        b"quot" => '"',
        b"apos" => '\'',
        [b'#', b'x' | b'X', digits @ ..] => char::from_u32(hex(digits)?)?,
        [b'#', digits @ ..] if digits.iter().all(u8::is_ascii_digit) => {
            char::from_u32(std::str::from_utf8(digits).ok()?.parse().ok()?)?
        }
        _ => return None,
    };
    Some((name.len() + 2, Plain::Char(plain)))
}

/// `%2F`.
fn percent(bytes: &[u8]) -> Option<(usize, Plain)> {
    let digits = bytes.strip_prefix(b"%")?.get(..2)?;
    Some((3, Plain::Byte(u8::try_from(hex(digits)?).ok()?)))
}

/// Longer codes are text.
const LONGEST_CODE: usize = 32;
/// Starts the codes of a terminal.
const ESC: u8 = 0x1b;

/// A line end with the next line's indentation: base64 comes in lines of 64 or 76 characters. `\r` alone counts too, as
/// it returns a terminal to the start of the line. Colours and the other codes of a terminal that begin with `ESC [`.
fn layout(bytes: &[u8]) -> Option<(usize, Plain)> {
    let end = match bytes {
        [b'\r', b'\n', ..] => 2,
        [b'\r' | b'\n', ..] => 1,
        [ESC, b'[', code @ ..] => {
            let is_parameter = |byte: &&u8| matches!(byte, b' '..=b'?');
            let parameters = code.iter().take(LONGEST_CODE);
            let parameters = parameters.take_while(is_parameter).count();
            let last = code.get(parameters)?;
            let is_code = matches!(last, b'@'..=b'~');
            return is_code.then_some((parameters + 3, Plain::Nothing));
        }
        _ => return None,
    };
    let blank = |byte: &&u8| matches!(byte, b' ' | b'\t');
    let indent = bytes[end..].iter().take_while(blank).count();
    Some((end + indent, Plain::Nothing))
}

/// Hex bytes with separators.
struct HexRun {
    start: usize,
    end: usize,
    /// The ranges of digits, at least two digits each.
    digits: Vec<Range<usize>>,
}

impl HexRun {
    /// Fewer pieces are words: `be added`.
    const LEAST: usize = 3;

    /// The first run from `from` on.
    fn next(bytes: &[u8], from: usize) -> Option<Self> {
        let mut at = from;
        loop {
            at += bytes[at..].iter().position(u8::is_ascii_hexdigit)?;
            let Some(first) = piece(bytes, at) else {
                at += 1;
                continue;
            };
            let mut digits = vec![first.clone()];
            let mut end = first.end;
            while let Some(next) = separated(bytes, end) {
                end = next.end;
                digits.push(next);
            }
            if digits.len() >= Self::LEAST {
                let start = first.start;
                return Some(Self { start, end, digits });
            }
            at = end;
        }
    }
}

/// The digits of whole bytes at this position, after `0x` if there is one.
fn piece(bytes: &[u8], at: usize) -> Option<Range<usize>> {
    let is_prefixed = matches!(bytes.get(at..at + 2), Some(b"0x" | b"0X"));
    let start = at + if is_prefixed { 2 } else { 0 };
    let is_digit = |byte: &&u8| byte.is_ascii_hexdigit();
    let length = bytes[start..].iter().take_while(is_digit).count();
    // An odd digit belongs to what is before it.
    let start = start + length % 2;
    (length >= 2).then(|| start..start - length % 2 + length)
}

/// The digits after a separator between bytes: one character, or a comma and a space.
fn separated(bytes: &[u8], at: usize) -> Option<Range<usize>> {
    let is_between = |byte: &&u8| b" \t:,;.-_|/".contains(byte);
    let length = bytes[at..].iter().take(2).take_while(is_between).count();
    (length > 0).then(|| piece(bytes, at + length)).flatten()
}

fn hex(digits: &[u8]) -> Option<u32> {
    let is_hex = !digits.is_empty() && digits.iter().all(u8::is_ascii_hexdigit);
    let text = std::str::from_utf8(digits).ok().filter(|_| is_hex)?;
    u32::from_str_radix(text, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Vec<View> {
        let mut views = Vec::new();
        each(text, &mut |view| {
            let (bytes, places) = (view.bytes.clone(), view.places.clone());
            views.push(View { bytes, places });
        });
        views
    }

    #[test]
    fn marks_are_removed_and_positions_preserved() {
        let check = |text: &str, expect: &str| {
            let views = of(text);
            let read = |view: &View| String::from_utf8_lossy(&view.bytes).into_owned();
            let view = views.iter().find(|view| read(view) == expect);
            let view = view.unwrap_or_else(|| {
                panic!("{text}: {:?}", views.iter().map(read).collect::<Vec<_>>())
            });
            assert_eq!(view.places.len(), view.bytes.len());
        };
        check(r"a\u00e9\ud83d\ude00\n", "aé😀\n");
        check(r#"\\\"x\\\\\/"#, r#""x\/"#);
        check("%41%2fb%zz", "A/b%zz");
        check("ab\r\n  cd\nef", "abcdef");
        check(r"a\x41\u{1b}\q", "aA\u{1b}\\q");
        check("%5Cu0041", "A");
        check("a\rb\r\rc\r d", "abcd");
        check("is 73:33:63", "is 733363");
        check("(73 33  6364)", "(73336364)");
        check("{0x73, 0x33, 0x63}", "{0x733363}");
        check("73%3A33%3A63", "733363");
        check("73:33:\n  63:64", "73336364");
        check(r"\101\0101\0401\303\251\08", "AA 1é\\08");
        check("&lt;a&amp;b&#39;&#x26;&quot;&no;&", "<a&b'&\"&no;&");
        check("&amp;amp;", "&");
        check("\x1b[1;31ma\x1b[0mb\x1b[Kc\x1b[", "abc\x1b[");
        check(r"\u001b[31ma\u001b[mb", "ab");
        check("%26lt;\n\\u002f", "</");
        assert!(of("plain").is_empty());
        assert!(of(r"\q %z").is_empty());
        assert!(of("to be added, at 10:30 or 9:5:7").is_empty());
        for text in [
            "\\",
            "\\u",
            "\\u{",
            "\\ud83d",
            "\\ud83d\\u",
            "%",
            "%4",
            "\r\n",
            "\\x4",
            "\\0",
            "\\12",
            "&",
            "&#",
            "&#x;",
            "&#99999999;",
            "\x1b[",
        ] {
            of(text);
        }
    }
}
