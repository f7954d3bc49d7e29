//! Hints for exhausted resources of this machine.

use std::io::{self, ErrorKind};

/// `EMFILE` and `ENFILE` have the same numbers everywhere, but no `ErrorKind`.
const OWN_FILES: i32 = 24;
const ALL_FILES: i32 = 23;

/// The remedy for an exhausted resource; `None` for other errors.
pub(crate) fn remedy(error: &io::Error) -> Option<&'static str> {
    Some(match (error.raw_os_error()?, error.kind()) {
        (OWN_FILES, _) => "allow more open files: `ulimit -n 4096`",
        (ALL_FILES, _) => {
            "all programs of this machine have too many files open: end some, or raise `fs.file-max`"
        }
        (_, ErrorKind::WouldBlock) => "let more processes and threads run: `ulimit -u 4096`",
        (_, ErrorKind::OutOfMemory) => "free some memory, or lower `limits.concurrency`",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use rustix::io::Errno;

    use crate::error::Error;

    #[test]
    fn what_a_file_lacks_is_what_the_hint_says() {
        let check = |errno: Errno, expect: Option<&str>| {
            let error = Error::io("read", Path::new("a"), &errno.into());
            let hint = error.hint_text();
            let is_expected = match (hint, expect) {
                (Some(hint), Some(part)) => hint.contains(part),
                (hint, expect) => hint == expect,
            };
            assert!(is_expected, "{errno:?}: {hint:?}");
        };
        check(Errno::MFILE, Some("ulimit -n"));
        check(Errno::NFILE, Some("file-max"));
        check(Errno::NOMEM, Some("memory"));
        check(Errno::NOENT, None);
        check(Errno::NOSPC, None);
        // The file is locked.
        check(Errno::AGAIN, None);
        let error = Error::refused("start a thread", &Errno::AGAIN.into());
        assert!(error.hint_text().unwrap().contains("ulimit -u"));
    }
}
