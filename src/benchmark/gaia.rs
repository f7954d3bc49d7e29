//! GAIA: questions for a general assistant, in the layout in which the benchmark is published.
//!
//! [`Gaia::open`] takes the folder or one file of it; `folder` finds the metadata of a split; each row
//! becomes a sample (`row`). Attachments are only named here: whether one can be used is the concern
//! of its own sample.

mod folder;
mod row;

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;
use std::sync::OnceLock;

use crate::benchmark::{Benchmark, NO_TRUTH, collected};
use crate::data::Sample;
use crate::data::dataset::{self, Columns, Filter, Header, SamplePlace, Table, TakePlaced};
use crate::data::hub::{self, Address, Dataset};
use crate::error::{Error, Result};
use crate::scorer::Scorer;
use crate::scorer::extract::Extract;
use crate::text::quoted;

use folder::{KnownFiles, MetadataFile};
use row::{GROUND_TRUTH, GaiaLayout};

/// GAIA itself, as it is published. It is gated: its terms are accepted on its page.
pub(crate) const HUB: &str = "hf://datasets/gaia-benchmark/GAIA";

/// The system prompt of the benchmark's protocol, word for word: GAIA, a benchmark for General AI
/// Assistants (arXiv 2311.12983); also on the leaderboard's page
/// (huggingface.co/spaces/gaia-benchmark/leaderboard).
const OFFICIAL_PROMPT: &str = "\
You are a general AI assistant. I will ask you a question. Report your thoughts, and finish your answer \
with the following template: FINAL ANSWER: [YOUR FINAL ANSWER]. \
YOUR FINAL ANSWER should be a number OR as few words as possible OR a comma separated list of numbers \
and/or strings. \
If you are asked for a number, don't use comma to write your number neither use units such as $ or \
percent sign unless specified otherwise. \
If you are asked for a string, don't use articles, neither abbreviations (e.g. for cities), and write \
the digits in plain text unless specified otherwise. \
If you are asked for a comma separated list, apply the above rules depending of whether the element to \
be put in the list is a number or a string.";

/// The GAIA benchmark, or any dataset in its layout.
///
/// The path is an address of the Hugging Face Hub such as `hf://datasets/gaia-benchmark/GAIA` (feature `http`), or the dataset's folder (`2023/<split>/metadata.parquet` or `metadata.jsonl`, attachments
/// beside it), a folder of splits, a folder with the metadata in it, or one `.jsonl`, `.json`, `.csv`, `.tsv` or `.parquet`
/// file with the attachments beside it.
///
/// | role | columns, the first that is there | becomes |
/// |---|---|---|
/// | `prompt` | `question`, `Question` | [`Sample::prompt`]; must be there and not blank |
/// | `ground_truth` | `final_answer`, `Final answer`, `answer` | [`Sample::target`]; null, blank or `?` is a hidden answer |
/// | `id` | `task_id`, `id` | [`Sample::id`]; without the column, the row's index from 0 |
/// | `level` | `level`, `Level` | slice `level`, and metadata |
/// | `file_name`, `file_path` | of these names | [`Sample::files`], and metadata |
///
/// Every other column is kept in [`Sample::metadata`], nested ones included. Agents see the level and the
/// file's name of it. Numbers and bools in the first four roles become texts as JSON writes them: `17`,
/// `true`.
///
/// ```no_run
/// # fn main() -> evaltest::Result<()> {
/// let gaia = evaltest::Gaia::open("data/gaia")?.split("validation").levels([1, 2]);
/// # Ok(()) }
/// ```
#[derive(Clone, Debug)]
pub struct Gaia {
    path: PathBuf,
    /// Where its files come from, if not from this machine.
    hub: Option<Dataset>,
    split: Option<String>,
    levels: Vec<String>,
    columns: Columns,
    filter: Filter,
    /// What the last [`Benchmark::samples`] had to remark.
    notices: OnceLock<Vec<String>>,
}

