//! What the reports of a flow say, as the blocks that Markdown and HTML render.
//!
//! The comprehensive report has seven sections, those of a single stage the same parts of that stage. A stage without figures
//! says so and why: there is no empty table, and no figure that nobody measured.

mod basics;
mod closing;
mod compared;
mod generated;
mod judged;
mod reviewed;
pub(super) mod words;

use super::figures::{FlowFigures, FlowStage, StageFigures};
use super::sentences::findings;
use crate::report::document::{Document, Line};

/// The report of a whole flow.
pub(crate) fn comprehensive(figures: &FlowFigures) -> Document {
    let found = findings(figures);
    let name = &figures.basics.name;
    let mut text = Document::new(format!("{name}: generated items, judged and compared"));
    text.section("1. Basic information");
    basics::basics(figures, &mut text);
    text.section("2. Generation");
    part(&figures.generation, &mut text, generated::generated);
    text.section("3. Judge");
    part(&figures.judge, &mut text, judged::judged);
    if let Some(reviewed) = &figures.reviewed {
        reviewed::reviewed(reviewed, &mut text);
    }
    text.section("4. Win rate against real items");
    part(&figures.winrate, &mut text, compared::compared);
    text.section("5. Conclusion");
    closing::conclusion(figures, &found, &mut text);
    text.section("6. Suggestions");
    closing::suggestions(figures, &found, &mut text);
    text.section("7. Next steps");
    closing::next_steps(figures, &mut text);
    text
}

/// The report of the judge alone.
pub(crate) fn of_judge(figures: &FlowFigures) -> Document {
    let name = &figures.basics.name;
    let only = FlowFigures {
        generation: StageFigures::default(),
        winrate: StageFigures::default(),
        ..figures.clone()
    };
    let mut text = Document::new(format!("{name}: generated items before a judge"));
    single(FlowStage::Judge, &only, &mut text, |text| {
        part(&figures.judge, text, judged::judged);
    });
    text
}

/// The report of the win rate alone.
pub(crate) fn of_winrate(figures: &FlowFigures) -> Document {
    let name = &figures.basics.name;
    let only = FlowFigures {
        generation: StageFigures::default(),
        judge: StageFigures::default(),
        ..figures.clone()
    };
    let mut text = Document::new(format!("{name}: generated items beside real ones"));
    single(FlowStage::Winrate, &only, &mut text, |text| {
        part(&figures.winrate, text, compared::compared);
    });
    text
}

/// What stands around the part of a single stage.
fn single(
    stage: FlowStage,
    figures: &FlowFigures,
    text: &mut Document,
    write: impl FnOnce(&mut Document),
) {
    let mut figures = figures.clone();
    figures.reviewed = None;
    figures.gates.retain(|gate| gate.stage == stage);
    figures.costs.retain(|cost| cost.stage == stage);
    let found = findings(&figures);
    text.section("Basic information");
    basics::basics(&figures, text);
    text.section("Figures");
    write(text);
    text.section("Conclusion");
    closing::conclusion(&figures, &found, text);
    text.section("Suggestions");
    closing::suggestions(&figures, &found, text);
}

/// A section of a stage, or why there is nothing in it.
fn part<T>(stage: &StageFigures<T>, text: &mut Document, write: fn(&T, &mut Document)) {
    match stage {
        StageFigures::Found(figures) => write(figures, text),
        StageFigures::Failed(why) => text.note(
            Line::default()
                .strong("This stage failed, so there are no figures:")
                .plain(" ")
                .marked(why),
        ),
        StageFigures::LeftOut(why) => {
            text.paragraph(Line::default().plain("Not run: ").marked(why));
        }
    }
}
