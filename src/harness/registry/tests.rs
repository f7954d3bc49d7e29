//! Trials on threads as in libtest: each takes the next one of a list.

use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use super::*;
use crate::benchmark::custom::Custom;
use crate::eval::plan::BaselineUse;
use crate::eval::{Eval, Flips};
use crate::store::RunDir;
use crate::tests::wait::{LONG, until};
use crate::text::hash::Hasher;
use crate::verdict::gate::Gate;
use crate::{AgentError, FailureKind, Output, Sample, Task};

/// `number` samples, a third of them in each `part`, whose answer is the id.
fn questions(number: usize) -> Custom {
    Custom::new((0..number).map(|n| {
        let id = format!("q{n:03}");
        Sample::new(id.as_str(), format!("Which is the {n}th?"))
            .target(id)
            .slice("part", (n % 3).to_string())
    }))
}

/// An eval in a folder of its own.
fn eval_in(folder: &tempfile::TempDir, number: usize, agent: impl crate::Agent + 'static) -> Eval {
    Eval::new(questions(number), agent)
        .named("e")
        .output_root(folder.path().join("runs"))
        .snapshots(folder.path().join("snapshots"))
        .concurrency(4)
}

/// Answers a task correctly or not.
#[expect(clippy::unnecessary_wraps, reason = "so are agents shaped")]
fn answer(task: &Task, is_right: bool) -> Result<Output, AgentError> {
    Ok((if is_right { task.id() } else { "wrong" }).into())
}

/// Makes a run of this eval the baseline.
fn accept(eval: &Eval) {
    let run = eval.run().unwrap();
    let dir = RunDir::open(&run.dir).unwrap();
    crate::snapshot::accept(
        &[dir],
        &eval.snapshot.folder,
        &crate::snapshot::Acceptance::default(),
    )
    .unwrap();
}

/// How the trials are run.
struct Tests {
    /// The seed for the order of the trials; as listed without one.
    shuffle: Option<u64>,
    threads: usize,
    /// Whether the trial of this name is selected.
    selects: fn(&str) -> bool,
    cancel: Cancel,
}

impl Default for Tests {
    fn default() -> Self {
        Self {
            shuffle: None,
            threads: 4,
            selects: |_| true,
            cancel: Cancel::new(),
        }
    }
}

impl Tests {
    /// The verdicts of the selected trials of these evals, by name. Fails if they do not end.
    fn run(self, evals: &[Eval]) -> Vec<(String, TestVerdict)> {
        let plans = evals
            .iter()
            .map(|eval| Plan::load(eval, BaselineUse::Compare));
        let in_flight = Arc::new(InFlight::new(self.threads));
        let registry = |plan| {
            Arc::new(TestRegistry::new(
                plan,
                &self.cancel,
                Some(self.threads),
                &in_flight,
            ))
        };
        let registries: Vec<_> = plans.map(|plan| registry(plan.unwrap())).collect();
        let mut trials = Vec::new();
        for registry in &registries {
            for (place, name) in registry.names() {
                trials.push((name.clone(), Arc::clone(registry), place, false));
            }
        }
        for registry in &registries {
            for (place, name) in registry.gate_names().iter().enumerate() {
                trials.push((name.clone(), Arc::clone(registry), place, true));
            }
        }
        trials.retain(|(name, ..)| (self.selects)(name));
        if let Some(seed) = self.shuffle {
            let turn = |name: &str| Hasher::default().part(seed.to_string()).part(name).hex();
            trials.sort_by_key(|(name, ..)| turn(name));
        }
        let names: HashSet<&str> = trials.iter().map(|(name, ..)| name.as_str()).collect();
        for registry in &registries {
            registry.select(&names);
        }
        let (sender, ended) = channel();
        let list = Arc::new(Mutex::new(trials.into_iter()));
        for _ in 0..self.threads {
            let (list, sender) = (Arc::clone(&list), sender.clone());
            std::thread::spawn(move || {
                loop {
                    let next = lock(&list).next();
                    let Some((name, registry, place, is_gate)) = next else {
                        return;
                    };
                    let verdict = if is_gate {
                        registry.gate(place)
                    } else {
                        registry.sample(place)
                    };
                    sender.send((name, verdict)).unwrap();
                }
            });
        }
        drop(sender);
        let mut verdicts = Vec::new();
        loop {
            match ended.recv_timeout(LONG) {
                Ok(verdict) => verdicts.push(verdict),
                Err(error) if error.to_string().contains("timed out") => {
                    panic!("nothing ends any more after {verdicts:#?}")
                }
                Err(_) => break,
            }
        }
        for registry in &registries {
            registry.finish();
        }
        verdicts.sort_by(|one, other| one.0.cmp(&other.0));
        verdicts
    }
}

