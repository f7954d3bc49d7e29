//! The data of the Berkeley Function Calling Leaderboard in its official layout, in a checkout, in the unpacked
//! package of the official tool, or in a folder of the user's own:
//!
//! ```text
//! BFCL_v4_<category>.json                    {"id", "question", "function"}, one object per line
//! possible_answer/BFCL_v4_<category>.json    {"id", "ground_truth"}
//! ```
//!
//! [`Data::open`] finds the folder, [`Data::select`] the [`Category`]s, [`Data::read`] reads one into
//! [`BfclQuestion`]s; an [`Index`] looks up entries by id and reads categories on first use.
//!
//! A line may contain its `ground_truth` instead of a second file. `question` may be a plain text, and `ground_truth`
//! calls of the simple form `[{"name": …, "arguments": {…}}]`, whose values are the only ones accepted; without a
//! `function`, documents are derived from the calls (`simple`). A single file of any name works, too: a line's
//! category is then its `category`, or follows from its expected calls.
//!
//! Categories that evaltest cannot score can be selected, but not read; entries that no answer can satisfy are read
//! like any other and marked ([`AnswerKey::unsatisfiable`]).

mod category;
mod originals;
mod question;
mod scanned;
pub(crate) mod simple;

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use once_cell::sync::OnceCell;

use crate::bfcl::checker::AnswerKey;
use crate::bfcl::form::{FORMAT_SENSITIVITY, PromptForm};
use crate::calls::Value;
use crate::data::Sample;
use crate::data::dataset::{TakePlaced, is_large};
use crate::error::{Error, Result};
use crate::text::shell_word;
use originals::{OriginalIds, Originals};
use scanned::{Scanned, ScannedLines};

pub(crate) use category::COLLECTIONS;
pub use category::{Category, CategoryGroup};
pub use question::BfclQuestion;
pub(crate) use question::{QuestionLine, broken};

/// Prefix of file names, with the version of the data.
const PREFIX: &str = "BFCL_v4_";

/// Possible subfolders with the files.
const BELOW: [&str; 5] = [
    "",
    "data",
    "bfcl_eval/data",
    "berkeley-function-call-leaderboard/bfcl_eval/data",
    "berkeley-function-call-leaderboard/data",
];

/// A folder in the official layout, or a single file.
#[derive(Clone, Debug)]
pub struct Data {
    path: PathBuf,
    is_file: bool,
    categories: Vec<Category>,
}

impl Data {
    /// Opens the data at a path: the folder with the files, a folder above it, or a single file of entries.
    pub fn open(path: impl Into<PathBuf>) -> Result<Self> {
        let path = path.into();
        let found = fs::metadata(&path).map_err(|error| {
            Error::io("open", &path, &error).hint(format!(
                "the data comes with the official package: \
                 `pip download --no-deps bfcl-eval==2026.3.23 && unzip -q bfcl_eval-*.whl -d {}`",
                shell_word(&path.to_string_lossy())
            ))
        })?;
        if found.is_file() {
            refuse_list_of_ids(&path)?;
            let mut data = Self {
                path,
                is_file: true,
                categories: Vec::new(),
            };
            if data.is_large() {
                data.categories = data.scan_file()?.categories()?;
                return Ok(data);
            }
            for question in data.read_file()? {
                if !data.categories.contains(&question.category) {
                    data.categories.push(question.category);
                }
            }
            return Ok(data);
        }
        for below in BELOW {
            let folder: PathBuf = path.join(below).components().collect();
            let categories = categories_in(&folder);
            if !categories.is_empty() {
                return Ok(Self {
                    path: folder,
                    is_file: false,
                    categories,
                });
            }
        }
        Err(Error::usage(format!(
            "`{}`: no file `{PREFIX}<category>.json` in this folder, in `data` or in `bfcl_eval/data`",
            path.display()
        ))
        .hint("name the folder `bfcl_eval/data` of a checkout or of the unpacked package"))
    }

