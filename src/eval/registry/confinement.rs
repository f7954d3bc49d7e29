//! The keys that confine an agent's program: `sandbox` and `ulimits`.

use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

use serde::de::value::MapAccessDeserializer;
use serde::de::{Error as _, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};

use crate::error::{Error, Result, inside};
use crate::system::sandbox::{Network, Sandbox, SandboxKind, Ulimits};

/// `bwrap` or `{ type: bwrap, … }`.
#[derive(Default)]
pub(super) struct SandboxKeys {
    kind: Kind,
    network: NetworkKey,
    read: Vec<PathBuf>,
    disk_mb: Option<u64>,
}

#[derive(Default, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub(in crate::eval) struct LongSandbox {
    /// `bwrap`: bubblewrap, which must be installed. `landlock`: rules of the kernel, Linux 6.12 or newer. `auto`:
    /// bubblewrap where it works, else Landlock. `auto?`: without a sandbox where neither works.
    #[serde(rename = "type")]
    kind: Kind,
    /// The network that it sees: `on` (default), `off` or `{ loopback: [8102] }`, these ports of this machine.
    #[serde(default)]
    #[cfg_attr(
        feature = "schema",
        schemars(schema_with = "crate::eval::spec::schema::fields::network")
    )]
    network: NetworkKey,
    /// Files and folders that it may read besides its own program, from the spec's folder.
    #[serde(default)]
    read: Vec<PathBuf>,
    /// MiB that it may write, which are memory; 256 by default. Landlock keeps no such limit.
    #[cfg_attr(feature = "schema", schemars(extend("minimum" = 1, "maximum" = MOST_MB)))]
    disk_mb: Option<u64>,
}

#[derive(Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
enum Kind {
    #[default]
    Bwrap,
    Landlock,
    Auto,
    #[serde(rename = "auto?")]
    AutoOrNone,
}

/// `on`, `off` or `{ loopback: [8102] }`.
#[derive(Default)]
struct NetworkKey(Network);

#[derive(Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
struct Loopback {
    loopback: Vec<u16>,
}

/// Limits of the kernel, for each attempt.
#[derive(Default, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub(super) struct UlimitKeys {
    /// Processes and threads of the user, from 1.
    #[cfg_attr(feature = "schema", schemars(extend("minimum" = 1, "maximum" = MOST_COUNT)))]
    processes: Option<u64>,
    /// Address space of each process, in MiB.
    #[cfg_attr(feature = "schema", schemars(extend("minimum" = LEAST_MEMORY_MB, "maximum" = MOST_MB)))]
    memory_mb: Option<u64>,
    /// Open files of each process.
    #[cfg_attr(feature = "schema", schemars(extend("minimum" = 1, "maximum" = MOST_COUNT)))]
    files: Option<u64>,
    /// The largest file that it may write, in MiB.
    #[cfg_attr(feature = "schema", schemars(extend("minimum" = 1, "maximum" = MOST_MB)))]
    file_mb: Option<u64>,
    /// Seconds of CPU time of each process.
    #[cfg_attr(feature = "schema", schemars(extend("minimum" = 1, "maximum" = MOST_COUNT)))]
    cpu_s: Option<u64>,
}

const MIB: u64 = 1024 * 1024;
/// The least memory in which a program can start, in MiB: its libraries alone take some.
const LEAST_MEMORY_MB: u64 = 4;
/// The address space of a processor, 128 TiB.
const MOST_MB: u64 = 1 << 27;
/// The most processes, files and seconds that the kernel can store.
const MOST_COUNT: u64 = 1 << 31;

impl SandboxKeys {
    /// The sandbox; paths to read are relative to the spec's folder.
    pub(super) fn sandbox(self, folder: &Path) -> Result<Sandbox> {
        if self.network.0 == Network::Loopback(Vec::new()) {
            let error = Error::usage("agent.sandbox.network.loopback names no port");
            let error =
                error.hint("write `network: off`, or a port: `network: { loopback: [8102] }`");
            return Err(error.under("loopback").under("network").under("sandbox"));
        }
        for (item, path) in self.read.iter().enumerate() {
            if path.as_os_str().is_empty() || !folder.join(path).exists() {
                let error = Error::usage(format!(
                    "agent.sandbox.read: `{}` does not exist in the spec's folder",
                    path.display()
                ));
                let error = error.hint("write paths that exist, relative to that folder");
                return Err(error.under(item).under("read").under("sandbox"));
            }
        }
        if self.kind == Kind::Landlock && self.disk_mb.is_some() {
            let error = Error::usage("agent.sandbox.disk_mb: Landlock cannot limit disk space");
            let error = error.hint("remove `disk_mb`, or write `type: bwrap`");
            return Err(error.of_key("disk_mb").under("sandbox"));
        }
        let kind = match self.kind {
            Kind::Bwrap => SandboxKind::Bwrap,
            Kind::Landlock => SandboxKind::Landlock,
            Kind::Auto => SandboxKind::Auto,
            Kind::AutoOrNone => SandboxKind::AutoOrNone,
        };
        let sandbox = Sandbox::new().kind(kind);
        let sandbox = sandbox.network(self.network.0).read(self.read);
        Ok(match self.disk_mb {
            Some(megabytes) => {
                sandbox.disk_bytes(within("sandbox", "disk_mb", megabytes, 1..=MOST_MB)? * MIB)
            }
            None => sandbox,
        })
    }
}

