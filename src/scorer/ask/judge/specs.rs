//! Minimal specs with a judge: one for each built-in rubric, and for custom ones.

use super::rubric::ready::READY;
use crate::scorer::SmallSpec;

/// The agent, and the judging model: only the addresses need to be changed.
const SPEC_HEAD: &str = r#"agent: { type: openai, base_url: "http://127.0.0.1:8102/v1", model: mine }
scorers:
  - type: judge
    agent: { type: openai, base_url: "http://127.0.0.1:8102/v1", model: judge, temperature: 0 }
"#;

/// A matching question for each built-in rubric.
const QUESTIONS: [(&str, &str); 5] = [
    (
        "aime",
        "{ id: tiles, prompt: Write an AIME problem about tiles and its solution. }",
    ),
    (
        "qa",
        "{ id: sky, prompt: Why is the sky blue?, ground_truth: Air scatters blue light more than red. }",
    ),
    (
        "code",
        "{ id: mean, prompt: \"Write `mean(xs)` in Python, which gives None for an empty list.\" }",
    ),
    (
        "creative_writing",
        "{ id: bee, prompt: Write a haiku about a bee. }",
    ),
    (
        "technical_docs",
        "{ id: cron, prompt: Explain how to run a script every night with cron. }",
    ),
];

/// A question for custom rubrics.
const LETTER: &str = "{ id: refund, prompt: Answer a customer who asks for a refund. }";

/// All specs, in recommended order.
pub(crate) fn all() -> Vec<SmallSpec> {
    let ready = READY.iter().map(|ready| {
        let questions = QUESTIONS.iter().find(|(name, _)| *name == ready.name);
        let question = questions.map_or(LETTER, |(_, question)| question);
        let rest = format!("    rubric: {}\n", ready.name);
        spec(ready.name, ready.summary, question, &rest)
    });
    let file = SmallSpec {
        file: Some((
            "../tone.yaml",
            "dimensions: [{ name: tone, description: Is it friendly and to the point? }]\n",
        )),
        ..spec(
            "a rubric in a file",
            "the same, for several evals: not below `evals/`, where each file is an eval",
            LETTER,
            "    rubric: ../tone.yaml\n",
        )
    };
    ready
        .chain([
            spec(
                "a rubric of your own",
                "other qualities of a text, from 1 to 5 points in each dimension",
                LETTER,
                "    rubric: { dimensions: [{ name: tone, description: Is it friendly and to the point? }] }\n",
            ),
            file,
            spec(
                "choices",
                "a verdict in one word, each with its value; there are no points to fall between",
                LETTER,
                "    choices: { solved: 1, polite: 0.5, rude: 0 }\n",
            ),
        ])
        .collect()
}

fn spec(name: &'static str, summary: &'static str, question: &str, rest: &str) -> SmallSpec {
    SmallSpec {
        name,
        summary,
        text: format!("benchmark: {{ type: custom, samples: [{question}] }}\n{SPEC_HEAD}{rest}"),
        file: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_ready_rubric_has_a_question_of_its_kind() {
        let questions: Vec<_> = QUESTIONS.iter().map(|(name, _)| *name).collect();
        let ready: Vec<_> = READY.iter().map(|ready| ready.name).collect();
        assert_eq!(questions, ready);
    }
}
