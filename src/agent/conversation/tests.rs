//! Conversations with agents, users and environments in this process.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};

use super::*;
use crate::data::conversation::{
    AppendMessage as _, ConversationEnd, Script, ScriptTurn, Speaker, Talk, TalkBudget,
    TalkJournal, TurnMessage,
};
use crate::data::record::perturb::ToolFault;
use crate::data::{FailureKind, Party};
use crate::system::lock;

/// What was said, by whom, in a few words.
type Journal = Arc<Mutex<Vec<TurnMessage>>>;

fn script(turns: &[&str]) -> Script {
    Script {
        turns: turns
            .iter()
            .map(|user| ScriptTurn {
                user: (*user).to_owned(),
                ..ScriptTurn::default()
            })
            .collect(),
        ..Script::default()
    }
}

fn scenario() -> Script {
    Script {
        scenario: Some("Book a flight.".to_owned()),
        ..Script::default()
    }
}

/// Holds a conversation; what is said goes to the journal, and what is there was said before.
fn hold(driver: &Conversation, script: Script, journal: &Journal) -> Result<Output, AgentError> {
    hold_with(driver, script, journal, None)
}

/// The same, with a call that fails.
fn hold_with(
    driver: &Conversation,
    script: Script,
    journal: &Journal,
    fault: Option<ToolFault>,
) -> Result<Output, AgentError> {
    let earlier = lock(journal).clone();
    let written = Arc::clone(journal);
    let talk = Talk {
        script: script.into(),
        timeout: Duration::from_mins(1),
        whole: Duration::from_mins(2),
        in_words: false,
        budget: TalkBudget {
            allows: Arc::new(|| true),
            charge: Arc::new(|_| ()),
            waited_us: Arc::default(),
        },
        fault,
        earlier,
        journal: TalkJournal(Arc::new(move |entry| {
            lock(&written).append_message(entry);
            true
        })),
    };
    driver.answer(&Task {
        talk: Some(talk.into()),
        ..Task::for_test("?")
    })
}

/// The last message for the agent, and how many there are.
fn last(task: &Task) -> (String, usize) {
    let messages = task.messages();
    let last = messages.last().unwrap();
    (last["content"].as_str().unwrap().to_owned(), messages.len())
}

/// Calls the tool `add` in each turn, and says its result.
#[expect(clippy::unnecessary_wraps, reason = "it is an agent")]
fn calling(task: &Task) -> Result<Output, AgentError> {
    let (text, _) = last(task);
    if task.messages().last().unwrap()["role"] == "tool" {
        return Ok(Output::text(text));
    }
    let call = json!({"id": "c", "function": {"name": "add", "arguments": format!("{{\"to\": \"{text}\"}}")}});
    Ok(Output::default().tool_calls([call]))
}

/// An environment that counts the calls of each session.
#[derive(Default)]
struct Counter {
    counts: Mutex<std::collections::HashMap<String, u64>>,
    /// The calls so far, of all sessions.
    calls: Mutex<u64>,
    /// The number of a call at which all sessions are lost.
    loses_at: Option<u64>,
}

impl Environment for Arc<Counter> {
    fn open(&self, session: &Session<'_>, _: Option<&Value>) -> Result<Vec<Value>, AgentError> {
        lock(&self.counts).insert(session.id().to_owned(), 0);
        Ok(vec![json!({"name": "add"})])
    }

    fn call(
        &self,
        session: &Session<'_>,
        _: &str,
        arguments: &Value,
    ) -> Result<ToolReply, AgentError> {
        *lock(&self.calls) += 1;
        if Some(*lock(&self.calls)) == self.loses_at {
            lock(&self.counts).clear();
        }
        let mut counts = lock(&self.counts);
        let lost = || AgentError::of(FailureKind::Lost, "gone");
        let count = counts.get_mut(session.id()).ok_or_else(lost)?;
        *count += 1;
        if arguments["to"] == "nothing" {
            return Ok(ToolReply::Error("no".into()));
        }
        Ok(ToolReply::Result(json!({"count": *count})))
    }

