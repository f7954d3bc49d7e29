//! `manifest.json`: what was run, when, with which hashes.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::RunDir;
use super::files::{JOURNAL, MANIFEST};
use crate::data::record::perturb::{Perturb, trials};
use crate::data::{DetailBounds, JudgeRule, Shard, Variant};
use crate::error::{Error, Result};
use crate::system::file::read_plain;
use crate::system::project::{display, repository};
use crate::text;
use crate::text::checksum::{self, Checksum, Coverage};
use crate::text::setting::Override;
use crate::text::{escape_line_ends, shell_word};

/// The status of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RunStatus {
    /// It is in progress, or was killed.
    Running,
    /// Every sample ended.
    Finished,
    /// A signal ended it early.
    Interrupted,
    /// It stopped early for another reason, such as a full disk or `--fail-fast`.
    Stopped,
}

/// What was run, when, with which hashes.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[expect(clippy::struct_excessive_bools, reason = "they are members of a file")]
pub struct Manifest {
    /// The format version of the program that wrote it.
    pub format_version: u32,
    /// The version of evaltest.
    pub evaltest_version: String,
    /// The run's id.
    pub run_id: String,
    /// Shared by all runs of one command.
    pub invocation: String,
    /// The eval's name.
    pub eval: String,
    /// The eval's agent and prompt, if its spec names several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub variant: Option<Variant>,
    /// The benchmark's name.
    pub benchmark: String,
    /// The status of the run.
    pub status: RunStatus,
    /// Why it stopped early.
    #[serde(default)]
    pub stop_reason: Option<String>,
    /// Start, RFC 3339.
    pub started_at: String,
    /// End, RFC 3339.
    #[serde(default)]
    pub ended_at: Option<String>,
    /// Wall time in seconds; of the last part, for a resumed run.
    #[serde(default)]
    pub duration_s: Option<f64>,
    /// Samples of the eval, or of the tier that ran.
    pub samples: usize,
    /// Further samples of the dataset that a limit or the tier left out, without those of the baseline that are missing
    /// from the run.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub left_out: u64,
    /// The tier that ran, if it was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tier: Option<String>,
    /// The largest tier of the eval, if that has more samples.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub below_tier: Option<String>,
    /// How it goes tier by tier, if it does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub progressive: Option<ProgressiveRun>,
    /// What it is a part of, if others complete it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub part: Option<RunPart>,
    /// The parts that it was merged from, if it was.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub merged: Vec<MergedPart>,
    /// How often each sample is asked.
    #[serde(default = "once")]
    pub epochs: u32,
    /// In which ways each is asked once more, if it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) perturb: Option<Perturb>,
    /// Samples this run was to ask.
    pub selected: usize,
    /// Whether the run covers the eval as its spec defines it: only such a run can be a baseline.
    pub whole: bool,
    /// Commit that was checked out.
    #[serde(default)]
    pub git_sha: Option<String>,
    /// Whether files differed from that commit.
    #[serde(default)]
    pub git_dirty: Option<bool>,
    /// A few variables that explain a run; never secrets.
    pub environment: BTreeMap<String, String>,
    /// The resolved eval, redacted.
    pub config: Value,
    /// The spec, absolute.
    #[serde(default)]
    pub spec: Option<PathBuf>,
    /// The spec, relative to the project's root: for a run directory that was moved to another checkout.
    #[serde(default)]
    pub spec_in_project: Option<PathBuf>,
    /// Where the eval's snapshots are, absolute.
    pub snapshots: PathBuf,
    /// The snapshots' folder relative to the project's root.
    #[serde(default)]
    pub(crate) snapshots_in_project: Option<PathBuf>,
    /// Whether snapshots hide what was asked and answered.
    #[serde(default)]
    pub masked: bool,
    /// Identifies the dataset whose questions and answers key the digests of masked snapshots.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mask_id: Option<String>,
    /// The same as versions had it that rounded the numbers of JSON files, if it differs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) older_mask_id: Option<String>,
    /// The prompt around the questions: the preset with a hash of its text. Like the agent, this is configuration.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompt: Option<String>,
    /// The dataset of the Hub with its commit: `hf://datasets/ORG/NAME@COMMIT`, which a spec can name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dataset: Option<String>,
    /// Hash of all ids, inputs and ground truths; keyed if snapshots are masked.
    pub dataset_hash: String,
    /// Hash of everything that decides what is asked; a resumed run must have the same.
    pub(crate) request_hash: String,
    /// Hash of the extraction and the deciding scorer; only runs with the same are compared.
    pub scorer_hash: String,
    /// Hash of the extraction and all scorers; a resumed run must have the same.
    #[serde(default)]
    pub scorers_hash: String,
    /// Hash of the agent as in the cache, with its keys and options; for one that replays recordings, of its kind.
    /// `None` for an agent that does not identify itself ([`Agent::fingerprint`](crate::Agent::fingerprint)).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) agent_hash: Option<String>,
    /// The agent's confinement if its spec asks for a sandbox: `bwrap`, `landlock` or `none`
    /// ([`Agent::sandbox`](crate::Agent::sandbox)).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sandbox: Option<String>,
    /// The version of the rules by which its answers were read: those of extractions. Missing in older files, which is
    /// version 1, as for the next.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) reader: Option<u32>,
    /// The version of the rules by which the replies of its judges were read, if it has any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) judge_reader: Option<u32>,
    /// Whether the agent changed between the parts of the run: such a run cannot become a baseline.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) mixed: bool,
    /// Runs and recordings that gave its answers, if it did not ask itself; for cached answers see the records.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) answers_of: Vec<String>,
    /// Keys of the spec that the command line overrode, redacted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub overrides: Vec<Override>,
    /// Patterns that the command line added to those of the spec.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub redact: Vec<String>,
    /// The selected ids, if not all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub only: Option<Vec<String>>,
    /// The interim analyses, if gates may stop early.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub early_stop: Option<EarlyStop>,
    /// The run that was the baseline.
    #[serde(default)]
    pub baseline: Option<String>,
    /// The scorers' names; the first decides.
    #[serde(default)]
    pub scorers: Vec<String>,
    /// The lowest and highest values of their score details, if they report them.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub detail_bounds: DetailBounds,
    /// Samples whose assertion failed under `exact` and `correct`.
    #[serde(default)]
    pub failed_assertions: Vec<String>,
    /// The extraction, as in a spec.
    #[serde(default)]
    pub extract: Option<Value>,
    /// Whether the eval names the extraction; otherwise it is the benchmark's.
    #[serde(default)]
    pub extract_is_given: bool,
    /// The extraction of the deciding scorer, if it is its own. Missing in older files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scorer_extract: Option<Value>,
    /// What answered, as endpoints report it: models with their fingerprints, and the number of answers of each.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub models: BTreeMap<String, usize>,
    /// What judged, by the name of the scorer that asks a judge: models with their fingerprints as endpoints report
    /// them, and the number of replies of each.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub judge_models: BTreeMap<String, BTreeMap<String, u64>>,
    /// The scorers that ask a judge: the judge's identity, and its calibration. Missing in older files.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) judges: BTreeMap<String, ManifestJudge>,
    /// Run directory whose answers were rescored.
    #[serde(default)]
    pub parent: Option<PathBuf>,
    /// The id of that run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent_run_id: Option<String>,
    /// Unreadable lines of the journal, from 1, that were left out when the run was resumed or restored.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub journal_lines_skipped: Vec<u64>,
    /// SHA-256 of the other files.
    #[serde(default)]
    pub artifacts: BTreeMap<String, String>,
}

