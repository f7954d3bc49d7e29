//! `FlowPlan`: a flow that is ready to start.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::driver::{Flow, drive};
use super::figures::{FlowBasics, FlowPlaces, FlowStage};
use super::spec::{FlowFlags, FlowSpec};
use super::state::FlowState;
use crate::error::{Error, Result};
use crate::eval::plan::secret::redactor;
use crate::run::CiPolicy;
use crate::scorer::ask::model_family::{Answerer, notices};
use crate::store::{random_run_id, stamp};
use crate::system::file::{absolute, make_root};
use crate::system::project::display;
use crate::text::redact::Redactor;

/// A flow that is ready to start: its spec is read and checked, nothing is requested yet.
pub struct FlowPlan {
    checked: CheckedFlow,
    flags: FlowFlags,
    /// Items to request from the generator.
    items: u64,
    notices: Vec<String>,
}

/// A checked spec.
pub(super) struct CheckedFlow {
    pub(super) spec: FlowSpec,
    /// Redacts secrets in it.
    pub(super) redactor: Redactor,
    /// Warnings that the judge is the generator or of its model family.
    pub(super) family_notices: Vec<String>,
}

impl CheckedFlow {
    /// Builds every stage of a spec once to find errors in its keys.
    pub(super) fn of(spec: FlowSpec) -> Result<Self> {
        let generation = spec.items.is_none().then(|| spec.generation());
        let generation = generation.transpose()?;
        let judging = spec.rehearsal()?;
        let redactor = redactor(generation.as_ref().unwrap_or(&judging), &judging.scorers)?;
        // Who wrote existing items is not known.
        let family_notices = generation.map_or_else(Vec::new, |generation| {
            notices(&Answerer::of(&*generation.agent), &judging.scorers)
        });
        Ok(Self {
            spec,
            redactor,
            family_notices,
        })
    }

    /// The number of items to generate, or in the file, and notices about them.
    ///
    /// # Errors
    /// If the file, or the real items, cannot be read.
    pub(super) fn items(&self) -> Result<(u64, Vec<String>)> {
        let spec = &self.spec;
        let eval = match &spec.items {
            Some(items) => spec.of_stage(spec.only.unwrap_or(FlowStage::Judge), items, 1)?,
            None => spec.generation()?,
        };
        let prepared = drive(None, None, CiPolicy::default(), None).prepare(&eval)?;
        Ok((prepared.count().samples as u64, prepared.notices()))
    }

    /// The configuration without secrets.
    pub(super) fn configuration(&self) -> Value {
        let spec = &self.spec;
        let gates: Vec<_> = spec.gates.iter().map(|(_, gate)| gate).collect();
        let mut value = json!({
            "generate": spec.generate,
            "agent": spec.agent,
            "judge": spec.judge,
            "winrate": spec.winrate,
            "gates": gates,
            "limits": spec.limits,
        });
        if let Some(items) = &spec.items {
            value["items"] = display(items).into();
            value["only"] = json!(spec.only);
        }
        self.redactor.config(&mut value);
        value
    }

    /// The setup for the figures.
    pub(super) fn basics(
        &self,
        state: &FlowState,
        folder: &Path,
        items: Option<&Path>,
    ) -> FlowBasics {
        let spec = &self.spec;
        let run = |stage: FlowStage| {
            let state = state.stages.iter().find(|state| state.stage == stage)?;
            Some(display(&folder.join(state.run_dir.as_ref()?)))
        };
        let configuration = &state.configuration;
        FlowBasics {
            name: spec.name.clone(),
            run_id: state.run_id.clone(),
            started_at: state.started_at.clone(),
            items: spec.items.as_deref().map(display),
            generator: match spec.items {
                Some(_) => String::new(),
                None => described(&configuration["agent"]),
            },
            judge: described(match &configuration["judge"]["agent"] {
                Value::Null => &configuration["winrate"]["agent"],
                agent => agent,
            }),
            judges_itself: spec.judges_itself,
            family_notices: self.family_notices.clone(),
            reference: spec.reference().map(|reference| match reference {
                hub if hub.starts_with("hf://") => hub.to_owned(),
                path => display(&spec.folder.join(path)),
            }),
            count: spec.count,
            seed: spec.seed,
            places: FlowPlaces {
                folder: display(folder),
                items: items.map(display),
                generation: run(FlowStage::Generate),
                judge: run(FlowStage::Judge),
                winrate: run(FlowStage::Winrate),
            },
        }
    }
}

