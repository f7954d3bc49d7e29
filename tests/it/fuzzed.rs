//! The fuzz targets of `tests/fuzz` on a fixed number of inputs, the same ones each time.

use std::panic::{AssertUnwindSafe, catch_unwind};

#[path = "../fuzz/targets.rs"]
mod targets;

/// So many inputs a target.
const INPUTS: u64 = 400;

/// Numbers that look random and are the same each time.
struct Dice(u64);

impl Dice {
    fn below(&mut self, limit: usize) -> usize {
        // Of Knuth's MMIX.
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % limit.max(1)
    }
}

/// What is put into the seeds: what ends, nests, escapes, and bytes that are no text.
const PIECES: &[&[u8]] = &[
    b"[",
    b"]",
    b"{",
    b"}",
    b"(",
    b")",
    b"\"",
    b"'",
    b"\\",
    b":",
    b",",
    b"\n",
    b"\r",
    b"\0",
    b" ",
    b"-",
    b"!t ",
    b"&a ",
    b"*a",
    b"<<: ",
    b"|\n ",
    b"\xff",
    b"\xed\xa0\x80",
    b"\xef\xbb\xbf",
    b"\xe2\x80\xa8",
    b"\xf0\x9f\x98\x80",
    b"\\ud800",
    b"\\u0000",
    b"1e999",
    b"-1",
    b"99999999999999999999",
    b"NaN",
    b"null",
    b"<",
    b"/>",
    b"<![CDATA[",
    b"f\"{",
    b"\"\"\"",
    b"`${",
    b"new ",
    b"=>",
];

/// A seed with some changes, or mere pieces.
fn input(seeds: &[&str], dice: &mut Dice) -> Vec<u8> {
    let mut bytes = seeds[dice.below(seeds.len())].as_bytes().to_vec();
    if dice.below(8) == 0 {
        bytes.clear();
    }
    for _ in 0..=dice.below(12) {
        let place = dice.below(bytes.len() + 1);
        match dice.below(5) {
            0 => bytes.truncate(place),
            1 => {
                let piece = PIECES[dice.below(PIECES.len())].repeat(1 + dice.below(40));
                bytes.splice(place..place, piece);
            }
            2 => {
                let end = (place + dice.below(20)).min(bytes.len());
                let copy = bytes[place..end].to_vec();
                bytes.splice(place..place, copy);
            }
            3 if place < bytes.len() => bytes[place] ^= 1 << dice.below(8),
            _ => {
                let piece = PIECES[dice.below(PIECES.len())];
                bytes.splice(place..place, piece.iter().copied());
            }
        }
    }
    bytes
}

#[track_caller]
fn check(target: fn(&[u8]), seeds: &[&str]) {
    let mut dice = Dice(15);
    for _ in 0..INPUTS {
        let input = input(seeds, &mut dice);
        let done = catch_unwind(AssertUnwindSafe(|| target(&input)));
        assert!(
            done.is_ok(),
            "it panics of {:?}",
            String::from_utf8_lossy(&input)
        );
    }
}

#[test]
fn no_spec_panics() {
    check(
        targets::specs,
        &[
            "name: e\nbenchmark: { type: gaia, path: data.jsonl }\nagent: { type: command, command: [./a.sh] }\n",
            "benchmark: { type: qa, path: d.csv }\nagent: echo\nscorer: { type: numeric, rel_tol: 0.1 }\ngates: [accuracy >= 0.5, 'accuracy[level=1] >= 1']\nlimits: { retries: 3 }\n",
            "a: &a [1, *a]\nb: !t { <<: *a }\nc: |\n  x\nd: >-\n  y\n",
        ],
    );
}

#[test]
fn no_journal_panics() {
    check(
        targets::journals,
        &[
            "{\"sample_id\":\"a\",\"event_index\":0,\"epoch\":0,\"attempt\":1,\"kind\":\"started\",\"time\":\"2026-01-01T00:00:00Z\",\"redacted\":0}\n\
             {\"sample_id\":\"a\",\"event_index\":1,\"epoch\":0,\"attempt\":1,\"kind\":\"answered\",\"time\":\"2026-01-01T00:00:01Z\",\"latency_s\":1.0,\"output\":{\"text\":\"1\"},\"redacted\":0}\n",
            "{\"sample_id\":\"a\",\"eval\":\"e\",\"prompt\":\"p\",\"ground_truth\":\"1\",\"metadata\":{},\"slices\":{},\"epoch\":0,\"result\":{\"status\":\"scored\"}}\n",
        ],
    );
}

#[test]
fn no_reply_panics() {
    check(
        targets::replies,
        &[
            "```json\n{\"a\": 4, \"clarity\": 10, \"reason\": \"\\u00e9\"}\n```",
            "Answer: [[B]], not A. Rating: 7/10",
            "{\"verdict\": \"yes\"} {\"verdict\": \"no\"}",
        ],
    );
}

#[test]
fn no_text_of_calls_panics() {
    check(
        targets::calls,
        &[
            "[f(a=1, b=[1.5, 'x', {'k': None}]), g.h(c=-2)]",
            "new Foo().bar(a=new ArrayList<>(Arrays.asList(1, 2)), b=\"x\", c=1L)",
            "f({a: 1, b: [`x${1}`, null]}, g => g.h)",
            "[{\"function\": \"f\", \"parameters\": {\"a\": [1, \"x\"]}}]",
            "<functions><function name=\"f\"><params><param name=\"a\" value=\"1\" type=\"integer\"/></params></function></functions>",
        ],
    );
}
