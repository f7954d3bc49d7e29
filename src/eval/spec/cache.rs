//! The key `cache`: `true`, `false` or `{ path: … }`.

use std::path::{Path, PathBuf};

use serde::de::MapAccess;
use serde::de::value::MapAccessDeserializer;
use serde::{Deserialize, Deserializer};

use crate::store::cache::{CacheUse, Settings};

/// The key `cache` of a spec.
pub(super) enum CacheKey {
    Off,
    On(Option<PathBuf>),
}

impl CacheKey {
    /// A relative path starts at `folder`.
    pub(super) fn settings(self, folder: &Path) -> Settings {
        match self {
            Self::Off => Settings::default(),
            Self::On(path) => Settings {
                usage: CacheUse::On,
                folder: path.map(|path| folder.join(path)),
            },
        }
    }
}

impl<'de> Deserialize<'de> for CacheKey {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct CacheVisitor;
        impl<'de> serde::de::Visitor<'de> for CacheVisitor {
            type Value = CacheKey;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("`cache: true`, `cache: false` or `cache: { path: DIR }`")
            }

            fn visit_bool<E: serde::de::Error>(self, on: bool) -> Result<CacheKey, E> {
                Ok(if on {
                    CacheKey::On(None)
                } else {
                    CacheKey::Off
                })
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<CacheKey, A::Error> {
                #[derive(Deserialize)]
                #[serde(deny_unknown_fields)]
                struct Keys {
                    path: PathBuf,
                }
                let keys = Keys::deserialize(MapAccessDeserializer::new(map))?;
                Ok(CacheKey::On(Some(keys.path)))
            }
        }
        deserializer.deserialize_any(CacheVisitor)
    }
}
