//! What is said of a flow: what it is made of, and what came of it.

use std::io::{self, Write};
use std::path::Path;

use evaltest::Verdict;
use evaltest::engine::figure::{Interval, Scale, Share};
use evaltest::engine::flow::{
    CountedShare, FlowEnd, FlowFigures, FlowPlan, FlowState, PointMean, StageFigures,
};
use evaltest::engine::system::project::shown;
use evaltest::engine::text::{clean, shell_word};
use serde_json::Value;

/// What the flow is made of.
pub(super) fn begin(state: &FlowState, folder: &Path, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "flow {}", clean(&state.name))?;
    configuration(&state.configuration, out)?;
    writeln!(out, "  folder: {}", clean(&shown(folder)))
}

/// What it would ask.
pub(super) fn counts(plan: &FlowPlan, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "flow {}", clean(plan.name()))?;
    configuration(&plan.configuration(), out)?;
    let [(_, items), (_, judged), (_, pairs)] = plan.counts();
    writeln!(
        out,
        "  at most {items} items are generated, {judged} judged and {pairs} pairs compared, each in both orders; nothing was \
         asked"
    )
}

fn configuration(of: &Value, out: &mut dyn Write) -> io::Result<()> {
    let line = |value: &Value| clean(&value.to_string());
    writeln!(out, "  generator: {}", line(&of["agent"]))?;
    writeln!(out, "  judge: {}", line(&of["judge"]["agent"]))?;
    let reference = of["generate"]["reference"].as_str();
    writeln!(out, "  real items: {}", clean(reference.unwrap_or("none")))?;
    writeln!(out, "  items: {}", line(&of["generate"]["count"]))?;
    let gates = of["gates"].as_array().into_iter().flatten();
    let gates: Vec<_> = gates.filter_map(Value::as_str).map(clean).collect();
    writeln!(out, "  gates: {}", gates.join(", "))
}

/// What came of it.
pub(super) fn end(ended: &FlowEnd, out: &mut dyn Write) -> io::Result<()> {
    let state = &ended.state;
    writeln!(out, "\nstages")?;
    for stage in &state.stages {
        let why = stage.why.as_deref();
        let why = why.map_or_else(String::new, |why| format!(": {}", clean(why)));
        writeln!(
            out,
            "  {}: {}{why}",
            stage.stage.as_str(),
            stage.status.as_str()
        )?;
    }
    let Some(of) = &state.figures else {
        return Ok(());
    };
    writeln!(out, "\nfigures")?;
    figures(of, out)?;
    let gates = of.gates.iter();
    let gates = gates.filter(|gate| !gate.default || gate.verdict != Verdict::Passed);
    for gate in gates {
        let told = clean(&gate.told());
        let stage = gate.stage.as_str();
        writeln!(out, "  gate {}, {stage}: {told}", gate.verdict.as_str())?;
    }
    writeln!(out, "\nfiles in {}", clean(&shown(&ended.folder)))?;
    for file in &state.files {
        writeln!(out, "  {}", clean(file))?;
    }
    writeln!(out, "\nnext")?;
    next(of, out)
}

fn figures(of: &FlowFigures, out: &mut dyn Write) -> io::Result<()> {
    if let StageFigures::Found(items) = &of.generation {
        let refused = match items.refused {
            1 => "1 reply".to_owned(),
            refused => format!("{refused} replies"),
        };
        writeln!(
            out,
            "  generated: {} of {} items accepted, {refused} refused",
            items.accepted, items.asked
        )?;
    }
    if let StageFigures::Found(judged) = &of.judge {
        let unread = match judged.unread {
            0 => String::new(),
            unread => format!(", {unread} not judged"),
        };
        writeln!(
            out,
            "  judge: mean {}, {} pass, {} excellent{unread}",
            mean_points(&judged.total),
            share(&judged.pass),
            share(&judged.excellent)
        )?;
        writeln!(out, "  judge: {}", clean(&judged.worth.told))?;
    }
    if let StageFigures::Found(compared) = &of.winrate {
        let pairs = &compared.pairs;
        writeln!(
            out,
            "  against real items: wins {}, ties {}, losses {}, inconsistent {}, unreadable {}; {} are won",
            pairs.wins,
            pairs.ties,
            pairs.losses,
            pairs.inconsistent,
            pairs.unreadable,
            share(&compared.share(pairs.wins))
        )?;
    }
    if let Some(reviewed) = &of.reviewed {
        writeln!(
            out,
            "  people: {} reviewed, {} approved",
            share(&reviewed.reviewed),
            share(&reviewed.approved)
        )?;
    }
    Ok(())
}

/// What to type next.
fn next(of: &FlowFigures, out: &mut dyn Write) -> io::Result<()> {
    let places = &of.basics.places;
    let made = of.generation.found();
    let failed = of.judge.failure().is_some()
        || of.winrate.failure().is_some()
        || made.is_some_and(|made| made.failure.is_some());
    if failed {
        let folder = shell_word(&places.folder);
        writeln!(out, "  cargo evaltest flow --resume {folder}")?;
    }
    let accepted = of.generation.found().map_or(0, |items| items.accepted);
    if let Some(items) = places.items.as_deref().filter(|_| accepted > 0) {
        writeln!(out, "  cargo evaltest review {}", shell_word(items))?;
    }
    let runs = [&places.judge, &places.generation];
    if let Some(run) = runs.into_iter().flatten().next() {
        writeln!(out, "  cargo evaltest show {}", shell_word(run))?;
    }
    Ok(())
}

/// `62.2 % (95 % confidence interval 51.2 % to 72.0 %)`, of how many.
fn share(of: &CountedShare) -> String {
    let share = of.share.zip(of.ci95);
    share.map_or_else(
        || "none".to_owned(),
        |(share, ci95)| Share(share).with_ci95(ci95),
    )
}

/// `4.20 (95 % confidence interval 3.95 to 4.45)`.
fn mean_points(of: &PointMean) -> String {
    match (of.mean, of.ci95) {
        (Some(mean), Some(ci95)) => {
            let ci95 = Interval(ci95.map(|end| Scale(end, 2))).ci95();
            format!("{} ({ci95})", Scale(mean, 2))
        }
        (Some(mean), None) => Scale(mean, 2).to_string(),
        _ => "none".to_owned(),
    }
}