    fn state(&self, session: &Session<'_>) -> Result<Option<Value>, AgentError> {
        Ok(lock(&self.counts)
            .get(session.id())
            .map(|count| json!({"count": count})))
    }
}

#[test]
fn agent_gets_all_messages_and_its_calls_are_executed() {
    let driver = Conversation::new(calling).environment(Arc::new(Counter::default()));
    let journal = Journal::default();
    let output = hold(&driver, script(&["a", "nothing", "a"]), &journal).unwrap();
    assert_eq!(output.text.as_deref(), Some("{\"count\":3}"));
    let roles: Vec<_> = output
        .messages
        .iter()
        .map(|message| message["role"].as_str().unwrap())
        .collect();
    assert_eq!(
        roles.join(" "),
        ["user assistant tool assistant"; 3].join(" ")
    );
    let outcome = output.conversation.unwrap();
    assert_eq!(outcome.ended, ConversationEnd::Script);
    assert_eq!(outcome.state, Some(json!({"count": 3})));
    let turns = outcome.turns.iter();
    let turns: Vec<_> = turns
        .map(|turn| {
            (
                turn.turn,
                turn.steps,
                turn.tool_calls,
                turn.failed_calls,
                turn.repeated_calls,
            )
        })
        .collect();
    assert_eq!(turns, [(1, 2, 1, 0, 0), (2, 2, 1, 1, 0), (3, 2, 1, 0, 1)]);
    let entry = lock(&journal);
    let entry: Vec<_> = entry
        .iter()
        .map(|entry| (entry.turn, entry.step, entry.by))
        .collect();
    let first = [
        (1, None, Speaker::User),
        (1, Some(1), Speaker::Agent),
        (1, Some(1), Speaker::Tool),
        (1, Some(2), Speaker::Agent),
    ];
    assert_eq!(entry[..4], first);
}

#[test]
fn unknown_tools_and_broken_arguments_are_heard_by_the_agent() {
    for (call, heard) in [
        (
            json!({"name": "sub", "arguments": {}}),
            "error: there is no tool `sub`",
        ),
        (
            json!({"name": "add", "arguments": "{"}),
            "error: the arguments are no JSON object",
        ),
    ] {
        let agent = move |task: &Task| {
            let (text, _) = last(task);
            Ok(match task.messages().last().unwrap()["role"].as_str() {
                Some("tool") => Output::text(text),
                _ => Output::default().tool_calls([call.clone()]),
            })
        };
        let driver = Conversation::new(agent).environment(Arc::new(Counter::default()));
        let output = hold(&driver, script(&["a"]), &Journal::default()).unwrap();
        assert_eq!(output.text.as_deref(), Some(heard));
        assert_eq!(output.conversation.unwrap().turns[0].failed_calls, 1);
    }
}

#[test]
fn conversation_ends_after_too_many_calls_in_a_turn() {
    let endless =
        |_: &Task| Ok(Output::default().tool_calls([json!({"name": "add", "arguments": {}})]));
    let driver = Conversation::new(endless)
        .environment(Arc::new(Counter::default()))
        .max_steps(3);
    let output = hold(&driver, script(&["a", "b"]), &Journal::default()).unwrap();
    let outcome = output.conversation.unwrap();
    assert_eq!(outcome.ended, ConversationEnd::MaxSteps);
    assert_eq!(outcome.turns.len(), 1);
    assert_eq!(outcome.state, Some(json!({"count": 3})));
}

#[test]
fn calls_without_an_environment_are_the_answer() {
    let agent =
        |_: &Task| Ok(Output::default().tool_calls([json!({"name": "f", "arguments": {"x": 1}})]));
    let output = hold(
        &Conversation::new(agent),
        script(&["a", "b"]),
        &Journal::default(),
    )
    .unwrap();
    assert_eq!(output.tool_calls[0]["function"]["name"], "f");
    assert_eq!(output.conversation.unwrap().turns.len(), 2);
}

