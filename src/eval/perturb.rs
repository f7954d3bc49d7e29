//! Perturbed questions: a sample as it is asked once more. A function of seed, kind and sample alone.

mod options;
mod words;

use serde_json::Value;

use crate::data::Sample;
use crate::data::conversation::{SCRIPT, Script};
use crate::data::record::perturb::{Perturb, PerturbKind, ToolFault};
use crate::text::hash::Hasher;
use words::Truths;

/// Sentences that no question is about: without digits and names.
const SENTENCES: [&str; 12] = [
    "The weather was pleasant this morning.",
    "Somebody left an umbrella near the door.",
    "The kitchen smells of fresh bread.",
    "A neighbour is painting the fence again.",
    "The train was a little late today.",
    "There is a new plant on the windowsill.",
    "The coffee machine makes an odd noise.",
    "Someone is practising the piano upstairs.",
    "The garden needs some rain soon.",
    "The bicycle still has a flat tyre.",
    "The library closes early this week.",
    "The soup needed a bit more salt.",
];

/// In how many turns of a simulated user a call may fail: nobody knows how many there will be.
const TURNS_OF_USER: usize = 2;

/// A source of draws, by SHA-256.
pub(super) struct Draws {
    base: Vec<u8>,
    count: u64,
}

impl Draws {
    fn of(seed: u64, kind: PerturbKind, id: &str, part: usize) -> Self {
        let base = Hasher::default()
            .part(seed.to_le_bytes())
            .part(kind.as_str())
            .part(id)
            .part((part as u64).to_le_bytes());
        Self {
            base: base.digest().to_vec(),
            count: 0,
        }
    }

    /// A number below `end`, which is not 0.
    fn below(&mut self, end: usize) -> usize {
        let hash = Hasher::default()
            .part(&self.base)
            .part(self.count.to_le_bytes());
        self.count += 1;
        let drawn = u64::from_be_bytes(hash.first_bytes()) % (end.max(1) as u64);
        usize::try_from(drawn).unwrap_or_default()
    }
}

/// Perturbs a question; whether that changed anything. Calls of tools are perturbed while they are made, see [`fault`].
pub(crate) fn perturb(sample: &mut Sample, how: &Perturb, kind: PerturbKind) -> bool {
    let draws = |part: usize| Draws::of(how.seed, kind, &sample.id, part);
    if let Some(script) = Script::of(sample) {
        let changed = of_script(&script, sample, how, kind, &draws);
        return changed.is_some_and(|changed| put_script(sample, &script, &changed));
    }
    let question = asked(sample).to_owned();
    let truths = Truths::of(sample.target.iter().map(|target| &target.0));
    let changed = match kind {
        PerturbKind::Typos => words::with_typos(&question, &truths, how.rate, &mut draws(0)),
        PerturbKind::IrrelevantContext => with_context(&question, &truths, &mut draws(0)),
        PerturbKind::ReorderedOptions => options::reorder(sample, &question, &mut draws(0)),
        PerturbKind::ToolError | PerturbKind::ToolTimeout => None,
    };
    changed.is_some_and(|changed| {
        put(sample, &question, &changed);
        true
    })
}

/// The call that fails in a conversation; `None` if the kind is about something else.
pub(crate) fn fault(sample: &Sample, how: &Perturb, kind: PerturbKind) -> Option<ToolFault> {
    let message = match kind {
        PerturbKind::ToolError => "error: the tool failed, and may work when it is called again",
        PerturbKind::ToolTimeout => "error: the call took too long and was ended",
        _ => return None,
    };
    let script = Script::of(sample)?;
    let turns = match script.turns.len() {
        0 => TURNS_OF_USER,
        turns => turns,
    };
    let turn = Draws::of(how.seed, kind, &sample.id, 0).below(turns);
    Some(ToolFault {
        turn: u32::try_from(turn).ok()? + 1,
        message,
    })
}

/// The messages of a sample that is asked with its own, if it has them.
fn messages(sample: &mut Sample) -> Option<&mut Vec<Value>> {
    sample.metadata.get_mut("messages")?.as_array_mut()
}

/// The text that is perturbed: what the user says last, or the whole question.
fn asked(sample: &Sample) -> &str {
    let messages = sample.metadata.get("messages").and_then(Value::as_array);
    let of_user = |message: &&Value| message["role"] == "user";
    let last = messages.and_then(|messages| messages.iter().rev().find(of_user));
    let last = last.and_then(|message| message["content"].as_str());
    last.unwrap_or(&sample.prompt)
}

/// Puts another text where the question stood.
fn put(sample: &mut Sample, question: &str, changed: &str) {
    sample.prompt = match sample.prompt.rsplit_once(question) {
        Some((before, after)) if !question.is_empty() => format!("{before}{changed}{after}"),
        _ => sample.prompt.clone(),
    };
    let last = messages(sample).and_then(|messages| {
        let mut messages = messages.iter_mut().rev();
        messages.find(|message| message["role"] == "user" && message["content"] == question)
    });
    if let Some(last) = last {
        last["content"] = changed.into();
    }
}

