//! Splits live output into lines, so that no secret is split before it is redacted.
//!
//! [`TaskLines`] handles the output of a program during a task; [`LiveLines`] splits it into lines.

use std::sync::{Arc, Mutex};

use super::StreamKind;
use crate::agent;
use crate::data::Task;
use crate::data::task::Live;
use crate::system::lock;

/// The rest of a longer line is not shown: in pieces, a secret could be split.
const LONGEST_LINE: usize = 8 * 1024;

/// A program's output during a task: shown if someone watches; progress lines on stderr are recorded.
pub(super) struct TaskLines {
    live: Option<LiveLines>,
    progress: Option<LiveLines>,
}

impl TaskLines {
    /// For a task; `None` if neither is wanted.
    pub(super) fn of(task: &Task) -> Option<Self> {
        let live = task.live.clone().map(LiveLines::new);
        let progress = task.progress.clone().map(|progress| {
            LiveLines::new(Live(Arc::new(move |line: &str| {
                if let Some(message) = agent::of_line(line) {
                    (progress.0)(&message);
                }
            })))
        });
        (live.is_some() || progress.is_some()).then_some(Self { live, progress })
    }

    pub(super) fn piece(&self, kind: StreamKind, piece: &[u8]) {
        if let Some(live) = &self.live {
            live.piece(kind, piece);
        }
        if let Some(progress) = self
            .progress
            .as_ref()
            .filter(|_| kind == StreamKind::Stderr)
        {
            progress.piece(kind, piece);
        }
    }
}

/// Collects pieces of output and emits whole lines.
pub(in crate::agent) struct LiveLines {
    live: Live,
    /// The unfinished lines of stdout and stderr.
    partial: Mutex<[PartialLine; 2]>,
}

/// A line without an end.
#[derive(Default)]
struct PartialLine {
    bytes: Vec<u8>,
    /// Whether it was truncated.
    is_truncated: bool,
}

impl LiveLines {
    pub(in crate::agent) fn new(live: Live) -> Self {
        Self {
            live,
            partial: Mutex::default(),
        }
    }

    pub(in crate::agent) fn piece(&self, kind: StreamKind, piece: &[u8]) {
        let mut partial = lock(&self.partial);
        let partial = &mut partial[usize::from(kind == StreamKind::Stderr)];
        for part in piece.split_inclusive(|&byte| byte == b'\n') {
            let room = LONGEST_LINE - partial.bytes.len();
            partial.is_truncated |= part.trim_ascii_end().len() > room;
            partial
                .bytes
                .extend_from_slice(&part[..part.len().min(room)]);
            if part.ends_with(b"\n") {
                self.show(&std::mem::take(partial));
            }
        }
    }

    fn show(&self, line: &PartialLine) {
        let text = String::from_utf8_lossy(&line.bytes);
        if line.is_truncated {
            (self.live.0)(&crate::system::process::excerpt::truncate(&text));
        } else {
            (self.live.0)(text.trim_end_matches(['\r', '\n']));
        }
    }
}

impl Drop for LiveLines {
    fn drop(&mut self) {
        let partial = std::mem::take(&mut *lock(&self.partial));
        for line in partial.into_iter().filter(|line| !line.bytes.is_empty()) {
            self.show(&line);
        }
    }
}
