//! `ReviewServed`: the HTTP API of the review page.

use std::sync::Arc;

use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::items::JudgeSeen;
use super::store::{CurrentReview, ReviewOutcome, ReviewWord, SeenItem};
use super::{Review, math};
use crate::data::reviews::{POINTS, ReviewStatus, Verification};
use crate::error::Result;
use crate::report::render::html::page::hash;
use crate::serve::{Served, ServedAnswer, ServedPage, ServedRequest};
use crate::system::project::display;

/// The most bytes of a text to display.
const MAX_BYTES: usize = 64 << 10;
/// The most bytes of a comment.
const COMMENT: usize = 64 << 10;

/// The most bytes of an expected answer.
const ANSWER: usize = 64 << 10;

/// A review served on this machine.
#[derive(Clone, Debug)]
pub struct ReviewServed(pub Arc<Review>);

/// The body of a request to submit or undo a review.
#[derive(Debug, Deserialize)]
struct SentWord {
    id: String,
    version: u64,
    #[serde(default)]
    scores: Map<String, Value>,
    #[serde(default)]
    status: Option<String>,
    #[serde(default)]
    comments: String,
    /// The expected answer, of a question.
    #[serde(default)]
    answer: String,
}

impl Served for ReviewServed {
    fn page(&self) -> ServedPage {
        page()
    }

    fn answer(&self, request: &ServedRequest) -> ServedAnswer {
        let review = &*self.0;
        let answer = match (&*request.method, &*request.path) {
            ("GET", "/state") => review.state(),
            ("GET", "/item") => review.item_at(&request.query),
            ("POST", "/submit" | "/undo") => {
                let kind = request.header("content-type").unwrap_or_default();
                let kind = kind.split(';').next().unwrap_or_default().trim();
                if !kind.eq_ignore_ascii_case("application/json") {
                    let why = "send JSON, as `application/json`";
                    return ServedAnswer::refused(415, why);
                }
                review.submission(request)
            }
            _ => return ServedAnswer::refused(404, "not found"),
        };
        answer.unwrap_or_else(|error| ServedAnswer::refused(500, &error.on_one_line()))
    }
}

impl Review {
    fn state(&self) -> Result<ServedAnswer> {
        self.store.reload()?;
        let items = self.order.iter().map(|place| {
            let listed = self.items.listed(*place);
            let mut item = json!({"id": listed.id, "reviewed": self.store.has_mine(&listed.id)});
            if let Some(slice) = &listed.slice {
                item["slice"] = slice.as_str().into();
            }
            if let Some(tag) = &listed.tag {
                item["tag"] = tag.as_str().into();
            }
            item
        });
        let items: Vec<Value> = items.collect();
        let mut state = json!({
            "title": format!("Review of {}", self.items.source()),
            "source": self.items.source(),
            "kind": self.items.kind(),
            "rubric": {"dimensions": self.dimensions},
            "statuses": ReviewStatus::ALL,
            "reviewer": self.store.reviewer(),
            "reviewed": self.reviewed(),
            "count": self.count(),
            "asks_answers": self.items.questions().is_some(),
            "chosen": self.chosen,
            "saved_to": self.saved_to(),
            "items": items,
        });
        if let Some(seed) = self.seed {
            state["seed"] = seed.into();
        }
        Ok(fine(&state))
    }

    /// An item with long texts truncated; with `&whole=PLACE`, one of its texts in full.
    fn item_at(&self, query: &str) -> Result<ServedAnswer> {
        let (index, whole) = match query.split_once("&whole=") {
            Some((index, whole)) => (index, Some(whole)),
            None => (query, None),
        };
        let index = index.strip_prefix("index=");
        let index = index.and_then(|index| index.parse::<usize>().ok());
        let place = index.and_then(|index| Some((index, *self.order.get(index)?)));
        let Some((index, place)) = place else {
            return Ok(ServedAnswer::refused(404, "no such item"));
        };
        // Another program of this reviewer may have written since. Errors in what it wrote are reported on the next
        // write.
        let _ = self.store.reload();
        let item = self.items.item(place)?;
        let id = self.items.id(place);
        let current = self.store.current(id);
        let later = item.later.iter().filter(|_| current.mine.is_some());
        let facts = item.facts.iter().chain(later);
        if let Some(whole) = whole {
            let mut texts = item.fields.iter().chain(facts);
            let text = whole.parse().ok().and_then(|place| texts.nth(place));
            return Ok(match text {
                Some((_, text)) => fine(&json!({"text": text, "parts": math::parts(text)})),
                None => ServedAnswer::refused(404, "the item has no such text"),
            });
        }
        let fields = item.fields.iter().map(|(name, text)| field(name, text));
        let facts = facts.map(|(name, text)| fact(name, text));
        Ok(fine(&json!({
            "id": id,
            "index": index,
            "version": current.version,
            "fields": fields.collect::<Vec<_>>(),
            "mine": current.mine.as_ref().map(mine),
            "changed": self.is_changed(place),
            "others": current.others.len(),
            "judge": current.mine.as_ref().and(item.judge.as_ref()).map(|judge| self.judge(judge)),
            "facts": facts.collect::<Vec<_>>(),
        })))
    }