fn failed(verdicts: &[(String, TestVerdict)]) -> Vec<(&str, &str)> {
    let failed = verdicts.iter().filter_map(|(name, verdict)| match verdict {
        TestVerdict::Failed(message) => Some((name.as_str(), message.as_str())),
        _ => None,
    });
    failed.collect()
}

/// Of 80 samples 20 are right by chance and 40 always, except the first `broken` of those.
fn flaky(folder: &tempfile::TempDir, seed: &str, broken: usize) -> Eval {
    let seed = seed.to_owned();
    let again: [AtomicUsize; 80] = std::array::from_fn(|_| AtomicUsize::new(0));
    let agent = move |task: &Task| {
        let number: usize = task.id()[1..].parse().unwrap();
        // Each answer that confirms another one is an independent throw.
        let throw = match task.attempt() {
            0 => again[number].fetch_add(1, Ordering::SeqCst).to_string(),
            _ => "first".to_owned(),
        };
        let coin = Hasher::default()
            .part(&seed)
            .part(task.id())
            .part(throw)
            .hex();
        let is_right = match number {
            0..20 => coin.as_bytes()[0].is_ascii_digit() && coin.as_bytes()[0] < b'8',
            20..60 => number >= 20 + broken,
            _ => false,
        };
        answer(task, is_right)
    };
    eval_in(folder, 80, agent).gate(Gate::no_regression())
}

/// How many of `runs` runs are red, each against its own baseline. Checks that the failed samples are those that
/// flipped.
fn red(runs: usize, flips: Flips, broken: usize) -> usize {
    let is_red = |run: &usize| {
        let folder = tempfile::tempdir().unwrap();
        accept(&flaky(&folder, &format!("before {run}"), 0));
        let now = flaky(&folder, &format!("now {run}"), broken).flips(flips);
        let now = now.output_root(folder.path().join("now"));
        let verdicts = Tests::default().run(&[now]);
        let failed: Vec<_> = failed(&verdicts)
            .into_iter()
            .map(|(name, _)| name)
            .collect();
        let runs = crate::store::runs_in(&folder.path().join("now"));
        let summary = runs.last().unwrap().file("summary.json");
        let summary = crate::verdict::summary::Summary::read(&summary).unwrap();
        let gate = &summary.gates[0];
        if flips == Flips::Gate && gate.verdict == crate::Verdict::Failed {
            let became_wrong = gate.regression.as_ref().unwrap().became_wrong.iter();
            let mut expect = vec!["e::gate::no_regression".to_owned()];
            expect.extend(became_wrong.map(|id| {
                let number: usize = id[1..].parse().unwrap();
                format!("e::part{}::{id}", number % 3)
            }));
            expect.sort();
            assert_eq!(failed, expect);
        } else if flips == Flips::Gate {
            assert_eq!(failed, [""; 0]);
        }
        !failed.is_empty()
    };
    (0..runs).filter(is_red).count()
}

#[test]
fn an_unchanged_flaky_agent_is_as_red_as_its_gate_and_a_worse_one_is_red_with_every_flip() {
    assert!(red(10, Flips::Gate, 0) <= 1);
    assert_eq!(red(3, Flips::Gate, 16), 3, "a drop of 20 points");
    assert!(red(6, Flips::Confirm, 0) >= 3);
    assert_eq!(red(2, Flips::Fail, 0), 2);
}

#[test]
fn trials_end_in_any_order_with_any_number_of_threads_and_any_filter() {
    let folder = tempfile::tempdir().unwrap();
    let (other, broken) = (
        tempfile::tempdir().unwrap(),
        Arc::new(AtomicBool::new(false)),
    );
    let is_broken = Arc::clone(&broken);
    let agent = move |task: &Task| {
        let number: usize = task.id()[1..].parse().unwrap();
        let is_broken = is_broken.load(Ordering::SeqCst);
        assert!(!is_broken || number != 20, "as an agent does");
        answer(task, !is_broken || number >= 8)
    };
    let one = eval_in(&folder, 24, agent)
        .gate(Gate::no_regression())
        .gate(Gate::no_regression().slice("part", "1"))
        .gate(Gate::accuracy(0.1))
        .confirm(0);
    accept(&one);
    let two = eval_in(&other, 5, |task: &Task| answer(task, true)).named("f");
    let two = two.gate(Gate::accuracy(0.5)).gate(Gate::error_rate(0.1));
    broken.store(true, Ordering::SeqCst);
    let filters: [fn(&str) -> bool; 7] = [
        |_| true,
        |name| !name.contains("gate"),
        |name| name.contains("gate"),
        |name| name == "e::part0::q000",
        |name| name.contains("part1"),
        |name| !name.contains("q00"),
        |name| name.starts_with('e') && !name.contains("error"),
    ];
    let evals = [one, two];
    for (shuffle, selects) in (0..).zip(filters) {
        for threads in [1, 2, 3, 16] {
            let verdicts = Tests {
                shuffle: (shuffle > 0 || threads == 3).then_some(shuffle + threads as u64),
                threads,
                selects,
                ..Tests::default()
            }
            .run(&evals);
            let all = verdicts.iter().map(|(name, _)| name.as_str());
            assert!(verdicts.iter().all(|(name, _)| selects(name)));
            let is_whole = all.filter(|name| name.starts_with("e::part")).count() == 24;
            let failed = failed(&verdicts);
            let flips = failed
                .iter()
                .filter(|(_, message)| message.contains("gate: no_reg"));
            // Eight flipped, of which three in the slice; the panic is an outage.
            assert_eq!(flips.count(), if is_whole { 8 } else { 0 }, "{failed:#?}");
            let says = |part: &str| failed.iter().any(|(_, message)| message.contains(part));
            if is_whole {
                assert!(
                    says("infrastructure: agent_failed: the agent panicked"),
                    "{failed:#?}"
                );
            } else if failed.iter().any(|(name, _)| name.contains("q000")) {
                assert!(says("no gate was evaluated: "), "{failed:#?}");
            }
        }
    }
}

