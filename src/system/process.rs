//! External programs: shared by agents and scorers that are programs.
//!
//! [`launch`] finds and starts a program with the variables of an [`Environment`]. A program leads its own process
//! [`group`], with which its children are killed; `escapees` finds processes that left it, `watch` those that this
//! program could not kill. [`Tail`] stores the end of stderr, and `excerpt` formats output for messages. A [`child`]
//! runs to its end; a [`worker`] is a long-running program that answers a line with a line.

pub(crate) mod child;
pub(crate) mod escapees;
pub(crate) mod excerpt;
pub(crate) mod group;
pub(crate) mod launch;
pub(crate) mod native;
pub(crate) mod orphans;
pub(crate) mod signal;
pub(crate) mod watch;
pub(crate) mod worker;

use std::collections::{BTreeMap, HashMap};
use std::ffi::{OsStr, OsString};
use std::fmt::Write as _;
use std::io::{PipeReader, PipeWriter, Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::{fmt, fs, io};

use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::{Errno, ioctl_fionread};
use rustix::process::{Pid, getppid, test_kill_process};

use crate::system::{file, lock, variables};
use crate::text::hash::Hasher;
use crate::text::quoted;
use crate::text::redact::is_secret_name;
use native::start_time;

/// A process of this machine: its pid and start time, because pids are reused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ProcessMark {
    pid: Pid,
    start_time: Option<String>,
}

impl ProcessMark {
    /// The parent process; `None` if it has ended.
    pub(crate) fn of_parent() -> Option<Self> {
        // Orphans are children of the init process.
        let pid = getppid().filter(|pid| pid.as_raw_pid() > 1)?;
        Some(Self {
            pid,
            start_time: start_time(pid),
        })
    }

    /// Parses the output of [`fmt::Display`].
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let (pid, start_time) = text.trim().split_once(' ')?;
        Some(Self {
            pid: Pid::from_raw(pid.parse().ok().filter(|pid| *pid > 0)?)?,
            start_time: (start_time != "-").then(|| start_time.to_owned()),
        })
    }

    /// Whether the process still exists.
    pub(crate) fn is_alive(&self) -> bool {
        let is_there = match test_kill_process(self.pid) {
            Ok(()) | Err(Errno::PERM) => true,
            Err(_) => false,
        };
        is_there && (self.start_time.is_none() || start_time(self.pid) == self.start_time)
    }
}

impl fmt::Display for ProcessMark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let start_time = self.start_time.as_deref().unwrap_or("-");
        write!(f, "{} {start_time}", self.pid.as_raw_pid())
    }
}

/// Maximum bytes per read.
const PIECE_BYTES: usize = 16 * 1024;

/// Reads what is available from a pipe, limited to the size of `piece`; closes the pipe at its end. Must not block.
fn read_piece<'p>(pipe: &mut Option<impl AsFd>, piece: &'p mut [u8]) -> &'p [u8] {
    let Some(open) = pipe else { return &[] };
    match rustix::io::read(open, &mut *piece) {
        Ok(length) if length > 0 => &piece[..length],
        Err(Errno::AGAIN | Errno::INTR) => &[],
        Ok(_) | Err(_) => {
            *pipe = None;
            &[]
        }
    }
}

/// Number of bytes waiting in a pipe.
fn buffered(pipe: &impl AsFd) -> u64 {
    ioctl_fionread(pipe).unwrap_or(0)
}

/// The last bytes pushed.
pub(crate) struct Tail {
    bytes: Vec<u8>,
    /// Total number of bytes pushed.
    pushed: u64,
    limit: usize,
    /// Whether the beginning was dropped.
    is_truncated: bool,
}

impl Tail {
    pub(crate) fn new(limit: usize) -> Self {
        Self {
            bytes: Vec::new(),
            pushed: 0,
            limit,
            is_truncated: false,
        }
    }

