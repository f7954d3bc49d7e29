//! Formulas in texts: TeX between delimiters becomes `MathML`; everything else stays text.
//!
//! [`spans`] splits a text, and the crate `pulldown-latex` renders each formula. A formula that it does not know or
//! renders wrongly stays as source. Texts are hostile input: formulas are limited in length, must not define commands,
//! and the output is rewritten by [`plain`], which accepts only known elements and attributes of `MathML`.

#[cfg(feature = "math")]
mod formula;
#[cfg(feature = "math")]
mod plain;
mod spans;
#[cfg(all(test, feature = "math"))]
mod tests;
#[cfg(feature = "math")]
mod usual;

use serde::ser::{Serialize, SerializeMap as _, Serializer};

/// A part of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum ReviewPart<'a> {
    /// Text, including formulas that cannot be rendered.
    Text {
        /// The source text.
        text: &'a str,
    },
    /// A formula.
    Formula {
        /// The source, with its delimiters.
        tex: &'a str,
        /// One element `math` of well-formed XML that contains only `MathML`.
        mathml: String,
        /// Whether it is a display formula.
        display: bool,
    },
}

impl Serialize for ReviewPart<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Text { text } => {
                let mut map = serializer.serialize_map(Some(1))?;
                map.serialize_entry("text", text)?;
                map.end()
            }
            Self::Formula {
                tex,
                mathml,
                display,
            } => {
                let mut map = serializer.serialize_map(Some(3))?;
                map.serialize_entry("tex", tex)?;
                map.serialize_entry("mathml", mathml)?;
                map.serialize_entry("display", display)?;
                map.end()
            }
        }
    }
}

/// The parts of a text, in order; concatenated, they are the text.
pub(super) fn parts(text: &str) -> Vec<ReviewPart<'_>> {
    let spans = spans::spans(text);
    let rendered = rendered(text, &spans);
    let mut parts = Vec::new();
    let mut from = 0;
    for (span, mathml) in spans.iter().zip(rendered) {
        let Some(mathml) = mathml else {
            continue;
        };
        if from < span.whole.start {
            parts.push(ReviewPart::Text {
                text: &text[from..span.whole.start],
            });
        }
        from = span.whole.end;
        parts.push(ReviewPart::Formula {
            tex: &text[span.whole.clone()],
            mathml,
            display: span.display,
        });
    }
    if from < text.len() || parts.is_empty() {
        parts.push(ReviewPart::Text {
            text: &text[from..],
        });
    }
    parts
}

#[cfg(feature = "math")]
fn rendered(text: &str, spans: &[spans::FormulaSpan]) -> Vec<Option<String>> {
    /// The stack for parsing. Nesting is limited by the length of a formula, and this is enough for it in any build.
    const STACK: usize = 64 << 20;
    if spans.is_empty() {
        return Vec::new();
    }
    let all = || {
        spans
            .iter()
            .map(|span| formula::mathml(&text[span.inner.clone()], span.display))
    };
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(STACK);
        let rendered = thread.spawn_scoped(scope, || all().collect());
        let rendered = rendered.ok().and_then(|thread| thread.join().ok());
        rendered.unwrap_or_default()
    })
}

/// Without the feature, formulas are not rendered.
#[cfg(not(feature = "math"))]
fn rendered(_: &str, _: &[spans::FormulaSpan]) -> Vec<Option<String>> {
    Vec::new()
}
