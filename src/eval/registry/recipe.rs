//! From a name and its keys to an agent or a benchmark, built in or registered.
//!
//! A built-in kind is a file with its keys, as serde reads them, and its `ENTRY`, a [`Recipe`]: its documentation and
//! how to build it from the keys. [`entries!`] makes the list of the files, and the function `read`, by which a spec
//! gets a [`Chosen`] from a name and the rest of its map. Reading finds mistakes in keys while the parser knows their
//! position; building happens later, when the [`Surroundings`] are known.

use std::path::{Path, PathBuf};

use serde::de::value::MapAccessDeserializer;
use serde::de::{DeserializeOwned, MapAccess};
use serde_json::{Map, Value};

use super::{BuiltIn, Registry};
use crate::data::hub;
use crate::error::{Error, Result, Under, nearest};

/// The context in which agents and benchmarks are built.
#[derive(Clone, Copy)]
pub(crate) struct Surroundings<'a> {
    /// Relative paths start here: the spec's folder.
    pub(crate) folder: &'a Path,
    /// What may be named in addition to the built-in kinds.
    pub(crate) registry: &'a Registry,
    /// The longest answer of an agent, in bytes.
    pub(crate) max_output_bytes: u64,
    /// Whether the spec names scorers, which replace the benchmark's own.
    pub(crate) has_scorers: bool,
}

impl Surroundings<'_> {
    /// Opens the file of a benchmark; an error is about the key `path`.
    pub(super) fn open<T>(
        &self,
        path: &Path,
        open: impl FnOnce(PathBuf) -> Result<T>,
    ) -> Result<T> {
        open(hub::resolve(path, self.folder)).under("path")
    }
}

/// A built-in kind: `K` are its keys, `T` is what it builds.
pub(super) struct Recipe<K, T> {
    /// Its documentation.
    pub(super) about: BuiltIn,
    /// Builds it.
    pub(super) make: fn(K, &Surroundings<'_>) -> Result<T>,
}

impl<K: DeserializeOwned + 'static, T: 'static> Recipe<K, T> {
    /// Reads the keys behind `type`.
    pub(super) fn read<'de, A: MapAccess<'de>>(self, rest: A) -> Result<Chosen<T>, A::Error> {
        let keys = K::deserialize(MapAccessDeserializer::new(rest))?;
        Ok(Chosen {
            name: self.about.name.to_owned(),
            make: Box::new(move |_, surroundings| (self.make)(keys, surroundings)),
        })
    }
}

#[cfg(feature = "schema")]
impl<K: schemars::JsonSchema, T> Recipe<K, T> {
    /// Its documentation, with the schema of its keys.
    pub(super) fn schema(
        &self,
        generator: &mut schemars::SchemaGenerator,
    ) -> (BuiltIn, schemars::Schema) {
        (self.about, K::json_schema(generator))
    }
}

/// A kind whose keys are read, ready to be built.
pub(crate) struct Chosen<T> {
    name: String,
    make: Maker<T>,
}

type Maker<T> = Box<dyn FnOnce(&str, &Surroundings<'_>) -> Result<T>>;

impl<T: 'static> Chosen<T> {
    /// A kind that is not built in, with any keys; `make` looks it up in the registry.
    pub(super) fn of_own<'de, A: MapAccess<'de>>(
        name: String,
        rest: A,
        make: fn(&str, Map<String, Value>, &Surroundings<'_>) -> Result<T>,
    ) -> Result<Self, A::Error> {
        let keys = serde::Deserialize::deserialize(MapAccessDeserializer::new(rest))?;
        Ok(Self {
            name,
            make: Box::new(move |name, surroundings| make(name, keys, surroundings)),
        })
    }

    /// Builds it.
    pub(crate) fn make(self, surroundings: &Surroundings<'_>) -> Result<T> {
        (self.make)(&self.name, surroundings)
    }
}

/// Kinds that are built only with a feature of this crate.
struct GatedKinds {
    what: &'static str,
    kinds: &'static [&'static str],
    feature: &'static str,
    is_here: bool,
}

/// Users cannot register these names in any build, so that a spec means the same in all of them.
const GATED: &[GatedKinds] = &[
    GatedKinds {
        what: "agent",
        kinds: &["demo"],
        feature: "demo",
        is_here: cfg!(feature = "demo"),
    },
    GatedKinds {
        what: "agent",
        kinds: &["http", "openai"],
        feature: "http",
        is_here: cfg!(feature = "http"),
    },
    GatedKinds {
        what: "benchmark",
        kinds: &["bfcl"],
        feature: "bfcl",
        is_here: cfg!(feature = "bfcl"),
    },
    GatedKinds {
        what: "benchmark",
        kinds: &["generate"],
        feature: "judge",
        is_here: cfg!(feature = "judge"),
    },
    GatedKinds {
        what: "scorer",
        kinds: &["ast_match", "bfcl", "bfcl_multi_turn", "trajectory"],
        feature: "bfcl",
        is_here: cfg!(feature = "bfcl"),
    },
    GatedKinds {
        what: "scorer",
        kinds: &["item", "judge", "jury", "pairwise", "semantic", "solver"],
        feature: "judge",
        is_here: cfg!(feature = "judge"),
    },
];

/// The error for a kind that this build does not have.
pub(super) fn missing_feature(what: &str, name: &str) -> Option<Error> {
    missing_feature_in(GATED, what, name)
}

fn missing_feature_in(table: &[GatedKinds], what: &str, name: &str) -> Option<Error> {
    let is_it = |it: &&GatedKinds| !it.is_here && it.what == what && it.kinds.contains(&name);
    let found = table.iter().find(is_it)?;
    let error = Error::without_feature(format_args!("{what} `{name}` in a spec"), found.feature);
    Some(error.under("type"))
}

/// The kinds that this build does not have, to suggest for a misspelt name.
pub(super) fn unavailable_names(what: &str) -> Vec<&'static str> {
    let unavailable = GATED.iter().filter(|it| !it.is_here && it.what == what);
    unavailable.flat_map(|it| it.kinds).copied().collect()
}