    pub(crate) fn push(&mut self, bytes: &[u8]) {
        self.pushed += bytes.len() as u64;
        let surplus = bytes.len().saturating_sub(self.limit);
        self.is_truncated |= surplus > 0;
        let bytes = &bytes[surplus..];
        // Truncating at twice the limit moves each byte at most once, for pieces of any size.
        if self.bytes.len() + bytes.len() > 2 * self.limit {
            self.truncate_to(self.limit - bytes.len());
        }
        self.bytes.extend_from_slice(bytes);
    }

    /// Total number of bytes pushed.
    pub(crate) fn pushed(&self) -> u64 {
        self.pushed
    }

    /// The tail of what was pushed after this many bytes.
    pub(crate) fn since(&self, pushed: u64) -> Option<String> {
        let wanted = usize::try_from(self.pushed.saturating_sub(pushed)).unwrap_or(usize::MAX);
        let from = self.bytes.len().saturating_sub(wanted);
        let tail = Self {
            bytes: self.bytes[from..].to_vec(),
            pushed: self.pushed,
            limit: self.limit,
            is_truncated: self.is_truncated && from == 0,
        };
        tail.text()
    }

    /// The tail as text; `None` if nothing was pushed.
    pub(crate) fn text(mut self) -> Option<String> {
        self.truncate_to(self.limit);
        if self.is_truncated {
            // Truncation may have split a character; drop its rest.
            let rest = self.bytes.iter().take(3);
            let rest = rest.take_while(|byte| **byte & 0xC0 == 0x80).count();
            self.bytes.drain(..rest);
        }
        (!self.bytes.is_empty()).then(|| String::from_utf8_lossy(&self.bytes).into_owned())
    }

    fn truncate_to(&mut self, length: usize) {
        let surplus = self.bytes.len().saturating_sub(length);
        self.is_truncated |= surplus > 0;
        self.bytes.drain(..surplus);
    }
}

/// Variables that are always passed.
const ALLOWED: [&str; 7] = [
    "PATH",
    "HOME",
    "LANG",
    "TZ",
    "TMPDIR",
    "VIRTUAL_ENV",
    "PYTHONPATH",
];
/// Prefixes of variables that are always passed.
const ALLOWED_PREFIXES: [&str; 2] = ["LC_", "SSL_CERT_"];
/// The source of variables, and which of them are passed.
#[derive(Clone)]
pub(crate) struct Environment {
    /// The environment of this process.
    pub(crate) ambient: BTreeMap<OsString, OsString>,
    /// Names from the spec.
    pub(crate) named: Vec<String>,
    /// Names from the spec with values that are not secret.
    pub(crate) plain: Vec<String>,
    /// Values for names from the spec that `ambient` lacks.
    pub(crate) fallback: BTreeMap<String, String>,
}

impl Environment {
    pub(crate) fn of_process() -> Self {
        Self {
            ambient: std::env::vars_os().collect(),
            named: Vec::new(),
            plain: Vec::new(),
            fallback: BTreeMap::new(),
        }
    }

    /// Adds names of variables whose values are not secret. They are passed like others.
    pub(crate) fn name_plain(&mut self, names: impl IntoIterator<Item = impl Into<String>>) {
        for name in names.into_iter().map(Into::into) {
            if !self.named.contains(&name) {
                self.named.push(name.clone());
            }
            self.plain.push(name);
        }
    }

    /// The variables to pass; more can be added.
    pub(crate) fn vars(&self) -> BTreeMap<&OsStr, OsString> {
        self.passed()
            .into_iter()
            .map(|(name, value)| (name, value.to_owned()))
            .collect()
    }

    /// The passed variables with secret values: all named in the spec, unless they are [plain](variables::is_plain).
    pub(crate) fn secrets(&self) -> Vec<(String, String)> {
        let text = |(name, value): (&OsStr, &OsStr)| {
            let (name, value) = (name.to_string_lossy(), value.to_string_lossy());
            (name.into_owned(), value.into_owned())
        };
        let is_secret = |(name, value): &(String, String)| {
            (self.named.contains(name) || is_secret_name(name))
                && !variables::is_plain(name, value, &self.plain)
        };
        let passed = self.passed().into_iter().map(text);
        passed.filter(is_secret).collect()
    }

