//! `conversations`: conversations of several turns.

use std::path::PathBuf;
use std::sync::Arc;

use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::benchmark::rows::{RowBenchmark, RowSource, RowTable, Rules, selects_ids};
use crate::data::conversation::{SCRIPT, Script, ScriptTurn, content_text};
use crate::data::dataset::{required, scalar, slice_value};
use crate::data::reviews::REVIEW;
use crate::data::{Sample, Target};
use crate::error::{Error, Result};
use crate::scorer::compose::per_sample::{DEFAULT, KEY, PerSample};
use crate::scorer::compose::turns::{OfConversation, On};
use crate::scorer::extract::Extract;
use crate::scorer::{GaiaScorer, Maker, Scorer};

/// What to write instead of a line that is no conversation.
const EXAMPLE: &str = "write `turns: [{ user: \"Hello\", ground_truth: \"Hi\" }]`";

/// Conversations of several turns.
///
/// The path is a `.jsonl` or `.json` file, or any other file of rows whose columns hold JSON. A row has an `id` and
/// either `turns`, what the user says turn by turn, or a `scenario` for a simulated user. The page of the benchmark has
/// all keys.
///
/// ```no_run
/// # fn main() -> evaltest::Result<()> {
/// use evaltest::agent::{Conversation, MockTools};
/// use evaltest::{Conversations, Eval, Task};
///
/// let agent = |task: &Task| Ok(format!("{} messages so far", task.messages().len()).into());
/// let agent = Conversation::new(agent).environment(MockTools::open("tools.yaml")?);
/// let eval = Eval::new(Conversations::open("conversations.jsonl")?, agent);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Conversations {
    rows: RowSource,
}

impl Conversations {
    /// Opens a file of conversations, which must exist. A row with `messages` alone is a transcript: its turns are what
    /// the user says there.
    pub fn open(path: impl Into<PathBuf>) -> Result<Self> {
        Ok(Self {
            rows: RowSource::open(&path.into())?,
        })
    }

    selects_ids!();
}

/// The keys that make a sample a conversation, besides `turns` and `scenario`.
#[derive(Default, PartialEq, Deserialize)]
#[serde(default)]
pub(crate) struct ConversationKeys {
    /// What the user says, turn by turn.
    pub(crate) turns: Option<Vec<TurnKeys>>,
    /// What a simulated user is to achieve, in place of turns.
    pub(crate) scenario: Option<String>,
    /// The first message for the agent.
    pub(crate) system: Option<String>,
    /// What the simulated user knows besides.
    pub(crate) visible_to_user: Option<Value>,
    /// What the environment begins with.
    pub(crate) initial_state: Option<Value>,
    /// What the environment is to end with, for the scorer `state`.
    pub(crate) expected_state: Option<Map<String, Value>>,
    /// Definitions of tools that the agent may call, without an environment.
    pub(crate) tools: Option<Vec<Value>>,
}

/// A turn.
#[derive(Default, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub(crate) struct TurnKeys {
    /// What the user says.
    #[cfg_attr(feature = "schema", schemars(extend("not" = { "type": "string", "pattern": r"^\s*$" })))]
    user: String,
    /// The right answer.
    ground_truth: Option<Value>,
    /// Tools that the agent has from this turn on.
    #[serde(default)]
    tools_added: Vec<Value>,
    /// What judges this turn.
    #[cfg_attr(feature = "schema", schemars(with = "Option<Value>"))]
    scorer: Option<Value>,
}

impl ConversationKeys {
    /// The sample with its conversation; the last turn's ground truth is that of the sample, if it has none. A sample
    /// without any of the keys is none.
    ///
    /// # Errors
    /// See [`ConversationKeys::script`].
    pub(crate) fn around(mut self, mut sample: Sample) -> Result<Sample> {
        let tools = self.tools.take();
        if self == Self::default() {
            sample.tools = tools.unwrap_or_default();
            return Ok(sample);
        }
        let script = self.script()?;
        let stored = serde_json::to_value(&script)
            .map_err(|error| Error::usage(format!("the conversation cannot be stored: {error}")))?;
        sample.prompt = script.question();
        let last = script.turns.into_iter().next_back();
        let last = last.and_then(|turn| turn.ground_truth);
        sample.target = sample.target.or_else(|| last.map(Target));
        sample.tools = tools.unwrap_or_default();
        sample.metadata.insert(SCRIPT.to_owned(), stored);
        Ok(sample)
    }

