//! `cargo evaltest doctor`.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use evaltest::engine::doctor::{Finding, Health, examine};
use evaltest::engine::eval::spec;
use evaltest::engine::report::document::Document;
use evaltest::engine::report::render::terminal::{self, Paint};
use evaltest::engine::system::signal;
use evaltest::engine::text::Override;
use evaltest::{Cancel, Error, Eval, Exit, Registry, Result};
use serde_json::{Value, json};

use crate::console::{self, for_people};
use crate::discover;

/// Check specs, agents and judges before a run
///
/// Loads the dataset, asks the agent one tiny question (if it fails at that, the first sample) and each judge for a
/// verdict on a tiny answer, and reports what is wrong.
#[derive(Debug, Args)]
#[command(
    after_help = "Exit codes: 0 all is well, 2 a mistake (no key, wrong address, unknown model, no such command), \
                        3 the agent or a judge does not answer now."
)]
pub(crate) struct DoctorArgs {
    /// Specs, folders of specs or names of evals to check; default: every spec of the project
    #[arg(value_name = "SPEC|FOLDER|NAME")]
    specs: Vec<PathBuf>,

    /// Another agent, as in a spec: `{type: openai, base_url: "http://127.0.0.1:8102/v1", model: local}`
    #[arg(long)]
    agent: Option<String>,

    /// Timeout in seconds for the agent and for each judge
    #[arg(long, default_value_t = 60.0)]
    timeout_s: f64,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Findings for one spec.
struct Examined {
    path: PathBuf,
    /// Name of the eval, if the spec has several.
    eval: Option<String>,
    findings: Vec<Finding>,
}

pub(crate) fn run(args: &DoctorArgs) -> Result<Exit> {
    let timeout = Duration::try_from_secs_f64(args.timeout_s).map_err(|_| {
        Error::usage(format!(
            "`--timeout-s {}` is not a number of seconds",
            args.timeout_s
        ))
        .hint("write `--timeout-s 60`")
    })?;
    let mut changes = Vec::new();
    if let Some(agent) = &args.agent {
        changes.push(Override::new("agent", Override::value(agent)?));
    }
    let found = if args.specs.is_empty() {
        let found = discover::find()?;
        found.note_excluded();
        found
    } else {
        discover::typed(&args.specs, "doctor")?
    };
    if found.specs.is_empty() {
        return Err(discover::nothing_found());
    }
    let cancel = Cancel::new();
    let interrupt = signal::cancel_on_signals(&cancel)
        .map_err(|error| Error::refused("handle signals", &error))?;
    let mut all = Vec::new();
    for path in &found.specs {
        let evals = match spec::load_all(path, &Registry::new(), &changes) {
            Ok(evals) => evals.into_iter().map(Ok).collect(),
            Err(error) => vec![Err(error)],
        };
        let is_wanted = |eval: &Result<Eval>| match eval {
            Ok(eval) => found.wants(path, eval.name()),
            Err(_) => true,
        };
        for eval in evals.into_iter().filter(is_wanted) {
            let eval_name = eval
                .as_ref()
                .ok()
                .filter(|eval| eval.name() != eval.family());
            let examined = Examined {
                path: path.clone(),
                eval: eval_name.map(|eval| eval.name().to_owned()),
                findings: match &eval {
                    Ok(eval) => examine(eval, timeout, &cancel),
                    Err(error) => vec![Finding::error("spec", error)],
                },
            };
            if !args.json {
                let text = examined.text();
                console::print_data(|out| terminal::document(&text, Paint::Plain, out))?;
            }
            all.push(examined);
            if interrupt.is_set() {
                return Ok(Exit::Interrupted);
            }
        }
    }
    let findings = all.iter().flat_map(|examined| &examined.findings);
    // A mistake outranks a failure that may be temporary.
    let exit = Exit::worst(findings.map(|finding| finding.verdict.exit()));
    if args.json {
        let specs: Vec<Value> = all.iter().map(Examined::json).collect();
        console::print_json(&json!({ "specs": specs, "exit_code": exit }))?;
    }
    Ok(exit)
}

impl Examined {
    fn text(&self) -> Document {
        let spec = for_people(&self.path.display().to_string());
        let eval = self.eval.as_ref().map(|eval| format!(", {eval}"));
        let mut text = Document::new(spec + &eval.unwrap_or_default());
        for finding in &self.findings {
            let word = match finding.verdict {
                Health::Ok => "ok",
                Health::Note => "note",
                Health::Wrong => "WRONG",
                Health::Down => "DOWN",
            };
            // Keep the agent's answer verbatim.
            let message = match (finding.about, finding.verdict) {
                ("agent" | "judge", Health::Ok) => finding.message.clone(),
                _ => for_people(&finding.message),
            };
            // Join the lines of an answer here; `--json` has it unchanged.
            let lines = message.split(['\n', '\r']).map(str::trim);
            let lines: Vec<&str> = lines.filter(|line| !line.is_empty()).collect();
            let message = lines.join(" ");
            text.paragraph(format!("{word:<6}{:<9}{message}", finding.about));
            if let Some(hint) = &finding.hint {
                text.paragraph(format!("{:15}hint: {}", "", for_people(hint)));
            }
        }
        text
    }

    fn json(&self) -> Value {
        let mut value =
            json!({ "spec": self.path.display().to_string(), "findings": self.findings });
        if let Some(eval) = &self.eval {
            value["eval"] = json!(eval);
        }
        value
    }
}