    /// The values of [secrets](Self::secrets).
    pub(crate) fn secret_values(&self) -> Vec<String> {
        let secrets = self.secrets().into_iter();
        secrets.map(|(_, value)| value).collect()
    }

    /// A suffix for error messages of the `program` (`agent`): keys that it may lack. Empty if there are none.
    pub(crate) fn advice(&self, program: &str) -> String {
        let unset = self.unset();
        let withheld = self.withheld_keys();
        let mut advice = String::new();
        if !unset.is_empty() {
            advice += "; set neither in the environment nor in `.env`: ";
            advice += &quoted(unset.iter().map(String::as_str));
        }
        if !withheld.is_empty() {
            let names = quoted(withheld.iter().copied());
            let list = withheld.join(", ");
            let _ = write!(
                advice,
                "; not passed to the {program}: {names}; hint: add `env: [{list}]` to `{program}`"
            );
        }
        advice
    }

    /// Names from the spec without a value.
    pub(crate) fn unset(&self) -> Vec<String> {
        let unset = self.named.iter().filter(|name| self.value(name).is_none());
        unset.cloned().collect()
    }

    /// API keys that are set but not named in the spec.
    fn withheld_keys(&self) -> Vec<&str> {
        let ambient = self.ambient.iter().filter(|(_, value)| !value.is_empty());
        let ambient = ambient.filter_map(|(name, _)| name.to_str());
        let fallback = self.fallback.iter().filter(|(_, value)| !value.is_empty());
        let mut names: Vec<&str> = ambient
            .chain(fallback.map(|(name, _)| name.as_str()))
            .filter(|name| name.ends_with("_API_KEY"))
            .filter(|name| !self.named.iter().any(|named| named == name))
            .collect();
        names.sort_unstable();
        names.dedup();
        names
    }

    fn passed(&self) -> BTreeMap<&OsStr, &OsStr> {
        let allowed = self
            .ambient
            .iter()
            .filter(|(name, _)| name.to_str().is_some_and(is_allowed))
            .map(|(name, value)| (name.as_os_str(), value.as_os_str()));
        let named = self
            .named
            .iter()
            .filter_map(|name| Some((OsStr::new(name), self.value(name)?)));
        allowed.chain(named).collect()
    }

    /// The value of a name from the spec; the process environment takes precedence over `.env`.
    fn value(&self, name: &str) -> Option<&OsStr> {
        let ambient = self.ambient.get(OsStr::new(name)).map(OsString::as_os_str);
        ambient.or_else(|| self.fallback.get(name).map(OsStr::new))
    }
}

fn is_allowed(name: &str) -> bool {
    ALLOWED.contains(&name) || ALLOWED_PREFIXES.iter().any(|start| name.starts_with(start))
}

// Files named in a command line: the program, and arguments that are files.
//
// Other inputs of a program are unknown: imported modules, packages, its data, the clock.

/// For files above this size, such as models, size and modification time replace the content.
const LARGEST: u64 = 256 << 20;
/// Maximum number of words checked per command; each has at most `LONGEST_WORD` bytes.
const MOST_WORDS: usize = 1000;
const LONGEST_WORD: usize = 4096;

/// Cache of file hashes. An unchanged file is not read again.
#[derive(Clone, Debug, Default)]
pub(crate) struct FileHashes {
    known: Arc<Mutex<HashMap<PathBuf, (FileState, String)>>>,
}

/// Identifies an unchanged file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct FileState {
    file: (u64, u64),
    bytes: u64,
    changed: (i64, i64),
    status_changed: (i64, i64),
}

impl FileHashes {
    /// A hash of the contents of all files named in a command line, relative to any of `folders`.
    pub(crate) fn hash(
        &self,
        program: Option<&Path>,
        argv: &[String],
        folders: &[&Path],
    ) -> String {
        let mut hash = Hasher::default();
        if let Some(program) = program {
            hash = hash.part(self.file(program).unwrap_or_default());
        }
        let words = argv.iter().flat_map(|argument| words(argument));
        for word in words.take(MOST_WORDS) {
            for folder in folders {
                if let Some(content) = self.file(&folder.join(word)) {
                    hash = hash.part(word).part(content);
                }
            }
        }
        hash.hex()
    }