/// A scorer that asks a judge.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct ManifestJudge {
    /// Hash of everything that identifies the judge.
    pub(crate) fingerprint: String,
    /// How labels become the figures that it gives.
    #[serde(default)]
    pub(crate) rule: JudgeRule,
    /// It computes the truth itself, so human labels do not apply.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) solves: bool,
    /// The absolute path of its calibration file, if the spec names one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) calibration: Option<PathBuf>,
    /// The same, relative to the project's root: for a run directory that was moved to another checkout.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) calibration_in_project: Option<PathBuf>,
}

/// The part of its eval that a run covers, if others complete it: a shard, or what ran in one nextest run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunPart {
    /// The shard.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shard: Option<Shard>,
    /// The recorded latencies by which the shards were balanced, if not by ids alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub balance: Option<String>,
    /// Hash of the slices of all samples of the eval; empty for parts left by nextest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slices: Option<String>,
    /// The id of the nextest run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nextest: Option<String>,
    /// Whether all parts together cover the eval as its spec defines it.
    pub whole: bool,
}

impl RunPart {
    /// Its name in messages.
    pub fn description(&self) -> String {
        match self.shard {
            Some(shard) => format!("shard {shard}"),
            None => "part of a run of nextest".to_owned(),
        }
    }
}

/// A part that a run was merged from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MergedPart {
    /// The id of its run.
    pub run_id: String,
    /// The shard, if it was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shard: Option<Shard>,
}

