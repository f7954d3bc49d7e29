//! `RunsView`: a report of runs as a page of a [`LocalServer`](crate::serve::LocalServer), updated live while one is in
//! progress.
//!
//! The public page is empty: its script asks for `/state/PAGE`, and for `/runs/PAGE` when that changes. The results so far
//! of a run in progress are read from its journal, as for a killed one. Pages are the named runs (no address), an index of all
//! evals (`index`), the runs of an eval (`eval/NAME`), one of them (`run/ID`), and a comparison (`compare/ID/ID`): an
//! address is compared with those of the runs that are there, and never becomes a path.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::UNIX_EPOCH;

use serde_json::json;

use crate::error::Result;
use crate::report::Detail;
use crate::report::compare::texts::PairTexts;
use crate::report::compare::{self, compare};
use crate::report::document::Document;
use crate::report::format::unwritten;
use crate::report::formats::html::content;
use crate::report::render::html::page::{HtmlPage, same_origin_policy};
use crate::report::render::html::{self, VIEW};
use crate::report::reported::index::{self, address};
use crate::report::reported::overview::RunOverview;
use crate::report::reported::{MaskedTexts, ReportedRun};
use crate::run::record::readable::readable_so_far;
use crate::serve::{Served, ServedAnswer, ServedPage, ServedRequest};
use crate::store::files::{JOURNAL, MANIFEST, SUMMARY};
use crate::store::{RunDir, runs_in};
use crate::system::lock;

/// The viewed runs, and an index of all runs.
#[derive(Debug)]
pub struct RunsView {
    /// The runs of the first page; empty for the index.
    dirs: Vec<RunDir>,
    /// The folders with all runs.
    roots: Vec<PathBuf>,
    texts: MaskedTexts,
    /// The last page, and its address and version.
    made: Mutex<Option<(String, Arc<[u8]>)>>,
    /// The overview of each run, as of a version of its files.
    overviews: Mutex<HashMap<PathBuf, ReadOverview>>,
}

/// An overview that was read, or `None` if it cannot be read.
#[derive(Debug)]
struct ReadOverview {
    /// The version of the files that were read.
    version: String,
    overview: Option<Arc<RunOverview>>,
}

/// A page, by its address.
enum Shown {
    /// The named runs.
    Runs(Vec<RunDir>),
    /// All evals.
    Index,
    /// The runs of an eval.
    Eval(String),
    /// One run.
    Run(RunDir),
    /// Two runs.
    Compared([RunDir; 2]),
}

impl RunsView {
    /// A view of these runs, or of the index if there are none, with links to all runs of `roots`.
    ///
    /// # Errors
    /// When a finished one cannot be read.
    pub fn new(dirs: Vec<RunDir>, roots: Vec<PathBuf>, texts: MaskedTexts) -> Result<Self> {
        let view = Self {
            dirs,
            roots,
            texts,
            made: Mutex::default(),
            overviews: Mutex::default(),
        };
        // A run in progress may have nothing to show yet.
        if !is_running(&view.dirs) {
            view.html("")?;
        }
        Ok(view)
    }

    /// All runs, the oldest first.
    fn all(&self) -> Vec<RunDir> {
        let runs = self.roots.iter().flat_map(|root| runs_in(root));
        runs.collect()
    }

    /// One-line overviews in the order of their starts; runs that cannot be read are omitted. Only those whose files have
    /// changed are read again.
    fn overviews(&self) -> Vec<Arc<RunOverview>> {
        let mut known = lock(&self.overviews);
        let mut current = HashMap::new();
        for dir in self.all() {
            let version = version(std::slice::from_ref(&dir), &[MANIFEST, SUMMARY]);
            let read = known.remove(dir.path());
            let read = read.filter(|read| read.version == version);
            let read = read.unwrap_or_else(|| ReadOverview {
                version,
                overview: RunOverview::of(&dir).ok().map(Arc::new),
            });
            current.insert(dir.path().to_owned(), read);
        }
        *known = current;
        let runs = known.values().filter_map(|read| read.overview.clone());
        let mut runs: Vec<_> = runs.collect();
        runs.sort_by(|one, other| {
            let [one, other] = [one, other].map(|run| (&run.started_at, &run.run_dir));
            one.cmp(&other)
        });
        runs
    }

