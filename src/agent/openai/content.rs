//! The content of a message: the prompt, and the files that an endpoint takes.

use std::fmt::Write as _;
use std::path::Path;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde_json::{Value, json};

use crate::data::{AgentError, FailureKind, Task, TaskFile};

/// The longest text file to put into a prompt.
const LONGEST_TEXT: u64 = 1 << 20;
/// The largest image that endpoints accept.
const LARGEST_IMAGE: u64 = 20 << 20;

/// A kind of attached file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FileKind {
    /// PNG, JPEG, GIF and WebP, by their first bytes, sent as data URLs; up to 20 MiB.
    Image,
    /// Any UTF-8 text, put into the prompt; up to 1 MiB.
    Text,
}

/// What to do with a file that cannot be sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Unsendable {
    /// The model is told that it cannot see the file. The record names it, as `files_not_sent`.
    #[default]
    Tell,
    /// The sample fails, and counts as an error, not as a wrong answer.
    Fail,
}

#[derive(Clone, Debug)]
pub(super) struct Files {
    pub(super) kinds: Vec<FileKind>,
    pub(super) unsendable: Unsendable,
}

impl Default for Files {
    fn default() -> Self {
        Self {
            kinds: vec![FileKind::Image, FileKind::Text],
            unsendable: Unsendable::Tell,
        }
    }
}

/// The content of the message.
pub(super) struct MessageContent {
    /// A text, or parts with images among them.
    pub(super) value: Value,
    /// The names of files that are not in it.
    pub(super) unsent: Vec<Value>,
}

impl Files {
    pub(super) fn content(&self, task: &Task) -> Result<MessageContent, AgentError> {
        let mut text = task.prompt().to_owned();
        let mut images = Vec::new();
        let mut unsent = Vec::new();
        for file in task.files() {
            match self.read(file)? {
                Read::Image(url) => {
                    images.push(json!({"type": "image_url", "image_url": {"url": url}}));
                }
                Read::Text(content) => {
                    let fence = fence(&content);
                    let end = if content.ends_with('\n') { "" } else { "\n" };
                    let name = &file.name;
                    // Writing to a string cannot fail.
                    let _ = write!(text, "\n\nFile `{name}`:\n{fence}\n{content}{end}{fence}");
                }
                Read::Neither if self.unsendable == Unsendable::Fail => {
                    let message = format!(
                        "the file `{}` cannot be sent to a chat endpoint; hint: write `unsendable_files: tell`, or use \
                         an agent that reads files",
                        file.name
                    );
                    return Err(AgentError::of(FailureKind::Attachment, message));
                }
                Read::Neither => {
                    let name = &file.name;
                    let _ = write!(text, "\n\n(The file `{name}` cannot be shown here.)");
                    unsent.push(file.name.as_str().into());
                }
            }
        }
        let value = if images.is_empty() {
            text.into()
        } else {
            images.insert(0, json!({"type": "text", "text": text}));
            images.into()
        };
        Ok(MessageContent { value, unsent })
    }

    fn read(&self, file: &TaskFile) -> Result<Read, AgentError> {
        let unread = |error: std::io::Error| {
            let message = format!("cannot read `{}`: {error}", file.path.display());
            AgentError::of(FailureKind::Attachment, message)
        };
        let path: &Path = &file.path;
        let size = std::fs::metadata(path).map_err(unread)?.len();
        if size > LARGEST_IMAGE {
            return Ok(Read::Neither);
        }
        let bytes = std::fs::read(path).map_err(unread)?;
        let takes = |kind| self.kinds.contains(&kind);
        if let Some(kind) = image_kind(&bytes) {
            return Ok(if takes(FileKind::Image) {
                let data = BASE64_STANDARD.encode(&bytes);
                Read::Image(format!("data:image/{kind};base64,{data}"))
            } else {
                Read::Neither
            });
        }
        let is_short = takes(FileKind::Text) && size <= LONGEST_TEXT;
        // NUL is valid UTF-8, but not text.
        let text = String::from_utf8(bytes)
            .ok()
            .filter(|text| is_short && !text.contains('\0'));
        Ok(text.map_or(Read::Neither, Read::Text))
    }
}

enum Read {
    /// As a data URL.
    Image(String),
    Text(String),
    Neither,
}

/// The subtype of an image by its first bytes.
fn image_kind(bytes: &[u8]) -> Option<&'static str> {
    match bytes {
        [0x89, b'P', b'N', b'G', ..] => Some("png"),
        [0xFF, 0xD8, 0xFF, ..] => Some("jpeg"),
        [b'G', b'I', b'F', b'8', ..] => Some("gif"),
        [
            b'R',
            b'I',
            b'F',
            b'F',
            _,
            _,
            _,
            _,
            b'W',
            b'E',
            b'B',
            b'P',
            ..,
        ] => Some("webp"),
        _ => None,
    }
}

/// A fence of backticks that does not occur in the text.
fn fence(text: &str) -> String {
    let (mut run, mut longest) = (0, 2);
    for byte in text.bytes() {
        run = if byte == b'`' { run + 1 } else { 0 };
        longest = longest.max(run);
    }
    "`".repeat(longest + 1)
}