impl UlimitKeys {
    pub(super) fn limits(self) -> Result<Ulimits> {
        let check = |key: &str, value: Option<u64>, range: RangeInclusive<u64>| {
            value
                .map(|value| within("ulimits", key, value, range))
                .transpose()
        };
        let count = |key, value| check(key, value, 1..=MOST_COUNT);
        let bytes = |key, value, least| {
            let megabytes = check(key, value, least..=MOST_MB)?;
            Ok(megabytes.map(|megabytes| megabytes * MIB))
        };
        Ok(Ulimits {
            processes: count("processes", self.processes)?,
            memory_bytes: bytes("memory_mb", self.memory_mb, LEAST_MEMORY_MB)?,
            files: count("files", self.files)?,
            file_bytes: bytes("file_mb", self.file_mb, 1)?,
            cpu_s: count("cpu_s", self.cpu_s)?,
        })
    }
}

fn within(map: &str, key: &str, value: u64, range: RangeInclusive<u64>) -> Result<u64> {
    if range.contains(&value) {
        return Ok(value);
    }
    let (least, most) = (range.start(), range.end());
    let error = if value < *least {
        Error::usage(format!("agent.{map}.{key} must be at least {least}"))
    } else {
        Error::usage(format!("agent.{map}.{key} must be at most {most}"))
    };
    let error = error.hint(format!("remove `{key}` for no limit"));
    Err(error.under(key).under(map))
}

impl<'de> Deserialize<'de> for SandboxKeys {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Either;
        impl<'de> Visitor<'de> for Either {
            type Value = SandboxKeys;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(
                    "`bwrap`, `landlock`, `auto`, `auto?` or `{ type: auto, network: off }`",
                )
            }

            fn visit_str<E: serde::de::Error>(self, name: &str) -> Result<SandboxKeys, E> {
                let kind = match name {
                    "bwrap" => Kind::Bwrap,
                    "landlock" => Kind::Landlock,
                    "auto" => Kind::Auto,
                    "auto?" => Kind::AutoOrNone,
                    _ => {
                        let known = &["bwrap", "landlock", "auto", "auto?"];
                        return Err(E::unknown_variant(name, known));
                    }
                };
                Ok(SandboxKeys {
                    kind,
                    ..SandboxKeys::default()
                })
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<SandboxKeys, A::Error> {
                let LongSandbox {
                    kind,
                    network,
                    read,
                    disk_mb,
                } = LongSandbox::deserialize(MapAccessDeserializer::new(map))?;
                Ok(SandboxKeys {
                    kind,
                    network,
                    read,
                    disk_mb,
                })
            }
        }
        deserializer.deserialize_any(Either)
    }
}

impl<'de> Deserialize<'de> for NetworkKey {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Either;
        impl<'de> Visitor<'de> for Either {
            type Value = Network;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("`on`, `off` or `{ loopback: [8102] }`")
            }

            fn visit_str<E: serde::de::Error>(self, word: &str) -> Result<Network, E> {
                match word {
                    "on" => Ok(Network::On),
                    "off" => Ok(Network::Off),
                    _ => Err(E::unknown_variant(
                        word,
                        &["on", "off", "{ loopback: [8102] }"],
                    )),
                }
            }

            // YAML 1.1 reads a bare `on` or `off` as a boolean.
            fn visit_bool<E: serde::de::Error>(self, on: bool) -> Result<Network, E> {
                Ok(if on { Network::On } else { Network::Off })
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Network, A::Error> {
                let keys = Loopback::deserialize(MapAccessDeserializer::new(map))?;
                if let Some(item) = keys.loopback.iter().position(|port| *port == 0) {
                    let path = format!("loopback[{item}]");
                    return Err(A::Error::custom(inside(&path, "0 is no port")));
                }
                Ok(Network::Loopback(keys.loopback))
            }
        }
        deserializer.deserialize_any(Either).map(Self)
    }
}
