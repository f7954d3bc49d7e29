//! `KeepScratch`: which scratch folders of attempts are kept.

/// Which scratch folders of attempts are kept for inspection. Files that the agent itself writes there are not
/// redacted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub(crate) enum KeepScratch {
    /// None.
    #[default]
    Never,
    /// Those of failed attempts.
    Failed,
    /// All.
    Always,
}