    /// The overviews of an eval.
    fn overviews_of(&self, eval: &str) -> Vec<Arc<RunOverview>> {
        let mut runs = self.overviews();
        runs.retain(|run| run.eval == eval);
        runs
    }

    /// The page with this address, if there is one.
    fn shown(&self, page: &str) -> Option<Shown> {
        let run = |id: &str| {
            let mut runs = self.overviews().into_iter();
            let run = runs.find(|run| address(&run.run_id) == id)?;
            RunDir::open(&run.run_dir).ok()
        };
        let parts: Vec<&str> = page.split('/').collect();
        match *parts {
            [""] if self.dirs.is_empty() => Some(Shown::Index),
            [""] => Some(Shown::Runs(self.dirs.clone())),
            ["index"] => Some(Shown::Index),
            ["eval", name] => {
                let mut runs = self.overviews().into_iter();
                let run = runs.find(|run| address(&run.eval) == name)?;
                Some(Shown::Eval(run.eval.clone()))
            }
            ["run", id] => run(id).map(Shown::Run),
            ["compare", a, b] => Some(Shown::Compared([run(a)?, run(b)?])),
            _ => None,
        }
    }

    /// The runs that a page depends on, and their files.
    fn sources(&self, shown: &Shown) -> (Vec<RunDir>, &'static [&'static str]) {
        let all: &[&str] = &[MANIFEST, JOURNAL, SUMMARY];
        match shown {
            Shown::Runs(dirs) => (dirs.clone(), all),
            Shown::Run(dir) => (vec![dir.clone()], all),
            Shown::Compared(dirs) => (dirs.to_vec(), all),
            Shown::Index | Shown::Eval(_) => (self.all(), &[MANIFEST, SUMMARY]),
        }
    }

    /// A run with its results so far.
    fn read(&self, dir: &RunDir) -> Result<ReportedRun> {
        let (readable, going_on) = readable_so_far(dir.clone())?;
        let mut run = ReportedRun::read(readable.dir, self.texts)?;
        run.going_on = going_on;
        Ok(run)
    }

    /// Writes the content of a page.
    fn write(&self, shown: &Shown, html: &mut Vec<u8>) -> Result<()> {
        let unwritten = |error: io::Error| unwritten(&error);
        match shown {
            Shown::Index => html::document(&index::evals(&self.overviews()), 1, html),
            Shown::Eval(name) => {
                let runs = self.overviews_of(name);
                html::document(&index::eval(name, &runs), 1, html)
            }
            Shown::Runs(dirs) => {
                let runs = dirs.iter().map(|dir| self.read(dir));
                let runs = runs.collect::<Result<Vec<_>>>()?;
                html::blocks(&[index::way()], 1, html).map_err(unwritten)?;
                return content(&runs, html);
            }
            Shown::Run(dir) => {
                let run = RunOverview::of(dir)?;
                let above = index::above(&run, &self.overviews_of(&run.eval));
                html::blocks(&above, 1, html).map_err(unwritten)?;
                return content(&[self.read(dir)?], html);
            }
            Shown::Compared(dirs) => {
                html::blocks(&[index::way()], 1, html).map_err(unwritten)?;
                html::document(&compared(dirs, self.texts)?, 1, html)
            }
        }
        .map_err(unwritten)
    }

    /// The current content of a page; `None` if there is none with this address.
    fn html(&self, page: &str) -> Result<Option<Arc<[u8]>>> {
        let mut made = lock(&self.made);
        let Some(shown) = self.shown(page) else {
            return Ok(None);
        };
        // Taken before reading: later writes cause another read.
        let (dirs, files) = self.sources(&shown);
        let version = format!("{page} {}", version(&dirs, files));
        if let Some((known, html)) = &*made
            && *known == version
        {
            return Ok(Some(Arc::clone(html)));
        }
        let mut html = Vec::new();
        self.write(&shown, &mut html)?;
        let html: Arc<[u8]> = html.into();
        *made = Some((version, Arc::clone(&html)));
        Ok(Some(html))
    }
}

