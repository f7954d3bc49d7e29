//! Stores only the end of a stream.

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

#[cfg(test)]
mod tests {
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
