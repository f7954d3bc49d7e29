//! The tables of the readers, for the book.

use super::marks::MARKS;
use super::usage::DIALECTS;
use crate::agent::endpoint::refusal::{CODES, kind_of};
use crate::data::FailureKind;
use crate::data::output::finish::FINISH_WORDS;

/// A table in the book.
#[derive(Debug)]
pub struct ReplyTable {
    /// What stands above it.
    pub title: &'static str,
    /// A text below the title.
    pub text: &'static str,
    /// The names of the columns.
    pub columns: &'static [&'static str],
    /// The cells.
    pub rows: Vec<Vec<String>>,
}

/// What the readers of replies know, by table.
pub fn reply_tables() -> Vec<ReplyTable> {
    vec![marks(), words(), statuses(), codes(), dialects()]
}

fn marks() -> ReplyTable {
    let rows = MARKS.iter().map(|mark| {
        let finish = mark
            .sign
            .finish()
            .map_or("by the word", |finish| finish.as_str());
        vec![
            code(mark.place),
            mark.sign.words(),
            finish.to_owned(),
            mark.apis.to_owned(),
        ]
    });
    ReplyTable {
        title: "Marks in the body",
        text: "Each place is a JSON pointer; `*` is every item of a list. If several marks are present, an outage \
               takes precedence over a refusal, and a refusal over an answer that was cut off. An agent's own reply \
               with a text in `answer` is an answer, whatever its `error` says.",
        columns: &["place", "content", "the reply is", "used by"],
        rows: rows.collect(),
    }
}

fn words() -> ReplyTable {
    let rows = FINISH_WORDS.iter().map(|(word, finish, apis)| {
        vec![code(word), finish.as_str().to_owned(), (*apis).to_owned()]
    });
    ReplyTable {
        title: "Finish reasons",
        text: "Case does not matter. Any other word is that of an answer.",
        columns: &["word", "the reply is", "used by"],
        rows: rows.collect(),
    }
}

fn statuses() -> ReplyTable {
    const STATUSES: [u16; 15] = [
        302, 400, 401, 402, 403, 404, 408, 409, 413, 422, 425, 429, 500, 503, 529,
    ];
    let rows = STATUSES.iter().map(|status| {
        let [before, later] =
            [false, true].map(|has_answered| consequence(kind_of(*status, "", has_answered, || 1)));
        vec![status.to_string(), before.to_owned(), later.to_owned()]
    });
    ReplyTable {
        title: "HTTP statuses",
        text: "Before the endpoint has answered a request, and later. The third request in a row that is rejected \
               (400, 422) before any was answered stops the run. A 4xx whose message is about one sample, such as its \
               length or a content filter, fails only that sample; one that says that the account is empty stops the \
               run.",
        columns: &["status", "at first", "later"],
        rows: rows.collect(),
    }
}

fn consequence(kind: FailureKind) -> &'static str {
    match kind {
        FailureKind::RateLimited => "outage: all wait, and the sample is asked again",
        FailureKind::Busy => "outage: the sample is asked again",
        FailureKind::Refused => "the sample is an error, and not asked again",
        _ => "the run stops, exit 2",
    }
}

fn codes() -> ReplyTable {
    let rows = CODES
        .iter()
        .map(|(word, status)| vec![code(word), status.to_string()]);
    ReplyTable {
        title: "Codes of an error within a success",
        text: "An error in the body of a 200 counts as the status that its `code`, `type` or `status` names; any \
               other as 502, an outage.",
        columns: &["code", "counts as"],
        rows: rows.collect(),
    }
}

fn dialects() -> ReplyTable {
    let rows = DIALECTS.iter().map(|dialect| {
        let inside = |name: &str| match (name, dialect.inside) {
            ("", _) => String::new(),
            (name, "") => code(&name.replace('/', ".")),
            (name, inside) => code(&format!("{inside}.{name}").replace('/', ".")),
        };
        let all = |names: &[&str]| {
            names
                .iter()
                .map(|name| inside(name))
                .collect::<Vec<_>>()
                .join(", ")
        };
        vec![
            dialect.apis.to_owned(),
            inside(dialect.input),
            inside(dialect.output),
            all(dialect.cached),
            all(dialect.outside),
            inside(dialect.reasoning),
        ]
    });
    ReplyTable {
        title: "Tokens",
        text: "Cached tokens are part of the input, or separate from it and then added. Reasoning is part of the \
               output; if the total is that of input, output and reasoning, it is added. `cost_usd` beside or in \
               `usage`, or the `cost` in it, is the price. A figure that is not reported is unknown: a sum without it \
               is a lower bound, with which a gate such as `tokens <= 1000` can fail but not pass.",
        columns: &[
            "API",
            "input",
            "output",
            "cached",
            "added to the input",
            "reasoning",
        ],
        rows: rows.collect(),
    }
}

fn code(text: &str) -> String {
    format!("`{text}`")
}