    /// The hash of a file; `None` if it is not a file or cannot be read.
    fn file(&self, path: &Path) -> Option<String> {
        let about = fs::metadata(path).ok().filter(fs::Metadata::is_file)?;
        let state = FileState {
            file: (about.dev(), about.ino()),
            bytes: about.len(),
            changed: (about.mtime(), about.mtime_nsec()),
            status_changed: (about.ctime(), about.ctime_nsec()),
        };
        if state.bytes > LARGEST {
            return Some(format!("{} {:?}", state.bytes, state.changed));
        }
        if let Some((then, hash)) = self.known().get(path)
            && *then == state
        {
            return Some(hash.clone());
        }
        let hash = file::hash(path).ok()?;
        self.known().insert(path.to_owned(), (state, hash.clone()));
        Some(hash)
    }

    /// Ignores poisoning: the map is never left inconsistent.
    fn known(&self) -> std::sync::MutexGuard<'_, HashMap<PathBuf, (FileState, String)>> {
        lock(&self.known)
    }
}

/// The files named in a text, such as an argument, relative to any of `folders`.
pub(crate) fn files_in(text: &str, folders: &[&Path]) -> Vec<PathBuf> {
    let words = words(text).take(MOST_WORDS);
    let paths = words.flat_map(|word| folders.iter().map(move |folder| folder.join(word)));
    paths.filter(|path| path.is_file()).collect()
}

/// The parts of an argument that may name files: the whole and its words, as in `--config=a.toml` or
/// `python3 agent.py | tee log`.
fn words(argument: &str) -> impl Iterator<Item = &str> {
    let marks = |c: char| c.is_whitespace() || "'\"`;|&()<>=,".contains(c);
    let whole = std::iter::once(argument);
    let parts = argument.split(marks).filter(move |part| *part != argument);
    let is_name = |word: &&str| !word.is_empty() && word.len() <= LONGEST_WORD;
    whole.chain(parts).filter(is_name)
}

/// Readable from `ring` until `silence`.
#[derive(Debug)]
pub(crate) struct Bell {
    reader: PipeReader,
    writer: PipeWriter,
}

impl Bell {
    /// A silent bell; an error if no descriptor is available.
    pub(crate) fn new() -> io::Result<Self> {
        let (reader, writer) = io::pipe()?;
        Ok(Self { reader, writer })
    }

    /// Makes it readable. Must not be called while it rings: the pipe then holds at most one byte, so that writing
    /// neither blocks nor fails.
    pub(crate) fn ring(&self) {
        let _ = (&self.writer).write(&[1]);
    }

    /// Undoes one `ring`, which must have happened.
    pub(crate) fn silence(&self) {
        let _ = (&self.reader).read(&mut [0]);
    }

    /// Blocks until it rings.
    pub(crate) fn wait(&self) {
        while let Err(Errno::INTR) = poll(&mut [PollFd::new(&self.reader, PollFlags::IN)], None) {}
    }

    /// The descriptor to poll together with others.
    pub(crate) fn wake_fd(&self) -> BorrowedFd<'_> {
        self.reader.as_fd()
    }
}

#[cfg(test)]
mod mark_tests {
    use std::process::Command;

    use super::*;

    #[test]
    fn a_process_is_known_until_it_ends() {
        let parent = ProcessMark::of_parent().unwrap();
        assert!(parent.is_alive());
        let again = ProcessMark::parse(&format!("{parent}\n")).unwrap();
        assert_eq!(again, parent);
        for text in ["", "1", "x -", "0 -", "-4 -"] {
            assert_eq!(ProcessMark::parse(text), None, "{text}");
        }
        let mut child = Command::new("sleep").arg("60").spawn().unwrap();
        let pid = Pid::from_child(&child);
        let mark = ProcessMark {
            pid,
            start_time: start_time(pid),
        };
        assert!(mark.is_alive());
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(!mark.is_alive());
        // The pid belongs to another process now.
        let other = ProcessMark {
            start_time: parent
                .start_time
                .as_ref()
                .map(|start_time| format!("{start_time}0")),
            ..parent
        };
        assert_eq!(other.is_alive(), other.start_time.is_none());
    }
}