/// What the user of a conversation says instead.
fn of_script(
    script: &Script,
    sample: &Sample,
    how: &Perturb,
    kind: PerturbKind,
    draws: &dyn Fn(usize) -> Draws,
) -> Option<Script> {
    let truths = script
        .turns
        .iter()
        .filter_map(|turn| turn.ground_truth.as_ref());
    let truths = truths.chain(sample.target.iter().map(|target| &target.0));
    let truths = Truths::of(truths);
    let mut changed = script.clone();
    for (place, turn) in changed.turns.iter_mut().enumerate() {
        let text = match kind {
            PerturbKind::Typos => {
                words::with_typos(&turn.user, &truths, how.rate, &mut draws(place))
            }
            PerturbKind::IrrelevantContext if place == 0 => {
                with_context(&turn.user, &truths, &mut draws(0))
            }
            _ => None,
        };
        turn.user = text.unwrap_or_else(|| std::mem::take(&mut turn.user));
    }
    (changed != *script).then_some(changed)
}

fn put_script(sample: &mut Sample, script: &Script, changed: &Script) -> bool {
    let Ok(value) = serde_json::to_value(changed) else {
        return false;
    };
    if sample.prompt == script.question() {
        sample.prompt = changed.question();
    }
    sample.metadata.insert(SCRIPT.to_owned(), value);
    true
}

/// A sentence before the question, which has no word of the ground truth.
fn with_context(question: &str, truths: &Truths, draws: &mut Draws) -> Option<String> {
    let first = draws.below(SENTENCES.len());
    let sentences = SENTENCES.iter().cycle().skip(first).take(SENTENCES.len());
    let mut fit = sentences.filter(|sentence| !truths.has_word_of(sentence));
    let sentence = fit.next().filter(|_| !question.trim().is_empty())?;
    Some(format!("{sentence} {question}"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn how(rate: f64) -> Perturb {
        Perturb::new(7, PerturbKind::ALL).rate(rate)
    }

    #[track_caller]
    fn perturbed(sample: &Sample, kind: PerturbKind) -> Option<Sample> {
        let mut changed = sample.clone();
        let is_changed = perturb(&mut changed, &how(0.1), kind);
        assert_eq!(is_changed, format!("{changed:?}") != format!("{sample:?}"));
        let mut again = sample.clone();
        perturb(&mut again, &how(0.1), kind);
        assert_eq!(format!("{again:?}"), format!("{changed:?}"));
        is_changed.then_some(changed)
    }

    #[test]
    fn a_sentence_stands_before_the_question() {
        let sample = Sample::new("a", "What is the capital of France?").target("Paris");
        let changed = perturbed(&sample, PerturbKind::IrrelevantContext).unwrap();
        let sentence = changed
            .prompt
            .strip_suffix(" What is the capital of France?")
            .unwrap();
        assert!(SENTENCES.contains(&sentence));
        for sentence in SENTENCES {
            assert!(sentence.is_ascii() && !sentence.contains(|c: char| c.is_ascii_digit()));
            // Names would have capitals within the sentence.
            assert!(!sentence[1..].contains(|c: char| c.is_uppercase()));
        }
        // None is left that has no word of the truth.
        let all = Sample::new("a", "What?").target(SENTENCES.join(" ").as_str());
        assert!(perturbed(&all, PerturbKind::IrrelevantContext).is_none());
        assert!(perturbed(&sample, PerturbKind::ToolError).is_none());
    }

    #[test]
    fn the_question_alone_is_perturbed_wherever_it_stands() {
        let mut sample = Sample::new("a", "Instructions remain. Question: Calculate something");
        sample.metadata.insert(
            "messages".to_owned(),
            json!([{"role": "system", "content": "Calculate"}, {"role": "user", "content": "Calculate something"}]),
        );
        let changed = perturbed(&sample, PerturbKind::Typos).unwrap();
        let last = changed.metadata["messages"][1]["content"].as_str().unwrap();
        assert_ne!(last, "Calculate something");
        assert_eq!(
            changed.prompt,
            format!("Instructions remain. Question: {last}")
        );
        assert_eq!(changed.metadata["messages"][0]["content"], "Calculate");
    }

    #[test]
    fn turns_of_a_conversation_are_perturbed_and_one_call_fails() {
        let script = json!({"turns": [{"user": "Please remember something"}, {"user": "Hi", "ground_truth": "other"},
            {"user": "Repeat another thing"}]});
        let mut sample = Sample::new(
            "a",
            "Please remember something\n\nHi\n\nRepeat another thing",
        );
        sample.metadata.insert(SCRIPT.to_owned(), script);
        let changed = perturbed(&sample, PerturbKind::Typos).unwrap();
        let turns = Script::of(&changed).unwrap().turns;
        assert_ne!(turns[0].user, "Please remember something");
        assert_eq!(turns[1].user, "Hi");
        assert_eq!(changed.prompt, Script::of(&changed).unwrap().question());
        let changed = perturbed(&sample, PerturbKind::IrrelevantContext).unwrap();
        let turns = Script::of(&changed).unwrap().turns;
        assert!(turns[0].user.ends_with(" Please remember something"));
        assert_eq!(turns[2].user, "Repeat another thing");
        assert!(perturbed(&sample, PerturbKind::ReorderedOptions).is_none());
        let turns: std::collections::BTreeSet<u32> = (0..40)
            .map(|id| {
                let sample = Sample {
                    id: id.to_string(),
                    ..sample.clone()
                };
                fault(&sample, &how(0.1), PerturbKind::ToolError)
                    .unwrap()
                    .turn
            })
            .collect();
        assert_eq!(turns.into_iter().collect::<Vec<_>>(), [1, 2, 3]);
        assert_eq!(fault(&sample, &how(0.1), PerturbKind::Typos), None);
        assert_eq!(
            fault(&Sample::new("a", "?"), &how(0.1), PerturbKind::ToolError),
            None
        );
    }
}
