//! The keys of `tiers`.

use serde::Deserialize;

use super::keys::ByName;
use crate::error::Result;
use crate::eval::tiers::Tiers;

#[derive(Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub(super) struct TierKeys {
    /// How many samples, from 1; all when left out.
    #[cfg_attr(feature = "schema", schemars(extend("minimum" = 1)))]
    pub(super) limit: Option<usize>,
}

/// Tiers as the keys say.
pub(super) fn tiers(keys: ByName<TierKeys>) -> Result<Tiers> {
    let tiers = keys.into_entries().into_iter();
    Tiers::checked(tiers.map(|(name, keys)| (name, keys.limit)))
}
