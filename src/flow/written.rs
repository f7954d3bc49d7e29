//! The reports of a flow as files.

use std::io;
use std::path::Path;

use super::figures::FlowFigures;
use super::told::{comprehensive, of_judge, of_winrate};
use crate::error::{Error, Result};
use crate::report::document::Document;
use crate::report::render::{html, markdown};
use crate::system::file::write_atomically;

/// Writes the reports of a flow into its folder, and gives their names: the comprehensive one as Markdown and as a page, and
/// those of single stages that have figures, with this time in their names.
///
/// # Errors
/// When one cannot be written.
pub(super) fn write_reports(
    figures: &FlowFigures,
    folder: &Path,
    time: &str,
) -> Result<Vec<String>> {
    let mut names = Vec::new();
    let mut write = |name: String, content: io::Result<Vec<u8>>| {
        let path = folder.join(&name);
        let content = content.map_err(|error| Error::io("write", &path, &error))?;
        write_atomically(&path, &content)?;
        names.push(name);
        Ok(())
    };
    if figures.judge.found().is_some() {
        let name = format!("llm_judge_report_{time}.md");
        write(name, markdown(&of_judge(figures)))?;
    }
    if figures.winrate.found().is_some() {
        let name = format!("win_rate_report_{time}.md");
        write(name, markdown(&of_winrate(figures)))?;
    }
    let whole = comprehensive(figures);
    write("comprehensive_report.md".to_owned(), markdown(&whole))?;
    write("comprehensive_report.html".to_owned(), page(&whole))?;
    Ok(names)
}

fn markdown(text: &Document) -> io::Result<Vec<u8>> {
    let mut out = Vec::new();
    markdown::document(text, 1, &mut out)?;
    Ok(out)
}

fn page(text: &Document) -> io::Result<Vec<u8>> {
    let mut out = Vec::new();
    html::page(&text.title, std::slice::from_ref(text), &mut out)?;
    Ok(out)
}
