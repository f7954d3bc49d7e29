//! Where this program was built or installed from, so that another machine can install it.

use std::fs;
use std::path::{Path, PathBuf};

use clap::ValueEnum;
use evaltest::{Error, Result};
use percent_encoding::percent_decode_str;

/// Where a workflow installs the command from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum InstallFrom {
    /// The folder on this machine that the program was built from
    Path,
    /// The repository that its manifest names
    Git,
    /// The crate registry that it was installed from
    Registry,
    /// The Python wheel that it came in
    Wheel,
}

/// A known source of this program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Provenance {
    /// A local checkout.
    Path(PathBuf),
    /// A repository, with the commit if known.
    Git {
        address: String,
        rev: Option<String>,
    },
    /// This version in a crate registry.
    Registry,
    /// This version in a Python package index.
    Index,
    /// A wheel that was installed from this file or URL.
    Wheel(String),
}

/// What is known about the build and the install location.
struct Built<'a> {
    /// Folder of the package `cargo-evaltest` at compile time.
    package: &'a Path,
    /// `[workspace.package] repository`; empty until it is filled in.
    repository: &'a str,
    /// The wheel that contained it, if any.
    wheel: Option<Provenance>,
}

impl Provenance {
    /// The local path, if other machines cannot install from it.
    pub(super) fn of_this_machine(&self) -> Option<String> {
        match self {
            Self::Path(folder) => Some(folder.to_string_lossy().into_owned()),
            Self::Wheel(file) if !file.contains("://") => Some(file.clone()),
            _ => None,
        }
    }

    /// The requested source, or by default the detected one.
    pub(super) fn of(requested: Option<InstallFrom>) -> Result<Self> {
        let program = std::env::current_exe().and_then(fs::canonicalize).ok();
        let built = Built {
            package: Path::new(env!("CARGO_MANIFEST_DIR")),
            repository: env!("CARGO_PKG_REPOSITORY"),
            wheel: program.as_deref().and_then(wheel),
        };
        match requested {
            Some(from) => built.requested(from),
            None => built.origin(),
        }
    }
}

impl Built<'_> {
    fn requested(&self, from: InstallFrom) -> Result<Provenance> {
        let (found, why) = match from {
            InstallFrom::Path => (
                self.checkout().map(Provenance::Path),
                "the folder that it was built from no longer exists",
            ),
            InstallFrom::Git => (
                self.git(),
                "its manifest names no repository: `repository` in `[workspace.package]`",
            ),
            InstallFrom::Registry => (
                self.is_of_registry().then_some(Provenance::Registry),
                "it was not installed from a registry, which may not have it",
            ),
            InstallFrom::Wheel => (self.wheel(), "it was not installed from a known wheel"),
        };
        let wanted = from.to_possible_value();
        let wanted = wanted.as_ref().map_or("", |value| value.get_name());
        found.ok_or_else(|| {
            Error::usage(format!(
                "`--from {wanted}` would not install this program: {why}"
            ))
            .hint("leave `--from` out to use the source of this program")
        })
    }

    fn origin(&self) -> Result<Provenance> {
        let registry = || self.is_of_registry().then_some(Provenance::Registry);
        let checkout = || self.checkout().map(Provenance::Path);
        (self.wheel())
            .or_else(registry)
            .or_else(|| self.git())
            .or_else(checkout)
            .ok_or_else(|| {
                Error::usage("no known source from which another machine can install this program")
                    .hint("build it from a checkout that you keep, or from one whose manifest names its `repository`")
            })
    }

    /// Cargo unpacks registry crates below `registry/src`.
    fn is_of_registry(&self) -> bool {
        let text = self.package.to_string_lossy();
        text.contains("/registry/src/") || text.contains("\\registry\\src\\")
    }

    /// The wheel, if it can be installed again. Without a repository this is no release, so no index has it: the wheel
    /// came from an unrecorded folder (`--find-links`).
    fn wheel(&self) -> Option<Provenance> {
        let is_released = !self.repository.is_empty();
        let wheel = self.wheel.clone();
        wheel.filter(|wheel| is_released || *wheel != Provenance::Index)
    }

    fn git(&self) -> Option<Provenance> {
        if self.repository.is_empty() {
            return None;
        }
        // Cargo checks out commits below `git/checkouts/NAME-HASH/COMMIT`.
        let text = self.package.to_string_lossy();
        let rev = text
            .split_once("/git/checkouts/")
            .and_then(|(_, inside)| inside.split('/').nth(1))
            .map(str::to_owned);
        Some(Provenance::Git {
            address: self.repository.to_owned(),
            rev,
        })
    }

    /// The folder of evaltest's sources, if this program was built from a checkout that still exists.
    fn checkout(&self) -> Option<PathBuf> {
        let folder = self.package.parent()?;
        let manifest = fs::read_to_string(folder.join("Cargo.toml")).ok()?;
        manifest
            .contains("name = \"evaltest\"")
            .then(|| folder.to_owned())
    }
}