    /// The files with entries and the folder of their answers.
    pub(crate) fn holders(&self) -> Vec<PathBuf> {
        if self.is_file {
            return vec![self.path.clone()];
        }
        let files = self.categories.iter().map(|category| self.file(category));
        files.chain([self.path.join("possible_answer")]).collect()
    }

    /// The path of the data.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The available categories, the official ones first and in official order.
    pub fn categories(&self) -> &[Category] {
        &self.categories
    }

    /// The categories with these names, or in collections with these names; all without names. Includes those that
    /// evaltest cannot score, see [`Category::is_native`].
    pub fn select(&self, names: &[String]) -> Result<Vec<Category>> {
        if names.is_empty() {
            return Ok(self.categories.clone());
        }
        // Distinguish an official category without a file from an unknown name.
        for name in names {
            let is_here = self.categories.iter().any(|known| known.name == *name);
            let is_official = Category::named(name).group != CategoryGroup::Own;
            if is_official && !is_here {
                let file = format!("{PREFIX}{name}.json");
                return Err(Error::usage(format!(
                    "`{}`: there is no category `{name}` (`{file}`)",
                    self.path.display()
                )));
            }
        }
        let selected = category::select(&self.categories, names)?;
        if selected.is_empty() {
            return Err(Error::usage(format!(
                "`{}`: there is no category of `{}`",
                self.path.display(),
                names.join("`, `")
            )));
        }
        Ok(selected)
    }

    /// The number of entries in a category; for categories that evaltest cannot score, the number of lines.
    pub fn count(&self, category: &Category) -> Result<usize> {
        if category.group == CategoryGroup::FormatSensitivity {
            return Ok(OriginalIds::read(self.file(category))?.count());
        }
        if self.is_file || category.is_native() {
            let mut count = 0;
            let nothing = |_: BfclQuestion| Sample::default();
            self.each_placed(std::slice::from_ref(category), nothing, &mut |_, _| {
                count += 1;
                Ok(())
            })?;
            return Ok(count);
        }
        let path = self.file(category);
        let text = crate::data::dataset::read_text(&path)?;
        let lines = text.lines().filter(|line| !line.trim_ascii().is_empty());
        Ok(lines.count())
    }

    /// The entries of a category in the order of the file.
    pub fn read(&self, category: &Category) -> Result<Vec<BfclQuestion>> {
        if self.is_file {
            let mut questions = self.read_file()?;
            questions.retain(|question| question.category == *category);
            return Ok(questions);
        }
        check_native(category)?;
        if category.group == CategoryGroup::FormatSensitivity {
            let originals = self.originals(category)?;
            return Ok((0..originals.len())
                .map(|place| originals.question(place))
                .collect());
        }
        let lines = self.lines(category)?;
        lines
            .into_iter()
            .map(|line| line.into_question(Some(category)))
            .collect()
    }

    /// The lines of a category's file, each with its ground truth.
    pub(crate) fn lines(&self, category: &Category) -> Result<Vec<QuestionLine>> {
        let mut lines = question::lines(&self.file(category))?;
        if category.has_ground_truth() && lines.iter().any(|line| !line.has_ground_truth()) {
            self.add_answers(category, &mut lines)?;
        }
        Ok(lines)
    }

    /// Passes on the samples of categories, which `make` builds from entries. Those of large files can be read again.
    pub(crate) fn each_placed(
        &self,
        categories: &[Category],
        make: fn(BfclQuestion) -> Sample,
        take: &mut TakePlaced<'_>,
    ) -> Result<()> {
        let forms = |category: &&Category| category.group == CategoryGroup::FormatSensitivity;
        if !self.is_large() {
            return categories.iter().try_for_each(|category| {
                if forms(&category) {
                    return self.originals(category)?.each(make, take);
                }
                let mut questions = self.read(category)?.into_iter();
                questions.try_for_each(|question| take(make(question), None))
            });
        }
        if self.is_file {
            let scanned = Arc::new(self.scan_file()?);
            let mut categories = categories.iter();
            return categories.try_for_each(|category| scanned.each(category, make, take));
        }
        for category in categories {
            check_native(category)?;
            if forms(&category) {
                self.originals(category)?.each(make, take)?;
                continue;
            }
            let scanned = self.scan(&self.file(category), Some(category.clone()))?;
            Arc::new(scanned).each(category, make, take)?;
        }
        Ok(())
    }