    /// Submits or undoes a review.
    fn submission(&self, request: &ServedRequest) -> Result<ServedAnswer> {
        let refused = |why: &str| Ok(ServedAnswer::refused(400, why));
        let sent: SentWord = match serde_json::from_slice(&request.body) {
            Ok(sent) => sent,
            Err(error) => return refused(&format!("this is not a review: {error}")),
        };
        let known = self.order.iter();
        let mut known = known.filter(|place| self.items.id(**place) == sent.id);
        let Some(&place) = known.next() else {
            return refused("no such item");
        };
        let hash = self.items.hash(place);
        let item = SeenItem {
            id: self.items.id(place),
            hash: &hash,
            chosen: self.chosen,
            seed: self.seed,
            version: sent.version,
        };
        let done = if request.path == "/undo" {
            self.store.undo(&item)?
        } else {
            match self.word(&sent) {
                Ok(word) => self.store.submit(&item, word)?,
                Err(why) => return refused(&why),
            }
        };
        let undone = (request.path == "/undo").then_some(&*sent.id);
        let done = match done {
            ReviewOutcome::Saved => match self.fill_in(undone) {
                Ok(()) => ReviewOutcome::Saved,
                Err(error) => ReviewOutcome::Journaled(error),
            },
            other => other,
        };
        let current = self.store.current(&sent.id);
        Ok(match done {
            ReviewOutcome::Saved => fine(&self.saved(place, &current)),
            ReviewOutcome::Journaled(error) => {
                let mut saved = self.saved(place, &current);
                saved["saved_to"] = display(&self.store.journal()).into();
                saved["warning"] = error.on_one_line().into();
                fine(&saved)
            }
            ReviewOutcome::Stale => {
                let message = json!({
                    "error": "another window changed this review meanwhile: both are kept, and yours counts if you send it again",
                    "version": current.version,
                    "mine": current.mine.as_ref().map(mine),
                });
                ServedAnswer {
                    status: 409,
                    ..fine(&message)
                }
            }
        })
    }

    /// A judge's score, limited to the dimensions that people score.
    fn judge(&self, judge: &JudgeSeen) -> Value {
        let scores = self.dimensions.iter().filter_map(|dimension| {
            let points = judge.numbers.get(&dimension.name)?;
            Some((dimension.name.clone(), json!(points)))
        });
        let scores: Map<String, Value> = scores.collect();
        json!({"name": judge.name, "scores": scores, "total": judge.total})
    }

    fn saved(&self, place: usize, current: &CurrentReview) -> Value {
        let others = current.others.iter().map(|other| {
            json!({"reviewer": other.reviewer, "status": other.status, "scores": other.scores})
        });
        let others: Vec<Value> = others.collect();
        let own = current.mine.as_ref();
        let agreement = own.filter(|_| !others.is_empty()).map(|own| {
            let same = current.others.iter().all(|one| one.status == own.status);
            json!({"others": others, "same_status": same})
        });
        // After an undo the judge's score is hidden again. The review is saved even if the item can no longer be read;
        // that error is reported when the item is displayed.
        let item = own.and_then(|_| self.items.item(place).ok());
        let judge = item.and_then(|item| item.judge);
        json!({
            "version": current.version,
            "reviewed": self.reviewed(),
            "count": self.count(),
            "saved_to": display(&self.store.places().verifications),
            "mine": own.map(mine),
            "judge": judge.as_ref().map(|judge| self.judge(judge)),
            "agreement": agreement,
        })
    }

