//! Splits live output into lines, so that no secret is split before it is redacted.
//!
//! [`TaskLines`] handles the output of a program during a task; [`LiveLines`] splits it into lines.

use std::sync::{Arc, Mutex};

use super::StreamKind;
use crate::agent::progress;
use crate::data::Task;
use crate::data::task::Live;
use crate::system::lock::lock;

/// The rest of a longer line is not shown: in pieces, a secret could be split.
const LONGEST_LINE: usize = 8 * 1024;

/// A program's output during a task: shown if someone watches; progress lines on stderr are recorded.
pub(super) struct TaskLines {
    shown: Option<LiveLines>,
    told: Option<LiveLines>,
}

impl TaskLines {
    /// For a task; `None` if neither is wanted.
    pub(super) fn of(task: &Task) -> Option<Self> {
        let shown = task.live.clone().map(LiveLines::new);
        let told = task.progress.clone().map(|progress| {
            LiveLines::new(Live(Arc::new(move |line: &str| {
                if let Some(message) = progress::of_line(line) {
                    (progress.0)(&message);
                }
            })))
        });
        (shown.is_some() || told.is_some()).then_some(Self { shown, told })
    }

    pub(super) fn piece(&self, kind: StreamKind, piece: &[u8]) {
        if let Some(shown) = &self.shown {
            shown.piece(kind, piece);
        }
        if let Some(told) = self.told.as_ref().filter(|_| kind == StreamKind::Stderr) {
            told.piece(kind, piece);
        }
    }
}

/// Collects pieces of output and emits whole lines.
pub(in crate::agent) struct LiveLines {
    live: Live,
    /// The unfinished lines of stdout and stderr.
    begun: Mutex<[Begun; 2]>,
}

/// A line without an end.
#[derive(Default)]
struct Begun {
    bytes: Vec<u8>,
    /// Whether it was truncated.
    is_cut: bool,
}

impl LiveLines {
    pub(in crate::agent) fn new(live: Live) -> Self {
        Self {
            live,
            begun: Mutex::default(),
        }
    }

    pub(in crate::agent) fn piece(&self, kind: StreamKind, piece: &[u8]) {
        let mut begun = lock(&self.begun);
        let begun = &mut begun[usize::from(kind == StreamKind::Stderr)];
        for part in piece.split_inclusive(|&byte| byte == b'\n') {
            let room = LONGEST_LINE - begun.bytes.len();
            begun.is_cut |= part.trim_ascii_end().len() > room;
            begun.bytes.extend_from_slice(&part[..part.len().min(room)]);
            if part.ends_with(b"\n") {
                self.show(&std::mem::take(begun));
            }
        }
    }

    fn show(&self, line: &Begun) {
        let text = String::from_utf8_lossy(&line.bytes);
        if line.is_cut {
            (self.live.0)(&crate::system::process::excerpt::cut(&text));
        } else {
            (self.live.0)(text.trim_end_matches(['\r', '\n']));
        }
    }
}

impl Drop for LiveLines {
    fn drop(&mut self) {
        let begun = std::mem::take(&mut *lock(&self.begun));
        for line in begun.into_iter().filter(|line| !line.bytes.is_empty()) {
            self.show(&line);
        }
    }
}