/// The wheel that installed a program: the script `evaltest` is next to it, and the Python environment records its
/// source. Without that record it is not considered published.
fn wheel(program: &Path) -> Option<Provenance> {
    let bin = program.parent()?;
    let script = fs::read(bin.join("evaltest")).ok()?;
    let script = String::from_utf8(script).ok()?;
    if !(script.starts_with("#!") && script.contains("\"cargo-evaltest\"")) {
        return None;
    }
    let known = installed(bin.parent()?)?;
    // Installers write it if the package did not come from an index.
    let Ok(direct) = fs::read_to_string(known.join("direct_url.json")) else {
        return Some(Provenance::Index);
    };
    let direct: serde_json::Value = serde_json::from_str(&direct).ok()?;
    let url = direct["url"].as_str()?;
    let file = url.strip_prefix("file://").map(|file| {
        let file = file.strip_prefix("localhost").unwrap_or(file);
        percent_decode_str(file).decode_utf8_lossy().into_owned()
    });
    Some(Provenance::Wheel(file.unwrap_or_else(|| url.to_owned())))
}

/// The metadata folder of this version in the Python environment at `prefix`. Debian uses `dist-packages`, Fedora
/// `lib64`, and both `local` for non-system packages.
fn installed(prefix: &Path) -> Option<PathBuf> {
    let prefix = glob::Pattern::escape(&prefix.to_string_lossy());
    let info = format!("evaltest-{}.dist-info", env!("CARGO_PKG_VERSION"));
    let folders = ["lib", "lib64", "local/lib", "local/lib64"];
    let mut found = folders.iter().flat_map(|folder| {
        let pattern = format!("{prefix}/{folder}/python*/*-packages/{info}");
        glob::glob(&pattern).into_iter().flatten().flatten()
    });
    found.next()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn built<'a>(package: &'a str, repository: &'a str) -> Built<'a> {
        Built {
            package: Path::new(package),
            repository,
            wheel: None,
        }
    }

    const HERE: &str = env!("CARGO_MANIFEST_DIR");
    const ADDRESS: &str = "https://example.org/evaltest";

    #[test]
    fn what_it_was_built_from_is_what_is_installed() {
        let check = |package: &str, repository: &str, expect: &Provenance| {
            assert_eq!(&built(package, repository).origin().unwrap(), expect);
        };
        let checkout = Path::new(HERE).parent().unwrap().to_owned();
        check(HERE, "", &Provenance::Path(checkout));
        let git = |rev: Option<&str>| Provenance::Git {
            address: ADDRESS.to_owned(),
            rev: rev.map(str::to_owned),
        };
        check(HERE, ADDRESS, &git(None));
        let fetched = "/u/me/.cargo/git/checkouts/evaltest-0f3a/a1b2c3d/cargo-evaltest";
        check(fetched, ADDRESS, &git(Some("a1b2c3d")));
        let unpacked = "/u/me/.cargo/registry/src/index-0f3a/cargo-evaltest-0.1.0";
        check(unpacked, ADDRESS, &Provenance::Registry);
        check(unpacked, "", &Provenance::Registry);
        assert!(built("/gone/cargo-evaltest", "").origin().is_err());
        let wheel = Built {
            wheel: Some(Provenance::Index),
            ..built(HERE, ADDRESS)
        };
        assert_eq!(wheel.origin().unwrap(), Provenance::Index);
        // Not a release, so it cannot have come from an index.
        let unreleased = Built {
            wheel: Some(Provenance::Index),
            ..built("/gone/cargo-evaltest", "")
        };
        assert!(unreleased.origin().is_err());
        assert!(unreleased.requested(InstallFrom::Wheel).is_err());
        let file = Provenance::Wheel("/tmp/a.whl".to_owned());
        let wheel = Built {
            wheel: Some(file.clone()),
            ..built("/gone/cargo-evaltest", "")
        };
        assert_eq!(wheel.origin().unwrap(), file);
    }

    #[test]
    fn the_environment_of_a_wheel_is_found_on_each_distribution() {
        for packages in [
            "lib/python3.12/site-packages",
            "lib64/python3.13/site-packages",
            "lib/python3/dist-packages",
            "local/lib/python3.12/dist-packages",
            "local/lib64/python3.13/site-packages",
        ] {
            let folder = tempfile::tempdir().unwrap();
            let info = format!(
                "{packages}/evaltest-{}.dist-info",
                env!("CARGO_PKG_VERSION")
            );
            let info = folder.path().join(info);
            fs::create_dir_all(&info).unwrap();
            assert_eq!(installed(folder.path()), Some(info));
        }
    }

    #[test]
    fn what_it_was_not_built_from_is_refused() {
        let check = |from: InstallFrom, expect: &str| {
            let error = built("/gone/cargo-evaltest", "")
                .requested(from)
                .unwrap_err();
            assert!(error.message().contains(expect), "{error}");
        };
        check(InstallFrom::Path, "no longer exists");
        check(InstallFrom::Git, "names no repository");
        check(
            InstallFrom::Registry,
            "`--from registry` would not install this program",
        );
        check(InstallFrom::Wheel, "not installed from a known wheel");
    }

    #[test]
    fn a_wheel_is_published_only_where_an_index_had_it() {
        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join("bin/cargo-evaltest");
        let write = |name: &str, text: &str| {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        write("bin/cargo-evaltest", "");
        assert_eq!(wheel(&program), None);
        write("bin/evaltest", "#!python\nexec(\"cargo-evaltest\")\n");
        assert_eq!(wheel(&program), None);
        let info = format!(
            "lib/python3.12/site-packages/evaltest-{}.dist-info",
            env!("CARGO_PKG_VERSION")
        );
        write(&format!("{info}/INSTALLER"), "pip");
        assert_eq!(wheel(&program), Some(Provenance::Index));
        write(
            &format!("{info}/direct_url.json"),
            "{\"url\": \"file:///tmp/evaltest.whl\", \"archive_info\": {}}",
        );
        let file = Provenance::Wheel("/tmp/evaltest.whl".to_owned());
        assert_eq!(wheel(&program), Some(file));
        let check = |url: &str, expect: &str| {
            write(
                &format!("{info}/direct_url.json"),
                &format!("{{\"url\": \"{url}\"}}"),
            );
            let expect = Provenance::Wheel(expect.to_owned());
            assert_eq!(wheel(&program), Some(expect), "{url}");
        };
        check("file:///tmp/my%20wheels/%C3%A9.whl", "/tmp/my wheels/é.whl");
        check("file://localhost/tmp/a.whl", "/tmp/a.whl");
        // A URL stays a URL.
        check(
            "https://example.org/a%20b.whl",
            "https://example.org/a%20b.whl",
        );
    }
}