/// How a run goes tier by tier.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProgressiveRun {
    /// The condition for continuing, if one was given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub promote: Option<String>,
    /// Whether it ended before the largest tier.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub ended: bool,
}

/// The interim analyses of gates that may stop early.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EarlyStop {
    /// The seed of the order in which samples were asked.
    pub seed: u32,
    /// How many analyses there are; the last is at all samples.
    #[serde(rename = "looks")]
    pub analyses: u32,
    /// The analysis at which every gate was sure; `analyses` if all samples were to be asked.
    #[serde(rename = "look")]
    pub analysis: u32,
    /// Gates that were green at an analysis and stay so.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub green: Vec<String>,
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde's `skip_serializing_if` passes a reference"
)]
fn is_zero(count: &u64) -> bool {
    *count == 0
}

fn once() -> u32 {
    1
}

impl Manifest {
    /// How often each sample was asked: in its epochs, and perturbed.
    pub(crate) fn trials(&self) -> u32 {
        trials(self.epochs, self.perturb.as_ref())
    }

    /// Whether its agent replays a recording, as far as its spec says.
    pub(crate) fn replays(&self) -> bool {
        self.is_of_agent("replay")
    }

    /// Whether the items of the dataset are judged themselves, without an agent.
    pub(crate) fn judges_items(&self) -> bool {
        self.is_of_agent("none")
    }

    fn is_of_agent(&self, name: &str) -> bool {
        let agent = self.config.get("agent");
        let kind = agent.map(|agent| agent.get("type").unwrap_or(agent));
        kind.is_some_and(|kind| kind == name)
    }

    /// What identifies the dataset in masked snapshots: of this version, and of those that rounded numbers.
    pub(crate) fn mask_ids(&self) -> [Option<String>; 2] {
        [self.mask_id.clone(), self.older_mask_id.clone()]
    }

    /// Whether the command line asked for fewer samples than the eval has.
    pub(crate) fn is_limited(&self) -> bool {
        let mut overrides = self.overrides.iter();
        overrides.any(|change| change.key == "limits.limit")
    }

    /// The limit of samples in the spec itself.
    pub(crate) fn own_limit(&self) -> Option<u64> {
        let limit = self.config.pointer("/limits/limit").and_then(Value::as_u64);
        limit.filter(|_| !self.is_limited())
    }

    /// Whether each sample must pass its assertion: a missing answer leaves the run open.
    pub(crate) fn asserts(&self) -> bool {
        let assert = self
            .config
            .pointer("/snapshot/assert")
            .and_then(Value::as_str);
        assert.is_some_and(|assert| ["exact", "correct"].contains(&assert))
    }

    /// Whether it is an incomplete run left by nextest.
    pub(crate) fn is_from_tests(&self) -> bool {
        let part = self.part.as_ref();
        part.is_some_and(|part| part.nextest.is_some())
    }