#[cfg(test)]
mod tail_tests {
    use super::*;

    #[track_caller]
    fn check(pieces: &[&str], expected: Option<&str>) {
        let mut tail = Tail::new(8);
        for piece in pieces {
            tail.push(piece.as_bytes());
        }
        assert_eq!(tail.text().as_deref(), expected);
    }

    #[test]
    fn keeps_the_end() {
        check(&[], None);
        check(&["short"], Some("short"));
        check(&["0123456789"], Some("23456789"));
        check(&["abcdefgh", "ijklmnop", "qr"], Some("klmnopqr"));
        check(&["a"; 100], Some("aaaaaaaa"));
    }

    #[test]
    fn split_character_is_dropped() {
        check(&["ab€1234", "567"], Some("1234567"));
        check(&["ab€1234567"], Some("1234567"));
        // Bytes that are invalid UTF-8 are shown as such.
        let mut tail = Tail::new(8);
        tail.push(b"\x82ab");
        assert_eq!(tail.text().as_deref(), Some("\u{FFFD}ab"));
    }
}

#[cfg(test)]
mod environment_tests {
    use super::*;

    fn environment(ambient: &[(&str, &str)], named: &[&str]) -> Environment {
        let pair = |(name, value): &(&str, &str)| (name.into(), value.into());
        Environment {
            ambient: ambient.iter().map(pair).collect(),
            named: named.iter().map(ToString::to_string).collect(),
            plain: vec!["A_MODEL".into()],
            fallback: BTreeMap::from([("FROM_FILE".into(), "from-the-file".into())]),
        }
    }

    #[test]
    fn only_listed_and_named_variables_pass() {
        let all = [
            ("PATH", "/bin"),
            ("LC_ALL", "C"),
            ("LC", "no"),
            ("LANGUAGE", "no"),
            ("SSL_CERT_FILE", "/ca.pem"),
            ("LD_PRELOAD", "no"),
            ("MY_FLAG", "1"),
            ("HOME", "/home"),
        ];
        let environment = environment(&all, &["MY_FLAG", "FROM_FILE", "NOWHERE"]);
        let passed = environment.passed();
        let names: Vec<_> = passed.keys().filter_map(|name| name.to_str()).collect();
        let expected = [
            "FROM_FILE",
            "HOME",
            "LC_ALL",
            "MY_FLAG",
            "PATH",
            "SSL_CERT_FILE",
        ];
        assert_eq!(names, expected);
    }

    #[test]
    fn the_process_environment_wins_over_the_file() {
        let environment = environment(&[("FROM_FILE", "from-the-process")], &["FROM_FILE"]);
        assert_eq!(
            environment.value("FROM_FILE"),
            Some(OsStr::new("from-the-process"))
        );
    }

    #[test]
    fn what_a_spec_names_is_secret_whatever_it_is_called() {
        let usual = [
            "API_KEY",
            "DATABASE_URL",
            "DSN",
            "PGPASSWORD",
            "REDIS_URL",
            "AUTH",
            "BEARER",
            "SENTRY_DSN",
            "COOKIE",
            "SESSION",
            "JWT",
            "PAT",
            "GH_PAT",
            "WEBHOOK",
            "SLACK_HOOK",
            "MONGO_URI",
            "AZURE_SAS",
            "CONN_STR",
            "LOGIN",
            "CREDS",
            "SALT",
            "SEED",
            "PIN",
            "PASSPHRASE",
            "PRIVATE",
            "PEM",
            "CERT",
            "LICENSE",
            "NPM_AUTH",
            "DOCKER_AUTH",
            "SMTP_PASS",
            "S3_ID",
            "WANDB",
            "HTTPS_PROXY",
            "KUBE",
            "VAULT",
            "OTP",
        ];
        let all: Vec<_> = usual.iter().map(|name| (*name, "0123456789")).collect();
        assert_eq!(environment(&all, &usual).secrets().len(), usual.len());
        let folder = tempfile::tempdir().unwrap();
        let all = [
            ("SHORT", "1234567"),
            ("UNNAMED_KEY", "sk-87654321"),
            ("A_MODEL", "a-model-of-someone"),
            ("A_FOLDER", folder.path().to_str().unwrap()),
            ("LANG", "de_DE.UTF-8"),
            ("TZ", "Europe/Berlin"),
            ("LC_ALL", "de_DE.UTF-8"),
            ("SSL_CERT_KEY", "not-named-and-secret"),
        ];
        let named = ["SHORT", "A_MODEL", "A_FOLDER", "LANG", "TZ", "LC_ALL"];
        let environment = environment(&all, &named);
        assert_eq!(environment.secrets(), []);
        assert!(
            environment
                .passed()
                .contains_key(OsStr::new("SSL_CERT_KEY"))
        );
    }

