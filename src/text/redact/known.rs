//! `KnownSecrets`: finds known values in a text, in any of several encodings.
//!
//! A value is searched verbatim, line by line, in hex and in base64, once or twice; [`views`] remove the escapes and
//! separators of JSON, addresses, pages, line ends, colours and byte dumps. In base64 three bytes become four characters,
//! so a value looks different after `user:`. Hence there are three base64 forms, without the characters that depend on the
//! bytes around the value, and three of each of them.

use std::collections::{BTreeMap, HashMap};
use std::ops::Range;

use aho_corasick::{AhoCorasick, MatchKind};

use super::views;
use super::{ELLIPSIS, MIN_PARTIAL, MIN_SECRET};

/// Minimum size of a window for views, in bytes.
const WINDOW: usize = 64 * 1024;
/// At most this many bytes stand for one: `\\u0041`, and a line end.
const MARKED: usize = 12;
/// This many backslashes stand for one at the maximum depth of views.
const ESCAPED: usize = 1 << views::DEPTH;

/// Finds given values.
#[derive(Debug)]
pub(super) struct KnownSecrets {
    automaton: AhoCorasick,
    /// Indexed by the automaton's patterns.
    forms: Vec<Needle>,
    /// Forms by their first and by their last bytes.
    begins: HashMap<[u8; MIN_PARTIAL], Vec<usize>>,
    ends: HashMap<[u8; MIN_PARTIAL], Vec<usize>>,
    longest: usize,
}

/// A form in which a value may occur in a text.
#[derive(Debug)]
struct Needle {
    text: Vec<u8>,
    /// The index of the value.
    secret: usize,
    /// How many base64 characters before it, and after it, encode a part of it.
    shares: [usize; 2],
}

/// A place where a value was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct KnownPlace {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) secret: usize,
}

impl KnownSecrets {
    /// A finder of the values that are long enough; `None` if none is.
    pub(super) fn new(secrets: &[String]) -> Option<Self> {
        let mut forms: BTreeMap<Vec<u8>, Needle> = BTreeMap::new();
        for (number, secret) in secrets.iter().enumerate() {
            for form in forms_of(secret.trim(), number) {
                forms.entry(form.text.clone()).or_insert(form);
            }
        }
        let forms: Vec<Needle> = forms.into_values().collect();
        if forms.is_empty() {
            return None;
        }
        // Prefers the longest, so that a secret that contains another is blanked whole.
        let automaton = AhoCorasick::builder()
            .match_kind(MatchKind::LeftmostLongest)
            .build(forms.iter().map(|form| &form.text))
            .ok()?;
        let (mut begins, mut ends) = (HashMap::new(), HashMap::new());
        for (number, form) in forms.iter().enumerate() {
            let numbers = |map: &mut HashMap<_, Vec<_>>, piece: Option<&[u8; MIN_PARTIAL]>| {
                let piece = piece.copied();
                piece.map(|piece| map.entry(piece).or_default().push(number))
            };
            numbers(&mut begins, form.text.first_chunk());
            numbers(&mut ends, form.text.last_chunk());
        }
        Some(Self {
            automaton,
            longest: forms.iter().map(|form| form.text.len()).max().unwrap_or(0),
            forms,
            begins,
            ends,
        })
    }

    /// The places of values, in order and without overlaps.
    pub(super) fn find(&self, text: &str) -> Vec<KnownPlace> {
        let mut found = Vec::new();
        self.find_in(text.as_bytes(), &mut |place| found.push(place));
        for (start, part) in windows(text, self.longest * MARKED) {
            views::each(part, &mut |view| {
                let given = |place: KnownPlace| KnownPlace {
                    start: text.floor_char_boundary(start + view.places[place.start].0),
                    end: text.ceil_char_boundary(start + view.places[place.end - 1].1),
                    ..place
                };
                self.find_in(&view.bytes, &mut |place| found.push(given(place)));
            });
        }
        found.sort_unstable();
        let mut apart: Vec<KnownPlace> = Vec::new();
        for place in found {
            match apart.last_mut() {
                Some(last) if place.start < last.end => last.end = last.end.max(place.end),
                _ => apart.push(place),
            }
        }
        apart
    }

