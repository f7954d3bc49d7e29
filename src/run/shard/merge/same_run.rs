//! Whether two run directories are parts of one run: the same questions, agent and judges.

use serde_json::Value;

use crate::data::JudgeRule;
use crate::store::Manifest;

/// The first difference between two parts, in a word.
pub(super) fn difference(one: &Manifest, other: &Manifest) -> Option<&'static str> {
    let same = [
        (one.eval == other.eval, "eval"),
        (
            one.format_version == other.format_version
                && one.evaltest_version == other.evaltest_version,
            "version of evaltest",
        ),
        (
            one.tier == other.tier && one.below_tier == other.below_tier,
            "tier",
        ),
        (
            one.is_limited() == other.is_limited()
                && of_spec(one, "/limits/limit") == of_spec(other, "/limits/limit"),
            "limit",
        ),
        (one.prompt == other.prompt, "prompt"),
        (one.masked == other.masked, "`snapshot.answers`"),
        (
            one.dataset_hash == other.dataset_hash
                && one.samples == other.samples
                && one.mask_id == other.mask_id
                && slices(one) == slices(other),
            "dataset",
        ),
        (
            of_spec(one, "/errors") == of_spec(other, "/errors"),
            "`errors`",
        ),
        (
            one.redact == other.redact && of_spec(one, "/redact") == of_spec(other, "/redact"),
            "`redact`",
        ),
        (
            one.scorers == other.scorers
                && one.scorer_hash == other.scorer_hash
                && one.scorers_hash == other.scorers_hash,
            "scorer",
        ),
        (judges(one).eq(judges(other)), "judge"),
        (one.agent_hash == other.agent_hash, "agent"),
        (one.epochs == other.epochs, "number of epochs"),
        (of_spec(one, "/gates") == of_spec(other, "/gates"), "gates"),
        (
            one.request_hash == other.request_hash
                && one.benchmark == other.benchmark
                && one.variant == other.variant
                && of_spec(one, "/snapshot/assert") == of_spec(other, "/snapshot/assert"),
            "spec",
        ),
    ];
    let other = same.into_iter().find(|(is_same, _)| !is_same);
    other.map(|(_, what)| what)
}

/// What defines a judge; the path of its calibration differs between machines.
fn judges(manifest: &Manifest) -> impl Iterator<Item = (&String, &String, &JudgeRule, bool)> {
    let judges = manifest.judges.iter();
    judges.map(|(name, judge)| (name, &judge.fingerprint, &judge.rule, judge.solves))
}

fn slices(manifest: &Manifest) -> Option<&String> {
    manifest.part.as_ref()?.slices.as_ref()
}

fn of_spec<'a>(manifest: &'a Manifest, pointer: &str) -> Option<&'a Value> {
    manifest.config.pointer(pointer)
}