impl FlowPlan {
    /// Reads a flow from a file, flags or both, and checks all that can be checked before anything is requested.
    ///
    /// # Errors
    /// If a key is wrong.
    pub fn new(path: Option<&Path>, flags: FlowFlags) -> Result<Self> {
        let checked = CheckedFlow::of(FlowSpec::read(path, &flags)?)?;
        let spec = &checked.spec;
        let (items, mut notices) = checked.items()?;
        if spec.judges_itself {
            notices.push(
                "the generator judges its own items, and models favour their own output: name another judge \
                 with `--judge`"
                    .to_owned(),
            );
        } else {
            notices.extend(checked.family_notices.iter().cloned());
        }
        if spec.winrate.is_none() && spec.only.is_none() {
            notices.push("no `--reference`: nothing is compared with real items".to_owned());
        }
        Ok(Self {
            checked,
            flags,
            items,
            notices,
        })
    }

    /// Notices to read before the flow costs money.
    pub fn notices(&self) -> &[String] {
        &self.notices
    }

    /// The most items (or pairs) of each stage.
    pub fn counts(&self) -> [(FlowStage, u64); 3] {
        let spec = &self.checked.spec;
        let pairs = spec.pairs().min(self.items);
        let counts = [
            (FlowStage::Generate, self.items),
            (FlowStage::Judge, self.items),
            (FlowStage::Winrate, pairs),
        ];
        counts.map(|(stage, count)| match spec.skip_reason(stage) {
            Some(_) => (stage, 0),
            None => (stage, count),
        })
    }

    /// The name of the flow.
    pub fn name(&self) -> &str {
        &self.checked.spec.name
    }

    /// The configuration without secrets.
    pub fn configuration(&self) -> Value {
        self.checked.configuration()
    }

    /// The folder of flows, if the spec names one.
    pub fn root(&self) -> Option<PathBuf> {
        self.checked.spec.root()
    }

    /// Creates the folder of the flow below `root`.
    ///
    /// # Errors
    /// If it cannot be created or written to.
    pub fn begin(self, root: &Path, run_id: Option<&str>) -> Result<Flow> {
        let spec = &self.checked.spec;
        let run_id = match run_id {
            Some(id) => id.to_owned(),
            None => random_run_id(&format!("flow-{}", spec.name)),
        };
        if run_id.is_empty() || run_id.contains(['/', '\\', '\0']) || run_id.starts_with('.') {
            let run_id = run_id.escape_debug();
            return Err(
                Error::usage(format!("run id `{run_id}` is not a file name"))
                    .hint("use letters, digits, `-` and `_`"),
            );
        }
        let root = absolute(root)?;
        make_root(&root)?;
        let folder = root.join(format!("{}_{run_id}", stamp()));
        let made = fs::create_dir(&folder).map_err(|error| Error::io("create", &folder, &error));
        made.map_err(|error| {
            error.hint("name another folder or id: `--output-root DIR`, `--run-id ID`")
        })?;
        let mut state = FlowState::new(&spec.name, &run_id);
        state.spec = spec.path.as_ref().map(|path| path.display().to_string());
        state.spec_folder = spec.folder.display().to_string();
        state.configuration = self.checked.configuration();
        state.flags = self.flags.redacted(&self.checked.redactor);
        state.write(&folder)?;
        Ok(Flow::new(self.checked, folder, state))
    }
}

/// An agent in short: its kind, and its model or file.
fn described(agent: &Value) -> String {
    let kind = agent.get("type").unwrap_or(agent);
    let kind = kind.as_str().unwrap_or("an agent");
    let named = ["model", "path", "command", "url"];
    let named = named.iter().find_map(|key| match agent.get(key)? {
        Value::String(text) => Some(text.clone()),
        other => Some(other.to_string()),
    });
    match named {
        Some(named) => format!("{kind}: {named}"),
        None => kind.to_owned(),
    }
}