    /// Whether a piece of text is part of a value, with nothing around it.
    pub(super) fn is_part(&self, piece: &str) -> bool {
        let piece = piece.trim().as_bytes();
        piece.len() >= MIN_SECRET
            && self.forms.iter().any(|form| {
                let mut windows = form.text.windows(piece.len());
                windows.any(|window| window == piece)
            })
    }

    fn find_in(&self, bytes: &[u8], see: &mut dyn FnMut(KnownPlace)) {
        for hit in self.automaton.find_iter(bytes) {
            let form = &self.forms[hit.pattern().as_usize()];
            let [before, after] = form.shares;
            let holds = |byte: &&u8| byte.is_ascii_alphanumeric() || b"+/-_".contains(byte);
            let before = bytes[..hit.start()].iter().rev().take(before);
            let start = hit.start() - before.take_while(holds).count();
            let after = bytes[hit.end()..].iter().take(after);
            let end = hit.end() + after.take_while(holds).count();
            // Base64 padding.
            let is_base64 = form.shares != [0; 2];
            let fill = bytes[end..]
                .iter()
                .take(2)
                .take_while(|byte| **byte == b'=');
            let end = end + if is_base64 { fill.count() } else { 0 };
            let secret = form.secret;
            see(KnownPlace { start, end, secret });
        }
        let mut behind = 0;
        let mut mark = next_mark(bytes, 0);
        while let Some(at) = mark {
            let after = at + ELLIPSIS.len_utf8();
            mark = next_mark(bytes, after);
            self.partial(bytes, behind..at, see);
            self.ended(bytes, after..mark.unwrap_or(bytes.len()), see);
            behind = after;
        }
    }

    /// Finds the start of a value before a truncation mark, searching back to the previous mark only: so a text full of
    /// marks is searched once, and not once per mark.
    fn partial(&self, bytes: &[u8], piece: Range<usize>, see: &mut dyn FnMut(KnownPlace)) {
        let end = piece.end;
        let from = piece.start.max(end.saturating_sub(self.longest + 6));
        let window = &bytes[from..end];
        let whole = unescaped_end(window);
        let partial = [window.len(), whole].into_iter().find_map(|length| {
            let window = &window[..length];
            (0..length).find_map(|at| {
                let piece = window[at..].first_chunk()?;
                let forms = self.begins.get(piece)?.iter();
                let mut forms = forms.map(|form| &self.forms[*form]);
                let form = forms.find(|form| form.text.starts_with(&window[at..]))?;
                Some((at, form.secret))
            })
        });
        if let Some((at, secret)) = partial {
            let start = from + at;
            see(KnownPlace { start, end, secret });
        }
    }

    /// Finds the end of a value after a truncation mark.
    fn ended(&self, bytes: &[u8], piece: Range<usize>, see: &mut dyn FnMut(KnownPlace)) {
        let start = piece.start;
        let window = &bytes[start..piece.end.min(start + self.longest)];
        let ended = (MIN_PARTIAL..=window.len()).rev().find_map(|length| {
            let piece = window[..length].last_chunk()?;
            let mut forms = self.ends.get(piece)?.iter().map(|form| &self.forms[*form]);
            let form = forms.find(|form| form.text.ends_with(&window[..length]))?;
            Some((length, form.secret))
        });
        if let Some((length, secret)) = ended {
            let end = start + length;
            see(KnownPlace { start, end, secret });
        }
    }
}

/// The position of the next truncation mark.
fn next_mark(bytes: &[u8], from: usize) -> Option<usize> {
    let mut ellipsis = [0; 4];
    let ellipsis = ELLIPSIS.encode_utf8(&mut ellipsis).as_bytes();
    let mut at = from;
    loop {
        at += bytes[at..].iter().position(|byte| *byte == ellipsis[0])?;
        if bytes[at..].starts_with(ellipsis) {
            return Some(at);
        }
        at += 1;
    }
}

