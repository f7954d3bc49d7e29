//! The keys of `record`: which calls of models are recorded, and where they go.

use std::path::PathBuf;

use serde::Deserialize;

use crate::agent::{Provider, RecordMode, RecordedCalls};

#[derive(Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub(in crate::eval::spec) struct RecordKeys {
    /// The folder of the recordings, from the spec's folder; `cassettes` by default, and where answers are masked
    /// `cassettes` in `output_root`.
    path: Option<PathBuf>,
    /// Where calls go that are not replayed, with the path that the variable of the client would have. A provider that is
    /// not named here is not called.
    #[serde(default)]
    upstream: UpstreamKeys,
    /// `record` makes every call and records it anew, `replay` makes none, `missing` makes those that are not recorded.
    /// By default `replay` in continuous integration, and else `missing`.
    mode: Option<RecordMode>,
    /// Parts of the JSON of a request that do not matter, by JSON pointer.
    #[serde(default)]
    ignore: Vec<String>,
    /// What is replaced in the texts of a request before it is compared.
    #[serde(default)]
    rewrite: Vec<RewriteKeys>,
    /// Whether recordings of an eval with masked answers may lie where they can be read.
    #[serde(default)]
    plain: bool,
}

#[derive(Default, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
struct UpstreamKeys {
    /// As in `OPENAI_BASE_URL`: `https://api.example.com/v1`.
    openai: Option<String>,
    /// As in `ANTHROPIC_BASE_URL`, to which clients append `/v1/messages`.
    anthropic: Option<String>,
    /// As in `GOOGLE_GEMINI_BASE_URL`, to which clients append `/v1beta/models/…`.
    google: Option<String>,
}

#[derive(Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
struct RewriteKeys {
    /// A regular expression.
    pattern: String,
    /// What stands in the place of each match; `$1` is its first group.
    with: String,
}

impl RecordKeys {
    pub(in crate::eval::spec) fn made(self) -> RecordedCalls {
        let UpstreamKeys {
            openai,
            anthropic,
            google,
        } = self.upstream;
        let named = Provider::ALL.into_iter().zip([openai, anthropic, google]);
        let rewrite = self.rewrite.into_iter();
        RecordedCalls {
            path: self.path,
            upstream: named
                .filter_map(|(provider, url)| Some((provider, url?)))
                .collect(),
            mode: self.mode,
            ignore: self.ignore,
            rewrite: rewrite.map(|keys| [keys.pattern, keys.with]).collect(),
            plain: self.plain,
        }
    }
}
