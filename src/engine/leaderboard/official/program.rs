//! Runs `bfcl evaluate`, and explains its failures.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::OfficialProgram;
use crate::error::{Error, Result};
use crate::system::cancel::Cancel;
use crate::system::clock;
use crate::system::process::Environment;
use crate::system::process::child::{self, End, ProcessLimits};
use crate::system::process::escapees;
use crate::system::process::group::how_it_ended;
use crate::system::process::launch::{Launch, NotStarted};
use crate::text::{clean, shell_word};

/// The variable with the program's working folder.
const ROOT: &str = "BFCL_PROJECT_ROOT";

/// Keys that some models' interfaces require. Nothing is asked with them.
const KEYS: [&str; 20] = [
    "ANTHROPIC_API_KEY",
    "CO_API_KEY",
    "COHERE_API_KEY",
    "DEEPSEEK_API_KEY",
    "DMCITO_API_KEY",
    "FIREWORKS_API_KEY",
    "GLM_API_KEY",
    "GOGOAGENT_API_KEY",
    "GOOGLE_API_KEY",
    "GROK_API_KEY",
    "KIMI_API_KEY",
    "LING_API_KEY",
    "MINING_API_KEY",
    "MISTRAL_API_KEY",
    "NBG_API_KEY",
    "NOVITA_API_KEY",
    "NVIDIA_API_KEY",
    "OPENAI_API_KEY",
    "QWEN_API_KEY",
    "WRITER_API_KEY",
];

/// The most output; it usually prints little.
const MAX_OUTPUT: u64 = 64 << 20;
/// How long it may take to end on request.
const GRACE: Duration = Duration::from_secs(2);
/// How many of its last lines are shown.
const LAST_LINES: usize = 12;

