//! Joins the samples of two runs.
//!
//! Runs of one dataset usually have the same order, and are read in parallel as long as their ids agree. From the
//! first mismatch on (after a shuffle, or for a different subset) both are sorted by id, joined, and put into the
//! order of B.

use std::cmp::Ordering;

use super::rows;
use crate::error::Result;
use crate::system::file::spill::{SortedRows, SpilledRows, SpilledRowsReader};
use crate::verdict::compare::side::SideSample;

/// A sample of A, of B, or of both.
pub(super) enum Joined<'a> {
    OnlyInA(&'a SideSample),
    OnlyInB(&'a SideSample),
    Both(&'a SideSample, &'a SideSample),
}

/// Passes on the samples of two runs: those of B in the order of B, those only in A sorted by id.
pub(super) fn join(
    a: &SpilledRows,
    b: &SpilledRows,
    see: &mut dyn FnMut(Joined<'_>) -> Result<()>,
) -> Result<()> {
    let (mut before, mut now) = (a.rows()?, b.rows()?);
    let (mut row_a, mut row_b) = (Vec::new(), Vec::new());
    let (mut sample_a, mut sample_b) = (SideSample::default(), SideSample::default());
    loop {
        let has_row = [before.next_into(&mut row_a)?, now.next_into(&mut row_b)?];
        if has_row == [false, false] {
            return Ok(());
        }
        if has_row != [true, true] || rows::id_of(&row_a)? != rows::id_of(&row_b)? {
            let a = by_id(has_row[0].then_some(&row_a), &mut before)?;
            let b = by_id(has_row[1].then_some(&row_b), &mut now)?;
            return join_sorted(a, b, see);
        }
        rows::read(&row_a, &mut sample_a)?;
        rows::read(&row_b, &mut sample_b)?;
        see(Joined::Both(&sample_a, &sample_b))?;
    }
}

/// Sorts the row that was already read, if any, and the remaining ones by id; each is prefixed with its index.
fn by_id(first: Option<&Vec<u8>>, rest: &mut SpilledRowsReader<'_>) -> Result<SortedRows> {
    let mut sorted = SortedRows::default();
    let mut row = Vec::new();
    let mut is_row = match first {
        Some(first) => {
            row.clone_from(first);
            true
        }
        None => rest.next_into(&mut row)?,
    };
    let mut place = 0_u64;
    while is_row {
        sorted.push(rows::id_of(&row)?, &[&place.to_be_bytes(), &row])?;
        place += 1;
        is_row = rest.next_into(&mut row)?;
    }
    Ok(sorted)
}

fn join_sorted(
    mut a: SortedRows,
    mut b: SortedRows,
    see: &mut dyn FnMut(Joined<'_>) -> Result<()>,
) -> Result<()> {
    let (mut before, mut now) = (a.merged()?, b.merged()?);
    let (mut sample_a, mut sample_b) = (SideSample::default(), SideSample::default());
    // Joined rows by their index in B: the length of A's row, that row, and B's row.
    let mut in_order = SortedRows::default();
    before.next_row()?;
    now.next_row()?;
    loop {
        let which = match (before.given(), now.given()) {
            (None, None) => break,
            (Some(_), None) => Ordering::Less,
            (None, Some(_)) => Ordering::Greater,
            (Some(one), Some(other)) => one.key().cmp(other.key()),
        };
        let row_a = before.given().map_or(&[][..], |row| placed(row.row()).1);
        if which.is_lt() {
            rows::read(row_a, &mut sample_a)?;
            see(Joined::OnlyInA(&sample_a))?;
        } else {
            let row_a = if which.is_eq() { row_a } else { &[] };
            let (place, row_b) = now
                .given()
                .map_or((&[][..], &[][..]), |row| placed(row.row()));
            let length = (row_a.len() as u64).to_le_bytes();
            in_order.push(place, &[&length, row_a, row_b])?;
        }
        if which.is_le() {
            before.next_row()?;
        }
        if which.is_ge() {
            now.next_row()?;
        }
    }
    in_order.each(|_, row| {
        let (length, both) = placed(row);
        let length = length.first_chunk().map_or(0, |it| u64::from_le_bytes(*it));
        let (row_a, row_b) = both.split_at(usize::try_from(length).unwrap_or(0).min(both.len()));
        rows::read(row_b, &mut sample_b)?;
        if row_a.is_empty() {
            return see(Joined::OnlyInB(&sample_b));
        }
        rows::read(row_a, &mut sample_a)?;
        see(Joined::Both(&sample_a, &sample_b))
    })
}

/// The eight-byte prefix of a row, and the row.
fn placed(row: &[u8]) -> (&[u8], &[u8]) {
    row.split_at(row.len().min(8))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spill(ids: &[String]) -> SpilledRows {
        let (mut spill, mut row) = (SpilledRows::default(), Vec::new());
        for (place, id) in ids.iter().enumerate() {
            let sample = SideSample {
                id: id.clone(),
                input: place as u64,
                ..SideSample::default()
            };
            rows::write(&sample, &mut row);
            spill.push(&[&row]).unwrap();
        }
        spill
    }

    /// A letter and the id for each joined sample.
    fn joined(a: &[String], b: &[String]) -> Vec<String> {
        let mut seen = Vec::new();
        join(&spill(a), &spill(b), &mut |joined| {
            seen.push(match joined {
                Joined::OnlyInA(sample) => format!("a {}", sample.id),
                Joined::OnlyInB(sample) => format!("b {}", sample.id),
                Joined::Both(one, other) => {
                    assert_eq!(one.id, other.id);
                    assert_eq!(a[usize::try_from(one.input).unwrap()], one.id);
                    assert_eq!(b[usize::try_from(other.input).unwrap()], one.id);
                    format!("= {}", one.id)
                }
            });
            Ok(())
        })
        .unwrap();
        seen
    }

    #[test]
    fn samples_stand_side_by_side_in_the_order_of_b() {
        let check = |a: &str, b: &str, expect: &str| {
            let [a, b] = [a, b].map(|ids| ids.split_terminator(' ').map(str::to_owned));
            let found = joined(&a.collect::<Vec<_>>(), &b.collect::<Vec<_>>());
            assert_eq!(found.join(", "), expect);
        };
        check("x y z", "x y z", "= x, = y, = z");
        check("z y x", "x y z", "= x, = y, = z");
        check("w x y z", "w y q z", "= w, a x, = y, b q, = z");
        check("x y z", "x", "= x, a y, a z");
        check("x", "x c b", "= x, b c, b b");
        check("x", "", "a x");
        check("", "x", "b x");
        check("", "", "");
        check("q p o", "c b", "a o, a p, a q, b c, b b");
    }

    #[test]
    fn however_many_they_are() {
        let a: Vec<_> = (0..60_000).map(|number| format!("q{number}")).collect();
        let b: Vec<_> = (30_000..90_000)
            .rev()
            .map(|number| format!("q{number}"))
            .collect();
        let found = joined(&a, &b);
        assert_eq!(found.len(), 90_000);
        let of = |mark: &str| found.iter().filter(|it| it.starts_with(mark)).count();
        assert_eq!(["a", "b", "="].map(of), [30_000, 30_000, 30_000]);
        let in_b = found.iter().filter(|it| !it.starts_with('a'));
        assert!(in_b.map(|it| &it[2..]).eq(b.iter()));
    }
}
