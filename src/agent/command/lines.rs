//! Live output in lines, so that a secret is not cut in two before it is blanked.

use std::sync::Mutex;

use super::StreamKind;
use crate::data::task::Live;
use crate::system::lock::lock;

/// The rest of a longer line is not shown: shown in pieces, a secret could be cut in two.
const LONGEST_LINE: usize = 8 * 1024;

/// Collects pieces of output and hands on whole lines.
pub(in crate::agent) struct LiveLines<'a> {
    live: &'a Live,
    /// What began on stdout and on stderr and has no end yet.
    begun: Mutex<[Begun; 2]>,
}

/// A line without an end.
#[derive(Default)]
struct Begun {
    bytes: Vec<u8>,
    /// Whether it was longer than what is kept of it.
    is_cut: bool,
}

impl<'a> LiveLines<'a> {
    pub(in crate::agent) fn new(live: &'a Live) -> Self {
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

impl Drop for LiveLines<'_> {
    fn drop(&mut self) {
        let begun = std::mem::take(&mut *lock(&self.begun));
        for line in begun.into_iter().filter(|line| !line.bytes.is_empty()) {
            self.show(&line);
        }
    }
}