impl Gaia {
    /// The dataset in a folder or file, which must be there, or on the Hub.
    pub fn open(path: impl Into<PathBuf>) -> Result<Self> {
        let path = path.into();
        if let Some(address) = Address::of(&path) {
            let dataset = Dataset::open(&address?)?;
            return Ok(Self::of(dataset.root(), Some(dataset)));
        }
        fs::metadata(&path).map_err(|error| {
            let error = Error::io("open", &path, &error);
            if path.extension().is_some() {
                return error.hint(dataset::WRONG_PATH);
            }
            error.hint(format!("GAIA itself is fetched with `path: {HUB}`"))
        })?;
        Ok(Self::of(path, None))
    }

    fn of(path: PathBuf, hub: Option<Dataset>) -> Self {
        Self {
            path,
            hub,
            split: None,
            levels: Vec::new(),
            columns: Columns::default(),
            filter: Filter::default(),
            notices: OnceLock::new(),
        }
    }

    /// The split to read; `validation` unless told.
    #[must_use]
    pub fn split(mut self, split: impl Into<String>) -> Self {
        self.split = Some(split.into());
        self
    }

    /// Only samples of these levels, compared as text: `[1, 2]`, `["easy"]`. No level at all means every
    /// level.
    #[must_use]
    pub fn levels<L: ToString>(mut self, levels: impl IntoIterator<Item = L>) -> Self {
        self.levels = levels.into_iter().map(|level| level.to_string()).collect();
        self
    }

    /// Column names that are not the usual ones. A column that is named must be there.
    #[must_use]
    pub fn columns(mut self, columns: Columns) -> Self {
        self.columns = columns;
        self
    }

    /// Only the samples of these ids.
    #[must_use]
    pub fn ids<I: Into<String>>(mut self, ids: impl IntoIterator<Item = I>) -> Self {
        self.filter.ids = Some(ids.into_iter().map(Into::into).collect());
        self
    }

    /// Hands on the samples one by one; gives what there is to remark.
    fn each(&self, take: &mut TakePlaced<'_>) -> Result<Vec<String>> {
        let files = KnownFiles(self.hub.clone());
        let source = folder::locate(&self.path, self.split.as_deref(), &files)?;
        let table = Table::read(&source.metadata)?;
        let layout = GaiaLayout::find(&table.header(), &self.columns)?;
        let mut notices = source.notices.clone();
        if layout.ground_truth.is_none() {
            notices.push(without_ground_truth(&table.header()));
        }
        let mut levels = Levels::new(&self.levels, &layout, &source)?;
        let (mut all, mut hidden) = (0, 0);
        let has_truths = layout.ground_truth.is_some();
        let path = source.metadata.clone();
        let make = move |fields, index| layout.sample(fields, index, &source);
        let see = |sample: &Sample| {
            all += 1;
            hidden += usize::from(sample.target.is_none());
        };
        table.each_filtered(&self.filter, make, see, &mut |sample, place| {
            levels.pass(sample, place, take)
        })?;
        if has_truths && hidden > 0 {
            notices.push(format!(
                "`{}`: {hidden} of {all} samples {NO_TRUTH}",
                path.display()
            ));
        }
        levels.check(&mut notices)?;
        Ok(notices)
    }
}

/// The levels that are asked for, and those that come up.
struct Levels<'a> {
    wanted: &'a [String],
    found: BTreeSet<String>,
    path: PathBuf,
}

impl<'a> Levels<'a> {
    fn new(wanted: &'a [String], layout: &GaiaLayout, source: &MetadataFile) -> Result<Self> {
        let path = &source.metadata;
        if !wanted.is_empty() && layout.level.is_none() {
            return Err(Error::usage(format!(
                "`{}`: levels are asked for, but there is no column `level` or `Level`",
                path.display()
            ))
            .hint("remove `levels`, or name the column: `columns: { level: NAME }`"));
        }
        Ok(Self {
            wanted,
            found: BTreeSet::new(),
            path: path.clone(),
        })
    }

