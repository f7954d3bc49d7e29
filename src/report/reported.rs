//! `ReportedRun`: a run that is over, as reports read it.
//!
//! Its figures and verdicts are those that it ended with, which `summary.json` has: a run directory that was fetched from
//! another machine says the same there, without the checkout that it came from. Its records are read one by one.

use std::collections::HashMap;

use super::masked::PublicWords;
use crate::data::Record;
use crate::error::Result;
use crate::store::files::{RECORDS, SUMMARY};
use crate::store::{Manifest, RunDir, RunStatus, read_records};
use crate::system::project::shown;
use crate::text::shell_word;
use crate::verdict::summary::Summary;

/// Whether a report may show what a benchmark whose snapshots are masked asks, and what was answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MaskedTexts {
    /// Reports, comments and artifacts are public: they show none of it.
    Hidden,
    /// Somebody asked for them, by `--show-texts`.
    Shown,
}

/// A run that is over.
#[derive(Clone, Debug)]
pub struct ReportedRun {
    /// Its directory.
    pub dir: RunDir,
    /// What it was made of.
    pub manifest: Manifest,
    /// Its figures, and the verdicts on its gates.
    pub summary: Summary,
    /// Whether its questions, answers and truths are not to be shown.
    pub hides_texts: bool,
    /// Whether it is going on: these are its figures so far.
    pub going_on: bool,
}

impl ReportedRun {
    /// Reads a run whose files can be believed.
    ///
    /// # Errors
    /// When its manifest or its summary cannot be read.
    pub fn read(dir: RunDir, texts: MaskedTexts) -> Result<Self> {
        let mut manifest = dir.manifest()?;
        let mut summary = Summary::read(&dir.file(SUMMARY)).map_err(|error| {
            let repair = shell_word(&shown(dir.path()));
            error.hint(format!("cargo evaltest repair {repair}"))
        })?;
        // It comes after the run.
        summary.reviewed = dir.reviewed(&manifest)?;
        let hides_texts = manifest.masked && texts == MaskedTexts::Hidden;
        if hides_texts {
            PublicWords::of(&manifest).hide_summary(&mut summary);
            PublicWords::hide_reason(&mut manifest);
        }
        Ok(Self {
            hides_texts,
            going_on: false,
            dir,
            manifest,
            summary,
        })
    }

    /// Its records in dataset order, epoch by epoch, without the texts that are not to be shown.
    ///
    /// # Errors
    /// When they cannot be read.
    pub fn records(&self) -> Result<impl Iterator<Item = Result<Record>> + use<>> {
        let public = self.public_words();
        let records = read_records(&self.dir.file(RECORDS))?;
        Ok(records.map(move |record| {
            record.map(|mut record| {
                if let Some(public) = &public {
                    public.hide(&mut record);
                }
                record
            })
        }))
    }

    /// What may be shown of what scorers say, where not all may be.
    pub(super) fn public_words(&self) -> Option<PublicWords> {
        self.hides_texts.then(|| PublicWords::of(&self.manifest))
    }

    /// The agent as the spec names it, such as `openai`.
    pub fn agent(&self) -> Option<&str> {
        let agent = self.manifest.config.get("agent")?;
        let kind = agent.get("type").unwrap_or(agent);
        kind.as_str()
    }

    /// The model that the spec asks for.
    pub fn model(&self) -> Option<&str> {
        let agent = self.manifest.config.get("agent")?;
        agent.get("model")?.as_str()
    }

    /// Whether its answers were given before and are read from a file: how long they took and how often none came is not
    /// known.
    pub fn is_recorded(&self) -> bool {
        self.agent() == Some("replay")
    }

    /// Whether every sample ended, so that its figures are those of the whole.
    pub fn is_finished(&self) -> bool {
        self.manifest.status == RunStatus::Finished || self.summary.early_stop.is_some()
    }

    /// The samples that changed sides since the baseline, and whether they became wrong.
    pub fn flips(&self) -> HashMap<&str, bool> {
        let change = self.summary.change.iter();
        let sides = change.flat_map(|it| [(&it.became_wrong, true), (&it.became_correct, false)]);
        let flips = sides.flat_map(|(ids, worse)| ids.iter().map(move |id| (&**id, worse)));
        flips.collect()
    }
}
