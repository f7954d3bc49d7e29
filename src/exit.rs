//! `Exit`: the exit status of commands. The only module that knows the numbers.
//!
//! A [`Summary`](crate::Summary) has the exit of its run, an [`Error`](crate::Error) that of a failed command, and a
//! command with several steps exits with the [worst](Exit::worst) of theirs. Exit codes of other programs, such as
//! agents, are plain numbers.

use std::process::ExitCode;

use serde::de::{Error as _, Unexpected};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The exit status of a command, in ascending precedence: the `max` of several is the combined status. In files it is
/// the number.
///
/// ```
/// use evaltest::Exit;
///
/// assert_eq!(Exit::Usage.max(Exit::Infrastructure).code(), 2);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Exit {
    /// 0: success, and no gate failed.
    Passed,
    /// 1: the agent is worse than a gate or an assertion allows.
    Failed,
    /// 3: no result about the agent because of an environment error: too many errors, stopped early, a full disk.
    Infrastructure,
    /// 2: an error in the command line, a spec, a dataset or a baseline.
    Usage,
    /// 130: ended by a signal, as shells report Ctrl-C.
    Interrupted,
}

impl Exit {
    /// All of them, in ascending precedence.
    pub const ALL: [Self; 5] = [
        Self::Passed,
        Self::Failed,
        Self::Infrastructure,
        Self::Usage,
        Self::Interrupted,
    ];

    /// The exit code.
    pub fn code(self) -> u8 {
        match self {
            Self::Passed => 0,
            Self::Failed => 1,
            Self::Usage => 2,
            Self::Infrastructure => 3,
            Self::Interrupted => 130,
        }
    }

    /// Its meaning.
    pub fn meaning(self) -> &'static str {
        match self {
            Self::Passed => "success: no gate failed",
            Self::Failed => "the agent is worse than a gate or an assertion allows",
            Self::Usage => {
                "a mistake in the command line, a spec, a dataset or a baseline, usually found before any call; or an endpoint \
                 that refuses all requests (a wrong key, an unknown model, an empty account)"
            }
            Self::Infrastructure => {
                "infrastructure: nothing is known about the agent because of too many errors, an inconclusive gate, an \
                 exhausted budget or deadline, or a full disk"
            }
            Self::Interrupted => "interrupted by a signal such as Ctrl-C; `run --resume` continues",
        }
    }

    /// The status with this exit code, if any.
    pub(crate) fn of_code(code: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|exit| exit.code() == code)
    }

    /// The status with the highest precedence; `Passed` if there are none.
    pub fn worst(of: impl IntoIterator<Item = Self>) -> Self {
        of.into_iter().max().unwrap_or(Self::Passed)
    }

    /// The status of a test binary started by `cargo evaltest`, from its exit code; a signal leaves none.
    pub fn of_driven(code: Option<i32>) -> Self {
        let code = code.and_then(|code| u8::try_from(code).ok());
        code.and_then(|code| Caller::Command.exit(code))
            // Any other code is from a `main` that returned an error.
            .unwrap_or(Self::Usage)
    }
}

/// The program that started a test binary and reads its exit code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Caller {
    /// `cargo test` and other programs that expect libtest's exit codes.
    Harness,
    /// `cargo evaltest`.
    Command,
}

impl Caller {
    /// The exit code for the caller. A failure is not 1, because a `main` that returns an error (such as for an
    /// invalid spec) exits with 1: libtest uses 101, and the codes for the command are a contract with it that must
    /// hold between versions.
    pub(crate) fn code(self, exit: Exit) -> u8 {
        match (self, exit) {
            (Self::Harness, Exit::Failed) => 101,
            (Self::Command, Exit::Failed) => 71,
            (_, exit) => exit.code(),
        }
    }

    /// The status for an exit code.
    fn exit(self, code: u8) -> Option<Exit> {
        let mut all = Exit::ALL.into_iter();
        all.find(|exit| self.code(*exit) == code)
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.code())
    }
}

impl Serialize for Exit {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_u8(self.code())
    }
}

impl<'de> Deserialize<'de> for Exit {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let code = u8::deserialize(deserializer)?;
        let unknown =
            || D::Error::invalid_value(Unexpected::Unsigned(code.into()), &"an exit code");
        Self::of_code(code).ok_or_else(unknown)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_worst_comes_first() {
        fn check(codes: &[u8], expect: u8) {
            let exits = codes.iter().map(|code| Exit::of_code(*code).unwrap());
            assert_eq!(Exit::worst(exits).code(), expect, "{codes:?}");
        }
        check(&[], 0);
        check(&[0], 0);
        check(&[0, 1, 0], 1);
        check(&[1, 3], 3);
        check(&[2, 3], 2);
        check(&[3, 2, 1], 2);
        check(&[2, 130, 3], 130);
        let precedence = [0, 1, 3, 2, 130];
        for (place, code) in precedence.into_iter().enumerate() {
            check(&precedence[..=place], code);
            for other in &precedence[..place] {
                check(&[code, *other], code);
                check(&[*other, code], code);
            }
        }
    }

    #[test]
    fn in_files_it_is_its_number() {
        fn check(text: &str, expect: Result<Exit, &str>) {
            let read = serde_json::from_str::<Exit>(text);
            match expect {
                Ok(exit) => {
                    assert_eq!(read.unwrap(), exit);
                    assert_eq!(serde_json::to_string(&exit).unwrap(), text);
                }
                Err(message) => assert!(read.unwrap_err().to_string().starts_with(message)),
            }
        }
        check("0", Ok(Exit::Passed));
        check("1", Ok(Exit::Failed));
        check("2", Ok(Exit::Usage));
        check("3", Ok(Exit::Infrastructure));
        check("130", Ok(Exit::Interrupted));
        check(
            "71",
            Err("invalid value: integer `71`, expected an exit code"),
        );
        check("300", Err("invalid value: integer `300`, expected u8"));
        check("\"1\"", Err("invalid type: string \"1\", expected u8"));
    }

    #[test]
    fn a_driven_binary_says_failed_by_a_number_of_its_own() {
        fn check(code: Option<i32>, expect: Exit) {
            assert_eq!(Exit::of_driven(code), expect, "{code:?}");
        }
        check(Some(0), Exit::Passed);
        check(Some(71), Exit::Failed);
        check(Some(2), Exit::Usage);
        check(Some(3), Exit::Infrastructure);
        check(Some(130), Exit::Interrupted);
        // A `main` that returned an error, a panic, an unknown code, a signal.
        check(Some(1), Exit::Usage);
        check(Some(101), Exit::Usage);
        check(Some(300), Exit::Usage);
        check(None, Exit::Usage);
        for exit in Exit::ALL {
            check(Some(Caller::Command.code(exit).into()), exit);
        }
        assert_eq!(Caller::Harness.code(Exit::Failed), 101);
    }
}
