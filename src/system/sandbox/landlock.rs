//! Landlock: builds the shim's arguments to confine an agent by kernel rules, without namespaces or privileges.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::launcher::{self, fence};
use super::view::{self, Mount, Wishes};
use super::{Inmate, Network, Sandbox, Ulimits};
use crate::error::{Error, Result};
use crate::system::process::excerpt::ending;

impl Sandbox {
    /// Returns an error if Landlock is unavailable.
    pub(super) fn try_landlock(&self) -> Result<()> {
        let program = launcher::program()?;
        let nothing = Wishes {
            program: Path::new("/bin/sh"),
            arguments: Vec::new(),
            read: Vec::new(),
            hidden: &[],
            private: Vec::new(),
        };
        let output = Command::new(program)
            .args(self.fence(&nothing, None)?)
            .args([launcher::END, "/bin/sh", "-c", "exit 0"])
            .stdin(Stdio::null())
            .output();
        let hint = "`uname -r` shows the kernel, `/sys/kernel/security/lsm` whether Landlock is on; or remove `sandbox` \
                    from `agent` to run it without";
        let reason = match output {
            Ok(output) if output.status.success() => return Ok(()),
            Ok(output) => ending(&String::from_utf8_lossy(&output.stderr), 300),
            Err(error) => error.to_string(),
        };
        let reason = reason.trim().trim_start_matches("evaltest: sandbox: ");
        Err(Error::usage(format!("`sandbox: landlock`: {reason}")).hint(hint))
    }

    /// The command line that runs a program confined by Landlock.
    pub(super) fn by_landlock(&self, inmate: &Inmate<'_>, limits: Ulimits) -> Result<Vec<String>> {
        let files = inmate.files.iter().map(|file| file.to_path_buf());
        let mut wishes = self.wishes(inmate);
        wishes.read.extend(files);
        let mut line = vec![text(&launcher::program()?)?];
        line.extend(self.fence(&wishes, Some(inmate.scratch))?);
        line.push(launcher::END.to_owned());
        line.extend(limits.wrapper());
        line.push(text(inmate.program)?);
        line.extend_from_slice(inmate.args);
        Ok(line)
    }

    /// The arguments of the shim.
    fn fence(&self, wishes: &Wishes<'_>, scratch: Option<&Path>) -> Result<Vec<String>> {
        let system = view::system().into_iter().filter_map(|mount| match mount {
            Mount::Read { from, .. } => Some(from),
            _ => None,
        });
        let lists: [(&str, Vec<PathBuf>); 5] = [
            (fence::SYSTEM, system.collect()),
            (fence::PRIVATE, wishes.private.clone()),
            (fence::READ, view::named(wishes)),
            (fence::HIDDEN, wishes.hidden.to_vec()),
            (
                fence::WRITE,
                scratch.map(Path::to_owned).into_iter().collect(),
            ),
        ];
        let mut line = vec![launcher::LANDLOCK.to_owned()];
        for (word, paths) in lists {
            for path in paths {
                line.extend([word.to_owned(), text(&path)?]);
            }
        }
        if self.network != Network::On {
            line.push(fence::OFFLINE.to_owned());
        }
        if let Network::Loopback(ports) = self.reachable() {
            for port in ports {
                line.extend([fence::PORT.to_owned(), port.to_string()]);
            }
        }
        Ok(line)
    }
}

/// A path as an argument.
pub(super) fn text(path: &Path) -> Result<String> {
    let text = path.to_str().map(str::to_owned);
    text.ok_or_else(|| {
        Error::usage(format!(
            "the path `{}` is not UTF-8 and cannot be part of a sandbox",
            path.display()
        ))
    })
}
