//! Serialises a [`SideSample`] as a row of about a hundred bytes, for temporary files only.
//!
//! The id comes first, so that rows can be compared without parsing them.

use crate::error::{Error, Result};
use crate::verdict::compare::side::{SideAnswer, SideSample, SideValue};

/// Writes a sample as a row.
pub(super) fn write(sample: &SideSample, row: &mut Vec<u8>) {
    row.clear();
    put_text(row, &sample.id);
    match &sample.cluster {
        None => row.push(0),
        Some(cluster) => {
            row.push(1);
            put_text(row, cluster);
        }
    }
    put_count(row, sample.answers.len());
    row.extend(sample.answers.iter().map(|answer| *answer as u8));
    put_u64(row, sample.input);
    put_u64(row, sample.target);
    for marks in [&sample.questions, &sample.targets] {
        put_count(row, marks.len());
        for mark in marks {
            put_u64(row, *mark);
        }
    }
    put_count(row, sample.slices.len());
    for slice in &sample.slices {
        put_u32(row, *slice);
    }
    put_count(row, sample.scorers.len());
    for (scorer, answers) in &sample.scorers {
        put_u32(row, *scorer);
        put_count(row, answers.len());
        row.extend(answers.iter().map(|answer| match answer {
            Some(right) => u8::from(*right),
            None => 2,
        }));
    }
    put_count(row, sample.values.len());
    for value in &sample.values {
        put_u32(row, value.entry);
        put_u64(row, value.sum.to_bits());
        put_u32(row, value.count);
        row.push(u8::from(value.is_binary));
    }
}

/// The id of a row.
pub(super) fn id_of(row: &[u8]) -> Result<&[u8]> {
    RowReader(row).bytes().ok_or_else(damaged)
}

/// Parses a row, reusing the buffers of another sample.
pub(super) fn read(row: &[u8], sample: &mut SideSample) -> Result<()> {
    RowReader(row).sample(sample).ok_or_else(damaged)
}

fn damaged() -> Error {
    Error::infrastructure("a temporary file has unexpected content")
        .hint("try again, or name another folder: TMPDIR=DIR")
}

fn put_u32(row: &mut Vec<u8>, number: u32) {
    row.extend_from_slice(&number.to_le_bytes());
}

fn put_u64(row: &mut Vec<u8>, number: u64) {
    row.extend_from_slice(&number.to_le_bytes());
}

fn put_count(row: &mut Vec<u8>, count: usize) {
    put_u32(row, u32::try_from(count).unwrap_or(u32::MAX));
}

fn put_text(row: &mut Vec<u8>, text: &str) {
    put_count(row, text.len());
    row.extend_from_slice(text.as_bytes());
}

/// The rest of a row.
struct RowReader<'a>(&'a [u8]);

impl<'a> RowReader<'a> {
    fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }

    fn byte(&mut self) -> Option<u8> {
        self.take(1)?.first().copied()
    }

    fn u32(&mut self) -> Option<u32> {
        Some(u32::from_le_bytes(self.take(4)?.try_into().ok()?))
    }

    fn u64(&mut self) -> Option<u64> {
        Some(u64::from_le_bytes(self.take(8)?.try_into().ok()?))
    }

    fn bytes(&mut self) -> Option<&'a [u8]> {
        let count = self.u32()?;
        self.take(count as usize)
    }

    fn text_into(&mut self, text: &mut String) -> Option<()> {
        text.clear();
        text.push_str(std::str::from_utf8(self.bytes()?).ok()?);
        Some(())
    }

    /// Parses a list, reusing the buffers of another one.
    fn list_into<T>(
        &mut self,
        list: &mut Vec<T>,
        read: impl Fn(&mut Self) -> Option<T>,
    ) -> Option<()> {
        list.clear();
        for _ in 0..self.u32()? {
            list.push(read(self)?);
        }
        Some(())
    }

    fn sample(&mut self, sample: &mut SideSample) -> Option<()> {
        self.text_into(&mut sample.id)?;
        sample.cluster = if self.byte()? == 0 {
            None
        } else {
            let mut cluster = String::new();
            self.text_into(&mut cluster)?;
            Some(cluster)
        };
        self.list_into(&mut sample.answers, Self::answer)?;
        sample.input = self.u64()?;
        sample.target = self.u64()?;
        self.list_into(&mut sample.questions, Self::u64)?;
        self.list_into(&mut sample.targets, Self::u64)?;
        self.list_into(&mut sample.slices, Self::u32)?;
        self.list_into(&mut sample.scorers, Self::scorer)?;
        self.list_into(&mut sample.values, Self::value)
    }

    fn answer(&mut self) -> Option<SideAnswer> {
        const ALL: [SideAnswer; 4] = [
            SideAnswer::Wrong,
            SideAnswer::Right,
            SideAnswer::Errored,
            SideAnswer::Unscored,
        ];
        ALL.get(usize::from(self.byte()?)).copied()
    }

    fn scorer(&mut self) -> Option<(u32, Vec<Option<bool>>)> {
        let (place, mut answers) = (self.u32()?, Vec::new());
        self.list_into(&mut answers, |row| {
            Some(match row.byte()? {
                2 => None,
                right => Some(right == 1),
            })
        })?;
        Some((place, answers))
    }

    fn value(&mut self) -> Option<SideValue> {
        Some(SideValue {
            entry: self.u32()?,
            sum: f64::from_bits(self.u64()?),
            count: self.u32()?,
            is_binary: self.byte()? == 1,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_is_read_as_it_was_written() {
        let whole = SideSample {
            id: "é".to_owned(),
            answers: vec![
                SideAnswer::Wrong,
                SideAnswer::Right,
                SideAnswer::Errored,
                SideAnswer::Unscored,
            ],
            input: u64::MAX,
            target: 7,
            questions: vec![1, 2],
            targets: vec![3],
            slices: vec![0, 9],
            cluster: Some("g".to_owned()),
            scorers: vec![(4, vec![Some(true), Some(false), None])],
            values: vec![SideValue {
                entry: 3,
                sum: -0.1,
                count: 2,
                is_binary: false,
            }],
        };
        let (mut row, mut found) = (Vec::new(), SideSample::default());
        for sample in [&whole, &SideSample::default(), &whole] {
            write(sample, &mut row);
            assert_eq!(id_of(&row).unwrap(), sample.id.as_bytes());
            read(&row, &mut found).unwrap();
            assert_eq!(found, *sample);
        }
        for length in 0..row.len() {
            assert!(read(&row[..length], &mut found).is_err(), "{length}");
        }
    }
}
