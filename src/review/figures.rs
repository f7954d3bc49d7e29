//! The figures of a reviewed item file.

use std::collections::HashSet;
use std::path::Path;

use super::ReviewPlaces;
use super::item_file::ItemFile;
use crate::data::reviews::ReviewedFigures;
use crate::error::Result;

/// The reviews of the items of a file, from the verifications file next to it; `None` if there are none. `judged` says
/// whether a judge passes the item with an id.
///
/// # Errors
/// With the line that is not an item, or not a verification.
pub fn reviewed_file(
    items: &Path,
    judged: &dyn Fn(&str) -> Option<bool>,
) -> Result<Option<ReviewedFigures>> {
    let places = ReviewPlaces::for_items(items)?;
    if !places.verifications.exists() {
        return Ok(None);
    }
    let (_, listed) = ItemFile::open(items)?;
    let ids: HashSet<String> = listed.into_iter().map(|item| item.id).collect();
    ReviewedFigures::read(&places.verifications, &ids, judged)
}
