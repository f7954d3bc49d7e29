//! `GitlabReport`: a report in GitLab's code quality format, which it shows on lines of a merge request.
//!
//! Contains regressions: failed gates, and samples that became wrong. GitLab compares the file with that of the target
//! branch by fingerprints, so these depend only on the eval and the gate or sample.

use std::io::Write;
use std::path::Path;

use serde_json::{Value, json};

use super::super::format::{ReportAudience, ReportFormat, unwritten};
use super::super::reported::ReportedRun;
use super::super::section::in_run;
use super::ci;
use super::place::{CodePlace, CodePlaces};
use crate::error::Result;
use crate::system::project::workspace;
use crate::text::clean;
use crate::text::hash::Hasher;
use crate::verdict::result::Verdict;

/// Maximum bytes of a description.
const DESCRIPTION: usize = 1000;

/// GitLab's code quality report.
pub(crate) struct GitlabReport;

impl ReportFormat for GitlabReport {
    fn name(&self) -> &'static str {
        "gitlab"
    }

    fn about(&self) -> &'static str {
        "GitLab code quality report (JSON): failed gates, samples that became wrong"
    }

    fn extension(&self) -> &'static str {
        "json"
    }

    fn write(
        &self,
        runs: &[ReportedRun],
        _audience: ReportAudience,
        out: &mut dyn Write,
    ) -> Result<()> {
        write(runs, &workspace(), out)
    }
}

/// Writes the regressions of runs, with paths relative to the checkout.
///
/// # Errors
/// If a run cannot be read, or the output cannot be written.
pub fn write(runs: &[ReportedRun], workspace: &Path, out: &mut dyn Write) -> Result<()> {
    let mut before = "[";
    let mut issue = |issue: &Value| {
        let written = out.write_all(format!("{before}\n  {issue}").as_bytes());
        before = ",";
        written.map_err(|error| unwritten(&error))
    };
    for run in runs {
        let places = CodePlaces::of(run, workspace);
        let eval = &*run.manifest.eval;
        let gates = run.summary.gates.iter();
        for gate in gates.filter(|gate| gate.verdict == Verdict::Failed) {
            let name = gate.gate.to_string();
            let message = in_run(&gate.message, &run.manifest.run_id);
            let description = message.lines().next().unwrap_or_default();
            let description = format!("{eval}: gate {name} failed: {description}");
            let place = places.gate(Some(&gate.gate));
            let print = Hasher::default().part(eval).part("gate").part(&*name).hex();
            issue(&entry(
                "evaltest.gate",
                "critical",
                &description,
                &print,
                place,
            ))?;
        }
        let worse = run.summary.change.iter();
        let worse = worse.flat_map(|change| &change.became_wrong);
        let worse = worse.map(|id| &**id).collect();
        let mut lines = places.samples(&worse);
        if worse.is_empty() {
            continue;
        }
        for sample in ci::samples(run)? {
            let sample = sample?;
            let id = &*sample.id;
            if !worse.contains(id) {
                continue;
            }
            let why = ci::why(sample.representative());
            let description = format!("{eval}: {id} became wrong: {why}");
            let print = Hasher::default().part(eval).part("sample").part(id).hex();
            issue(&entry(
                "evaltest.flip",
                "major",
                &description,
                &print,
                lines.remove(id),
            ))?;
        }
    }
    let end = if before == "[" { "[]\n" } else { "\n]\n" };
    out.write_all(end.as_bytes())
        .map_err(|error| unwritten(&error))
}

fn entry(
    check: &str,
    severity: &str,
    description: &str,
    fingerprint: &str,
    place: Option<CodePlace>,
) -> Value {
    // GitLab requires a path, even for an eval defined in Rust.
    let CodePlace { path, line } = place.unwrap_or_else(|| CodePlace {
        path: "Cargo.toml".to_owned(),
        line: 1,
    });
    json!({
        "description": clean(ci::beginning(description, DESCRIPTION)),
        "check_name": check,
        "fingerprint": fingerprint,
        "severity": severity,
        "location": { "path": path, "lines": { "begin": line } },
    })
}
