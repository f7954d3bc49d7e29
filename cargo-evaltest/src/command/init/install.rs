//! The command line that installs evaltest on a CI machine.

use evaltest::engine::text::shell_word;

use super::provenance::Provenance;

/// How to install the command on a CI machine.
pub(super) struct Install {
    /// The command line.
    pub(super) command: String,
    /// Remarks on the command line.
    note: Vec<&'static str>,
    /// Whether it compiles from source and needs Rust.
    pub(super) builds: bool,
}

impl Install {
    pub(super) fn of(origin: &Provenance) -> Self {
        // `+stable`: do not use the toolchain that the project pins.
        const CARGO: &str = "cargo +stable install --locked";
        const PIP: &str = "python3 -m pip install";
        let version = env!("CARGO_PKG_VERSION");
        let built = |command: String, note: &[&'static str]| Self {
            command,
            note: note.to_vec(),
            builds: true,
        };
        match origin {
            Provenance::Path(folder) => built(
                format!(
                    "{CARGO} --path {}",
                    shell_word(&folder.join("cargo-evaltest").to_string_lossy())
                ),
                &[
                    "This path is of the machine on which `init` was typed: it runs where that folder is. On others, name",
                    "an address: cargo +stable install --locked --git ADDRESS cargo-evaltest",
                ],
            ),
            Provenance::Git {
                address,
                rev: Some(rev),
            } => built(
                format!(
                    "{CARGO} --git {} --rev {rev} cargo-evaltest",
                    shell_word(address)
                ),
                &[],
            ),
            Provenance::Git { address, rev: None } => built(
                format!("{CARGO} --git {} cargo-evaltest", shell_word(address)),
                &["The newest there; `--tag` or `--rev` behind the address holds one."],
            ),
            Provenance::Registry => {
                built(format!("{CARGO} --version {version} cargo-evaltest"), &[])
            }
            Provenance::Index => Self {
                command: format!("{PIP} evaltest=={version}"),
                note: Vec::new(),
                builds: false,
            },
            Provenance::Wheel(file) => Self {
                command: format!("{PIP} {}", shell_word(file)),
                note: if file.contains("://") {
                    Vec::new()
                } else {
                    vec![
                        "This path is of the machine on which `init` was typed: put the wheel where the runner finds it, such as",
                        "into the repository, and name it here.",
                    ]
                },
                builds: false,
            },
        }
    }

    /// Name of the installed command.
    pub(super) fn name(&self) -> &'static str {
        if self.builds {
            "cargo evaltest"
        } else {
            "evaltest"
        }
    }

    pub(super) fn comments(&self, indent: &str) -> String {
        let line = |note: &&str| format!("{indent}# {note}\n");
        self.note.iter().map(line).collect()
    }
}
