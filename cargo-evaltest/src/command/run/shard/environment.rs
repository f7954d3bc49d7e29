//! `--shard auto`: finds the shard in environment variables.
//!
//! The variables are read only on request, because CI services also set some of them in jobs that are no shards.

use std::path::Path;

use evaltest::engine::data::Shard;
use evaltest::engine::text::clean;
use evaltest::{Error, Result};

use super::touch;

/// Our own variable, which takes precedence.
const OWN: &str = "EVALTEST_SHARD";
/// Bazel's variable with the file that signals support for sharding.
const STATUS_FILE: &str = "TEST_SHARD_STATUS_FILE";

/// Lists the variables for the error if none is set.
const READ: &str = "`EVALTEST_SHARD=2/8`, or what these set: Slurm (`SLURM_ARRAY_TASK_ID`), Kubernetes (`JOB_COMPLETION_INDEX` \
                    and, from the manifest, `JOB_COMPLETIONS`), Bazel (`TEST_SHARD_INDEX`), GitLab (`CI_NODE_INDEX`)";

/// The shard set in this process's environment.
pub(super) fn shard() -> Result<Shard> {
    let lookup = |name: &str| {
        let value = std::env::var_os(name)?;
        Some(value.to_string_lossy().into_owned()).filter(|value| !value.is_empty())
    };
    let (shard, by) = named(&lookup)?;
    if by == BAZEL.index
        && let Some(file) = lookup(STATUS_FILE)
    {
        touch(Path::new(&file)).map_err(|error| {
            Error::usage(format!("`{STATUS_FILE}`: {}", error.message())).hint(format!(
                "name a file that can be written, or say which shard it is: {OWN}={shard}"
            ))
        })?;
    }
    Ok(shard)
}

/// A system that sets a process's shard index and count.
#[derive(Clone, Copy)]
struct Engine {
    name: &'static str,
    index: &'static str,
    count: &'static str,
    /// The first index that it uses.
    first: u32,
    /// What to do if the count is missing.
    hint: &'static str,
}

const BAZEL: Engine = Engine {
    name: "Bazel",
    index: "TEST_SHARD_INDEX",
    count: "TEST_TOTAL_SHARDS",
    first: 0,
    hint: "Bazel sets both where a test has `shard_count`",
};

const KUBERNETES: Engine = Engine {
    name: "Kubernetes",
    index: "JOB_COMPLETION_INDEX",
    count: "JOB_COMPLETIONS",
    first: 0,
    hint: "Kubernetes does not set it: set it in the manifest of the job to the value of `completions`: `env: [{name: \
           JOB_COMPLETIONS, value: \"8\"}]`",
};

const GITLAB: Engine = Engine {
    name: "GitLab",
    index: "CI_NODE_INDEX",
    count: "CI_NODE_TOTAL",
    first: 1,
    hint: "GitLab sets both where a job has `parallel`",
};

/// Looks up a variable.
type Lookup<'a> = &'a dyn Fn(&str) -> Option<String>;

/// The shard set by the variables, and the name of the variable. Pure.
fn named(lookup: Lookup<'_>) -> Result<(Shard, &'static str)> {
    if let Some(text) = lookup(OWN) {
        let shard = text.parse().map_err(|error: Error| {
            Error::usage(format!("`{OWN}`: {}", error.message()))
                .hint("write which of how many, from 1: `2/8`")
        })?;
        return Ok((shard, OWN));
    }
    let mut found: Vec<(Shard, &str, &str)> = Vec::new();
    for engine in [BAZEL, KUBERNETES] {
        if let Some(shard) = engine.shard(lookup)? {
            found.push((shard, engine.name, engine.index));
        }
    }
    if let Some(shard) = slurm(lookup)? {
        found.push((shard, "Slurm", TASK));
    }
    if let Some(shard) = GITLAB.shard(lookup)? {
        found.push((shard, GITLAB.name, GITLAB.index));
    }
    let Some((shard, name, index)) = found.first().copied() else {
        let message = "`--shard auto`: no variable says which shard this is";
        return Err(Error::usage(message).hint(format!("set {READ}; or write `--shard 2/8`")));
    };
    match found.iter().find(|(other, ..)| *other != shard) {
        None => Ok((shard, index)),
        Some((other, by, other_index)) => Err(Error::usage(format!(
            "`--shard auto`: {name} says that this is shard {shard} (`{index}`), and {by} that it is {other} (`{other_index}`)"
        ))
        .hint(format!("say which: {OWN}={shard}, or `--shard {shard}`"))),
    }
}

