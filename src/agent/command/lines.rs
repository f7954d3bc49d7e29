//! Live output in lines, so that a secret is not cut in two before it is blanked.

use std::sync::{Mutex, PoisonError};

use super::StreamKind;
use crate::sample::Live;

/// A longer line is shown in pieces.
const LONGEST_LINE: usize = 8 * 1024;

/// Collects pieces of output and hands on whole lines.
pub(super) struct Lines<'a> {
    live: &'a Live,
    /// What began on stdout and on stderr and has no end yet.
    begun: Mutex<[Vec<u8>; 2]>,
}

impl<'a> Lines<'a> {
    pub(super) fn new(live: &'a Live) -> Self {
        Self {
            live,
            begun: Mutex::default(),
        }
    }

    pub(super) fn piece(&self, kind: StreamKind, piece: &[u8]) {
        let mut begun = self.begun.lock().unwrap_or_else(PoisonError::into_inner);
        let begun = &mut begun[usize::from(kind == StreamKind::Stderr)];
        for part in piece.split_inclusive(|&byte| byte == b'\n') {
            begun.extend_from_slice(part);
            if begun.ends_with(b"\n") || begun.len() >= LONGEST_LINE {
                self.show(begun);
            }
        }
    }

    fn show(&self, line: &mut Vec<u8>) {
        let text = String::from_utf8_lossy(line);
        (self.live.0)(text.trim_end_matches(['\r', '\n']));
        line.clear();
    }
}

impl Drop for Lines<'_> {
    fn drop(&mut self) {
        let mut begun =
            std::mem::take(&mut *self.begun.lock().unwrap_or_else(PoisonError::into_inner));
        for line in begun.iter_mut().filter(|line| !line.is_empty()) {
            self.show(line);
        }
    }
}
