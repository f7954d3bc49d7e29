//! What ten million samples in a thousand shards would take, from figures that are measured here.
//!
//! `cargo bench --bench shard_plan [-- samples=N shards=N latency=SECONDS concurrency=N texts=BYTES]`. Sizes of shards are
//! those of the real hash over so many ids, and held against the shards that the program cuts. Times are simulated: each
//! answer takes a draw of a lognormal distribution with this median, each shard asks so many at once. What a run and a merge
//! use is measured on a small eval, by sample, and multiplied.

mod figure;
mod process;
#[expect(dead_code, reason = "the other benchmarks use the rest")]
mod program;

use std::collections::BinaryHeap;
use std::fs;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use figure::{Figure, is_bench, report};
use sha2::{Digest, Sha256};

/// How many parts the measured eval is cut into.
const MEASURED_SHARDS: u32 = 8;

/// What is planned.
struct Plan {
    samples: u64,
    shards: u32,
    /// The median of an answer, in seconds.
    latency: f64,
    concurrency: u32,
    /// Bytes of a question, and of an answer.
    texts: usize,
}

impl Plan {
    fn from_args() -> Self {
        let mut plan = Self {
            samples: if is_bench() { 10_000_000 } else { 20_000 },
            shards: if is_bench() { 1_000 } else { 20 },
            latency: 8.0,
            concurrency: 16,
            texts: 600,
        };
        for argument in std::env::args().skip(1) {
            let Some((key, value)) = argument.split_once('=') else {
                continue;
            };
            let number: f64 = value.parse().expect("a number behind `=`");
            // What people type is small enough.
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "see above"
            )]
            match key {
                "samples" => plan.samples = number as u64,
                "shards" => plan.shards = number as u32,
                "latency" => plan.latency = number,
                "concurrency" => plan.concurrency = number as u32,
                "texts" => plan.texts = number as usize,
                _ => panic!("`{key}` is none of samples, shards, latency, concurrency, texts"),
            }
        }
        plan
    }
}

fn main() -> io::Result<ExitCode> {
    let plan = Plan::from_args();
    let mut figures = Vec::new();
    let mut push = |what: &str, measured: f64, unit: &'static str, most: f64| {
        figures.push(Figure {
            what: what.to_owned(),
            measured,
            unit,
            target: if most.is_finite() {
                0.0..=most
            } else {
                f64::NEG_INFINITY..=f64::INFINITY
            },
            decides: most.is_finite(),
        });
    };
    let unlimited = f64::INFINITY;

    // Time: the shards side by side, and the last of them.
    let sizes = sizes(plan.samples, plan.shards);
    let largest = sizes.iter().copied().max().unwrap_or_default();
    let mean = float(plan.samples) / f64::from(plan.shards);
    push(
        "the largest shard over the mean one",
        float(largest) / mean,
        "times",
        unlimited,
    );
    let times = times(&plan, &sizes);
    let last = times.iter().copied().fold(0.0, f64::max);
    let all: f64 = times.iter().sum();
    push(
        "until the last shard is done (simulated)",
        last / 3600.0,
        "h",
        unlimited,
    );
    push(
        "the last shard over the mean one, in time",
        last * f64::from(plan.shards) / all,
        "times",
        unlimited,
    );

    // What a shard may have paid for beyond its share of the budget: what is in flight when it is spent.
    let in_flight = f64::from(plan.shards) * f64::from(plan.concurrency);
    push(
        "answers in flight when a budget is spent, at most",
        in_flight,
        "answers",
        unlimited,
    );
    push(
        "of all answers",
        100.0 * in_flight / float(plan.samples),
        "%",
        unlimited,
    );

    // Merge and storage, from an eval that is run here.
    let measured = if is_bench() { 80_000 } else { 400 };
    let folder = tempfile::tempdir()?;
    let used = measure(folder.path(), measured, plan.texts)?;
    let by_sample = |what: f64| what / float(measured);
    let scale = float(plan.samples) / float(measured);
    push(
        "a run, CPU by sample",
        1e6 * by_sample(used.run_cpu_s),
        "µs",
        unlimited,
    );
    push(
        "a merge, CPU by sample",
        1e6 * by_sample(used.merge_cpu_s),
        "µs",
        unlimited,
    );
    push(
        "a run directory, by sample",
        by_sample(used.bytes),
        "B",
        unlimited,
    );
    push(
        "all shards' directories",
        used.bytes * scale / 1e9,
        "GB",
        unlimited,
    );
    push(
        "while merging, as much again",
        2.0 * used.bytes * scale / 1e9,
        "GB",
        unlimited,
    );
    push(
        "the merge, CPU",
        used.merge_cpu_s * scale / 60.0,
        "min",
        unlimited,
    );
    push("the merge here, memory", used.merge_mib, "MiB", 100.0);
    report(&figures)
}

/// Of some counts, no digit is lost.
#[expect(clippy::cast_precision_loss, reason = "see above")]
fn float(count: u64) -> f64 {
    count as f64
}

/// In which of so many shards the sample with this id is, from 0.
fn shard_of(id: &str, shards: u32) -> u32 {
    let mut hash = Sha256::new();
    for part in ["shard", id] {
        hash.update((part.len() as u64).to_le_bytes());
        hash.update(part);
    }
    let first: [u8; 8] = hash.finalize()[..8].try_into().expect("eight of 32 bytes");
    let place = u64::from_be_bytes(first) % u64::from(shards);
    u32::try_from(place).expect("less than the number of shards")
}