/// A variable's integer value, if it is set.
fn number(lookup: Lookup<'_>, name: &str) -> Result<Option<u32>> {
    let Some(text) = lookup(name) else {
        return Ok(None);
    };
    let is_plain = text.bytes().all(|byte| byte.is_ascii_digit());
    match text.parse() {
        Ok(number) if is_plain => Ok(Some(number)),
        _ => Err(Error::usage(format!(
            "`--shard auto`: `{name}` is `{}`, not a whole number",
            clean(&text)
        ))
        .hint(format!(
            "say which shard it is: {OWN}=2/8, or `--shard 2/8`"
        ))),
    }
}

impl Engine {
    fn shard(self, lookup: Lookup<'_>) -> Result<Option<Shard>> {
        let Self {
            name,
            index,
            count,
            first,
            hint,
        } = self;
        let Some(at) = number(lookup, index)? else {
            return Ok(None);
        };
        let Some(of) = number(lookup, count)? else {
            let message = format!(
                "`--shard auto`: {name} sets `{index}` to {at}, but `{count}`, the number of shards, is not set"
            );
            return Err(Error::usage(message).hint(hint));
        };
        let place = at.checked_sub(first).and_then(|place| place.checked_add(1));
        let shard = place.and_then(|place| Shard::new(place, of).ok());
        let Some(shard) = shard else {
            let last = of.saturating_sub(1).saturating_add(first);
            return Err(Error::usage(format!(
                "`--shard auto`: `{index}` is {at} and `{count}` is {of}, which is not a valid shard"
            ))
            .hint(format!(
                "{name} counts from {first} to {last}; say which shard it is by `{OWN}=2/8`"
            )));
        };
        Ok(Some(shard))
    }
}

const TASK: &str = "SLURM_ARRAY_TASK_ID";