/// Splits a long text into windows that overlap by `common` bytes, each with its position, so that views of a very long
/// text take no more memory than those of an answer.
pub(super) fn windows(text: &str, common: usize) -> impl Iterator<Item = (usize, &str)> {
    let step = WINDOW.max(common);
    let mut run = 0;
    (0..text.len().div_ceil(step)).map(move |number| {
        let start = text.floor_char_boundary(number * step);
        // Do not start within an escaped escape: how a run of backslashes is read depends on where the run begins. That
        // is searched no further back than the previous window.
        let last = text.floor_char_boundary(number.saturating_sub(1) * step);
        let slashes = text.as_bytes()[last..start].iter().rev();
        let slashes = slashes.take_while(|byte| **byte == b'\\').count();
        if slashes < start - last || number == 0 {
            run = start - slashes;
        }
        let start = start - (start - run) % ESCAPED;
        let end = text.ceil_char_boundary((number * step + step + common).min(text.len()));
        (start, &text[start..end])
    })
}

/// Where an incomplete escape at the end of a truncated text begins: `%2`, `\u00`, `&am`.
fn unescaped_end(bytes: &[u8]) -> usize {
    let tail = bytes.len().saturating_sub(5);
    let mark = bytes[tail..]
        .iter()
        .rposition(|byte| matches!(byte, b'%' | b'\\' | b'&'));
    mark.map_or(bytes.len(), |mark| tail + mark)
}

/// The forms of a value: whole, and line by line, as logs are shown and truncated by lines.
fn forms_of(whole: &str, secret: usize) -> Vec<Needle> {
    let mut texts = vec![whole.to_owned()];
    if whole.contains('\n') {
        texts.extend(whole.lines().map(|line| line.trim().to_owned()));
        // As in a view without line ends.
        texts.push(whole.lines().map(str::trim_start).collect());
    }
    if whole.contains(' ') {
        // As in web forms.
        texts.push(whole.replace(' ', "+"));
    }
    texts.retain(|text| text.len() >= MIN_SECRET);
    let mut forms = Vec::new();
    for text in texts {
        let bytes = text.as_bytes();
        let mut add = |text: Vec<u8>, shares: [usize; 2]| {
            forms.push(Needle {
                text,
                secret,
                shares,
            });
        };
        add(bytes.to_vec(), [0; 2]);
        let digits = crate::text::hash::hex(bytes);
        add(digits.to_ascii_uppercase().into_bytes(), [0; 2]);
        add(digits.into_bytes(), [0; 2]);
        for (skip, last) in (0..3).flat_map(|skip| [(skip, *b"+/"), (skip, *b"-_")]) {
            let (once, shares) = base64(bytes, skip, last);
            for skip in 0..3 {
                let (twice, own) = base64(&once, skip, last);
                // Four characters for three of those that share.
                let both = [0, 1].map(|side| own[side] + 2 * shares[side]);
                add(twice, both);
            }
            add(once, shares);
        }
    }
    forms
}

/// The base64 of bytes after `skip` others, without the characters that depend on other bytes; and how many
/// characters before and after it depend on these bytes in part.
pub(super) fn base64(bytes: &[u8], skip: usize, last: [u8; 2]) -> (Vec<u8>, [usize; 2]) {
    let letters = (b'A'..=b'Z').chain(b'a'..=b'z').chain(b'0'..=b'9');
    let alphabet: Vec<u8> = letters.chain(last).collect();
    let all: Vec<u8> = std::iter::repeat_n(&0, skip)
        .chain(bytes)
        .copied()
        .collect();
    let bit = |place: usize| usize::from(all[place / 8] >> (7 - place % 8) & 1);
    let (start, end) = (skip * 8, all.len() * 8);
    let letter = |sextet: usize| {
        let bits = (sextet * 6..sextet * 6 + 6).map(bit);
        alphabet[bits.fold(0, |value, bit| value << 1 | bit)]
    };
    let text = (start.div_ceil(6)..end / 6).map(letter).collect();
    (
        text,
        [start % 6, end % 6].map(|rest| usize::from(rest != 0)),
    )
}
