//! The figures of a file of items that was reviewed.

use std::collections::HashSet;
use std::path::Path;

use super::item_file::ItemFile;
use super::places::ReviewPlaces;
use crate::data::reviews::ReviewedFigures;
use crate::error::Result;

/// What people say of the items of a file, by the file of verifications beside it; `None` where nothing was reviewed.
/// `judged` says whether a judge lets the item of an id pass.
///
/// # Errors
/// With the line of what is no item, or no verification.
pub fn reviewed_file(
    items: &Path,
    judged: &dyn Fn(&str) -> Option<bool>,
) -> Result<Option<ReviewedFigures>> {
    let places = ReviewPlaces::beside(items)?;
    if !places.verifications.exists() {
        return Ok(None);
    }
    let (_, listed) = ItemFile::open(items)?;
    let ids: HashSet<String> = listed.into_iter().map(|item| item.id).collect();
    ReviewedFigures::read(&places.verifications, &ids, judged)
}
