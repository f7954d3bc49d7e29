//! `XmlWriter`: writes `JUnit` files with only valid XML 1.0 characters.
//!
//! Existing crates write U+FFFE and U+FFFF unescaped, which makes the file invalid, and hold all cases in memory.
//! Invisible characters are written as escapes, so that reports contain no terminal colours.

use std::collections::HashSet;
use std::hash::{BuildHasher, RandomState};
use std::io::Write;

use crate::error::Result;
use crate::report::format::unwritten;
use crate::report::formats::ci::CaseCounts;
use crate::text::clean_lines;
use crate::text::hash::Hasher;

/// Maximum bytes of a message, of an element's content, and of other attributes: services slow down or reject longer
/// ones.
const MESSAGE: usize = 4096;

/// The kind of a case's message.
#[derive(Clone, Copy, Debug)]
pub(in crate::report) enum Complaint {
    Failure,
    Error,
    Skipped,
    FlakyFailure,
    FlakyError,
}

impl Complaint {
    fn element(self) -> &'static str {
        match self {
            Self::Failure => "failure",
            Self::Error => "error",
            Self::Skipped => "skipped",
            Self::FlakyFailure => "flakyFailure",
            Self::FlakyError => "flakyError",
        }
    }
}

/// Writes a file of suites.
pub(in crate::report) struct XmlWriter<'a> {
    out: &'a mut dyn Write,
}

impl<'a> XmlWriter<'a> {
    pub(in crate::report) fn new(out: &'a mut dyn Write) -> Self {
        Self { out }
    }

    fn line(&mut self, line: &str) -> Result<()> {
        writeln!(self.out, "{line}").map_err(|error| unwritten(&error))
    }

    pub(in crate::report) fn begin(&mut self, all: &CaseCounts, seconds: f64) -> Result<()> {
        let CaseCounts {
            all,
            failed,
            errored,
            ..
        } = all;
        let seconds = time(seconds);
        self.line("<?xml version=\"1.0\" encoding=\"UTF-8\"?>")?;
        self.line(&format!(
            "<testsuites name=\"evaltest\" tests=\"{all}\" failures=\"{failed}\" errors=\"{errored}\" time=\"{seconds}\">"
        ))
    }

    pub(in crate::report) fn end(&mut self) -> Result<()> {
        self.line("</testsuites>")
    }

    /// Starts a suite, with its start time and duration.
    pub(in crate::report) fn begin_suite(
        &mut self,
        name: &str,
        counts: &CaseCounts,
        times: Option<(&str, f64)>,
    ) -> Result<()> {
        let CaseCounts {
            all,
            failed,
            errored,
            skipped,
        } = counts;
        let name = attribute(name, MESSAGE);
        let times = times.map(|(start, seconds)| {
            let (start, seconds) = (attribute(start, MESSAGE), time(seconds));
            format!(" time=\"{seconds}\" timestamp=\"{start}\"")
        });
        let times = times.unwrap_or_default();
        self.line(&format!(
            "  <testsuite name=\"{name}\" tests=\"{all}\" failures=\"{failed}\" errors=\"{errored}\" \
             skipped=\"{skipped}\"{times}>"
        ))
    }

    pub(in crate::report) fn end_suite(&mut self) -> Result<()> {
        self.line("  </testsuite>")
    }

    /// Writes properties of a suite.
    pub(in crate::report) fn properties(
        &mut self,
        properties: &[(&str, Option<String>)],
    ) -> Result<()> {
        self.line("    <properties>")?;
        for (name, value) in properties {
            if let Some(value) = value {
                let value = attribute(value, MESSAGE);
                self.line(&format!(
                    "      <property name=\"{name}\" value=\"{value}\"/>"
                ))?;
            }
        }
        self.line("    </properties>")
    }

    pub(in crate::report) fn begin_case(
        &mut self,
        group: &str,
        name: &str,
        seconds: Option<f64>,
    ) -> Result<()> {
        let (group, name) = (attribute(group, MESSAGE), attribute(name, MESSAGE));
        let seconds = seconds.map(|seconds| format!(" time=\"{}\"", time(seconds)));
        let seconds = seconds.unwrap_or_default();
        self.line(&format!(
            "    <testcase classname=\"{group}\" name=\"{name}\"{seconds}>"
        ))
    }

    pub(in crate::report) fn end_case(&mut self) -> Result<()> {
        self.line("    </testcase>")
    }

    /// Writes why a case did not pass: a line and details.
    pub(in crate::report) fn complaint(
        &mut self,
        complaint: Complaint,
        kind: &str,
        message: &str,
        more: &str,
    ) -> Result<()> {
        let element = complaint.element();
        let kind = attribute(kind, MESSAGE);
        let message = attribute(message, MESSAGE);
        let more = content(more.trim_end(), MESSAGE);
        self.line(&format!(
            "      <{element} type=\"{kind}\" message=\"{message}\">{more}</{element}>"
        ))
    }

    /// Writes the output of a passed case.
    pub(in crate::report) fn output(&mut self, text: &str) -> Result<()> {
        let text = content(text, MESSAGE);
        self.line(&format!("      <system-out>{text}</system-out>"))
    }
}

