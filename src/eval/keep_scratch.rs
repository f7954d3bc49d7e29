//! `KeepScratch`: which folders of attempts are left behind.

/// Which folders of attempts stay on disk, for looking into them. What an agent itself writes there is
/// not redacted.
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
