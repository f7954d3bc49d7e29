//! `RunsView`: a report of runs as a page of a [`LocalServer`](crate::serve::LocalServer), updated live while one is in
//! progress.
//!
//! The public page is empty: its script asks for `/state`, and for `/runs` when that changes. The results so far of a
//! run in progress are read from its journal, as for a killed one.

use std::fmt::Write as _;
use std::io::Write;
use std::sync::{Arc, Mutex};
use std::time::UNIX_EPOCH;

use serde_json::json;

use crate::error::{Error, Result};
use crate::report::formats::html::content;
use crate::report::render::html::VIEW;
use crate::report::render::html::page::{HtmlPage, same_origin_policy};
use crate::report::reported::{MaskedTexts, ReportedRun};
use crate::run::record::readable::readable_so_far;
use crate::serve::{Served, ServedAnswer, ServedPage, ServedRequest};
use crate::store::RunDir;
use crate::store::files::{JOURNAL, MANIFEST, SUMMARY};
use crate::system::lock;

/// The viewed runs.
#[derive(Debug)]
pub struct RunsView {
    dirs: Vec<RunDir>,
    texts: MaskedTexts,
    /// The last page, and its version.
    made: Mutex<Option<(String, Arc<[u8]>)>>,
}

impl RunsView {
    /// A view of these runs.
    ///
    /// # Errors
    /// When a finished one cannot be read.
    pub fn new(dirs: Vec<RunDir>, texts: MaskedTexts) -> Result<Self> {
        let view = Self {
            dirs,
            texts,
            made: Mutex::default(),
        };
        // A run in progress may have nothing to show yet.
        if !view.is_running() {
            view.html()?;
        }
        Ok(view)
    }

    fn is_running(&self) -> bool {
        self.dirs.iter().any(RunDir::is_going_on)
    }

    /// Changes whenever a file of a run changes.
    fn version(&self) -> String {
        let mut version = String::new();
        for dir in &self.dirs {
            for file in [MANIFEST, JOURNAL, SUMMARY] {
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

    /// The current content of the page.
    fn html(&self) -> Result<Arc<[u8]>> {
        let mut made = lock(&self.made);
        // Taken before reading: later writes cause another read.
        let version = self.version();
        if let Some((known, html)) = &*made
            && *known == version
        {
            return Ok(Arc::clone(html));
        }
        let runs = self.dirs.iter().map(|dir| {
            let (readable, going_on) = readable_so_far(dir.clone())?;
            let mut run = ReportedRun::read(readable.dir, self.texts)?;
            run.going_on = going_on;
            Ok(run)
        });
        let runs = runs.collect::<Result<Vec<_>>>()?;
        let mut html = Vec::new();
        content(&runs, &mut html)?;
        let html: Arc<[u8]> = html.into();
        *made = Some((version, Arc::clone(&html)));
        Ok(html)
    }
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
        match (&*request.method, &*request.path) {
            ("GET", "/state") => {
                let state = json!({"version": self.version(), "running": self.is_running()});
                ServedAnswer::fine("application/json", state.to_string().into_bytes())
            }
            ("GET", "/runs") => match self.html() {
                Ok(html) => ServedAnswer::fine("text/html; charset=utf-8", html),
                Err(error) => ServedAnswer::refused(500, &message(&error)),
            },
            _ => ServedAnswer::refused(404, "there is nothing here"),
        }
    }
}

/// An error in one line.
fn message(error: &Error) -> String {
    match error.hint_text() {
        Some(hint) => format!("{}; {hint}", error.message()),
        None => error.message().to_owned(),
    }
}
