//! Which sandbox is asked for, and which one works here.

use super::Sandbox;
use super::bwrap::Strength;
use crate::error::{Error, Result};

/// What is to confine an agent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum SandboxKind {
    /// Bubblewrap, or an error.
    #[default]
    Bwrap,
    /// Landlock, or an error.
    Landlock,
    /// Bubblewrap where it works, else Landlock, else an error.
    Auto,
    /// Bubblewrap where it works, else Landlock, else nothing, which is told.
    AutoOrNone,
}

/// What confines an agent here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Used {
    Bwrap(Strength),
    Landlock,
    Nothing,
}

impl Used {
    /// As the manifest of a run names it.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::Bwrap(_) => "bwrap",
            Self::Landlock => "landlock",
            Self::Nothing => "none",
        }
    }
}

/// Finds out what works.
pub(super) fn choose(sandbox: &Sandbox) -> Result<Used> {
    let (bwrap, landlock) = (|| sandbox.strength(), || sandbox.try_landlock());
    first_of(sandbox.kind, bwrap, landlock)
}

/// The first of what is asked for that works.
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
        // Whoever names one wants no other.
        assert!(used(SandboxKind::Bwrap, false, true).is_err());
        assert_eq!(
            used(SandboxKind::Landlock, true, true).as_deref(),
            Ok("landlock")
        );
        assert!(used(SandboxKind::Landlock, true, false).is_err());
    }
}