/// A Slurm array task; arrays may start anywhere and have a step.
fn slurm(lookup: Lookup<'_>) -> Result<Option<Shard>> {
    let of_array = |name: &str| number(lookup, &format!("SLURM_ARRAY_TASK_{name}"));
    let Some(task) = of_array("ID")? else {
        return Ok(None);
    };
    let hint = "give the tasks of the array numbers without gaps: sbatch --array=1-8";
    let Some(count) = of_array("COUNT")? else {
        let message =
            format!("`--shard auto`: Slurm sets `{TASK}`, but not `SLURM_ARRAY_TASK_COUNT`");
        return Err(Error::usage(message).hint(hint));
    };
    let least = of_array("MIN")?.unwrap_or(1);
    let step = of_array("STEP")?.unwrap_or(1).max(1);
    let is_whole = match of_array("MAX")? {
        // A list such as `1,3,7` gives no unambiguous position.
        Some(most) => most.checked_sub(least).map(|range| range / step) == count.checked_sub(1),
        None => true,
    };
    let rank = task.checked_sub(least).filter(|above| above % step == 0);
    let rank = rank
        .map(|above| above / step)
        .filter(|rank| *rank < count && is_whole);
    let Some(rank) = rank else {
        return Err(Error::usage(format!(
            "`--shard auto`: task {task} of Slurm's array is not one of {count} numbered without gaps (`{TASK}`, \
             `SLURM_ARRAY_TASK_COUNT`)"
        ))
        .hint(hint));
    };
    Shard::new(rank + 1, count).map(Some)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn environments_are_read() {
        fn check(environment: &str, expect: Result<&str, &str>) {
            let lookup = |name: &str| {
                let mut pairs = environment
                    .split_whitespace()
                    .filter_map(|it| it.split_once('='));
                Some(pairs.find(|(key, _)| *key == name)?.1.to_owned())
            };
            match (named(&lookup), expect) {
                (Ok((shard, _)), Ok(expect)) => {
                    assert_eq!(shard.to_string(), expect, "{environment}");
                }
                (Err(error), Err(expect)) => {
                    let message = error.message();
                    assert!(message.contains(expect), "{environment}: {message}");
                    assert!(error.hint_text().is_some(), "{environment}: {message}");
                }
                (found, expect) => panic!("{environment}: {found:?}, and not {expect:?}"),
            }
        }
        check("EVALTEST_SHARD=2/8", Ok("2/8"));
        // It takes precedence over all others.
        check(
            "EVALTEST_SHARD=2/8 CI_NODE_INDEX=3 CI_NODE_TOTAL=4",
            Ok("2/8"),
        );
        check("EVALTEST_SHARD=0/8", Err("there is no shard 0 of 8"));
        check("EVALTEST_SHARD=two", Err("`two` is not a shard"));
        check("TEST_SHARD_INDEX=0 TEST_TOTAL_SHARDS=3", Ok("1/3"));
        check(
            "TEST_SHARD_INDEX=3 TEST_TOTAL_SHARDS=3",
            Err("not a valid shard"),
        );
        check("TEST_SHARD_INDEX=1", Err("`TEST_TOTAL_SHARDS`"));
        check("JOB_COMPLETION_INDEX=7 JOB_COMPLETIONS=8", Ok("8/8"));
        check("JOB_COMPLETION_INDEX=7", Err("`JOB_COMPLETIONS`"));
        check(
            "JOB_COMPLETION_INDEX=8 JOB_COMPLETIONS=8",
            Err("not a valid shard"),
        );
        check(
            "JOB_COMPLETION_INDEX=x JOB_COMPLETIONS=8",
            Err("`JOB_COMPLETION_INDEX` is `x`"),
        );
        check(
            "JOB_COMPLETION_INDEX=4294967295 JOB_COMPLETIONS=4294967295",
            Err("not a valid shard"),
        );
        check("CI_NODE_INDEX=1 CI_NODE_TOTAL=4", Ok("1/4"));
        check(
            "CI_NODE_INDEX=0 CI_NODE_TOTAL=4294967295",
            Err("not a valid shard"),
        );
        check("CI_NODE_INDEX=0 CI_NODE_TOTAL=4", Err("not a valid shard"));
        check(
            "CI_NODE_INDEX=-1 CI_NODE_TOTAL=4",
            Err("`CI_NODE_INDEX` is `-1`"),
        );
        // GitLab sets it in every job.
        check("CI_NODE_TOTAL=1", Err("no variable says"));
        check(
            "CI_NODE_TOTAL=1 TEST_SHARD_INDEX=0 TEST_TOTAL_SHARDS=3",
            Ok("1/3"),
        );
        check("", Err("no variable says"));
        let array = |more: &str| format!("SLURM_ARRAY_TASK_ID={more}");
        let check_array = |more: &str, expect| check(&array(more), expect);
        let of = |id: u32, least: u32, most: u32, count: u32| {
            format!(
                "{id} SLURM_ARRAY_TASK_MIN={least} SLURM_ARRAY_TASK_MAX={most} SLURM_ARRAY_TASK_COUNT={count}"
            )
        };
        check_array(&of(1, 1, 4, 4), Ok("1/4"));
        check_array(&of(4, 1, 4, 4), Ok("4/4"));
        check_array(&of(0, 0, 3, 4), Ok("1/4"));
        check_array(&of(12, 10, 13, 4), Ok("3/4"));
        let stepped = |id| of(id, 1, 7, 4) + " SLURM_ARRAY_TASK_STEP=2";
        check_array(&stepped(1), Ok("1/4"));
        check_array(&stepped(7), Ok("4/4"));
        check_array(&stepped(6), Err("task 6 of Slurm's array"));
        // Reject every task of a list with gaps, even those with a plausible position.
        check_array(&of(1, 1, 7, 3), Err("without gaps"));
        check_array(
            "3 SLURM_ARRAY_TASK_MIN=1 SLURM_ARRAY_TASK_COUNT=2",
            Err("without gaps"),
        );
        check_array(&of(1, 2, 4, 3), Err("without gaps"));
        check_array("3", Err("`SLURM_ARRAY_TASK_COUNT`"));
        // Two variables that agree, and two that conflict.
        let both = |gitlab| of(2, 1, 4, 4) + " CI_NODE_TOTAL=4 CI_NODE_INDEX=" + gitlab;
        check_array(&both("2"), Ok("2/4"));
        check_array(
            &both("3"),
            Err(
                "Slurm says that this is shard 2/4 (`SLURM_ARRAY_TASK_ID`), and GitLab that it is 3/4",
            ),
        );
    }
}
