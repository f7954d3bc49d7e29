//! What it costs to look for near copies: a thousand new texts, each compared with all references and with those before it.
//!
//! `cargo bench --bench near_copy [-- REFERENCES]`: CPU time, and how it grows when there are twice as many references, also
//! where every text has the same phrases.

mod figure;

use std::io;
use std::process::ExitCode;
use std::time::Duration;

use evaltest::engine::text::NearCopies;
use figure::{Figure, is_bench, report};
use rustix::time::{ClockId, clock_gettime};

/// References of a proper run.
const REFERENCES: u64 = 5000;
/// New texts for each reference.
const ITEMS_OF: (u64, u64) = (1, 5);
/// Each measurement is the fastest of so many.
const TIMES: u32 = 5;

fn main() -> io::Result<ExitCode> {
    let default = if is_bench() { REFERENCES } else { 50 };
    let references = std::env::args().find_map(|arg| arg.parse().ok());
    let references = references.unwrap_or(default);
    let items = references * ITEMS_OF.0 / ITEMS_OF.1;
    let alone = cpu_s(references, items, false);
    let twice = cpu_s(2 * references, items, false);
    let phrases = cpu_s(references, items, true);
    report(&[
        Figure {
            what: format!("{items} texts beside {references} references, CPU"),
            measured: alone,
            unit: "s",
            target: 0.0..=0.2,
            decides: true,
        },
        Figure {
            what: "the same beside twice as many".to_owned(),
            measured: twice / alone,
            unit: "times",
            target: 0.0..=2.5,
            decides: true,
        },
        Figure {
            what: "the same where all share most of their words, CPU".to_owned(),
            measured: phrases,
            unit: "s",
            target: 0.0..=2.0,
            decides: true,
        },
    ])
}

/// Indexes the references, then looks for each new text among them and among the new ones before it.
fn cpu_s(references: u64, items: u64, similar: bool) -> f64 {
    let texts: Vec<String> = (0..references + items)
        .map(|number| text(number, similar))
        .collect();
    let (old, new) = texts.split_at(usize::try_from(references).unwrap_or_default());
    let took = (0..TIMES).map(|_| {
        let time =
            || Duration::try_from(clock_gettime(ClockId::ProcessCPUTime)).unwrap_or_default();
        let before = time();
        let (mut known, mut made) = (NearCopies::new(), NearCopies::new());
        for (number, text) in old.iter().enumerate() {
            known.add(&number.to_string(), text);
        }
        for (number, text) in new.iter().enumerate() {
            std::hint::black_box((known.nearest(text), made.nearest(text)));
            made.add(&number.to_string(), text);
        }
        time().saturating_sub(before).as_secs_f64()
    });
    took.fold(f64::INFINITY, f64::min)
}

/// A problem of some sixty words; of such a bunch each has one word of its own.
fn text(number: u64, similar: bool) -> String {
    const TAIL: &str = r"can be written as $\frac{m}{n}$, where $m$ and $n$ are relatively prime positive integers. Find $m+n$.";
    let mut draw = number;
    let words: Vec<String> = (0..45_u64)
        .map(|place| {
            draw = draw
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            let of = if similar && place != 20 {
                place
            } else {
                (draw >> 40) % 3000
            };
            let letter = |part: u64| char::from(b'a' + u8::try_from(part % 26).unwrap_or_default());
            [letter(of), letter(of / 26), letter(of / 676), 'e']
                .iter()
                .collect()
        })
        .collect();
    format!("{} {} {TAIL}", words.join(" "), number % 1000)
}
