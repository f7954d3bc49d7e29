//! Writes processed lines in the order of the input, up to the first malformed one or skipping malformed ones.

use std::io::{ErrorKind, Write};
use std::num::NonZeroUsize;

use evaltest::engine::system::parallel;
use evaltest::engine::text::escape_line_ends;
use evaltest::{Error, Exit, Result};
use serde_json::json;

use super::{InputChunk, Source};

/// The results of a chunk.
#[derive(Default)]
pub(crate) struct DoneLines {
    pub(crate) bytes: Vec<u8>,
    /// The malformed line that stopped processing.
    pub(crate) fault: Option<LineFault>,
    pub(crate) malformed: Malformed,
}

/// What is wrong with a line.
pub(crate) struct LineFault {
    pub(crate) line: u64,
    pub(crate) error: Error,
}

/// Malformed lines that were skipped.
#[derive(Clone, Copy, Default)]
pub(crate) struct Malformed {
    pub(crate) count: u64,
    /// Line number of the first.
    pub(crate) first: Option<u64>,
}

/// The command's verb in present and past tense, for messages: `score`, `scored`.
#[derive(Clone, Copy)]
pub(crate) struct Verb(pub(crate) &'static str, pub(crate) &'static str);

impl DoneLines {
    /// Calls `each` for every non-blank line to append its result to `bytes`. Stops at the first malformed line, or,
    /// with `--keep-going`, writes an `error` object in its place.
    pub(crate) fn of(
        chunk: &InputChunk,
        bytes: Vec<u8>,
        keep_going: bool,
        mut each: impl FnMut(&str, &mut Vec<u8>) -> Result<()>,
    ) -> Self {
        let mut done = Self {
            bytes,
            ..Self::default()
        };
        chunk.lines(|number, bytes, line| {
            let length = done.bytes.len();
            let written = line.and_then(|line| match line.trim_ascii() {
                "" => Ok(()),
                _ => each(line, &mut done.bytes),
            });
            let Err(error) = written else {
                return true;
            };
            done.bytes.truncate(length);
            done.malformed.first.get_or_insert(number);
            done.malformed.count += 1;
            if !keep_going {
                done.fault = Some(LineFault {
                    line: number,
                    error,
                });
                return false;
            }
            let object = json!({"line": number, "error": error.message()});
            let object = object.to_string() + line_break(bytes);
            done.bytes.extend_from_slice(object.as_bytes());
            true
        });
        done
    }
}

impl Malformed {
    /// Adds the counts of another chunk.
    fn add(&mut self, other: Self) {
        self.count += other.count;
        self.first = self.first.or(other.first);
    }

    /// Exit code of a command that skipped these lines.
    pub(crate) fn conclude(self, source: &Source, Verb(_, done): Verb) -> Result<Exit> {
        let Some(first) = self.first else {
            return Ok(Exit::Passed);
        };
        let count = self.count;
        Err(Error::infrastructure(format!(
            "{}: {count} {} could not be {done}, this is the first",
            source.place(first),
            if count == 1 { "line" } else { "lines" },
        ))
        .hint("the results have an `error` in place of each such line"))
    }
}

/// Processes chunks on several threads and writes the results in the order of the input; `take` gets each written
/// buffer with the chunk's other results. Returns `None` if the reader closed the pipe.
pub(crate) fn write_in_order<T: Send + 'static>(
    chunks: Box<dyn Iterator<Item = Result<InputChunk>> + Send>,
    source: &Source,
    (verb, threads): (Verb, NonZeroUsize),
    work: impl Fn(&InputChunk) -> (DoneLines, T) + Send + Sync + 'static,
    out: &mut dyn Write,
    mut take: impl FnMut(Vec<u8>, T),
) -> Result<Option<Malformed>> {
    let results = parallel::detached(threads, chunks, move |chunk| {
        chunk.map(|chunk| {
            let (mut done, others) = work(&chunk);
            escape_line_ends(&mut done.bytes, 0);
            (done, others)
        })
    })?;
    let mut malformed = Malformed::default();
    for result in results {
        let (done, others) = result?;
        // Flush after each chunk, so that a reader that sends single lines gets each result at once.
        match out.write_all(&done.bytes).and_then(|()| out.flush()) {
            Err(error) if error.kind() == ErrorKind::BrokenPipe => return Ok(None),
            Err(error) => {
                return Err(Error::infrastructure(format!(
                    "cannot write to standard output: {error}"
                )));
            }
            Ok(()) => {}
        }
        if let Some(fault) = done.fault {
            let error = fault.error.at(source.place(fault.line));
            return Err(match error.hint_text() {
                Some(_) => error,
                None => error.hint(format!("add `--keep-going` to {} the other lines", verb.0)),
            });
        }
        malformed.add(done.malformed);
        take(done.bytes, others);
    }
    Ok(Some(malformed))
}

/// The line's own line break.
fn line_break(line: &[u8]) -> &'static str {
    if line.ends_with(b"\r\n") {
        "\r\n"
    } else if line.ends_with(b"\n") {
        "\n"
    } else {
        ""
    }
}