#[test]
fn interrupted_conversation_goes_on_where_it_was() {
    let asked = Arc::new(Mutex::new(Vec::new()));
    let (log, fails) = (Arc::clone(&asked), Mutex::new(true));
    let agent = move |task: &Task| {
        let (text, count) = last(task);
        if text == "b" && std::mem::take(&mut *lock(&fails)) {
            return Err(AgentError::new("out of order"));
        }
        lock(&log).push(count);
        calling(task)
    };
    let counter = Arc::new(Counter::default());
    let driver = Conversation::new(agent).environment(Arc::clone(&counter));
    let journal = Journal::default();
    let error = hold(&driver, script(&["a", "b"]), &journal).unwrap_err();
    assert_eq!((&*error.message, error.party), ("out of order", None));
    let output = hold(&driver, script(&["a", "b"]), &journal).unwrap();
    assert_eq!(output.text.as_deref(), Some("{\"count\":2}"));
    // Nothing was asked twice, and the call of the first turn was made again in the new session.
    assert_eq!(*lock(&asked), [1, 3, 5, 7]);
    assert_eq!(*lock(&counter.calls), 3);
}

#[test]
fn conversation_starts_over_where_results_differ() {
    let asked = Arc::new(Mutex::new(0));
    let log = Arc::clone(&asked);
    let agent = move |task: &Task| {
        *lock(&log) += 1;
        calling(task)
    };
    let driver = Conversation::new(agent).environment(Arc::new(Counter::default()));
    let journal = Journal::default();
    hold(&driver, script(&["a", "b"]), &journal).unwrap();
    let asked_first = *lock(&asked);
    lock(&journal)[2].message["content"] = "{\"count\":7}".into();
    hold(&driver, script(&["a", "b"]), &journal).unwrap();
    assert_eq!(*lock(&asked), 2 * asked_first);
    assert_eq!(lock(&journal)[2].message["content"], "{\"count\":1}");
}

#[test]
fn session_that_another_lost_is_opened_again() {
    let counter = Arc::new(Counter {
        loses_at: Some(2),
        ..Counter::default()
    });
    let driver = Conversation::new(calling).environment(Arc::clone(&counter));
    let output = hold(&driver, script(&["a", "b", "c"]), &Journal::default()).unwrap();
    assert_eq!(
        output.conversation.unwrap().state,
        Some(json!({"count": 3}))
    );
}

#[test]
fn failures_of_others_are_not_the_agents() {
    struct Broken;
    impl Environment for Broken {
        fn open(&self, _: &Session<'_>, _: Option<&Value>) -> Result<Vec<Value>, AgentError> {
            Err(AgentError::new("no disk"))
        }

        fn call(&self, _: &Session<'_>, _: &str, _: &Value) -> Result<ToolReply, AgentError> {
            Ok(ToolReply::Result(Value::Null))
        }
    }
    let error = hold(
        &Conversation::new(calling).environment(Broken),
        script(&["a"]),
        &Journal::default(),
    );
    let error = error.unwrap_err();
    assert_eq!(error.party, Some(Party::Environment));
    assert_eq!(error.message, "the environment, open: no disk");
    let silent = |_: &Task| Ok(Output::text(" "));
    let driver = Conversation::new(calling).user(SimulatedUser::new(silent));
    let error = hold(&driver, scenario(), &Journal::default()).unwrap_err();
    assert_eq!(error.party, Some(Party::User));
    assert_eq!(
        error.message,
        "the simulated user said nothing in the first turn"
    );
}

