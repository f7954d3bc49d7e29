//! Overrides for an eval built in Rust, which has no spec.

use serde::Deserialize;
use serde_json::{Map, Value};

use super::CacheKey;
use super::keys::{
    AssertKey, ErrorsKey, FlipsKey, LimitsKeys, PerturbKeys, ShuffleKeys, SpecAlerts, WebhookKeys,
    given_alerts,
};
use super::limits::limits;
use super::overrides::apply;
use crate::agent::{RecordMode, RecordedCalls};
use crate::error::{Error, Result};
use crate::eval::Eval;
use crate::text::setting::Override;
use crate::verdict::gate::Gate;

/// The keys that the command line can set. The benchmark, agent and scorers are code.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct BuilderKeys {
    #[serde(default)]
    limits: LimitsKeys,
    errors: Option<ErrorsKey>,
    shuffle: Option<ShuffleKeys>,
    epochs: Option<u32>,
    perturb: Option<PerturbKeys>,
    #[serde(default)]
    snapshot: BuilderSnapshotKeys,
    gates: Option<Vec<Gate>>,
    #[serde(default, deserialize_with = "given_alerts")]
    alerts: Option<SpecAlerts>,
    webhook: Option<WebhookKeys>,
    cache: Option<CacheKey>,
    record: Option<BuilderRecordKeys>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct BuilderRecordKeys {
    mode: RecordMode,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct BuilderSnapshotKeys {
    assert: Option<AssertKey>,
    flips: Option<FlipsKey>,
    confirm: Option<u32>,
}

/// The eval with these keys changed.
pub(crate) fn override_built(mut eval: Eval, overrides: &[Override]) -> Result<Eval> {
    const CODE: [&str; 6] = [
        "benchmark",
        "agent",
        "scorer",
        "scorers",
        "extract",
        "prompt",
    ];
    let place = |error: Error| error.at(format!("eval `{}`", eval.name));
    let of_code = overrides
        .iter()
        .filter_map(|change| change.key.split('.').next())
        .find(|key| CODE.contains(key));
    if let Some(key) = of_code {
        let message =
            format!("`{key}` is built in Rust and cannot be changed from the command line");
        return Err(place(Error::usage(message)).hint("change it in the test, or write a spec"));
    }
    let value = apply(Value::Object(Map::new()), overrides).map_err(place)?;
    let keys = BuilderKeys::deserialize(&value)
        .map_err(|error| place(Error::usage(format!("`{value}`: {error}"))))?;
    let changed = limits(&keys.limits, &eval.limits).map_err(place)?;
    eval.limits = changed;
    let is_drawn = |change: &&Override| change.key == Override::DRAWN_SEED;
    let drawn = overrides.iter().find(is_drawn).map(|change| &change.value);
    let requested = keys.shuffle.map(|keys| keys.seed);
    eval.shuffle = match eval.shuffle {
        // The eval's own seed takes precedence over a drawn one.
        Some(own) if drawn.is_some_and(|drawn| drawn.as_u64() == requested) => Some(own),
        own => requested.or(own),
    };
    eval.errors = keys.errors.map_or(eval.errors, Into::into);
    eval.epochs = keys.epochs.unwrap_or(eval.epochs);
    if let Some(perturb) = keys.perturb {
        let place = |error: Error| error.at(format!("eval `{}`", eval.name));
        eval.perturb = Some(perturb.made().map_err(place)?);
    }
    eval.snapshot.confirm = keys.snapshot.confirm.or(eval.snapshot.confirm);
    if let Some(flips) = keys.snapshot.flips {
        eval.snapshot.flips = flips.into();
    }
    if let Some(assert) = keys.snapshot.assert {
        eval.snapshot.assert = assert.0;
    }
    if let Some(cache) = keys.cache {
        eval.cache = cache.settings(&crate::system::project::package_root());
    }
    if let Some(keys) = keys.record {
        match &mut eval.record {
            Some(calls) => calls.mode = Some(keys.mode),
            None => return Err(RecordedCalls::missing().at(format!("eval `{}`", eval.name))),
        }
    }
    if let Some(gates) = keys.gates {
        eval.no_gates = gates.is_empty();
        eval.gates = gates;
    }
    if let Some(alerts) = keys.alerts {
        let place = |error: Error| error.at(format!("eval `{}`", eval.name));
        eval.alerting.alerts = alerts.checked().map_err(place)?;
    }
    if let Some(webhook) = keys.webhook {
        let place = |error: Error| error.at(format!("eval `{}`", eval.name));
        eval.alerting.webhook = Some(webhook.made().map_err(place)?);
    }
    Ok(eval)
}