    #[test]
    fn advice_names_what_to_add() {
        let all = [
            ("B_API_KEY", "b"),
            ("A_API_KEY", "a"),
            ("C_API_KEY", "c"),
            ("EMPTY_API_KEY", ""),
        ];
        assert_eq!(
            environment(&all, &["C_API_KEY", "NOWHERE"]).advice("agent"),
            "; set neither in the environment nor in `.env`: `NOWHERE`; not passed to the agent: \
             `A_API_KEY`, `B_API_KEY`; hint: add `env: [A_API_KEY, B_API_KEY]` to `agent`"
        );
        assert_eq!(environment(&[], &[]).advice("agent"), "");
    }
}

#[cfg(test)]
mod named_tests {
    use super::*;

    #[test]
    fn a_file_that_a_command_names_in_any_way_changes_its_hash() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("agent.py");
        let named = FileHashes::default();
        let other = folder.path().join("other.py");
        fs::write(&other, "0").unwrap();
        let absolute = file.display().to_string();
        let check = |argv: &[&str], expect: bool| {
            let argv: Vec<String> = argv.iter().map(ToString::to_string).collect();
            let mut hashes = Vec::new();
            for content in ["1", "22"] {
                fs::write(&file, content).unwrap();
                let hash = named.hash(Some(&other), &argv, &[folder.path()]);
                assert_eq!(hash, named.hash(Some(&other), &argv, &[folder.path()]));
                hashes.push(hash);
            }
            assert_eq!(hashes[0] != hashes[1], expect, "{argv:?}");
        };
        check(&["python3", "agent.py"], true);
        check(&["python3", "./agent.py"], true);
        check(&["python3", &absolute], true);
        check(&["x", "--script=agent.py"], true);
        check(&["/bin/sh", "-c", "cat | python3 'agent.py'; true"], true);
        check(&["python3", "other.py"], false);
        check(&["python3", "-m", "agent"], false);
        let hash = |program: &Path| named.hash(Some(program), &[], &[]);
        assert_ne!(hash(&file), hash(&other), "the program itself");
    }

    #[test]
    fn a_changed_file_of_the_same_length_is_read_again_and_odd_words_harm_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a");
        let named = FileHashes::default();
        let hash = || named.hash(None, &["a".to_owned()], &[folder.path()]);
        fs::write(&file, "1").unwrap();
        let before = hash();
        std::thread::sleep(std::time::Duration::from_millis(20));
        fs::write(&file, "2").unwrap();
        assert_ne!(hash(), before);
        let odd = [
            "",
            "\0",
            "/",
            "..",
            "/dev/zero",
            &"x".repeat(1 << 20),
            &"a ".repeat(1 << 16),
        ];
        let odd = odd.map(str::to_owned);
        assert!(!named.hash(None, &odd, &[folder.path()]).is_empty());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_rings_until_it_is_silenced() {
        let bell = Bell::new().unwrap();
        let rings = || {
            let now = rustix::event::Timespec::default();
            poll(
                &mut [PollFd::from_borrowed_fd(bell.wake_fd(), PollFlags::IN)],
                Some(&now),
            )
            .unwrap()
                > 0
        };
        assert!(!rings());
        bell.ring();
        bell.wait();
        assert!(rings());
        bell.silence();
        assert!(!rings());
    }
}
