//! `csv`: a row per record according to RFC 4180, for spreadsheets and data frames.
//!
//! Spreadsheets execute a cell that starts with `=`, `+`, `-` or `@` as a formula. Texts may be from untrusted users
//! of the agent, so such a text gets a leading apostrophe, which marks it as text in spreadsheets. Numbers are trusted
//! and unchanged. The formats `parquet` and `inspect` have the original texts.

use std::borrow::Cow;
use std::io::Write;

use csv::{ByteRecord, Terminator, WriterBuilder};

use super::table::{ExportCell, ExportTable};
use super::{DataFormat, unwritten};
use crate::error::Result;
use crate::report::reported::ReportedRun;

/// The format `csv`.
pub(super) struct CsvExport;

impl DataFormat for CsvExport {
    fn name(&self) -> &'static str {
        "csv"
    }

    fn extension(&self) -> &'static str {
        "csv"
    }

    fn write(&self, run: &ReportedRun, out: &mut dyn Write) -> Result<()> {
        let table = ExportTable::of(run);
        let mut csv = WriterBuilder::new()
            .terminator(Terminator::CRLF)
            .from_writer(out);
        let head = table.columns().iter();
        let head: Vec<_> = head.map(|(name, _)| harmless(name)).collect();
        let head: ByteRecord = head.iter().map(|name| name.as_bytes()).collect();
        let failed = |error: csv::Error| unwritten(&error.into());
        csv.write_byte_record(&head).map_err(failed)?;
        for record in run.records()? {
            let row = table.row(&record?);
            let cells: Vec<_> = row.iter().map(display).collect();
            let cells: ByteRecord = cells.iter().map(|cell| cell.as_bytes()).collect();
            csv.write_byte_record(&cells).map_err(failed)?;
        }
        csv.flush().map_err(|error| unwritten(&error))
    }
}

/// A cell as text; empty if there is no value.
fn display(cell: &ExportCell) -> Cow<'_, str> {
    match cell {
        ExportCell::Text(text) => harmless(text.as_deref().unwrap_or_default()),
        ExportCell::Number(number) => number.map(|n| n.to_string()).unwrap_or_default().into(),
        ExportCell::Count(count) => count.map(|n| n.to_string()).unwrap_or_default().into(),
        ExportCell::Flag(flag) => match flag {
            Some(true) => "true".into(),
            Some(false) => "false".into(),
            None => "".into(),
        },
    }
}

/// Makes a text safe for spreadsheets. NUL, which ends the text for many readers, becomes U+FFFD.
fn harmless(text: &str) -> Cow<'_, str> {
    let text = if text.contains('\0') {
        Cow::Owned(text.replace('\0', "\u{fffd}"))
    } else {
        Cow::Borrowed(text)
    };
    // Full-width signs start a formula in some locales.
    let marks = ['=', '+', '-', '@', '\t', '\r', '\n', '＝', '＋', '－', '＠'];
    if text.starts_with(marks) {
        return Cow::Owned(format!("'{text}"));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_text_is_a_formula() {
        fn check(text: &str, expect: &str) {
            assert_eq!(display(&ExportCell::Text(Some(text.to_owned()))), expect);
        }
        check("=HYPERLINK(\"http://x\")", "'=HYPERLINK(\"http://x\")");
        check("+1", "'+1");
        check("-5", "'-5");
        check("@SUM(A1)", "'@SUM(A1)");
        check("\t=1", "'\t=1");
        check("\r\n=1", "'\r\n=1");
        check("＝1", "'＝1");
        check("a\0b", "a\u{fffd}b");
        check("1-2", "1-2");
        check("", "");
        assert_eq!(display(&ExportCell::Number(Some(-0.5))), "-0.5");
        assert_eq!(display(&ExportCell::Number(None)), "");
    }
}
