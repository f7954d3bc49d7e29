//! The benchmark and the agent of a spec, by the keys that their kinds have.

use std::fmt;
use std::sync::Arc;

use serde::Deserializer;
use serde::de::{DeserializeSeed, Error as _, IgnoredAny, MapAccess, Visitor};

use super::keys::{ByName, CLUSTER, SpecFile};
use crate::benchmark::Benchmark;
use crate::eval::registry::{Chosen, KindKeys, MadeAgent};

/// The benchmark and agents of a spec, their keys read.
pub(super) struct ChosenParts {
    pub(super) benchmark: Chosen<Arc<dyn Benchmark>>,
    /// `None` if the spec names several.
    pub(super) agent: Option<Chosen<MadeAgent>>,
    pub(super) agents: Vec<(String, Chosen<MadeAgent>)>,
}

/// A spec that was read once, to read its text a second time.
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
        let (mut benchmark, mut agent, mut agents) = (None, None, None);
        while let Some(key) = map.next_key::<String>()? {
            match key.as_str() {
                "benchmark" => {
                    let keys = KindKeys::of(&self.0.benchmark.name).without(CLUSTER);
                    benchmark = Some(map.next_value_seed(keys)?);
                }
                "agent" => {
                    let name = self.0.agent.as_ref().map_or("", |agent| &agent.name);
                    agent = Some(map.next_value_seed(KindKeys::of(name))?);
                }
                "agents" => agents = Some(map.next_value_seed(AgentsOf(self.0))?),
                _ => drop(map.next_value::<IgnoredAny>()?),
            }
        }
        let missing = A::Error::missing_field;
        let benchmark = benchmark.ok_or_else(|| missing("benchmark"))?;
        if agent.is_none() && agents.is_none() {
            return Err(missing("agent"));
        }
        Ok(ChosenParts {
            benchmark,
            agent,
            agents: agents.unwrap_or_default(),
        })
    }
}

/// The agents of a spec that names several.
struct AgentsOf<'a>(&'a SpecFile);

impl<'de> DeserializeSeed<'de> for AgentsOf<'_> {
    type Value = Vec<(String, Chosen<MadeAgent>)>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for AgentsOf<'_> {
    type Value = Vec<(String, Chosen<MadeAgent>)>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a map")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        // They are in the order in which their kinds were read.
        let mut kinds = self.0.agents.iter().flat_map(ByName::iter);
        let mut agents = Vec::new();
        while let Some(name) = map.next_key::<String>()? {
            let kind = kinds.next().map_or("", |agent| &agent.name);
            agents.push((name, map.next_value_seed(KindKeys::of(kind))?));
        }
        Ok(agents)
    }
}
