//! The lines of a journal as a stream: one of them is in memory at a time, however many there are.

use std::io::{self, BufRead, BufReader, Read};

use super::StoredEvent;
use super::sealed::unseal;
use crate::error::Result;
use crate::store::Carried;

/// Bytes read at once.
pub(super) const BUFFER: usize = 1 << 17;

/// An event as it stands in a journal.
pub(crate) struct JournalLine<'a> {
    /// The byte at which its line begins.
    pub(crate) place: u64,
    /// What this version knows of it.
    pub(crate) event: StoredEvent,
    /// The line, without its checksum.
    text: &'a [u8],
}

impl JournalLine<'_> {
    /// The event with members that this version does not know.
    pub(crate) fn carried(self) -> Carried<StoredEvent> {
        Carried::of(self.event, self.text).lean()
    }
}

/// What is known of a journal that was read to its end.
#[derive(Debug, Default)]
pub(super) struct ReadLines {
    /// Lines, from 1, that cannot be read, are not what was written, or stand there twice.
    pub(super) skipped: Vec<u64>,
    /// The index of an event that comes next.
    pub(super) next_index: u64,
    /// Bytes of the whole lines.
    pub(super) length: u64,
    /// Whether something stands behind them: the beginning of a line.
    pub(super) is_torn: bool,
}

/// Why reading ended before the end.
pub(super) enum Broken {
    Read(io::Error),
    /// Whoever was shown a line failed.
    Seen(crate::Error),
}

/// Shows the events of a journal that can be read, and each whole line as it is before. An event is numbered higher than the
/// one before: a line that is there twice is one.
pub(super) fn each(
    file: impl Read,
    mut pass: impl FnMut(&[u8]),
    see: &mut dyn FnMut(JournalLine<'_>) -> Result<()>,
) -> std::result::Result<ReadLines, Broken> {
    let mut file = BufReader::with_capacity(BUFFER, file);
    let mut read = ReadLines::default();
    let mut line = Vec::new();
    for number in 1.. {
        line.clear();
        if file.read_until(b'\n', &mut line).map_err(Broken::Read)? == 0 {
            break;
        }
        let Some(content) = line.strip_suffix(b"\n") else {
            read.is_torn = true;
            break;
        };
        let place = read.length;
        read.length += line.len() as u64;
        pass(&line);
        if content.is_empty() {
            continue;
        }
        let text = unseal(content).ok();
        let event = text.as_deref().and_then(event);
        match text.zip(event) {
            Some((text, event)) if event.event_index >= read.next_index => {
                read.next_index = event.event_index + 1;
                let text = &text;
                see(JournalLine { place, event, text }).map_err(Broken::Seen)?;
            }
            _ => read.skipped.push(number),
        }
    }
    Ok(read)
}

fn event(line: &[u8]) -> Option<StoredEvent> {
    serde_json::from_slice(line).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::events::sealed::seal;

    #[test]
    fn lines_are_shown_where_they_stand() {
        let line = |index: u64| {
            format!(
                "{{\"sample_id\":\"a\",\"event_index\":{index},\"epoch\":0,\"attempt\":1,\"kind\":\"started\",\"time\":\"\"}}\n"
            )
        };
        let sealed = String::from_utf8(seal(line(4).into_bytes())).unwrap();
        let torn = &line(5)[..20];
        // One that is there twice, an empty one, one that is no event, one with another line end.
        let journal = [&line(0), &line(0), "\n", "{}\n", &sealed, "x\r\n", torn].concat();
        let (mut seen, mut passed) = (Vec::new(), Vec::<u8>::new());
        let read = each(
            journal.as_bytes(),
            |line| passed.extend(line),
            &mut |line| {
                seen.push((line.place, line.event.event_index));
                Ok(())
            },
        );
        let Ok(read) = read else { panic!() };
        let at = journal.find(&sealed).unwrap() as u64;
        assert_eq!(seen, [(0, 0), (at, 4)]);
        assert_eq!(read.skipped, [2, 4, 6]);
        assert_eq!((read.next_index, read.is_torn), (5, true));
        assert_eq!(read.length, (journal.len() - torn.len()) as u64);
        assert_eq!(passed, &journal.as_bytes()[..journal.len() - torn.len()]);
    }
}
