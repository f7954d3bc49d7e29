//! Streams the lines of a journal, with one in memory at a time.

use std::collections::BTreeMap;
use std::io;
use std::io::{BufRead, BufReader, Read};

use super::StoredEvent;
use super::sealed::{JournalNumber, Unsealed, unseal};
use crate::error::Result;
use crate::store::Carried;

/// Bytes per read.
pub(super) const BUFFER: usize = 1 << 17;

/// An event of a journal.
pub(crate) struct JournalLine<'a> {
    /// The byte offset of its line.
    pub(crate) place: u64,
    /// The known members.
    pub(crate) event: StoredEvent,
    /// The line, without its checksum.
    text: &'a [u8],
}

impl JournalLine<'_> {
    /// The event with unknown members.
    pub(crate) fn carried(self) -> Carried<StoredEvent> {
        Carried::of(self.event, self.text).lean()
    }
}

/// What is known of a journal that was read to its end.
#[derive(Debug, Default)]
pub(super) struct ReadLines {
    /// The number in its lines.
    pub(super) journal: Option<JournalNumber>,
    /// Line numbers, from 1, that are unreadable, damaged or duplicate.
    pub(super) skipped: Vec<u64>,
    /// The index of the next event.
    pub(super) next_index: u64,
    /// Bytes of the whole lines.
    pub(super) length: u64,
    /// Whether a torn line follows them.
    pub(super) is_torn: bool,
}

/// Called with the offset of a line, its parsed form, and its text without the seal.
pub(super) type SeeParsed<'a, T> = dyn FnMut(u64, T, &[u8]) -> Result<()> + 'a;

/// Why reading ended early.
pub(super) enum Broken {
    Read(io::Error),
    /// The callback failed.
    Seen(crate::Error),
}

