//! The entries of multi-turn categories, and the samples that are made of them.

use std::collections::BTreeMap;

use serde_json::{Map, Value as Json, json};

use crate::bfcl::data::{Category, Data, QuestionLine};
use crate::calls::{JsonValue as _, Value};
use crate::data::conversation::{SCRIPT, Script, ScriptTurn};
use crate::data::{Sample, Target};
use crate::error::{Error, Result};

/// What the user says where functions are added that were withheld before, word for word
/// `DEFAULT_USER_PROMPT_FOR_ADDITIONAL_FUNCTION_FC` in bfcl-eval 2026.3.23, Apache-2.0.
pub(super) const MORE_FUNCTIONS: &str =
    "I have updated some more functions you can choose from. What about now?";

/// The classes that are simulated, with the files of their functions.
pub(super) const CLASSES: [(&str, &str); 8] = [
    ("GorillaFileSystem", "gorilla_file_system"),
    ("MathAPI", "math_api"),
    ("MessageAPI", "message_api"),
    ("TicketAPI", "ticket_api"),
    ("TradingBot", "trading_bot"),
    ("TravelAPI", "travel_booking"),
    ("TwitterAPI", "posting_api"),
    ("VehicleControlAPI", "vehicle_control"),
];

/// The entries of a category by id: what the simulators begin with, and the expected calls turn by turn.
pub(crate) fn entries(data: &Data, category: &Category) -> Result<BTreeMap<String, (Json, Json)>> {
    let lines = data.lines(category)?;
    let entries = lines.iter().map(|line| {
        let entry = Entry::read(line).map_err(|error| error.at(line.place()))?;
        Ok((
            line.id().to_owned(),
            (entry.initial_state, entry.ground_truth),
        ))
    });
    entries.collect()
}

/// The samples of a category.
pub(crate) fn samples(data: &Data, category: &Category) -> Result<Vec<Sample>> {
    let lines = data.lines(category)?;
    let samples = lines.iter().map(|line| {
        let entry = Entry::read(line).map_err(|error| error.at(line.place()))?;
        Ok(entry.into_sample(line.id(), category))
    });
    samples.collect()
}

struct Entry {
    /// What the user says, turn by turn.
    turns: Vec<String>,
    /// `{classes, config, long_context, withheld: {turn: [function]}}`; turns count from 1.
    initial_state: Json,
    /// The expected calls of each turn.
    ground_truth: Json,
}

impl Entry {
    fn read(line: &QuestionLine) -> Result<Self> {
        let missing =
            |name: &str| Error::usage(format!("`{name}` is missing, but conversations need it"));
        let json = |name: &str| line.field(name).map(Value::to_json);
        let classes = json("involved_classes").ok_or_else(|| missing("involved_classes"))?;
        let classes: Vec<String> = serde_json::from_value(classes)
            .map_err(|_| Error::usage("`involved_classes` is not a list of texts"))?;
        let is_known = |name: &String| CLASSES.iter().any(|(known, _)| known == name);
        if let Some(unknown) = classes.iter().find(|name| !is_known(name)) {
            let names = CLASSES.map(|(name, _)| name).join("`, `");
            let error = Error::usage(format!("no class simulates `{}`", unknown.escape_debug()));
            return Err(error.hint(format!("they are `{names}`")));
        }
        let withheld: BTreeMap<usize, Vec<String>> = match json("missed_function") {
            None | Some(Json::Null) => BTreeMap::new(),
            Some(withheld) => serde_json::from_value(withheld).map_err(|_| {
                Error::usage("`missed_function` is not a map of turns to functions")
                    .hint("write `{\"2\": [\"sort\"]}`: the third turn")
            })?,
        };
        let question = line.field("question").and_then(Value::as_list);
        let turns = question.ok_or_else(|| Error::usage("`question` is not a list of turns"))?;
        let turns = turns.iter().enumerate().map(|(turn, messages)| {
            if withheld.contains_key(&turn) {
                return Ok(MORE_FUNCTIONS.to_owned());
            }
            text_of_user(messages).ok_or_else(|| {
                Error::usage(format!(
                    "turn {} of `question` is not a single message of a user",
                    turn + 1
                ))
            })
        });
        let turns: Vec<String> = turns.collect::<Result<_>>()?;
        let ground_truth = line
            .ground_truth()
            .ok_or_else(|| missing("ground_truth"))?
            .to_json();
        let calls: Result<Vec<Vec<String>>, _> = serde_json::from_value(ground_truth.clone());
        let calls = calls.map_err(|_| {
            Error::usage("`ground_truth` is not a list of turns with calls")
                .hint("write a list of calls for each turn: `[[\"ls()\"], []]`")
        })?;
        if calls.len() != turns.len() {
            let error =
                Error::usage("`ground_truth` and `question` have different numbers of turns");
            return Err(error.hint("write a list of calls for each turn: `[[\"ls()\"], []]`"));
        }
        let mut initial_state = Map::new();
        initial_state.insert("classes".to_owned(), json!(classes));
        let config = json("initial_config").unwrap_or_else(|| Map::new().into());
        initial_state.insert("config".to_owned(), config);
        // The official program looks at the id.
        let category = line
            .id()
            .rsplit_once('_')
            .map_or("", |(category, _)| category);
        let is_long = category.contains("long_context") || category.contains("composite");
        initial_state.insert("long_context".to_owned(), is_long.into());
        if !withheld.is_empty() {
            let withheld = withheld.into_iter();
            let withheld = withheld.map(|(turn, names)| ((turn + 1).to_string(), json!(names)));
            initial_state.insert(
                "withheld".to_owned(),
                withheld.collect::<Map<_, _>>().into(),
            );
        }
        Ok(Self {
            turns,
            initial_state: initial_state.into(),
            ground_truth,
        })
    }

    fn into_sample(self, id: &str, category: &Category) -> Sample {
        let turns = self.turns.into_iter();
        let turns = turns.map(|user| ScriptTurn {
            user,
            ..ScriptTurn::default()
        });
        let script = Script {
            turns: turns.collect(),
            initial_state: Some(self.initial_state),
            ..Script::default()
        };
        let mut sample =
            Sample::new(id, script.question()).slice("category", category.name.as_str());
        sample.target = Some(Target(self.ground_truth));
        sample
            .metadata
            .insert("category".to_owned(), category.name.as_str().into());
        sample.metadata.insert(SCRIPT.to_owned(), json!(script));
        sample.visible = ["category".to_owned()].into();
        sample
    }
}

/// The text of a turn's only message.
fn text_of_user(messages: &Value) -> Option<String> {
    let [message] = messages.as_list()? else {
        return None;
    };
    let text = |key: &str| message.as_dict()?.get_str(key)?.as_str();
    text("content")
        .filter(|_| text("role") == Some("user"))
        .map(str::to_owned)
}