/// How many samples each shard has.
fn sizes(samples: u64, shards: u32) -> Vec<u64> {
    let mut sizes = vec![0; shards as usize];
    for number in 0..samples {
        sizes[shard_of(&name(number), shards) as usize] += 1;
    }
    sizes
}

fn name(number: u64) -> String {
    format!("sample-{number}")
}

/// Numbers between 0 and 1, the same in each run.
struct Draws(u64);

impl Draws {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (float((mixed ^ (mixed >> 31)) >> 11) + 0.5) / float(1 << 53)
    }

    /// A latency: half of them are shorter than the median, one in twenty is 3.7 times as long.
    fn latency(&mut self, median: f64) -> f64 {
        let (one, other) = (self.next(), self.next());
        let normal = (-2.0 * one.ln()).sqrt() * (std::f64::consts::TAU * other).cos();
        median * (0.8 * normal).exp()
    }
}

/// How long each shard takes, in seconds.
fn times(plan: &Plan, sizes: &[u64]) -> Vec<f64> {
    let mut draws = Draws(20);
    let time = |size: &u64| {
        // When each of those that ask is free again, in microseconds; the first one takes the next sample.
        let mut free: BinaryHeap<_> = (0..plan.concurrency)
            .map(|_| std::cmp::Reverse(0_u64))
            .collect();
        let mut end = 0;
        for _ in 0..*size {
            let std::cmp::Reverse(at) = free.pop().expect("somebody asks");
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "hours at most"
            )]
            let until = at + (1e6 * draws.latency(plan.latency)) as u64;
            end = end.max(until);
            free.push(std::cmp::Reverse(until));
        }
        float(end) / 1e6
    };
    sizes.iter().map(time).collect()
}

/// What an eval used that was run in shards and merged here.
struct Used {
    run_cpu_s: f64,
    bytes: f64,
    merge_cpu_s: f64,
    merge_mib: f64,
}

fn measure(folder: &Path, samples: u64, texts: usize) -> io::Result<Used> {
    let spec = "name: plan\nbenchmark: { type: qa, path: questions.jsonl }\nprompt: none\n\
                agent: { type: echo }\nlimits: { concurrency: 16 }\ngates: [min_samples >= 1]\n";
    fs::write(folder.join("plan.yaml"), spec)?;
    let mut file = BufWriter::new(fs::File::create(folder.join("questions.jsonl"))?);
    for number in 0..samples {
        let text = format!(
            "{number} {}",
            "is this the question that was asked? ".repeat(texts / 37)
        );
        writeln!(
            file,
            r#"{{"id": "{}", "question": "{text}", "answer": "{text}"}}"#,
            name(number)
        )?;
    }
    file.into_inner().map_err(io::IntoInnerError::into_error)?;
    let runs = folder.join("runs");
    let mut used = Used {
        run_cpu_s: 0.0,
        bytes: 0.0,
        merge_cpu_s: 0.0,
        merge_mib: 0.0,
    };
    for shard in 1..=MEASURED_SHARDS {
        let shard = format!("{shard}/{MEASURED_SHARDS}");
        let mut command = evaltest(
            folder,
            &[
                "run",
                "plan.yaml",
                "--output-root",
                "runs",
                "--shard",
                &shard,
            ],
        );
        used.run_cpu_s += program::used(&mut command, &runs)?.cpu_s;
    }
    let parts = directories(&runs)?;
    for part in &parts {
        check_shard(part)?;
        used.bytes += float(size_of(part)?);
    }
    assert_eq!(parts.len(), MEASURED_SHARDS as usize);
    let mut command = evaltest(folder, &["merge", "runs", "-o", "merged"]);
    let merge = program::used(&mut command, &runs)?;
    (used.merge_cpu_s, used.merge_mib) = (merge.cpu_s, merge.peak_mib);
    Ok(used)
}

/// The program cuts as the simulation does: all samples of a part are in one shard.
fn check_shard(part: &Path) -> io::Result<()> {
    let records = fs::read_to_string(part.join("samples.jsonl"))?;
    let ids = records.lines().filter_map(|line| {
        let line = line.strip_prefix(r#"{"sample_id":""#)?;
        line.split('"').next()
    });
    let mut shards: Vec<_> = ids.map(|id| shard_of(id, MEASURED_SHARDS)).collect();
    assert!(!shards.is_empty());
    shards.dedup();
    assert_eq!(shards.len(), 1, "{}", part.display());
    Ok(())
}

fn directories(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let paths = fs::read_dir(folder)?.map(|entry| Ok(entry?.path()));
    let paths: io::Result<Vec<_>> = paths.collect();
    Ok(paths?
        .into_iter()
        .filter(|path| path.join("manifest.json").is_file())
        .collect())
}

fn size_of(folder: &Path) -> io::Result<u64> {
    fs::read_dir(folder)?
        .map(|entry| Ok(entry?.metadata()?.len()))
        .sum()
}

fn evaltest(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cargo-evaltest"));
    command
        .arg("evaltest")
        .args(arguments)
        .current_dir(folder)
        .env_remove("CI");
    command
}