/// Makes the names of a suite's cases unique, because services drop duplicates.
#[derive(Default)]
pub(in crate::report) struct SeenNames {
    state: RandomState,
    /// Hashes of the names, to save memory.
    seen: HashSet<u64>,
}

impl SeenNames {
    /// The name, with a hash of the id appended if another case has the name.
    pub(in crate::report) fn unique(&mut self, group: &str, mut name: String, id: &str) -> String {
        if self.seen.contains(&self.state.hash_one((group, &name))) {
            name.push('~');
            name.push_str(&Hasher::default().part(id).short());
        }
        while !self.seen.insert(self.state.hash_one((group, &name))) {
            name.push('~');
        }
        name
    }
}

/// Seconds in Surefire's format.
fn time(seconds: f64) -> String {
    // The sum of no values is -0.
    let is_time = seconds.is_finite() && seconds > 0.0;
    format!("{:.3}", if is_time { seconds } else { 0.0 })
}

/// An escaped one-line text for an attribute.
fn attribute(text: &str, most: usize) -> String {
    escaped(text, most, true)
}

/// An escaped text for an element.
fn content(text: &str, most: usize) -> String {
    escaped(text, most, false)
}

/// Escapes a text, truncated to `most` bytes of output.
fn escaped(text: &str, most: usize, on_one_line: bool) -> String {
    const MORE: &str = "…";
    // Ignore what cannot fit.
    let start = &text[..text.floor_char_boundary(most)];
    let mut written = String::new();
    // Up to here there is room for the ellipsis.
    let mut fits = 0;
    for c in clean_lines(start).chars() {
        match c {
            '&' => written.push_str("&amp;"),
            '<' => written.push_str("&lt;"),
            '>' => written.push_str("&gt;"),
            '"' => written.push_str("&quot;"),
            '\n' if on_one_line => written.push(' '),
            // The only remaining characters that are invalid in XML.
            '\u{fffe}' | '\u{ffff}' => written.extend(c.escape_unicode()),
            c => written.push(c),
        }
        if written.len() > most {
            break;
        }
        if written.len() + MORE.len() <= most {
            fits = written.len();
        }
    }
    if written.len() > most || start.len() < text.len() {
        written.truncate(fits);
        written.push_str(MORE);
    }
    written
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_text_is_xml_and_nothing_but_text() {
        fn check(text: &str, expect: &str) {
            assert_eq!(content(text, 100), expect);
        }
        check("a\nb\tc", "a\nb\\tc");
        check(
            "a]]>b<c d=\"e\">&amp;",
            "a]]&gt;b&lt;c d=&quot;e&quot;&gt;&amp;amp;",
        );
        check("\u{1b}[31m\0\u{7f}", "\\u{1b}[31m\\u{0}\\u{7f}");
        check("\u{fffe}\u{ffff}\u{fffd}", "\\u{fffe}\\u{ffff}\u{fffd}");
        check("x\n::error::y", "x\n\\u{3a}:error::y");
        assert_eq!(attribute("a\nb", 100), "a b");
        // The other planes also have two such characters, which XML allows.
        for c in '\0'..=char::MAX {
            let text = content(&c.to_string(), 100);
            let is_xml = |c: char| matches!(c, '\t' | '\n' | '\r' | ' '..='\u{d7ff}' | '\u{e000}'..='\u{fffd}' | '\u{10000}'..);
            assert!(text.chars().all(is_xml), "{c:?}");
        }
    }

    #[test]
    fn long_text_is_truncated_at_a_char_boundary() {
        fn check(text: &str, most: usize, expect: &str) {
            let written = content(text, most);
            assert!(written.len() <= most, "{written}");
            assert_eq!(written, expect);
        }
        check("abcdef", 6, "abcdef");
        check("abcdefg", 6, "abc…");
        check("ééé", 6, "ééé");
        check("éééé", 6, "é…");
        // Entities are not split.
        check("a&&", 11, "a&amp;&amp;");
        check("a&&&", 12, "a&amp;…");
        // A truncated escape is ordinary text.
        check("\u{1b}\u{1b}", 7, "\\u{1…");
        assert_eq!(content(&"<".repeat(1 << 20), 4096).len(), 4095);
    }

    #[test]
    fn names_are_those_of_one_case_each() {
        let mut seen = SeenNames::default();
        let mut name = |group: &str, name: &str, id: &str| seen.unique(group, name.to_owned(), id);
        assert_eq!(name("e", "a_b", "a b"), "a_b");
        assert_eq!(name("f", "a_b", "a b"), "a_b");
        let other = name("e", "a_b", "a\nb");
        assert!(other.starts_with("a_b~"), "{other}");
        assert_ne!(name("e", "a_b", "a\nb"), other);
    }

    #[test]
    fn a_time_is_one_that_surefire_writes() {
        assert_eq!(time(0.1234), "0.123");
        assert_eq!(time(f64::NAN), "0.000");
        assert_eq!(time(-0.0), "0.000");
        assert_eq!(time(-1.0), "0.000");
    }
}