#[test]
fn who_stops_a_run_releases_all_who_wait() {
    let check = |how: &str, threads: usize| {
        let folder = tempfile::tempdir().unwrap();
        let (cancel, now) = (Cancel::new(), Arc::new(AtomicBool::new(false)));
        let (all, is_now, way) = (cancel.clone(), Arc::clone(&now), how.to_owned());
        let answered = AtomicBool::new(false);
        let agent = move |task: &Task| {
            let is_now = is_now.load(Ordering::SeqCst);
            if is_now && task.id() == "q005" {
                // The order in which threads ask is undefined.
                until("q000 is answered", || answered.load(Ordering::SeqCst));
            }
            match (task.id(), &*way) {
                ("q000", _) if is_now => {
                    answered.store(true, Ordering::SeqCst);
                    return answer(task, false);
                }
                ("q005", "interrupted") if is_now => all.cancel(),
                ("q005", "fail_fast") if is_now => return Err(AgentError::new("gone")),
                _ => {}
            }
            while is_now && task.id() > "q005" {
                if task.is_cancelled() {
                    return Err(AgentError::of(FailureKind::Cancelled, "cancelled"));
                }
                std::thread::sleep(Duration::from_millis(2));
            }
            answer(task, true)
        };
        let mut eval = eval_in(&folder, 30, agent).gate(Gate::no_regression());
        accept(&eval);
        now.store(true, Ordering::SeqCst);
        eval.limits.fail_fast = how == "fail_fast";
        let tests = Tests {
            threads,
            cancel,
            ..Tests::default()
        };
        let verdicts = tests.run(&[eval]);
        let failed = failed(&verdicts);
        let of = |name: &str| {
            failed
                .iter()
                .find(|(test, _)| test.ends_with(name))
                .unwrap()
                .1
        };
        let flip = of("q000");
        assert!(
            flip.starts_with("infrastructure: the run stopped before a gate could decide"),
            "{flip}"
        );
        assert!(flip.contains("was correct in the baseline and is wrong now"));
        assert!(
            of("q029").starts_with("infrastructure: not asked: "),
            "{}",
            of("q029")
        );
        let gate = of("no_regression");
        assert!(
            gate.starts_with("infrastructure: the run stopped: "),
            "{gate}"
        );
        assert!(gate.contains(how), "{gate}");
        for (name, message) in &failed {
            assert!(message.starts_with("infrastructure: "), "{name}: {message}");
        }
        assert!(failed.len() >= 24, "{failed:#?}");
    };
    for threads in [1, 2, 64] {
        check("interrupted", threads);
        check("fail_fast", threads);
    }
}

#[test]
fn agents_in_flight_are_bounded_over_all_evals() {
    let (now, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let expect = Arc::new(AtomicUsize::new(0));
    let folders = [(); 3].map(|()| tempfile::tempdir().unwrap());
    let evals = folders.iter().zip(["a", "b", "c"]).map(|(folder, name)| {
        let (now, most, expect) = (Arc::clone(&now), Arc::clone(&most), Arc::clone(&expect));
        let agent = move |task: &Task| {
            most.fetch_max(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
            until("as many are in flight as may be", || {
                most.load(Ordering::SeqCst) >= expect.load(Ordering::SeqCst)
            });
            std::thread::sleep(Duration::from_millis(5));
            now.fetch_sub(1, Ordering::SeqCst);
            answer(task, true)
        };
        eval_in(folder, 9, agent).named(name)
    });
    let evals: Vec<_> = evals.collect();
    for threads in [1, 2, 5] {
        most.store(0, Ordering::SeqCst);
        expect.store(threads, Ordering::SeqCst);
        let tests = Tests {
            threads,
            shuffle: Some(1),
            ..Tests::default()
        };
        assert_eq!(failed(&tests.run(&evals)).len(), 0);
        assert_eq!(most.load(Ordering::SeqCst), threads);
    }
}
