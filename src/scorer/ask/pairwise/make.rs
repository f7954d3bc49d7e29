//! Makes `pairwise` from a spec.

use std::sync::Arc;

use super::super::pairwise;
use super::pairs::Draw;
use super::{NAME, Pairwise, against};
use crate::error::{Error, Result};
use crate::scorer::ask::judge::make::{
    AGENT, CALIBRATION, REQUESTS_PER_MINUTE, RETRIES, TIMEOUT_S, TOKENS_PER_MINUTE, calibration,
    model, named_agent,
};
use crate::scorer::ask::judge::sees::{self, Sees};
use crate::scorer::{Entry, Example, OptionReader, Scorer};

pub(crate) const ENTRY: Entry = Entry {
    name: NAME,
    summary: "a model says which of two answers is better, each pair in both orders: against another run, a file of answers \
              or the samples of a benchmark",
    rule: include_str!("../pairwise.md"),
    options: &[
        AGENT,
        (
            "criteria",
            "what makes one text better than another, in words; by default which does better what was asked",
        ),
        (
            "against",
            "what answers are compared with: `{ run: RUN_DIR }`, `{ path: FILE }` of lines with `id` and `answer`, or \
             `{ benchmark: …, text: ground_truth | prompt | item | a field }`",
        ),
        (
            "pairs",
            "how many items are compared, sampled at random without replacement; all by default",
        ),
        ("seed", "what the lot is drawn with; 0 by default"),
        (
            "sees",
            "what the judge sees in addition to the two texts: `prompt`, `ground_truth`, `files`, fields of the item; \
             `[prompt]` by default, and nothing with references that are drawn or with items",
        ),
        CALIBRATION,
        RETRIES,
        TIMEOUT_S,
        REQUESTS_PER_MINUTE,
        TOKENS_PER_MINUTE,
    ],
    examples: &[
        Example {
            options: r#"{ criteria: Which names a capital?,
                against: { benchmark: { type: custom, samples: [{ id: a, prompt: Lyon }] } },
                agent: { type: command, command: [sh, -c, 'sed -n "/^<<<BEGIN first/,/^<<<END first/p" | grep -q Paris && echo "VERDICT: first" || echo "VERDICT: second"'] } }"#,
            prediction: "Paris",
            ground_truth: "Paris",
            correct: true,
            note: "better in both orders: a win",
        },
        Example {
            options: r#"{ criteria: Which names a capital?,
                against: { benchmark: { type: custom, samples: [{ id: a, prompt: Lyon }] } },
                agent: { type: command, command: [sh, -c, 'cat > /dev/null; echo "VERDICT: first"'] } }"#,
            prediction: "Paris",
            ground_truth: "Paris",
            correct: false,
            note: "a judge that always says `first` is inconsistent: half a win",
        },
    ],
    make,
};

fn make(options: &OptionReader<'_>) -> Result<Arc<dyn Scorer>> {
    let agent = named_agent(options)?;
    let text = options.text("criteria")?;
    if text.is_some_and(|text| text.trim().is_empty()) {
        let error = options.of("criteria", Error::usage("it is empty"));
        return Err(error.hint("write what makes one answer better: `criteria: Which is clearer?`"));
    }
    let pairs = options.read("pairs", "a whole number from 1 on", |value| {
        value.as_u64().filter(|pairs| *pairs > 0)
    });
    let pairs = pairs.map_err(|error| error.hint("write how many, such as `pairs: 20`"))?;
    let seed = options.count("seed");
    let seed = seed.map_err(|error| error.hint("write a number, such as `seed: 7`"))?;
    let grading = pairwise::grading(text);
    let sees = sees(options)?;
    let references = against::references(options)?;
    let model = model(options, agent)?;
    let draw = Draw {
        pairs,
        seed: seed.unwrap_or_default(),
    };
    let mut pairwise = Pairwise::of(model, grading, references, draw);
    pairwise.has_criteria = text.is_some();
    pairwise.sees = sees;
    pairwise.is_of_items = options.maker().item_parts().is_some();
    pairwise.calibration = calibration(options)?;
    Ok(Arc::new(pairwise))
}

/// What the judge sees besides the two texts, if set.
fn sees(options: &OptionReader<'_>) -> Result<Option<Sees>> {
    let names = options
        .texts(sees::KEY)
        .map_err(|error| error.hint("write a list of names: `sees: [prompt, ground_truth]`"))?;
    let Some(names) = names else {
        return Ok(None);
    };
    if names.contains(&"prediction") {
        let error = Error::usage("both texts are always shown");
        let error = error.hint("leave `prediction` out of `sees`");
        return Err(options.of(sees::KEY, error));
    }
    let sees = Sees::named(names).map_err(|error| options.of(sees::KEY, error))?;
    Ok(Some(sees))
}
