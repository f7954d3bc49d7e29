//! A figure with its target, one line each.

use std::io::{self, Write};
use std::ops::RangeInclusive;
use std::process::ExitCode;

/// How far a CPU figure may miss its target before the benchmark fails: machines differ, and share
/// their caches with others.
const MARGIN: f64 = 1.5;

/// What was measured.
pub(crate) struct Figure {
    pub(crate) what: String,
    pub(crate) measured: f64,
    pub(crate) unit: &'static str,
    /// `0.0..=limit` for a figure that should be low, `limit..=f64::INFINITY` for one that should be
    /// high, both infinite ends for one that is only told.
    pub(crate) target: RangeInclusive<f64>,
    /// Whether missing it by far fails the benchmark. Wall times do not: they tell of the neighbours too.
    pub(crate) decides: bool,
}

impl Figure {
    fn fails(&self) -> bool {
        let wide = self.target.start() / MARGIN..=self.target.end() * MARGIN;
        self.decides && !wide.contains(&self.measured)
    }

    fn print(&self, out: &mut dyn Write) -> io::Result<()> {
        let Self {
            what,
            measured,
            unit,
            target,
            ..
        } = self;
        let verdict = if target.contains(measured) {
            "ok"
        } else {
            "MISSED"
        };
        let digits = if *measured < 1000.0 { 3 } else { 0 };
        write!(out, "{what}: {measured:.digits$} {unit}")?;
        match (target.start().is_finite(), target.end().is_finite()) {
            (_, true) => writeln!(
                out,
                ", target <= {} {unit}: {verdict}",
                short(*target.end())
            ),
            (true, false) => writeln!(
                out,
                ", target >= {} {unit}: {verdict}",
                short(*target.start())
            ),
            (false, false) => writeln!(out),
        }
    }
}

/// One digit after the point is enough for a target.
fn short(limit: f64) -> f64 {
    (limit * 10.0).round() / 10.0
}

/// Whether this is `cargo bench`. Otherwise it is `cargo test` that asks whether the benchmark still
/// works, and a small one will do.
pub(crate) fn is_bench() -> bool {
    std::env::args().any(|arg| arg == "--bench")
}

/// Prints the figures. The exit code says whether one of them is far off, which says nothing about the
/// small sizes and the unoptimised build of a mere test.
pub(crate) fn report(figures: &[Figure]) -> io::Result<ExitCode> {
    let mut out = io::stdout().lock();
    figures
        .iter()
        .try_for_each(|figure| figure.print(&mut out))?;
    let failed = is_bench() && figures.iter().any(Figure::fails);
    Ok(ExitCode::from(u8::from(failed)))
}