    /// The command that asks everything of the run again; for a shard, that shard.
    pub(crate) fn run_again(&self) -> String {
        let shard = self.part.as_ref().and_then(|part| part.shard);
        self.run_again_as(shard)
    }

    /// The same for a shard of its eval, or for all.
    pub(crate) fn run_again_as(&self, shard: Option<Shard>) -> String {
        let spec = self.spec.as_ref().map(|spec| {
            // The path may be of another machine.
            let here = moved(spec, self.spec_in_project.as_ref());
            format!(" {}", shell_word(&display(here.as_ref().unwrap_or(spec))))
        });
        // If the spec names several agents or prompts, only this one.
        let only = self.variant.as_ref().map(|_| &self.eval);
        let only = only.map(|eval| format!(" --benchmark {}", shell_word(eval)));
        let shard = shard.map(|shard| format!(" --shard {shard}"));
        let parts = [spec, only, shard].into_iter().flatten();
        format!("cargo evaltest run{}", parts.collect::<String>())
    }

    /// Reads a manifest and refuses versions from the future. Also gives what is wrong with one that is not as the run
    /// wrote it.
    pub(super) fn read(path: &Path) -> Result<(Self, Option<String>)> {
        let text = read_plain(path).map_err(|error| Error::io("read", path, &error))?;
        let manifest: Self = serde_json::from_slice(&text).map_err(|error| {
            let message = format!("{}: not a manifest: {error}", path.display());
            Error::usage(message).hint(instead(path.parent().unwrap_or(path)))
        })?;
        if manifest.format_version > super::FORMAT_VERSION {
            return Err(Error::usage(format!(
                "{}: format {} is newer than this evaltest understands ({})",
                path.display(),
                manifest.format_version,
                super::FORMAT_VERSION
            ))
            .hint("cargo install cargo-evaltest"));
        }
        let fault = fault(&text, manifest.format_version);
        Ok((manifest, fault))
    }

    /// The eval's snapshot folder on this machine: the run's path, else the same place in the project around the
    /// current folder, for a run directory from another machine.
    pub fn snapshot_folder(&self) -> PathBuf {
        let here = |path: &PathBuf| path.ancestors().skip(1).take(2).any(Path::is_dir);
        let moved = self
            .snapshots_in_project
            .as_ref()
            .filter(|_| !here(&self.snapshots));
        let moved =
            moved.and_then(|inside| Some(crate::system::project::current_root()?.join(inside)));
        moved.filter(here).unwrap_or_else(|| self.snapshots.clone())
    }

    /// The calibration file of a judge on this machine: the one that the spec names, else next to the spec, where
    /// `judge calibrate` writes it; `None` for an eval without a spec that names none. It may not exist.
    pub(crate) fn calibration_file(&self, scorer: &str) -> Option<PathBuf> {
        let judge = self.judges.get(scorer)?;
        if let Some(there) = &judge.calibration {
            let moved = moved(there, judge.calibration_in_project.as_ref());
            return Some(moved.unwrap_or_else(|| there.clone()));
        }
        // Evals in one folder may have judges of the same name.
        let name = text::file_name(&format!("{}.{scorer}.calibration", self.eval));
        let name = format!("{name}.json");
        Some(self.spec_folder()?.join(name))
    }

    /// The folder of the spec on this machine.
    pub(crate) fn spec_folder(&self) -> Option<PathBuf> {
        let spec = self.spec.as_ref()?;
        let moved = moved(spec, self.spec_in_project.as_ref());
        Some(moved.as_ref().unwrap_or(spec).parent()?.to_owned())
    }

    /// The first scorer that asks a judge for points or a verdict of its own.
    pub(crate) fn first_judge(&self) -> Option<&str> {
        let is_judge = |name: &&String| {
            let judge = self.judges.get(*name);
            judge.is_some_and(|judge| judge.rule != JudgeRule::default())
        };
        self.scorers.iter().find(is_judge).map(String::as_str)
    }

