//! Answers with their ground truths, as an agent on GAIA would leave them.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

/// Writes a line of each kind that there is, a third of the answers wrong; every other agent called tools.
pub(crate) fn write(path: &Path, lines: u64) -> io::Result<()> {
    let mut out = BufWriter::with_capacity(1 << 16, File::create(path)?);
    let mut seed = 7_u64;
    for line in 0..lines {
        // Knuth's generator; its upper bits are good enough to vary an input.
        seed = seed
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        let number = (seed >> 40) % 100_000;
        let other = number + u64::from(line % 3 == 0);
        write!(
            out,
            r#"{{"task_id":"{seed:016x}","level":{},"#,
            1 + number % 3
        )?;
        match (seed >> 60) % 8 {
            0 => write!(out, r#""prediction":null,"ground_truth":"{number}""#),
            1 => write!(
                out,
                r#""prediction":"Red; {number}, blue","ground_truth":"red, {other}, blue""#
            ),
            2 => write!(
                out,
                r#""prediction":"Caf\u00e9 \"Zürich\" {number}","ground_truth":"café zürich {other}""#
            ),
            3 | 4 => write!(
                out,
                r#""prediction":"The sea-gull {number}.","ground_truth":"the seagull {other}""#
            ),
            5 => write!(
                out,
                r#""prediction":"${number}.50","ground_truth":"{other}.5""#
            ),
            _ => write!(out, r#""prediction":"{number}","ground_truth":"{other}""#),
        }?;
        let calls = if line % 2 == 0 { 2 } else { 0 };
        write!(
            out,
            r#","trajectory":[{{"role":"user","content":"Which number is it?"}}"#
        )?;
        for call in 0..calls {
            write!(
                out,
                r#",{{"role":"tool","content":"{{\"page\": {call}}}"}}"#
            )?;
        }
        writeln!(out, "]}}")?;
    }
    out.flush()
}
