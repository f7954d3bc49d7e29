//! Running a program to its end, measured.

use std::io;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use crate::process::{children_cpu_s, peak_kib};

/// How often the memory of a running program is looked at. A peak stays, so only the last moment before
/// the end can be missed.
const POLL_INTERVAL: Duration = Duration::from_millis(2);

/// What a program used.
pub(crate) struct Usage {
    pub(crate) cpu_s: f64,
    pub(crate) wall_s: f64,
    pub(crate) peak_mib: f64,
    /// From before the program was executed to the first event of its run; 0 of a run without events.
    pub(crate) first_sample_ms: f64,
}

impl Usage {
    /// The lower figures of two runs, but the higher memory.
    pub(crate) fn better(&self, other: &Self) -> Self {
        Self {
            cpu_s: self.cpu_s.min(other.cpu_s),
            wall_s: self.wall_s.min(other.wall_s),
            peak_mib: self.peak_mib.max(other.peak_mib),
            first_sample_ms: self.first_sample_ms.min(other.first_sample_ms),
        }
    }
}

/// Runs `program`, which records one run below `output_root`.
pub(crate) fn run(program: &mut Command, output_root: &Path) -> io::Result<Usage> {
    let at = SystemTime::now();
    let used = used(program, output_root)?;
    Ok(Usage {
        first_sample_ms: first_event_ms(output_root, at)?,
        ..used
    })
}

/// Runs `program`; what it prints goes into files beside `path`.
pub(crate) fn used(program: &mut Command, path: &Path) -> io::Result<Usage> {
    let cpu_before = children_cpu_s()?;
    // To a file, as in CI: a closed stdout would spare the program the writing.
    let log = path.with_extension("log");
    program
        .stdin(Stdio::null())
        .stdout(std::fs::File::create(&log)?)
        .stderr(std::fs::File::create(log.with_extension("err"))?);
    let started = Instant::now();
    let mut child = program.spawn()?;
    let peak = watch(&mut child)?;
    let wall_s = started.elapsed().as_secs_f64();
    if !child.wait()?.success() {
        let text = std::fs::read_to_string(log.with_extension("err"))?;
        return Err(io::Error::other(format!("{program:?} failed: {text}")));
    }
    Ok(Usage {
        cpu_s: children_cpu_s()? - cpu_before,
        wall_s,
        peak_mib: f64::from(peak) / 1024.0,
        first_sample_ms: 0.0,
    })
}

fn watch(child: &mut Child) -> io::Result<u32> {
    let id = child.id().to_string();
    let mut peak = 0;
    while child.try_wait()?.is_none() {
        peak = peak.max(peak_kib(&id));
        thread::sleep(POLL_INTERVAL);
    }
    Ok(peak)
}

/// The last run directory.
pub(crate) fn last_run(output_root: &Path) -> io::Result<PathBuf> {
    let entries = std::fs::read_dir(output_root)?.flatten();
    let mut runs: Vec<PathBuf> = entries
        .map(|entry| entry.path())
        .filter(|path| path.join("manifest.json").is_file())
        .collect();
    runs.sort_by_key(|path| path.metadata().and_then(|data| data.modified()).ok());
    runs.pop().ok_or_else(|| io::Error::other("no run"))
}

/// Milliseconds from `at` to the first event of the last run.
fn first_event_ms(output_root: &Path, at: SystemTime) -> io::Result<f64> {
    const DAY_MS: f64 = 86_400_000.0;
    let events = last_run(output_root)?.join("events.jsonl");
    if !events.exists() {
        // Answers that were scored again.
        return Ok(0.0);
    }
    let events = std::fs::read_to_string(events)?;
    // `"time":"2026-01-31T12:34:56.789Z"`: the time of day is enough.
    let time = events.split_once(r#""time":""#).and_then(|(_, rest)| {
        let (_, rest) = rest.split_once('T')?;
        let fields = rest.split_once('Z')?.0.split(':');
        fields
            .map(|field| field.parse::<f64>().ok())
            .collect::<Option<Vec<_>>>()
    });
    let Some([hours, minutes, seconds]) = time.as_deref() else {
        return Err(io::Error::other("the journal begins with no time"));
    };
    let first = ((hours * 60.0 + minutes) * 60.0 + seconds) * 1000.0;
    let at = at.duration_since(UNIX_EPOCH).map_err(io::Error::other)?;
    Ok((first - at.as_secs_f64() * 1000.0 % DAY_MS).rem_euclid(DAY_MS))
}
