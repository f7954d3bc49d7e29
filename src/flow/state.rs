//! `flow.json`: the state and results of a flow.

use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::figures::{FlowFigures, FlowStage};
use super::spec::FlowFlags;
use crate::error::{Error, Result};
use crate::exit::Exit;
use crate::system::file::{read_plain, write_atomically};

/// The file in the folder of a flow.
pub(super) const FLOW_FILE: &str = "flow.json";

/// The format version, increased whenever a reader of an older version would be misled. 1: the first.
const FORMAT_VERSION: u32 = 1;

/// The content of `flow.json`.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct FlowState {
    /// The format version of the writer.
    pub format_version: u32,
    /// The version of evaltest.
    pub evaltest_version: String,
    /// The name of the flow.
    pub name: String,
    /// Its id.
    pub run_id: String,
    /// Start time.
    pub started_at: String,
    /// End time; `null` while it runs, or if it was killed.
    pub ended_at: Option<String>,
    /// The absolute path of its spec; `null` if there is none.
    pub spec: Option<String>,
    /// The folder that relative paths resolve against if there is no spec file.
    pub spec_folder: String,
    /// The command line flags.
    pub flags: FlowFlags,
    /// The configuration without secrets.
    pub configuration: Value,
    /// The stages, in order.
    pub stages: Vec<StageState>,
    /// The names of the report files in this folder.
    pub files: Vec<String>,
    /// The exit code.
    pub exit_code: Option<Exit>,
    /// The results.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub figures: Option<FlowFigures>,
}

/// The state of a stage.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StageState {
    /// The stage.
    pub stage: FlowStage,
    /// Its status.
    pub status: StageStatus,
    /// Why it failed or was left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// The name of its run directory in this folder.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run_dir: Option<String>,
}

/// The status of a stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StageStatus {
    /// Not started.
    Waiting,
    /// Running, or killed.
    Running,
    /// Finished with figures.
    Done,
    /// Finished without figures.
    Failed,
    /// Not to be run.
    #[serde(rename = "left_out")]
    Skipped,
}

impl StageStatus {
    /// The name in files.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Waiting => "waiting",
            Self::Running => "running",
            Self::Done => "done",
            Self::Failed => "failed",
            Self::Skipped => "left out",
        }
    }
}

impl FlowState {
    pub(super) fn new(name: &str, run_id: &str) -> Self {
        let stages = [FlowStage::Generate, FlowStage::Judge, FlowStage::Winrate];
        Self {
            format_version: FORMAT_VERSION,
            evaltest_version: env!("CARGO_PKG_VERSION").to_owned(),
            name: name.to_owned(),
            run_id: run_id.to_owned(),
            started_at: format!("{:.3}", crate::system::clock::timestamp()),
            ended_at: None,
            spec: None,
            spec_folder: String::new(),
            flags: FlowFlags::default(),
            configuration: Value::Null,
            stages: stages
                .map(|stage| StageState {
                    stage,
                    status: StageStatus::Waiting,
                    why: None,
                    run_dir: None,
                })
                .into(),
            files: Vec::new(),
            exit_code: None,
            figures: None,
        }
    }

    /// Whether a judging stage failed.
    pub(super) fn judges_failed(&self) -> bool {
        let judges =
            |stage: &StageState| matches!(stage.stage, FlowStage::Judge | FlowStage::Winrate);
        let stages = self.stages.iter().filter(|stage| judges(stage));
        stages
            .clone()
            .any(|stage| stage.status == StageStatus::Failed)
    }

    /// Reads the file in a folder.
    ///
    /// # Errors
    /// If it is not the folder of a flow, or its file is damaged or of another version.
    pub(super) fn read(folder: &Path) -> Result<Self> {
        let path = folder.join(FLOW_FILE);
        let display = path.display();
        if !path.is_file() {
            let folder = folder.display();
            let error = Error::usage(format!(
                "`{folder}` is not the folder of a flow: it has no `{FLOW_FILE}`"
            ));
            return Err(if folder_is_run(&path) {
                error.hint(format!(
                    "it is a run directory: cargo evaltest run --resume {folder}"
                ))
            } else {
                error.hint("name the folder that `cargo evaltest flow` printed")
            });
        }
        let bytes = read_plain(&path).map_err(|error| Error::io("read", &path, &error))?;
        let value: Value = serde_json::from_slice(&bytes).map_err(|error| {
            Error::usage(format!("`{display}` is damaged: {error}")).hint(
                "restore it from a backup, or start over: its run directories stay as they are",
            )
        })?;
        let version = value.get("format_version").and_then(Value::as_u64);
        if version != Some(u64::from(FORMAT_VERSION)) {
            let version = version.map_or_else(|| "no version".to_owned(), |it| it.to_string());
            return Err(Error::usage(format!(
                "`{display}` has format {version}, but this evaltest reads format {FORMAT_VERSION}"
            ))
            .hint("continue with the version of evaltest that started it"));
        }
        serde_json::from_value(value).map_err(|error| {
            Error::usage(format!("`{display}` is damaged: {error}")).hint(
                "restore it from a backup, or start over: its run directories stay as they are",
            )
        })
    }

    pub(super) fn write(&self, folder: &Path) -> Result<()> {
        let mut text = serde_json::to_vec_pretty(self)
            .map_err(|error| Error::infrastructure(format!("cannot write the flow: {error}")))?;
        text.push(b'\n');
        write_atomically(&folder.join(FLOW_FILE), &text)
    }

    pub(super) fn stage(&mut self, stage: FlowStage) -> Option<&mut StageState> {
        self.stages.iter_mut().find(|state| state.stage == stage)
    }

    /// Sets the status of a stage.
    pub(super) fn set(&mut self, stage: FlowStage, status: StageStatus, why: Option<&str>) {
        if let Some(state) = self.stage(stage) {
            state.status = status;
            state.why = why.map(str::to_owned);
        }
    }
}

/// Whether the folder of this file is a run directory.
fn folder_is_run(file: &Path) -> bool {
    let folder = file.parent().unwrap_or(file);
    crate::store::RunDir::open(folder).is_ok()
}