    /// The entries that are repeated in all forms.
    fn originals(&self, category: &Category) -> Result<Originals> {
        Originals::read(self, OriginalIds::read(self.file(category))?)
    }

    /// The files with the entries of a category.
    pub(crate) fn sources(&self, category: &Category) -> Vec<PathBuf> {
        let file = self.file(category);
        if category.group != CategoryGroup::FormatSensitivity {
            return vec![file];
        }
        // An error is reported when the entries are read.
        let ids = OriginalIds::read(file.clone()).ok();
        let of = ids.iter().flat_map(OriginalIds::categories);
        let of = of.map(|category| self.file(category));
        of.chain([file]).collect()
    }

    /// Whether the entries need too much memory to load them all.
    fn is_large(&self) -> bool {
        let answers = self.categories.iter();
        let answers = answers.map(|category| self.answers_of(category));
        let files = self.holders().into_iter().chain(answers);
        is_large(files.filter_map(|path| fs::metadata(path).ok()))
    }

    fn scan_file(&self) -> Result<Scanned> {
        self.scan(&self.path, self.category_of_file())
    }

    fn scan(&self, path: &Path, category: Option<Category>) -> Result<Scanned> {
        let lines = ScannedLines::of(path)?;
        let answers = match &category {
            Some(category) if category.has_ground_truth() && lines.is_open() => {
                let path = self.answers_of(category);
                if !path.exists() {
                    let first = lines.first()?;
                    return Err(without_answers(&path, Some(&first)));
                }
                Some(ScannedLines::of(&path)?)
            }
            _ => None,
        };
        Scanned::new(lines, answers, category)
    }

    /// The category in the name of a single file.
    fn category_of_file(&self) -> Option<Category> {
        let name = self.path.file_stem().and_then(|name| name.to_str());
        let name = name.and_then(|name| name.strip_prefix(PREFIX));
        name.map(Category::named)
    }

    /// The entries of a single file, of any category.
    fn read_file(&self) -> Result<Vec<BfclQuestion>> {
        let category = self.category_of_file();
        let mut lines = question::lines(&self.path)?;
        if let Some(category) = &category
            && category.has_ground_truth()
            && lines.iter().any(|line| !line.has_ground_truth())
        {
            self.add_answers(category, &mut lines)?;
        }
        lines
            .into_iter()
            .map(|line| line.into_question(category.as_ref()))
            .collect()
    }

    /// Adds the answers of `possible_answer/` to lines without one.
    fn add_answers(&self, category: &Category, lines: &mut [QuestionLine]) -> Result<()> {
        let path = self.answers_of(category);
        if !path.exists() {
            return Err(without_answers(&path, lines.first()));
        }
        let answers = question::lines(&path)?;
        if let Some(answer) = answers.iter().find(|answer| !answer.has_ground_truth()) {
            return Err(Error::usage("`ground_truth` is missing").at(answer.place()));
        }
        let answers: HashMap<&str, &QuestionLine> =
            answers.iter().map(|answer| (answer.id(), answer)).collect();
        for line in lines.iter_mut().filter(|line| !line.has_ground_truth()) {
            let Some(answer) = answers.get(line.id()) else {
                return Err(line.without_answer(&path));
            };
            line.set_ground_truth(answer);
        }
        Ok(())
    }

    /// The file of the answers of a category.
    fn answers_of(&self, category: &Category) -> PathBuf {
        let folder = if self.is_file {
            self.path.parent().unwrap_or(Path::new("."))
        } else {
            &self.path
        };
        folder
            .join("possible_answer")
            .join(format!("{PREFIX}{}.json", category.file()))
    }

