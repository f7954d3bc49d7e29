//! The words by which APIs say how an answer ended: `stop`, `length`, `content_filter`, `error`, …

use serde::{Deserialize, Serialize};

/// How an answer ended that is less than the model could say.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Shortfall {
    /// It ended at the limit of tokens.
    Truncated,
    /// The same, and before it began: reasoning took all tokens.
    TruncatedEmpty,
    /// The model or a filter refused to answer.
    Refused,
}

/// How a reply ended. Only the first three may be scored and cached.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Finish {
    /// An answer, also by a word that is not known.
    #[default]
    Answer,
    /// An answer that ended at the limit of tokens.
    Truncated,
    /// The model or a filter refused to answer.
    Refused,
    /// No answer: the model or what stands before it failed.
    Outage,
}

impl Finish {
    /// The word in the book.
    #[cfg(all(feature = "command", feature = "http"))]
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Answer => "answer",
            Self::Truncated => "cut off",
            Self::Refused => "refused",
            Self::Outage => "outage",
        }
    }

    /// What a word of an API says. Capitals do not matter, nor does `-` for `_`. Some gateways join two words:
    /// `content_filter: RECITATION`.
    pub(crate) fn of(word: &str) -> Self {
        let parts = word.split(':').map(|part| {
            let part = part.trim().as_bytes();
            let is = |known: &str| {
                known.len() == part.len()
                    && known.bytes().zip(part).all(|(known, byte)| {
                        known == byte.to_ascii_lowercase() || known == b'_' && *byte == b'-'
                    })
            };
            let known = FINISH_WORDS.iter().find(|(known, ..)| is(known));
            known.map_or(Self::Answer, |(_, finish, _)| *finish)
        });
        parts.max().unwrap_or_default()
    }
}

/// The known words in lowercase, what they say, and the APIs that use them.
pub(crate) const FINISH_WORDS: &[(&str, Finish, &str)] = &[
    ("stop", Finish::Answer, "OpenAI, Gemini, Ollama"),
    ("tool_calls", Finish::Answer, "OpenAI"),
    ("function_call", Finish::Answer, "OpenAI"),
    ("end_turn", Finish::Answer, "Anthropic, Bedrock"),
    ("stop_sequence", Finish::Answer, "Anthropic, Bedrock"),
    ("tool_use", Finish::Answer, "Anthropic, Bedrock"),
    ("pause_turn", Finish::Answer, "Anthropic"),
    ("eos", Finish::Answer, "llama.cpp, Together"),
    ("complete", Finish::Answer, "Cohere"),
    ("length", Finish::Truncated, "OpenAI, Ollama"),
    (
        "max_tokens",
        Finish::Truncated,
        "Anthropic, Bedrock, Cohere, Gemini",
    ),
    ("max_output_tokens", Finish::Truncated, "OpenAI Responses"),
    (
        "model_context_window_exceeded",
        Finish::Truncated,
        "Anthropic, Bedrock",
    ),
    ("model_length", Finish::Truncated, "Mistral"),
    ("limit", Finish::Truncated, "llama.cpp"),
    ("error_limit", Finish::Truncated, "Cohere"),
    ("content_filter", Finish::Refused, "OpenAI, Azure"),
    ("content_filtered", Finish::Refused, "Bedrock"),
    ("guardrail_intervened", Finish::Refused, "Bedrock"),
    ("refusal", Finish::Refused, "Anthropic"),
    ("sensitive", Finish::Refused, "Zhipu"),
    ("error_toxic", Finish::Refused, "Cohere"),
    ("safety", Finish::Refused, "Gemini"),
    ("image_safety", Finish::Refused, "Gemini"),
    ("recitation", Finish::Refused, "Gemini"),
    ("blocklist", Finish::Refused, "Gemini"),
    ("prohibited_content", Finish::Refused, "Gemini"),
    ("spii", Finish::Refused, "Gemini"),
    ("language", Finish::Refused, "Gemini"),
    ("error", Finish::Outage, "OpenRouter, vLLM, Cohere"),
    ("network_error", Finish::Outage, "Zhipu"),
    ("insufficient_system_resource", Finish::Outage, "DeepSeek"),
    ("abort", Finish::Outage, "vLLM, SGLang"),
    ("cancelled", Finish::Outage, "OpenAI Responses"),
    ("failed", Finish::Outage, "OpenAI Responses"),
    ("timeout", Finish::Outage, "Cohere"),
    ("malformed_function_call", Finish::Outage, "Gemini"),
    ("malformed_model_output", Finish::Outage, "Bedrock"),
    ("malformed_tool_use", Finish::Outage, "Bedrock"),
    ("finish_reason_unspecified", Finish::Outage, "Gemini"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_say_how_an_answer_ended() {
        for (word, expect) in [
            ("stop", Finish::Answer),
            ("a new word", Finish::Answer),
            ("", Finish::Answer),
            ("MAX_TOKENS", Finish::Truncated),
            ("Content-Filter", Finish::Refused),
            ("content_filter: RECITATION", Finish::Refused),
            (
                "function_call_filter: MALFORMED_FUNCTION_CALL",
                Finish::Outage,
            ),
            ("error", Finish::Outage),
        ] {
            assert_eq!(Finish::of(word), expect, "{word}");
        }
    }
}