fn is_running(dirs: &[RunDir]) -> bool {
    dirs.iter().any(RunDir::is_going_on)
}

/// Changes whenever one of these files of a run changes.
fn version(dirs: &[RunDir], files: &[&str]) -> String {
    let mut version = String::new();
    for dir in dirs {
        for file in files {
            let about = dir.file(file).metadata().ok();
            let changed = about.as_ref().and_then(|about| about.modified().ok());
            let changed = changed.and_then(|time| time.duration_since(UNIX_EPOCH).ok());
            let bytes = about.map_or(0, |about| about.len());
            let changed = changed.map_or(0, |time| time.as_nanos());
            let _ = write!(version, "{bytes}.{changed}.");
        }
        version.push_str(if dir.is_going_on() { "1 " } else { "0 " });
    }
    version
}

/// Maximum number of flips of two runs, each way, and of characters of a text.
const FLIPS: usize = 100;
const CHARS: usize = 4_000;

/// The report of `compare` on two runs.
fn compared(dirs: &[RunDir; 2], texts: MaskedTexts) -> Result<Document> {
    let compared = compare(dirs, texts)?;
    let is_masked = texts == MaskedTexts::Hidden && compared.runs.iter().any(|run| run.masked);
    let mut shown = None;
    if let ([pair], false) = (&*compared.pairs, is_masked) {
        shown = Some(PairTexts::of_all([&dirs[0], &dirs[1]], pair, FLIPS, CHARS)?);
    }
    let document = compare::document(&compared, shown.as_ref(), Vec::new(), Detail::Full);
    Ok(document)
}

impl Served for RunsView {
    fn page(&self) -> ServedPage {
        let scripts = [VIEW];
        let page = HtmlPage {
            title: "evaltest",
            scripts: &scripts,
        };
        let policy = same_origin_policy(&scripts);
        let mut html = Vec::new();
        let written = page.begin_under(&policy, &mut html).and_then(|()| {
            html.write_all(
                b"<noscript>This page needs its script. <code>cargo evaltest report --format html</code> writes one that does not.</noscript>\n",
            )?;
            page.end(&mut html)
        });
        debug_assert!(written.is_ok(), "memory takes everything");
        ServedPage {
            html: String::from_utf8(html).unwrap_or_default(),
            policy,
        }
    }

    fn answer(&self, request: &ServedRequest) -> ServedAnswer {
        let nothing = || ServedAnswer::refused(404, "not found");
        let (kind, page) = match request
            .path
            .strip_prefix('/')
            .map(|path| path.split_once('/'))
        {
            Some(Some((kind, page))) => (kind, page),
            Some(None) => (&request.path[1..], ""),
            None => return nothing(),
        };
        match (&*request.method, kind) {
            ("GET", "state") => {
                let Some(shown) = self.shown(page) else {
                    return nothing();
                };
                let (dirs, files) = self.sources(&shown);
                let state = json!({"version": version(&dirs, files), "running": is_running(&dirs)});
                ServedAnswer::fine("application/json", state.to_string().into_bytes())
            }
            ("GET", "runs") => match self.html(page) {
                Ok(Some(html)) => ServedAnswer::fine("text/html; charset=utf-8", html),
                Ok(None) => nothing(),
                Err(error) => ServedAnswer::refused(500, &error.on_one_line()),
            },
            _ => nothing(),
        }
    }
}