/// The messages of a conversation whose user says these, and why it ended.
fn with_user(
    says: &'static [&'static str],
    turns: u32,
) -> (Vec<String>, ConversationEnd, Vec<Value>) {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let log = Arc::clone(&seen);
    let user = move |task: &Task| {
        *lock(&log) = task.messages().to_vec();
        let own = task
            .messages()
            .iter()
            .filter(|message| message["role"] == "assistant");
        Ok(Output::text(says[own.count()]))
    };
    let agent = |task: &Task| Ok(Output::text(format!("re: {}", last(task).0)));
    let driver = Conversation::new(agent).user(SimulatedUser::new(user).max_turns(turns));
    let output = hold(&driver, scenario(), &Journal::default()).unwrap();
    let texts = output.messages.iter();
    let texts = texts.map(|message| message["content"].as_str().unwrap().to_owned());
    let seen = lock(&seen).clone();
    (texts.collect(), output.conversation.unwrap().ended, seen)
}

#[test]
fn text_beside_the_stop_token_reaches_the_agent() {
    let (texts, ended, seen) = with_user(&["one", "thanks ###STOP###"], 10);
    assert_eq!(texts, ["one", "re: one", "thanks", "re: thanks"]);
    assert_eq!(ended, ConversationEnd::UserStop);
    // The user has its own messages as the assistant's, after a first line.
    let roles: Vec<_> = seen
        .iter()
        .map(|message| message["role"].as_str().unwrap())
        .collect();
    assert_eq!(roles, ["system", "user", "assistant", "user"]);
    assert!(
        seen[0]["content"]
            .as_str()
            .unwrap()
            .contains("Book a flight.")
    );
    assert_eq!(
        [&seen[2]["content"], &seen[3]["content"]],
        ["one", "re: one"]
    );
}

#[test]
fn user_ends_with_a_token_alone_with_nothing_or_after_its_last_turn() {
    let (texts, ended, _) = with_user(&["one", "###STOP###"], 10);
    assert_eq!((texts.len(), ended), (2, ConversationEnd::UserStop));
    let (texts, ended, _) = with_user(&["one", ""], 10);
    assert_eq!((texts.len(), ended), (2, ConversationEnd::UserStop));
    let (texts, ended, _) = with_user(&["one", "two", "three"], 2);
    assert_eq!((texts.len(), ended), (4, ConversationEnd::MaxTurns));
}

#[test]
fn mock_gives_the_first_reply_that_agrees() {
    let tools = MockTools::new(json!([{
        "name": "weather",
        "parameters": {"properties": {"city": {}}},
        "returns": [{"when": {"city": "Oslo"}, "result": {"sky": "grey"}}, {"error": "unknown city"}],
    }]));
    let tools = tools.unwrap();
    let cancel = crate::system::cancel::Cancel::new();
    let session = Session {
        id: "s",
        sample_id: "a",
        turn: 1,
        timeout: Duration::from_secs(1),
        cancel: &cancel,
        hidden: &[],
    };
    let call = |arguments: Value| tools.call(&session, "weather", &arguments).unwrap();
    assert_eq!(
        call(json!({"city": "Oslo", "day": 1})),
        ToolReply::Result(json!({"sky": "grey"}))
    );
    assert_eq!(call(json!({})), ToolReply::Error("unknown city".into()));
}

#[test]
fn mocks_that_cannot_work_are_refused() {
    let check = |tools: Value, expect: &str| {
        let error = MockTools::new(tools).unwrap_err();
        assert_eq!(error.message(), expect);
        assert!(error.hint_text().is_some(), "{error}");
    };
    check(json!({}), "the tools are not a list");
    check(json!([]), "there are no tools");
    let tool = |returns: Value| json!([{"name": "f", "parameters": {"properties": {"city": {"enum": ["Oslo"]}}}, "returns": returns}]);
    check(tool(json!([])), "the tool `f` has an empty `returns`");
    check(
        tool(json!([{"when": {"town": "Oslo"}, "result": 1}])),
        "`when` of reply 1 of the tool `f` never matches: the tool has no parameter `town`",
    );
    check(
        tool(json!([{"when": {"city": "Rome"}, "result": 1}])),
        "`when` of reply 1 of the tool `f` never matches: `city` cannot be \"Rome\"",
    );
    check(
        tool(json!([{"result": 1}, {"when": {"city": "Oslo"}, "result": 2}])),
        "reply 2 of the tool `f` is never used: an earlier one has no `when`",
    );
    check(
        tool(json!([{"when": {"city": "Oslo"}}])),
        "reply 1 of the tool `f` needs either `result` or `error`",
    );
    check(
        json!([{"name": "f", "returns": [{"result": 1}]}, {"name": "f", "returns": [{"result": 1}]}]),
        "two tools have the name `f`",
    );
}

