//! `SpecAlerts`: the alerts of a spec, a list of texts that may contain `looks: 30`.

use serde::de::value::MapAccessDeserializer;
use serde::de::{Error as _, MapAccess, SeqAccess};
use serde::{Deserialize, Deserializer};

use crate::error::{Error, Result, Under, inside};
use crate::verdict::alert::{Alert, Alerts, check_interim};

/// The alerts, each with its position in the list.
#[derive(Default)]
pub(in crate::eval::spec) struct SpecAlerts {
    alerts: Alerts,
    places: Vec<usize>,
}

impl SpecAlerts {
    /// # Errors
    /// When one can never be raised next to the others.
    pub(in crate::eval::spec) fn checked(self) -> Result<Alerts> {
        match self.alerts.check() {
            Ok(()) => Ok(self.alerts),
            Err((rule, error)) => {
                let place = self.places.get(rule).copied().unwrap_or_default();
                Err::<Alerts, Error>(error).under(place).under("alerts")
            }
        }
    }
}

/// An entry of the list.
enum SpecAlert {
    Rule(Alert),
    Interim(usize),
}

/// Reads the list; an error is about one of its entries.
pub(in crate::eval::spec) fn alerts<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<SpecAlerts, D::Error> {
    struct AlertsVisitor;
    impl<'de> serde::de::Visitor<'de> for AlertsVisitor {
        type Value = SpecAlerts;

        fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            f.write_str("a sequence")
        }

        fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<SpecAlerts, A::Error> {
            let mut read = SpecAlerts::default();
            let (mut place, mut looks) = (0, None);
            while let Some(entry) = list.next_element::<SpecAlertText>()? {
                let entry = entry.read();
                let entry = entry
                    .map_err(|error| A::Error::custom(inside(&format!("[{place}]"), error)))?;
                match entry {
                    SpecAlert::Rule(alert) => {
                        read.alerts.rules.push(alert);
                        read.places.push(place);
                    }
                    SpecAlert::Interim(count) => {
                        if looks.replace(count).is_some() {
                            let error = "`looks` is given twice";
                            return Err(A::Error::custom(inside(&format!("[{place}]"), error)));
                        }
                    }
                }
                place += 1;
            }
            read.alerts.looks = looks.unwrap_or(read.alerts.looks);
            Ok(read)
        }
    }
    deserializer.deserialize_seq(AlertsVisitor)
}

/// [`alerts`] for an optional key.
pub(in crate::eval::spec) fn given_alerts<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<SpecAlerts>, D::Error> {
    alerts(deserializer).map(Some)
}

/// An entry as it is written.
enum SpecAlertText {
    Rule(String),
    Interim(u64),
}

impl SpecAlertText {
    fn read(self) -> Result<SpecAlert> {
        match self {
            Self::Rule(text) => text.parse().map(SpecAlert::Rule),
            Self::Interim(count) => check_interim(count).map(SpecAlert::Interim),
        }
    }
}

impl<'de> Deserialize<'de> for SpecAlertText {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct EntryVisitor;
        impl<'de> serde::de::Visitor<'de> for EntryVisitor {
            type Value = SpecAlertText;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a rule such as `drop(accuracy)`, or `looks: 30`")
            }

            fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<SpecAlertText, E> {
                Ok(SpecAlertText::Rule(text.to_owned()))
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<SpecAlertText, A::Error> {
                #[derive(Deserialize)]
                #[serde(deny_unknown_fields)]
                struct InterimKeys {
                    looks: u64,
                }
                let keys = InterimKeys::deserialize(MapAccessDeserializer::new(map))?;
                Ok(SpecAlertText::Interim(keys.looks))
            }
        }
        deserializer.deserialize_any(EntryVisitor)
    }
}