    /// Validates a request: it must have every score and the status.
    fn word(&self, sent: &SentWord) -> std::result::Result<ReviewWord, String> {
        let [lowest, highest] = POINTS;
        let mut missing = Vec::new();
        let mut scores = std::collections::BTreeMap::new();
        for dimension in &self.dimensions {
            let score = sent.scores.get(&dimension.name);
            let score = score
                .and_then(Value::as_u64)
                .and_then(|it| u8::try_from(it).ok());
            match score.filter(|score| (lowest..=highest).contains(score)) {
                Some(score) => drop(scores.insert(dimension.name.clone(), score)),
                None => missing.push(format!("`{}` from {lowest} to {highest}", dimension.name)),
            }
        }
        let known = |name: &&String| !scores.contains_key(*name);
        if let Some(other) = sent.scores.keys().find(known)
            && missing.is_empty()
        {
            return Err(format!("the rubric has no `{other}`"));
        }
        let status = sent.status.as_deref();
        let mut all = ReviewStatus::ALL.into_iter();
        let status = all.find(|known| Some(known.as_str()) == status);
        if status.is_none() {
            missing.push("a status, `approved`, `rejected` or `needs_revision`".to_owned());
        }
        let asks_answer = self.items.questions().is_some();
        if asks_answer && status == Some(ReviewStatus::Approved) && sent.answer.trim().is_empty() {
            missing.push("the expected answer".to_owned());
        }
        match status {
            Some(_) if missing.is_empty() && sent.answer.len() > ANSWER => {
                Err(format!("the answer is longer than {ANSWER} bytes"))
            }
            Some(status) if missing.is_empty() => {
                if sent.comments.len() > COMMENT {
                    return Err(format!("the comment is longer than {COMMENT} bytes"));
                }
                Ok(ReviewWord {
                    scores,
                    status,
                    comments: sent.comments.clone(),
                    answer: asks_answer.then(|| sent.answer.clone()),
                })
            }
            _ => Err(format!("missing: {}", missing.join(", "))),
        }
    }
}

/// A text with its formulas, and how many bytes are omitted.
fn field(name: &str, text: &str) -> Value {
    let mut field = fact(name, text);
    field["parts"] = json!(math::parts(truncate(text).0));
    field
}

/// A text, and how many bytes are omitted.
fn fact(name: &str, text: &str) -> Value {
    let (text, remaining) = truncate(text);
    let mut fact = json!({"name": name, "text": text});
    if remaining > 0 {
        fact["cut"] = remaining.into();
    }
    fact
}

/// Truncates a text; also returns how many bytes follow.
fn truncate(text: &str) -> (&str, usize) {
    let mut end = text.len().min(MAX_BYTES);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    (&text[..end], text.len() - end)
}

fn mine(submission: &Verification) -> Value {
    json!({
        "scores": submission.scores,
        "status": submission.status,
        "comments": submission.comments,
        "answer": submission.answer,
        "verified_at": submission.verified_at,
    })
}

fn fine(value: &Value) -> ServedAnswer {
    ServedAnswer::fine("application/json", value.to_string().into_bytes())
}

// The page of a review: one file with inline style and script, which the browser verifies by their hashes.
//
// It has the style of report pages. The script is split into pieces, concatenated in this order.

const PAGE: &str = include_str!("page.html");

const STYLE: &str = concat!(
    include_str!("../report/render/html/style.css"),
    include_str!("page.css")
);

const SCRIPT: &str = concat!(
    "\"use strict\";\n(() => {\n",
    include_str!("../report/render/html/script/dom.js"),
    include_str!("page/ask.js"),
    include_str!("page/draft.js"),
    include_str!("page/texts.js"),
    include_str!("page/form.js"),
    include_str!("page/start.js"),
    include_str!("page/list.js"),
    include_str!("page/keys.js"),
    "})();\n"
);

/// The page, without any content of items.
pub(super) fn page() -> ServedPage {
    let policy = format!(
        "default-src 'none'; style-src {}; script-src {}; connect-src 'self'; base-uri 'none'; form-action 'none'",
        hash(STYLE),
        hash(SCRIPT)
    );
    let html = PAGE.replace("{STYLE}", STYLE).replace("{SCRIPT}", SCRIPT);
    ServedPage { html, policy }
}