    /// The source of the run's answers, as far as the manifest says: the run itself, the runs that it rescored, or a
    /// recording.
    pub(crate) fn answers_from(&self) -> BTreeSet<String> {
        let others = self.answers_of.iter().chain(&self.parent_run_id);
        others.chain([&self.run_id]).cloned().collect()
    }

    /// Writes `manifest.json`.
    pub(crate) fn write(&self, dir: &RunDir) -> Result<()> {
        let mut text = serde_json::to_vec_pretty(self).map_err(|error| {
            Error::infrastructure(format!("the manifest cannot be written: {error}"))
        })?;
        escape_line_ends(&mut text, 0);
        checksum::add(&mut text, Coverage::Bytes);
        dir.write(MANIFEST, &text)
    }
}

/// What to do about a run directory without its manifest, which cannot be restored.
pub(super) fn instead(dir: &Path) -> String {
    format!(
        "copy it again from the original directory: no other file describes the run. The answers are in `{JOURNAL}` \
         beside it; to discard them: rm -r {}",
        shell_word(&display(dir))
    )
}

/// Variables that explain a run and hold no secrets.
pub(crate) fn environment() -> BTreeMap<String, String> {
    const NAMES: [&str; 10] = [
        "CI",
        "GITHUB_ACTIONS",
        "GITHUB_REF",
        "GITHUB_RUN_ID",
        "GITHUB_SHA",
        "GITLAB_CI",
        "LANG",
        "NEXTEST_RUN_ID",
        "RUST_TEST_THREADS",
        "TZ",
    ];
    let mut environment: BTreeMap<_, _> = NAMES
        .iter()
        .filter_map(|name| Some(((*name).to_owned(), std::env::var(name).ok()?)))
        .collect();
    environment.insert("os".to_owned(), std::env::consts::OS.to_owned());
    environment.insert("arch".to_owned(), std::env::consts::ARCH.to_owned());
    environment
}

/// Lines that a run adds to a history do not change what is run.
const NO_HISTORY: &str = ":(top,exclude,glob)**/history.jsonl";

/// The commit that is checked out in `folder`, and whether files differ from it.
pub(crate) fn git_state(folder: &Path) -> (Option<String>, Option<bool>) {
    // Do not start git outside a repository. A bare repository has a `HEAD` and no `.git`.
    let place = folder.canonicalize();
    let place = place.as_deref().unwrap_or(folder);
    let mut folders = place.ancestors();
    let is_repository = repository(place).is_some() || folders.any(|at| at.join("HEAD").exists());
    if !is_repository && std::env::var_os("GIT_DIR").is_none() {
        return (None, None);
    }
    let git = |arguments: &[&str]| {
        let output = Command::new("git")
            .arg("-C")
            .arg(folder)
            .args(arguments)
            .stdin(Stdio::null())
            .stderr(Stdio::null())
            .output()
            .ok()?;
        output
            .status
            .success()
            .then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
    };
    let sha = git(&["rev-parse", "HEAD"]);
    let dirty = sha
        .is_some()
        .then(|| git(&["status", "--porcelain", "--", ":(top)", NO_HISTORY]))
        .flatten();
    (sha, dirty.map(|changes| !changes.is_empty()))
}

/// The path of another machine's file in the project around the current folder, if it is not at its old path.
fn moved(there: &Path, inside: Option<&PathBuf>) -> Option<PathBuf> {
    let inside = inside.filter(|_| !there.is_file());
    let moved =
        inside.and_then(|inside| Some(crate::system::project::current_root()?.join(inside)));
    moved.filter(|path| path.parent().is_some_and(Path::is_dir))
}

