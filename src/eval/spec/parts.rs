//! The benchmark and the agent of a spec, by the keys that their kinds have.

use std::fmt;
use std::sync::Arc;

use serde::Deserializer;
use serde::de::{DeserializeSeed, Error as _, IgnoredAny, MapAccess, Visitor};

use super::keys::{CLUSTER, SpecFile};
use super::tagged::{KindKeys, OfKeys};
use crate::benchmark::Benchmark;
use crate::eval::registry::{Chosen, MadeAgent, agents, benchmarks};

/// What a spec names, its keys read.
pub(super) struct ChosenParts {
    pub(super) benchmark: Chosen<Arc<dyn Benchmark>>,
    pub(super) agent: Chosen<MadeAgent>,
}

impl OfKeys for Chosen<Arc<dyn Benchmark>> {
    fn read<'de, A: MapAccess<'de>>(name: String, keys: A) -> Result<Self, A::Error> {
        benchmarks::read(name, keys)
    }
}

impl OfKeys for Chosen<MadeAgent> {
    fn read<'de, A: MapAccess<'de>>(name: String, keys: A) -> Result<Self, A::Error> {
        agents::read(name, keys)
    }
}

/// A spec that was read, by which its text is read once more.
#[derive(Clone, Copy)]
pub(super) struct PartsOf<'a>(pub(super) &'a SpecFile);

impl<'de> DeserializeSeed<'de> for PartsOf<'_> {
    type Value = ChosenParts;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<ChosenParts, D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for PartsOf<'_> {
    type Value = ChosenParts;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a spec")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<ChosenParts, A::Error> {
        let (mut benchmark, mut agent) = (None, None);
        while let Some(key) = map.next_key::<String>()? {
            match key.as_str() {
                "benchmark" => {
                    let keys = KindKeys::of(&self.0.benchmark.name).without(CLUSTER);
                    benchmark = Some(map.next_value_seed(keys)?);
                }
                "agent" => agent = Some(map.next_value_seed(KindKeys::of(&self.0.agent.name))?),
                _ => drop(map.next_value::<IgnoredAny>()?),
            }
        }
        let missing = A::Error::missing_field;
        Ok(ChosenParts {
            benchmark: benchmark.ok_or_else(|| missing("benchmark"))?,
            agent: agent.ok_or_else(|| missing("agent"))?,
        })
    }
}