    /// The script.
    ///
    /// # Errors
    /// When there are turns and a scenario, or something is blank. They name the key.
    fn script(self) -> Result<Script> {
        let blank = |what: &str| {
            Error::usage(format!("`{what}` is blank")).hint("fill it in, or remove the key")
        };
        match (&self.turns, &self.scenario) {
            (Some(_), Some(_)) => {
                let error = Error::usage(
                    "both `turns` and `scenario` are given: the user is either scripted or simulated",
                );
                return Err(error.hint("remove one of them").under("scenario"));
            }
            (None, None) => {
                let error = Error::usage("both `turns` and `scenario` are missing");
                return Err(error.hint(EXAMPLE));
            }
            (Some(turns), None) if turns.is_empty() => {
                let error = Error::usage("`turns` is empty");
                return Err(error
                    .hint("write `turns: [{ user: \"Hello\" }]`")
                    .under("turns"));
            }
            (None, Some(scenario)) if scenario.trim().is_empty() => {
                return Err(blank("scenario").under("scenario"));
            }
            _ => {}
        }
        if self.visible_to_user.is_some() && self.scenario.is_none() {
            let error = Error::usage(
                "`visible_to_user` has no effect: the user says what is written in `turns`",
            );
            return Err(error
                .hint("remove it, or write a `scenario` in place of `turns`")
                .under("visible_to_user"));
        }
        let mut turns = Vec::new();
        for (place, turn) in self.turns.into_iter().flatten().enumerate() {
            if turn.user.trim().is_empty() {
                return Err(blank("user").under("user").under(place).under("turns"));
            }
            turns.push(ScriptTurn {
                user: turn.user,
                ground_truth: turn
                    .ground_truth
                    .filter(|truth| !truth.is_null())
                    .map(as_text),
                tools_added: turn.tools_added,
                scorer: turn.scorer,
            });
        }
        Ok(Script {
            system: self.system,
            turns,
            scenario: self.scenario,
            visible_to_user: self.visible_to_user,
            initial_state: self.initial_state,
            expected_state: self.expected_state,
        })
    }
}

/// A ground truth in the form scorers expect: numbers and bools as text, lists and maps as they are.
pub(crate) fn as_text(truth: Value) -> Value {
    match truth {
        Value::Number(_) | Value::Bool(_) => truth.to_string().into(),
        other => other,
    }
}

/// Columns that are no metadata.
const KEYS: [&str; 7] = [
    "turns",
    "scenario",
    "system",
    "visible_to_user",
    "initial_state",
    "expected_state",
    "tools",
];

/// Who says the messages of a transcript.
const ROLES: [&str; 6] = [
    "system",
    "developer",
    "user",
    "assistant",
    "tool",
    "function",
];

/// The column of a transcript.
const MESSAGES: &str = "messages";

/// What a transcript shows of its script: the first message, and what the user said.
fn script_of(transcript: &Value) -> Result<Map<String, Value>> {
    let wrong = |message: String| {
        Error::usage(message).hint(
            "write them as in Chat Completions: `[{\"role\": \"user\", \"content\": \"Hi\"}, …]`",
        )
    };
    let parsed = match transcript {
        Value::String(text) => serde_json::from_str(text)
            .map_err(|error| wrong(format!("`messages` is broken JSON: {error}")))?,
        other => other.clone(),
    };
    let messages = parsed.as_array();
    let messages = messages.ok_or_else(|| wrong("`messages` is not a list".to_owned()))?;
    let (mut turns, mut system) = (Vec::new(), None);
    for (message, number) in messages.iter().zip(1..) {
        let role = message["role"].as_str().unwrap_or_default();
        let content = &message["content"];
        let is_readable = content.is_null() || content.is_array() || content.is_string();
        if !ROLES.contains(&role) || !is_readable {
            let roles = ROLES.join("`, `");
            return Err(wrong(format!(
                "message {number} of `messages` has no `role` (`{roles}`) with a `content` that is a text or a list of parts"
            )));
        }
        match role {
            "user" => turns.push(json!({ "user": content_text(content) })),
            "system" | "developer" if system.is_none() => system = content_text(content),
            _ => {}
        }
    }
    if turns.is_empty() {
        return Err(wrong("`messages` has no message of a user".to_owned()));
    }
    let mut script = Map::new();
    script.insert("turns".to_owned(), turns.into());
    if let Some(system) = system {
        script.insert("system".to_owned(), system.into());
    }
    Ok(script)
}