impl Manifest {
    /// Why the run may have answers of several agents, if so.
    pub(crate) fn why_mixed(&self) -> &'static str {
        if !self.merged.is_empty() && self.git_sha.is_none() {
            "its shards ran at several commits, or an agent changed in one"
        } else {
            "its agent changed between its parts"
        }
    }

    /// Refuses a partial run where a whole one is needed; `what` is such as: `it cannot become a baseline`.
    ///
    /// # Errors
    /// For a shard and the like, with the command that merges the parts.
    pub fn refuse_part(&self, dir: &RunDir, what: &str) -> Result<()> {
        let Some(part) = &self.part else {
            return Ok(());
        };
        let root = dir.path().parent().unwrap_or(dir.path());
        Err(Error::usage(format!(
            "run `{}` is {} of eval `{}`: {what}",
            display(dir.path()),
            part.description(),
            self.eval
        ))
        .hint(format!(
            "merge the shards: cargo evaltest merge {}",
            shell_word(&display(root))
        )))
    }
}

// What a manifest must have by its version.

/// Members that every manifest has since [`SEALED`], besides those that no manifest may lack.
const MEMBERS: [&str; 19] = [
    "artifacts",
    "baseline",
    "duration_s",
    "ended_at",
    "epochs",
    "extract",
    "extract_is_given",
    "failed_assertions",
    "git_dirty",
    "git_sha",
    "masked",
    "parent",
    "scorers",
    "scorers_hash",
    "snapshots_in_project",
    "spec",
    "spec_in_project",
    "stop_reason",
    checksum::MEMBER,
];

/// The first version whose manifests have a checksum, and all of [`MEMBERS`].
const SEALED: u32 = 2;

/// What is wrong with a manifest that was changed after the run wrote it, or lacks a member of its version.
fn fault(text: &[u8], version: u32) -> Option<String> {
    let sum = checksum::check(text, Coverage::Bytes);
    let is_right = match serde_json::from_slice::<Value>(text) {
        Ok(value) if sum == Checksum::Missing => {
            let lacks = |name: &&&str| value.get(**name).is_none();
            if version >= SEALED
                && let Some(name) = MEMBERS.iter().find(lacks)
            {
                return Some(format!("it lacks `{name}`"));
            }
            // Before there were checksums, the last member was an object. A text is a checksum under another name.
            let last = value
                .as_object()
                .and_then(|members| members.values().next_back());
            version < SEALED
                && value.get(checksum::MEMBER).is_none()
                && !last.is_some_and(Value::is_string)
        }
        _ => sum == Checksum::Right,
    };
    (!is_right).then(|| "its checksum does not match its content".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_manifest_is_what_the_run_wrote_or_says_what_is_wrong() {
        const OTHER: &str = "its checksum does not match its content";
        let check = |text: &str, version, expect| {
            let fault = fault(text.as_bytes(), version);
            assert_eq!(fault.as_deref(), expect, "{text}");
        };
        let old = "{\n  \"status\": \"finished\",\n  \"artifacts\": {}\n}";
        check(old, 1, None);
        let mut sealed = old.as_bytes().to_vec();
        checksum::add(&mut sealed, Coverage::Bytes);
        let sealed = String::from_utf8(sealed).unwrap();
        check(&sealed, 1, None);
        check(&sealed, 2, None);
        check(&sealed.replace("finished", "stopped"), 1, Some(OTHER));
        check(&sealed.replace("finished", "stopped"), 2, Some(OTHER));
        // It is a checksum, whatever it is called and wherever it stands.
        check(&sealed.replace("checksum", "checksun"), 1, Some(OTHER));
        let value: Value = serde_json::from_str(&sealed).unwrap();
        check(&value.to_string(), 1, Some(OTHER));
        check("{\"checksum\": \"0\", \"artifacts\": {}}", 1, Some(OTHER));
        // Since there is one, no member is left out.
        check("{\"artifacts\": {}}", 2, Some("it lacks `baseline`"));
        let members = MEMBERS.map(|name| (name.to_owned(), Value::Null));
        let mut members: serde_json::Map<_, _> = members.into_iter().collect();
        members.shift_remove(checksum::MEMBER);
        let without = Value::Object(members).to_string();
        check(&without, 2, Some("it lacks `checksum`"));
    }
}