    /// The file of a category.
    pub(crate) fn file(&self, category: &Category) -> PathBuf {
        self.path.join(format!("{PREFIX}{}.json", category.file()))
    }
}

/// Returns an error for a list of ids without the entries it refers to.
fn refuse_list_of_ids(path: &Path) -> Result<()> {
    if path
        .file_name()
        .is_none_or(|name| name != "BFCL_v4_format_sensitivity.json")
    {
        return Ok(());
    }
    Err(Error::usage("this file lists entries of other files")
        .at(path.display())
        .hint("name its folder, and `categories: [format_sensitivity]`"))
}

fn check_native(category: &Category) -> Result<()> {
    if category.is_native() {
        return Ok(());
    }
    Err(
        Error::usage(format!("category `{}` is not judged here", category.name))
            .hint("the official tool judges it: `bfcl evaluate`"),
    )
}

/// The error if lines have no answers and there is no file of answers.
fn without_answers(path: &Path, first: Option<&QuestionLine>) -> Error {
    Error::usage(format!(
        "there are questions without ground truth, and no file `{}` with theirs",
        path.display()
    ))
    .at(first.map_or_else(String::new, |line| line.place().to_string()))
    .hint(
        "put the official `possible_answer` folder next to the questions, or give each line a `ground_truth`",
    )
}

/// The categories whose files are in a folder.
fn categories_in(folder: &Path) -> Vec<Category> {
    let names = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut names: Vec<String> = names
        .filter_map(|entry| {
            let name = entry.file_name().into_string().ok()?;
            let name = name.strip_prefix(PREFIX)?.strip_suffix(".json")?;
            Some(name.to_owned())
        })
        .collect();
    names.sort_unstable();
    let is_here = |category: &Category| names.iter().any(|name| name == category.file());
    let mut categories: Vec<Category> = Category::official().filter(is_here).collect();
    for name in names {
        if !categories.iter().any(|category| category.file() == name) {
            categories.push(Category::named(&name));
        }
    }
    categories
}

/// The entries of a folder by category and id.
#[derive(Debug)]
pub struct Index {
    data: Data,
    categories: Vec<(Category, OnceCell<HashMap<String, BfclQuestion>>)>,
}

impl Index {
    /// An index without any category loaded.
    pub fn new(data: Data) -> Self {
        let categories = data.categories().iter().cloned();
        Self {
            categories: categories
                .map(|category| (category, OnceCell::new()))
                .collect(),
            data,
        }
    }

    /// Looks up an entry.
    ///
    /// If the category of an answer is the id of an entry, that entry is used; for format sensitivity it is the
    /// original entry.
    pub fn get(&self, category: &str, id: &str) -> Result<&BfclQuestion> {
        if let Some((_, original)) =
            PromptForm::of_id(id).filter(|_| category == FORMAT_SENSITIVITY)
        {
            return self.get(original, original);
        }
        if let Some(questions) = self.category(category) {
            return questions?.get(id).ok_or_else(|| {
                Error::usage(format!(
                    "`{}`: no entry `{}` in category `{category}`",
                    self.data.path().display(),
                    id.escape_debug()
                ))
            });
        }
        let of_id = category.rsplit_once('_').map_or("", |(name, _)| name);
        if let Some(questions) = self.category(of_id)
            && let Some(question) = questions?.get(category)
        {
            return Ok(question);
        }
        Err(category::unknown(self.data.categories(), category))
    }

    fn category(&self, name: &str) -> Option<Result<&HashMap<String, BfclQuestion>>> {
        let is_it = |(category, _): &&(Category, _)| category.name == name;
        let (category, questions) = self.categories.iter().find(is_it)?;
        Some(questions.get_or_try_init(|| {
            let questions = self.data.read(category)?.into_iter();
            Ok(questions
                .map(|question| (question.id.clone(), question))
                .collect())
        }))
    }
}

#[cfg(test)]
mod tests;