#[test]
fn scripts_that_cannot_be_held_are_refused() {
    let check = |driver: &Conversation, script: &Script, tools: &[Value], expect: &str| {
        let error = driver.check_script(script, tools).unwrap_err();
        assert_eq!(error.message(), expect);
        assert!(error.hint_text().is_some(), "{error}");
    };
    let plain = Conversation::new(calling);
    check(
        &plain,
        &scenario(),
        &[],
        "the sample has a `scenario`, but the eval has no `user`",
    );
    let with_state = Script {
        initial_state: Some(json!({})),
        ..script(&["a"])
    };
    check(
        &plain,
        &with_state,
        &[],
        "the sample has a state, but the eval has no environment",
    );
    let user = SimulatedUser::new(|_: &Task| Ok(Output::text("hi")));
    let driver = Conversation::new(calling).user(user);
    check(
        &driver,
        &script(&["a"]),
        &[],
        "the sample has `turns`, so the eval's `user` is not used",
    );
    let mock = MockTools::new(json!([{"name": "weather", "returns": [{"result": 1}]}])).unwrap();
    let driver = Conversation::new(calling).environment(mock);
    check(
        &driver,
        &script(&["a"]),
        &[json!({"name": "wether"})],
        "the environment has no tool `wether`",
    );
    assert!(
        driver
            .check_script(&script(&["a"]), &[json!({"name": "weather"})])
            .is_ok()
    );
}

/// Calls the tool `add` in each turn until it works, and says its result.
fn trying_again(task: &Task) -> Result<Output, AgentError> {
    let (text, _) = last(task);
    if text.starts_with("error: ") {
        let call = json!({"id": "again", "function": {"name": "add", "arguments": "{}"}});
        return Ok(Output::default().tool_calls([call]));
    }
    calling(task)
}

#[test]
fn a_call_fails_on_purpose_once_in_its_turn_and_the_environment_never_hears_of_it() {
    for loses_at in [None, Some(2), Some(3)] {
        let counter = Arc::new(Counter {
            loses_at,
            ..Counter::default()
        });
        let driver = Conversation::new(trying_again).environment(counter);
        let journal = Journal::default();
        let fault = Some(ToolFault {
            turn: 2,
            message: "error: no luck",
        });
        let script = || script(&["a", "b", "c"]);
        let output = hold_with(&driver, script(), &journal, fault).unwrap();
        let results = output
            .messages
            .iter()
            .filter(|message| message["role"] == "tool");
        let results: Vec<_> = results
            .map(|message| message["content"].as_str().unwrap())
            .collect();
        let expect = [
            "{\"count\":1}",
            "error: no luck",
            "{\"count\":2}",
            "{\"count\":3}",
        ];
        assert_eq!(results, expect);
        let conversation = output.conversation.as_ref().unwrap();
        assert_eq!(conversation.state, Some(json!({"count": 3})));
        let turns = conversation.turns.iter();
        let turns: Vec<_> = turns
            .map(|turn| (turn.injected, turn.failed_calls))
            .collect();
        assert_eq!(turns, [(false, 0), (true, 1), (false, 0)]);
        // One that was interrupted behind the fault goes on.
        lock(&journal).truncate(8);
        let again = hold_with(&driver, script(), &journal, fault).unwrap();
        assert_eq!(again.messages, output.messages);
    }
}