/// The error for a name that is neither built in nor registered.
pub(super) fn unknown<'a>(
    what: &str,
    name: &str,
    built_in: &'a [BuiltIn],
    registered: impl Iterator<Item = &'a str>,
) -> Error {
    let built_in = built_in.iter().map(|about| about.name);
    let known: Vec<&str> = built_in.chain(registered).collect();
    let error = Error::unregistered(format!("unknown {what} `{name}`"));
    let list = known.join("`, `");
    let error = match nearest(name, known.into_iter().chain(unavailable_names(what))) {
        Some(near) => error.hint(format!("did you mean `{near}`? legal names: `{list}`")),
        None => error.hint(format!(
            "legal names: `{list}`; one of your own is registered in a test binary with `Registry`"
        )),
    };
    error.under("type")
}

/// The list of the files of a folder, one for each built-in kind: `entries!(MadeAgent, of_own: echo, demo)`.
///
/// A kind that needs a feature has the same `cfg` here and at its `mod`, and is listed in [`GATED`].
///
/// A file with a `mod` that is not in the list has an unused `ENTRY`, which the folder denies; one in the list without
/// a `mod` or an `ENTRY` is not found. So neither compiles.
macro_rules! entries {
    ($made:ty, $of_own:ident: $($(#[$cfg:meta])? $kind:ident),+ $(,)?) => {
        /// The built-in kinds, in the order in which messages name them.
        pub const BUILT_IN: &[$crate::eval::registry::BuiltIn] = &[$($(#[$cfg])? $kind::ENTRY.about),+];

        /// Reads the keys of a kind: as declared if it is built in, otherwise unchanged.
        pub(crate) fn read<'de, A: serde::de::MapAccess<'de>>(
            name: String,
            rest: A,
        ) -> Result<$crate::eval::registry::recipe::Chosen<$made>, A::Error> {
            $($(#[$cfg])? {
                if name == $kind::ENTRY.about.name {
                    return $kind::ENTRY.read(rest);
                }
            })+
            $crate::eval::registry::recipe::Chosen::of_own(name, rest, $of_own)
        }

        /// The kinds with the schemas of their keys.
        #[cfg(feature = "schema")]
        pub(crate) fn schemas(
            generator: &mut schemars::SchemaGenerator,
        ) -> Vec<($crate::eval::registry::BuiltIn, schemars::Schema)> {
            Vec::from([$($(#[$cfg])? $kind::ENTRY.schema(generator)),+])
        }

        #[cfg(test)]
        #[test]
        fn each_page_has_the_keys_that_are_read() {
            $($(#[$cfg])? $crate::eval::registry::pages::check(&$kind::ENTRY);)+
        }
    };
}

pub(super) use entries;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::eval::registry::{agents, benchmarks, scorers};

    #[test]
    fn gated_kinds_match_the_lists() {
        let names = |kinds: &[BuiltIn]| kinds.iter().map(|about| about.name).collect();
        let (agents, benchmarks): (Vec<_>, Vec<_>) =
            (names(agents::BUILT_IN), names(benchmarks::BUILT_IN));
        for it in GATED {
            for kind in it.kinds {
                let is_there = match it.what {
                    "agent" => agents.contains(kind),
                    "benchmark" => benchmarks.contains(kind),
                    _ => scorers::entry(kind).is_some(),
                };
                assert_eq!(is_there, it.is_here, "{} `{kind}`", it.what);
            }
        }
        let always: Vec<&str> = scorers::ENTRIES.iter().map(|entry| entry.name).collect();
        for name in scorers::names().filter(|name| !always.contains(name)) {
            let mut scorers = GATED.iter().filter(|it| it.what == "scorer");
            assert!(scorers.any(|it| it.kinds.contains(&name)), "{name}");
        }
    }

    #[test]
    fn unavailable_kind_names_its_feature() {
        let of = |is_here| GatedKinds {
            what: "scorer",
            kinds: &["a", "b"],
            feature: "f",
            is_here,
        };
        let check = |is_here, what, name, expect: Option<&str>| {
            let error = missing_feature_in(&[of(is_here)], what, name);
            assert_eq!(error.as_ref().map(Error::message), expect, "{what} {name}");
        };
        let needs = "scorer `b` in a spec needs the feature `f` of the crate `evaltest`";
        check(false, "scorer", "b", Some(needs));
        check(false, "agent", "b", None);
        check(false, "scorer", "c", None);
        check(true, "scorer", "b", None);
    }
}
