//! The requested kinds of sandboxes, and which one works.

use super::Sandbox;
use super::bwrap::Strength;
use crate::error::{Error, Result};

/// The kind of sandbox for an agent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum SandboxKind {
    /// Bubblewrap, or an error.
    #[default]
    Bwrap,
    /// Landlock, or an error.
    Landlock,
    /// Bubblewrap if it works, or else Landlock, or else an error.
    Auto,
    /// Bubblewrap if it works, or else Landlock, or else none, with a notice.
    AutoOrNone,
}

/// The sandbox in use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Used {
    Bwrap(Strength),
    Landlock,
    Nothing,
}

impl Used {
    /// Its name in a run's manifest.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::Bwrap(_) => "bwrap",
            Self::Landlock => "landlock",
            Self::Nothing => "none",
        }
    }
}

/// Determines which sandbox works.
pub(super) fn choose(sandbox: &Sandbox) -> Result<Used> {
    let (bwrap, landlock) = (|| sandbox.strength(), || sandbox.try_landlock());
    first_of(sandbox.kind, bwrap, landlock)
}

/// The first requested one that works.
fn first_of(
    kind: SandboxKind,
    bwrap: impl FnOnce() -> Result<Strength>,
    landlock: impl FnOnce() -> Result<()>,
) -> Result<Used> {
    let or_none = match kind {
        SandboxKind::Bwrap => return bwrap().map(Used::Bwrap),
        SandboxKind::Landlock => return landlock().map(|()| Used::Landlock),
        SandboxKind::Auto => false,
        SandboxKind::AutoOrNone => true,
    };
    let no_bwrap = match bwrap() {
        Ok(strength) => return Ok(Used::Bwrap(strength)),
        Err(error) => error,
    };
    match landlock() {
        Ok(()) => Ok(Used::Landlock),
        Err(_) if or_none => Ok(Used::Nothing),
        Err(no_landlock) => {
            let reasons = [no_bwrap.message(), no_landlock.message()].join("; ");
            let hint = no_bwrap.hint_text().unwrap_or_default();
            let message = format!("`sandbox: auto`: no sandbox works here: {reasons}");
            Err(Error::usage(message).hint(format!(
                "{hint}; or write `sandbox: auto?` to run without where none works"
            )))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_that_works_is_used() {
        let strength = Strength::default();
        let used = |kind, bwrap: bool, landlock: bool| {
            let no = |name: &str| Error::usage(format!("no {name}")).hint("install it");
            let used = first_of(
                kind,
                || bwrap.then_some(strength).ok_or_else(|| no("bwrap")),
                || landlock.then_some(()).ok_or_else(|| no("landlock")),
            );
            used.map(|used| used.name())
                .map_err(|error| error.to_string())
        };
        for kind in [SandboxKind::Auto, SandboxKind::AutoOrNone] {
            assert_eq!(used(kind, true, true).as_deref(), Ok("bwrap"));
            assert_eq!(used(kind, false, true).as_deref(), Ok("landlock"));
        }
        assert_eq!(
            used(SandboxKind::AutoOrNone, false, false).as_deref(),
            Ok("none")
        );
        let error = used(SandboxKind::Auto, false, false).unwrap_err();
        for part in [
            "no bwrap; no landlock",
            "install it; or write `sandbox: auto?`",
        ] {
            assert!(error.contains(part), "{error}");
        }
        // An explicit kind has no fallback.
        assert!(used(SandboxKind::Bwrap, false, true).is_err());
        assert_eq!(
            used(SandboxKind::Landlock, true, true).as_deref(),
            Ok("landlock")
        );
        assert!(used(SandboxKind::Landlock, true, false).is_err());
    }
}