fn with_program<T>(
    official: &OfficialProgram,
    arguments: &[&str],
    cwd: &Path,
    act: impl FnOnce(&Launch<'_>) -> T,
) -> T {
    let here = std::env::current_dir().unwrap_or_else(|_| PathBuf::from("."));
    let mut args = vec![official.program.to_string_lossy().into_owned()];
    args.extend(arguments.iter().map(|&argument| argument.to_owned()));
    let environment = Environment::of_process();
    let mut env = environment.vars();
    let settings = [
        (ROOT, official.folder.clone().into_os_string()),
        // Otherwise a failure is a box drawn around source code.
        ("_TYPER_STANDARD_TRACEBACK", OsString::from("1")),
        ("PYTHONUTF8", OsString::from("1")),
        ("NO_COLOR", OsString::from("1")),
    ];
    env.extend(settings.map(|(name, value)| (OsStr::new(name), value)));
    env.extend(KEYS.map(|name| (OsStr::new(name), OsString::from("placeholder"))));
    act(&Launch {
        args: &args,
        cwd,
        folder: &here,
        env,
    })
}

/// Checks that the program exists.
pub(super) fn check(official: &OfficialProgram) -> Result<()> {
    with_program(official, &[], Path::new("."), |launch| {
        let found = launch.check();
        found
            .map(drop)
            .map_err(|fault| not_started(official, &fault))
    })
}

/// Judges the categories in its folder.
pub(super) fn run(
    official: &OfficialProgram,
    model: &str,
    categories: &[&str],
    scores: &str,
    cancel: &Cancel,
) -> Result<()> {
    let categories = categories.join(",");
    let arguments = [
        "evaluate",
        "--model",
        model,
        "--test-category",
        &categories,
        "--result-dir",
        "result",
        "--score-dir",
        scores,
        "--partial-eval",
    ];
    let child = with_program(official, &arguments, &official.folder, |launch| {
        launch.start(false)
    });
    let child = child.map_err(|fault| not_started(official, &fault))?;
    let limits = ProcessLimits {
        deadline: clock::now().checked_add(official.timeout),
        cancel,
        max_output_bytes: MAX_OUTPUT,
        term_grace: GRACE,
    };
    let finished = child::run(child, b"", &limits, None);
    let failed = |what: String| Error::infrastructure(format!("the official program {what}"));
    let error = match finished.end {
        End::Exited(status) if status.success() => return Ok(()),
        End::Exited(status) => {
            let stderr = finished.stderr.text().unwrap_or_default();
            let stderr = if stderr.trim().is_empty() {
                String::from_utf8_lossy(&finished.stdout).into_owned()
            } else {
                stderr
            };
            let error = failed(format!("{}: {}", how_it_ended(status), last_line(&stderr)));
            return Err(explain(error, &stderr, model, &official.program));
        }
        End::TimedOut => failed(format!(
            "did not end within {} s",
            official.timeout.as_secs_f64()
        ))
        .hint("allow more time: `--bfcl-timeout-s`"),
        End::Cancelled => failed("was interrupted".to_owned()),
        End::TooLarge => failed(format!("printed more than {MAX_OUTPUT} bytes")),
        End::Lost(error) => failed(format!("cannot be watched: {error}")),
    };
    // After a timeout or stop: processes that left its group are found by its folder.
    escapees::kill(ROOT, official.folder.as_os_str());
    Err(error)
}

fn not_started(official: &OfficialProgram, fault: &NotStarted) -> Error {
    let error = Error::usage(format!("the official program: {}", fault.message));
    if !fault.not_found {
        return error;
    }
    error.hint(format!(
        "install it in its own environment and name its program: `python3 -m venv bfcl && bfcl/bin/pip install \
         bfcl-eval==2026.3.23 soundfile`, then `--bfcl-bin {}`",
        if official.program.is_absolute() {
            shell_word(&official.program.to_string_lossy())
        } else {
            "bfcl/bin/bfcl".to_owned()
        }
    ))
}

/// Explains known failures.
fn explain(error: Error, stderr: &str, model: &str, program: &Path) -> Error {
    if stderr.contains("Invalid model name")
        || stderr.contains("KeyError") && stderr.contains(model)
    {
        let rule = if model.contains('_') {
            "; it finds none whose name has a `_`"
        } else {
            ""
        };
        return error.hint(format!(
            "`bfcl models` lists the models that it knows: `--model-name NAME`{rule}"
        ));
    }
    if let Some(package) = missing_package(stderr) {
        let pip = match program.parent().filter(|folder| folder.ends_with("bin")) {
            Some(folder) => shell_word(&folder.join("pip").to_string_lossy()),
            None => "pip".to_owned(),
        };
        return error.hint(format!(
            "its environment lacks `{package}`, which its packages may need: `{pip} install \
             {package}`"
        ));
    }
    if stderr.contains("ModuleNotFoundError") || stderr.contains("ImportError") {
        return error
            .hint("its environment is incomplete: `pip install bfcl-eval==2026.3.23` there");
    }
    let lines: Vec<&str> = stderr
        .lines()
        .filter(|line| !line.trim().is_empty())
        .collect();
    if lines.len() < 2 {
        return error;
    }
    let last = lines[lines.len().saturating_sub(LAST_LINES)..].iter();
    let last: Vec<String> = last.map(|line| format!("  {}", clean(line))).collect();
    error.hint(format!("its last output:\n{}", last.join("\n")))
}

/// The package of the module that Python did not find; the names of some differ.
fn missing_package(stderr: &str) -> Option<&str> {
    const START: &str = "ModuleNotFoundError: No module named '";
    let rest = &stderr[stderr.rfind(START)? + START.len()..];
    let module = rest.split(['\'', '.']).next()?;
    let is_sign = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    if module.is_empty() || module.len() > 64 || !module.chars().all(is_sign) {
        return None;
    }
    Some(match module {
        "bfcl_eval" => "bfcl-eval==2026.3.23",
        "bs4" => "beautifulsoup4",
        "cv2" => "opencv-python",
        "dotenv" => "python-dotenv",
        "faiss" => "faiss-cpu",
        "google" => "google-genai",
        "PIL" => "pillow",
        "serpapi" => "google-search-results",
        "sklearn" => "scikit-learn",
        "yaml" => "pyyaml",
        module => module,
    })
}

fn last_line(stderr: &str) -> String {
    let last = stderr.lines().rev().find(|line| !line.trim().is_empty());
    last.map_or_else(
        || "it printed nothing".to_owned(),
        |line| clean(line.trim()),
    )
}
