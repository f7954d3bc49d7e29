//! `SpecGate`: the gates of a spec, a list of texts.

use serde::Deserializer;
use serde::de::{Error as _, SeqAccess};

use crate::error::inside;
use crate::verdict::gate::Gate;

/// A gate as the spec writes it. With several agents or prompts, what is read as a slice here may name one of them.
pub(in crate::eval::spec) struct SpecGate {
    pub(in crate::eval::spec) text: String,
    pub(in crate::eval::spec) gate: Gate,
}

/// A list of gates; an error is about one of them.
pub(in crate::eval::spec) fn gates<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Vec<SpecGate>, D::Error> {
    struct GatesVisitor;
    impl<'de> serde::de::Visitor<'de> for GatesVisitor {
        type Value = Vec<SpecGate>;

        fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            f.write_str("a sequence")
        }

        fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Vec<SpecGate>, A::Error> {
            let mut gates = Vec::new();
            while let Some(text) = list.next_element::<String>()? {
                let gate = text.parse().map_err(|error| {
                    A::Error::custom(inside(&format!("[{}]", gates.len()), error))
                })?;
                gates.push(SpecGate { text, gate });
            }
            Ok(gates)
        }
    }
    deserializer.deserialize_seq(GatesVisitor)
}