/// Visits the readable events of a journal, and before each its whole line. Leaves out lines that are damaged,
/// duplicate, of another journal, or have lost their seal: after one sealed line, all must be sealed. Lines may be out
/// of order.
pub(super) fn each(
    file: impl Read,
    pass: impl FnMut(&[u8]),
    see: &mut dyn FnMut(JournalLine<'_>) -> Result<()>,
) -> std::result::Result<ReadLines, Broken> {
    let parse = |line: &Unsealed<'_>| event(&line.text).map(|event| (event.event_index, event));
    each_by(file, pass, parse, &mut |place, event, text| {
        see(JournalLine { place, event, text })
    })
}

/// The same for the results of `parse`, with the event's index; `None` for a line that is no event.
pub(super) fn each_by<T>(
    file: impl Read,
    mut pass: impl FnMut(&[u8]),
    parse: impl Fn(&Unsealed<'_>) -> Option<(u64, T)>,
    see: &mut SeeParsed<'_, T>,
) -> std::result::Result<ReadLines, Broken> {
    let mut file = BufReader::with_capacity(BUFFER, file);
    let mut read = ReadLines {
        journal: file.fill_buf().map(number_of).map_err(Broken::Read)?,
        ..ReadLines::default()
    };
    let mut indexes = EventIndexes::default();
    let mut is_sealed = false;
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
        let own = unseal(content).ok().filter(|line| match line.journal {
            None => !is_sealed,
            Some(journal) => journal == *read.journal.get_or_insert(journal),
        });
        let event = own.as_ref().and_then(&parse);
        match own.zip(event) {
            Some((own, (index, event))) if indexes.add(index) => {
                is_sealed |= own.journal.is_some();
                see(place, event, &own.text).map_err(Broken::Seen)?;
            }
            _ => read.skipped.push(number),
        }
    }
    read.next_index = indexes.next();
    Ok(read)
}

/// The number of a journal: that of its first line, unless the next two agree on another one. So neither a line
/// inserted before it nor any number of lines appended to it are accepted.
fn number_of(beginning: &[u8]) -> Option<JournalNumber> {
    let lines = beginning.split(|byte| *byte == b'\n');
    let mut numbers = lines.filter_map(|line| unseal(line).ok()?.journal);
    let first = numbers.next()?;
    let next = numbers.next().zip(numbers.next());
    let other = next.filter(|(one, other)| one == other);
    Some(other.map_or(first, |(one, _)| one))
}

fn event(line: &[u8]) -> Option<StoredEvent> {
    serde_json::from_slice(line).ok()
}

/// A set of numbers, as ranges: an undamaged journal has one.
#[derive(Debug, Default)]
pub(super) struct EventIndexes {
    /// The exclusive ends of ranges, by their starts.
    ranges: BTreeMap<u64, u64>,
}

impl EventIndexes {
    /// Adds a number, if it is new. The very last number is refused.
    pub(super) fn add(&mut self, index: u64) -> bool {
        let Some(next) = index.checked_add(1) else {
            return false;
        };
        let before = self.ranges.range(..=index).next_back();
        let before = before.map(|(start, end)| (*start, *end));
        let start = match before {
            Some((_, end)) if index < end => return false,
            Some((start, end)) if index == end => start,
            _ => index,
        };
        let end = self.ranges.remove(&next).unwrap_or(next);
        self.ranges.insert(start, end);
        true
    }

    /// The number after all of them.
    pub(super) fn next(&self) -> u64 {
        self.ranges.values().next_back().copied().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::journal::sealed::seal;

    fn line(index: u64) -> String {
        format!(
            "{{\"sample_id\":\"a\",\"event_index\":{index},\"epoch\":0,\"attempt\":1,\"kind\":\"started\",\"time\":\"\"}}\n"
        )
    }

    fn sealed(index: u64, journal: JournalNumber) -> String {
        String::from_utf8(seal(line(index).into_bytes(), journal)).unwrap()
    }

    /// The indexes of the visited events, and the lines that are left out.
    fn read(lines: &[&str]) -> (Vec<u64>, ReadLines) {
        let mut seen = Vec::new();
        let read = each(lines.concat().as_bytes(), |_| {}, &mut |line| {
            seen.push(line.event.event_index);
            Ok(())
        });
        let Ok(read) = read else { panic!() };
        (seen, read)
    }

    #[test]
    fn lines_keep_their_places() {
        let sealed = sealed(4, JournalNumber::random());
        let torn = &line(5)[..20];
        // A duplicate, an empty line, one that is no event, one with another line end.
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

    #[test]
    fn lines_of_another_journal_are_skipped_anywhere() {
        let (own, other) = (JournalNumber::random(), JournalNumber::random());
        let own = |index| sealed(index, own);
        let other = |index| sealed(index, other);
        let (first, foreign) = (other(0), other(299));
        let (seen, read) = read(&[&first, &own(0), &own(1), &foreign, &own(2)]);
        assert_eq!(seen, [0, 1, 2]);
        assert_eq!((read.skipped, read.next_index), (vec![1, 4], 3));
    }

    #[test]
    fn unsealed_line_is_skipped_and_an_old_one_is_read() {
        let number = JournalNumber::random();
        let own = |index| sealed(index, number);
        // Started by an older version, continued by a newer one.
        let (seen, found) = read(&[&line(0), &line(1), &own(2), &own(3)]);
        assert_eq!((seen, found.skipped), (vec![0, 1, 2, 3], vec![]));
        let (seen, found) = read(&[&own(0), &line(1), &own(2)]);
        assert_eq!((seen, found.skipped), (vec![0, 2], vec![2]));
    }

    #[test]
    fn lines_in_another_order_are_all_there() {
        let number = JournalNumber::random();
        let own = |index| sealed(index, number);
        let (seen, found) = read(&[&own(0), &own(9), &own(3), &own(9), &own(1)]);
        assert_eq!(seen, [0, 9, 3, 1]);
        assert_eq!((found.skipped, found.next_index), (vec![4], 10));
    }
}

#[cfg(test)]
mod indexes_tests {
    use super::*;

    #[test]
    fn each_number_counts_once_in_any_order() {
        let mut seen = EventIndexes::default();
        assert_eq!(seen.next(), 0);
        for index in [0, 1, 5, 3, 4, 2, 9] {
            assert!(seen.add(index), "{index}");
            assert!(!seen.add(index), "{index}");
        }
        assert!(!seen.add(3) && !seen.add(u64::MAX));
        assert_eq!(seen.next(), 10);
        assert_eq!(seen.ranges, BTreeMap::from([(0, 6), (9, 10)]));
    }
}