    /// Hands on a sample that is asked for.
    fn pass(
        &mut self,
        sample: Sample,
        place: Option<SamplePlace>,
        take: &mut TakePlaced<'_>,
    ) -> Result<()> {
        if self.wanted.is_empty() {
            return take(sample, place);
        }
        let Some(level) = level(&sample) else {
            return Ok(());
        };
        if !self.found.contains(level) {
            self.found.insert(level.to_owned());
        }
        if self.wanted.iter().any(|wanted| wanted == level) {
            take(sample, place)
        } else {
            Ok(())
        }
    }

    /// Refuses levels of which there is no sample; remarks on some of them.
    fn check(&self, notices: &mut Vec<String>) -> Result<()> {
        let Self {
            wanted,
            found,
            path,
        } = self;
        let path = path.display();
        let missing: Vec<_> = wanted
            .iter()
            .filter(|level| !found.contains(*level))
            .collect();
        let found = quoted(found.iter().map(String::as_str));
        if !wanted.is_empty() && missing.len() == wanted.len() {
            let wanted = quoted(wanted.iter().map(String::as_str));
            return Err(Error::usage(format!(
                "`{path}`: no sample of level {wanted}; found {found}"
            ))
            .hint("name levels that are there: `levels: [1, 2]`"));
        }
        let remark = |level| format!("`{path}`: no sample of level `{level}`; found {found}");
        notices.extend(missing.into_iter().map(remark));
        Ok(())
    }
}

impl Benchmark for Gaia {
    fn name(&self) -> &'static str {
        "gaia"
    }

    fn samples(&self) -> Result<Vec<Sample>> {
        collected(self)
    }

    fn each_sample(&self, take: &mut dyn FnMut(Sample) -> Result<()>) -> Result<()> {
        self.each_placed(&mut |sample, _| take(sample))
    }

    fn each_placed(&self, take: &mut TakePlaced<'_>) -> Result<()> {
        let notices = self.each(take)?;
        // Loading again finds the same.
        let _ = self.notices.set(notices);
        Ok(())
    }

    fn each_unfiltered(&self, take: &mut dyn FnMut(Sample) -> Result<()>) -> Result<()> {
        let whole = Self {
            levels: Vec::new(),
            filter: Filter::default(),
            ..self.clone()
        };
        whole.each(&mut |sample, _| take(sample)).map(drop)
    }

    fn fetch(&self, samples: &[Sample]) -> Result<()> {
        hub::fetch_attachments(self.hub.as_ref(), samples)
    }

    fn extract(&self) -> Extract {
        Extract::final_answer()
    }

    fn paths(&self) -> Vec<PathBuf> {
        folder::holders(&self.path)
    }

    fn read_paths(&self) -> Vec<PathBuf> {
        let files = KnownFiles(self.hub.clone());
        let source = folder::locate(&self.path, self.split.as_deref(), &files);
        source.map(|source| source.metadata).into_iter().collect()
    }

    fn scorer(&self) -> Option<Box<dyn Scorer>> {
        Some(Box::new(crate::scorer::gaia::GaiaScorer))
    }

    fn has_metrics(&self) -> bool {
        false
    }

    /// GAIA asks not to publish its answers.
    fn is_gated(&self) -> bool {
        true
    }

    fn official_prompt(&self) -> Option<&str> {
        Some(OFFICIAL_PROMPT)
    }

    fn notices(&self) -> Vec<String> {
        if let Some(notices) = self.notices.get() {
            return notices.clone();
        }
        // Whoever asks for the samples gets the error.
        self.each(&mut |_, _| Ok(())).unwrap_or_default()
    }
}

fn level(sample: &Sample) -> Option<&str> {
    sample.slices.first().map(|(_, level)| level.as_str())
}

fn without_ground_truth(header: &Header<'_>) -> String {
    format!(
        "`{}`: there is no column of ground truths, so a scorer that needs one scores no sample: looked for {}; found {}",
        header.path.display(),
        quoted(GROUND_TRUTH),
        quoted(header.columns.iter().copied())
    )
}

#[cfg(test)]
mod tests;