/// The sample of a row. Errors do not include the row number.
fn sample(mut fields: Map<String, Value>, index: usize) -> Result<Sample> {
    let id = match fields.shift_remove("id") {
        None | Some(Value::Null) => index.to_string(),
        Some(id) => required("id", "id", scalar("id", Some(&id))?)?,
    };
    let mut keys = Map::new();
    // A transcript of a conversation that was held elsewhere has its turns in its messages.
    let transcript = fields.shift_remove(MESSAGES);
    let has_script = ["turns", "scenario"]
        .iter()
        .any(|key| fields.get(*key).is_some_and(|value| !value.is_null()));
    // A line of a file of questions, which may ask a single one.
    let is_question = fields.contains_key(REVIEW) || fields.contains_key("reference");
    match transcript {
        Some(transcript) if !has_script => keys.extend(script_of(&transcript)?),
        None if !has_script && is_question => {
            if let Some(question) = fields.shift_remove("question") {
                keys.insert("turns".to_owned(), json!([{ "user": question }]));
            }
        }
        _ => {}
    }
    for key in KEYS {
        let Some(value) = fields.shift_remove(key).filter(|value| !value.is_null()) else {
            continue;
        };
        // A table has JSON as text.
        let is_text = matches!(key, "scenario" | "system");
        let value = match value {
            Value::String(text) if !is_text => {
                serde_json::from_str(&text).unwrap_or(Value::String(text))
            }
            other => other,
        };
        keys.insert(key.to_owned(), value);
    }
    let keys = ConversationKeys::deserialize(Value::Object(keys))
        .map_err(|error| Error::usage(error.to_string()).hint(EXAMPLE))?;
    if keys.turns.is_none() && keys.scenario.is_none() {
        return Err(Error::usage("both `turns` and `scenario` are missing").hint(EXAMPLE));
    }
    let answer = is_question.then(|| fields.shift_remove("answer")).flatten();
    let truth = fields.shift_remove("ground_truth").or(answer);
    let truth = truth.filter(|truth| !truth.is_null());
    let mut made = Sample::new(id, "");
    made.target = truth.map(as_text).map(Target);
    if let Some(level) = fields.get("level")
        && let Some(level) = slice_value(scalar("level", Some(level))?)
    {
        made = made.slice("level", level);
    }
    let visible = match fields.shift_remove("visible") {
        None | Some(Value::Null) => Vec::new(),
        Some(names) => Vec::deserialize(names).map_err(|_| {
            Error::usage("`visible` is not a list of names")
                .hint("write `\"visible\": [\"locale\"]`")
        })?,
    };
    if let Some(Value::Object(metadata)) = fields.get("metadata").cloned() {
        fields.shift_remove("metadata");
        fields.extend(metadata);
    }
    let scorer = fields.entry(KEY).or_insert(Value::Null);
    if scorer.is_null() {
        *scorer = DEFAULT.into();
    }
    made.visible = visible;
    made.metadata = fields;
    keys.around(made)
}

impl RowBenchmark for Conversations {
    const RULES: Rules = Rules {
        name: "conversations",
        extract: Extract::final_answer,
        scorer: || Box::new(OfConversation::new(Arc::new(GaiaScorer), On::TurnsOrLast)),
        official_prompt: None,
        default_prompt: None,
        is_gated: false,
        has_items: false,
    };

    const HAS_CONVERSATIONS: bool = true;

    fn source(&self) -> &RowSource {
        &self.rows
    }

    fn composed_scorer(&self, maker: &Maker) -> Option<Box<dyn Scorer>> {
        let scorer = Arc::new(PerSample::new(maker));
        Some(Box::new(OfConversation::new(scorer, On::TurnsOrLast)))
    }

    fn read(&self, source: &RowSource) -> Result<RowTable> {
        let table = source.table()?;
        Ok(RowTable {
            // A truth may stand in any turn.
            has_truths: false,
            ..RowTable::new(table, sample)
        })
    }
}
