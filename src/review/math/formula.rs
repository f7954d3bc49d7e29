//! Renders one TeX formula to `MathML` by the crate `pulldown-latex`.

use pulldown_latex::config::{DisplayMode, RenderConfig};
use pulldown_latex::event::{Content, Dimension, DimensionUnit, Event};
use pulldown_latex::{Parser, Storage, push_mathml};

use super::plain::plain;
use super::usual::{lines, usual};
use crate::printable::is_unseen;
use crate::system::panics;

/// The most events; no real formula of that length has more.
const MOST_EVENTS: usize = 20_000;

/// Commands that define others: a short text could expand to a huge one.
const DEFINING: &[&str] = &[
    "\\def",
    "\\edef",
    "\\gdef",
    "\\xdef",
    "\\let",
    "\\futurelet",
    "\\newcommand",
    "\\renewcommand",
    "\\providecommand",
];

/// The rendered formula; `None` if it is not valid.
pub(super) fn mathml(tex: &str, display: bool) -> Option<String> {
    let is_odd = |c: char| is_unseen(c) && !c.is_ascii_whitespace() || is_private(c);
    if tex.contains(is_odd) || DEFINING.iter().any(|command| tex.contains(command)) {
        return None;
    }
    let tex = usual(tex);
    let read = |tex: &str| panics::catch(|| rendered(tex, display)).ok().flatten();
    read(&tex).or_else(|| read(&lines(&tex)?))
}

/// Private-use characters, whose meaning depends on a font.
fn is_private(c: char) -> bool {
    matches!(c, '\u{e000}'..='\u{f8ff}' | '\u{f0000}'..)
}

fn rendered(tex: &str, display: bool) -> Option<String> {
    let storage = Storage::new();
    let mut events = Vec::new();
    for event in Parser::new(tex, &storage) {
        events.push(writable(event.ok()?)?);
        if events.len() > MOST_EVENTS {
            return None;
        }
    }
    let mode = if display {
        DisplayMode::Block
    } else {
        DisplayMode::Inline
    };
    let config = RenderConfig {
        display_mode: mode,
        xml: true,
        ..RenderConfig::default()
    };
    let mut written = String::new();
    let events = events.into_iter().map(Ok::<_, std::convert::Infallible>);
    push_mathml(&mut written, events, config).ok()?;
    plain(&written)
}

/// An event that is safe to write; the crate does not escape some of them.
fn writable(event: Event<'_>) -> Option<Event<'_>> {
    match event {
        // `\ ` would be displayed as the name of an entity.
        Event::Content(Content::Text("&nbsp;")) => Some(Event::Space {
            width: Some(Dimension::new(0.3, DimensionUnit::Em)),
            height: None,
            depth: None,
        }),
        // The crate does not escape operator names.
        Event::Content(Content::Function(name)) if name.contains(['<', '>', '&', '"']) => None,
        event => Some(event),
    }
}
