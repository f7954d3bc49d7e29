//! The table: a line for each fault.

use std::io::{self, Write};
use std::process::ExitCode;

use crate::journal::JournalCounts;
use crate::watched::Ended;

/// What is expected of a fault, and what happened.
pub(crate) struct Row {
    fault: String,
    expected: &'static str,
    lost: usize,
    twice: usize,
    orphans: usize,
    peak_mib: u32,
    code: Option<i32>,
    seconds: f64,
    /// What else there is to say.
    notes: Vec<String>,
    /// What is not as expected.
    wrong: Vec<String>,
}

impl Row {
    /// A fault that a command has gone through.
    pub(crate) fn of(fault: impl Into<String>, expected: &'static str, ended: &Ended) -> Self {
        let mut row = Self {
            fault: fault.into(),
            expected,
            lost: 0,
            twice: 0,
            orphans: ended.orphans.len(),
            peak_mib: ended.peak_kib.div_ceil(1024),
            code: ended.code,
            seconds: ended.seconds,
            notes: Vec::new(),
            wrong: Vec::new(),
        };
        row.check(
            ended.orphans.is_empty(),
            format!("left behind: {:?}", ended.orphans),
        );
        row.check(
            !ended.err.contains("panicked"),
            format!("it panicked: {}", ended.err),
        );
        row.check(ended.peak_kib < 128 * 1024, "more than 128 MiB of memory");
        row
    }

    /// Answers that were given, and stand in no record.
    pub(crate) fn lost(&mut self, lost: usize) -> &mut Self {
        self.lost += lost;
        self.check(lost == 0, format!("{lost} answers were lost"))
    }

    /// Samples that were asked although their answer was recorded.
    pub(crate) fn twice(&mut self, twice: usize) -> &mut Self {
        self.twice += twice;
        self.check(twice == 0, format!("{twice} samples were asked twice"))
    }

    /// The exit code that there should be.
    pub(crate) fn exits(&mut self, code: i32) -> &mut Self {
        let own = self.code;
        self.check(own == Some(code), format!("exit code {own:?}, not {code}"))
    }

    /// How long it may take.
    pub(crate) fn within(&mut self, seconds: f64) -> &mut Self {
        self.check(
            self.seconds <= seconds,
            format!("took more than {seconds} s"),
        )
    }

    /// How many samples should be scored, and how many be errors.
    pub(crate) fn counts(
        &mut self,
        counts: &JournalCounts,
        scored: usize,
        errors: usize,
    ) -> &mut Self {
        let found = (counts.scored, counts.errors);
        let message = format!("(scored, errors) is {found:?}, not {:?}", (scored, errors));
        self.check(found == (scored, errors), message);
        // Those of every other sample are right.
        self.check(
            counts.correct * 2 <= scored + errors,
            "more correct than there can be",
        );
        self.twice(counts.twice)
    }

    pub(crate) fn note(&mut self, note: impl Into<String>) -> &mut Self {
        self.notes.push(note.into());
        self
    }

    pub(crate) fn check(&mut self, is_so: bool, wrong: impl Into<String>) -> &mut Self {
        if !is_so {
            self.wrong.push(wrong.into());
        }
        self
    }
}

/// Prints each row as it comes.
pub(crate) struct Table {
    /// Only faults with one of these words; all of them if there is none.
    words: Vec<String>,
    rows: u32,
    not_ok: u32,
    skipped: u32,
}

impl Table {
    pub(crate) fn start(words: Vec<String>) -> io::Result<Self> {
        let mut out = io::stdout().lock();
        writeln!(
            out,
            "{:<58} {:>4} {:>5} {:>7} {:>8} {:>4} {:>6}  {:<6} expected",
            "fault", "lost", "twice", "orphans", "peak MiB", "exit", "s", ""
        )?;
        out.flush()?;
        Ok(Self {
            words,
            rows: 0,
            not_ok: 0,
            skipped: 0,
        })
    }

    /// Goes through the fault with this name, unless others were asked for.
    pub(crate) fn row(
        &mut self,
        fault: &str,
        work: impl FnOnce() -> io::Result<Row>,
    ) -> io::Result<()> {
        self.rows(fault, || Ok(vec![work()?]))
    }

    /// Whether this fault was asked for.
    fn is_match(&self, fault: &str) -> bool {
        let names = |word: &String| fault.contains(word.as_str());
        self.words.is_empty() || self.words.iter().any(names)
    }

    /// The same for a fault that makes several rows.
    pub(crate) fn rows(
        &mut self,
        fault: &str,
        work: impl FnOnce() -> io::Result<Vec<Row>>,
    ) -> io::Result<()> {
        if !self.is_match(fault) {
            return Ok(());
        }
        for row in work()? {
            self.print(&row)?;
        }
        Ok(())
    }

    /// A fault that cannot be tried here.
    pub(crate) fn skip(&mut self, fault: &str, reason: &str) -> io::Result<()> {
        if !self.is_match(fault) {
            return Ok(());
        }
        self.skipped += 1;
        writeln!(io::stdout().lock(), "{fault:<58} skipped: {reason}")
    }

    fn print(&mut self, row: &Row) -> io::Result<()> {
        let mut out = io::stdout().lock();
        let code = row.code.map_or("-".to_owned(), |code| code.to_string());
        let is_ok = row.wrong.is_empty();
        let verdict = if is_ok { "ok" } else { "NOT OK" };
        writeln!(
            out,
            "{:<58} {:>4} {:>5} {:>7} {:>8} {code:>4} {:>6.1}  {verdict:<6} {}",
            row.fault, row.lost, row.twice, row.orphans, row.peak_mib, row.seconds, row.expected
        )?;
        for note in &row.notes {
            writeln!(out, "    {note}")?;
        }
        for wrong in &row.wrong {
            writeln!(out, "    NOT OK: {wrong}")?;
        }
        out.flush()?;
        self.rows += 1;
        self.not_ok += u32::from(!is_ok);
        Ok(())
    }

    /// Sums it up. Nothing tried is nothing shown.
    pub(crate) fn end(self) -> io::Result<ExitCode> {
        let Self {
            rows,
            not_ok,
            skipped,
            ..
        } = self;
        let skipped = match skipped {
            0 => String::new(),
            skipped => format!(", {skipped} skipped"),
        };
        writeln!(
            io::stdout().lock(),
            "{rows} faults, {not_ok} not ok{skipped}"
        )?;
        if rows == 0 {
            writeln!(
                io::stdout().lock(),
                "no fault was tried: no name has the words asked for"
            )?;
        }
        Ok(ExitCode::from(u8::from(not_ok > 0 || rows == 0)))
    }
}
