//! `UnreadReply`: explains why a judge gave no verdict.

use crate::data::Unread;

/// A reply that cannot be read, with the explanation.
pub(in crate::scorer::ask) struct UnreadReply {
    pub(in crate::scorer::ask) reason: Unread,
    pub(in crate::scorer::ask) last: LastWord,
}

/// What came instead of a verdict.
pub(in crate::scorer::ask) enum LastWord {
    /// The start of a reply.
    Reply(String),
    /// An error message.
    Error(String),
}

impl UnreadReply {
    /// What is wrong with the last reply, with its start or the error that came instead.
    pub(in crate::scorer::ask) fn why(&self) -> String {
        let reply = match &self.last {
            LastWord::Reply(reply) => reply,
            LastWord::Error(error) => {
                let did = match self.reason {
                    Unread::Refusal => "refused",
                    _ => "said nothing",
                };
                return format!("the last time it {did}: {error}");
            }
        };
        let begins = match &**reply {
            "" => String::new(),
            reply => format!(", which begins with `{reply}`"),
        };
        match self.reason {
            Unread::Conflicting => {
                let comma = if reply.is_empty() { "" } else { "," };
                format!("the last reply{begins}{comma} gives two verdicts that differ")
            }
            Unread::Refusal if reply.is_empty() => "the last time it refused".to_owned(),
            Unread::Refusal => format!("the last time it refused with `{reply}`"),
            Unread::Truncated => {
                format!("the last reply was cut off{begins}: raise `max_tokens` of its agent")
            }
            Unread::NoResponse => "the last reply is empty".to_owned(),
            // Reasons of a jury do not concern a reply.
            Unread::InvalidResponseFormat | Unread::NoMajority | Unread::TooFewJudges => {
                format!("the last reply is none of the form that was asked for{begins}")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(reason: Unread, last: LastWord, expect: &str) {
        assert_eq!(UnreadReply { reason, last }.why(), expect);
    }

    #[test]
    fn the_beginning_of_a_reply_stands_where_it_belongs() {
        for (reason, expect) in [
            (
                Unread::Truncated,
                "the last reply was cut off, which begins with `Hm.`: raise `max_tokens` of its agent",
            ),
            (Unread::Refusal, "the last time it refused with `Hm.`"),
            (
                Unread::Conflicting,
                "the last reply, which begins with `Hm.`, gives two verdicts that differ",
            ),
            (
                Unread::InvalidResponseFormat,
                "the last reply is none of the form that was asked for, which begins with `Hm.`",
            ),
            (Unread::NoResponse, "the last reply is empty"),
        ] {
            check(reason, LastWord::Reply("Hm.".to_owned()), expect);
        }
        let nothing = || LastWord::Reply(String::new());
        check(Unread::Refusal, nothing(), "the last time it refused");
        check(
            Unread::Truncated,
            nothing(),
            "the last reply was cut off: raise `max_tokens` of its agent",
        );
    }

    #[test]
    fn an_error_is_no_reply() {
        let error = |message: &str| LastWord::Error(message.to_owned());
        check(
            Unread::Refusal,
            error("`http://h/v1` withheld its answer: its content filter forbids it"),
            "the last time it refused: `http://h/v1` withheld its answer: its content filter forbids it",
        );
        check(
            Unread::NoResponse,
            error("printed nothing to stdout"),
            "the last time it said nothing: printed nothing to stdout",
        );
    }
}
