use std::sync::Arc;

use serde_json::json;

use super::super::Demo;
use super::*;
use crate::agent::Agent as _;
use crate::data::Sample;
use crate::data::task::Visible;
use crate::tests::fuzz;

fn task(category: &str, functions: Value, question: &str) -> Task {
    let mut sample = Sample::new("one", question);
    let metadata = [("category", category.into()), ("function", functions)];
    sample.metadata = metadata
        .map(|(key, value)| (key.to_owned(), value))
        .into_iter()
        .collect();
    sample.visible = vec!["category".to_owned(), "function".to_owned()];
    Task {
        visible: Arc::new(Visible::of(&sample)),
        ..Task::for_test(question)
    }
}

/// What the agent says where these functions can be called; `-` for no call.
fn check(category: &str, functions: &Value, question: &str, expect: &str) {
    let calls = solve(&task(category, functions.clone(), question), question);
    assert_eq!(calls.as_deref().unwrap_or("-"), expect, "{question}");
}

fn function(name: &str, description: &str, required: &[&str], properties: &Value) -> Value {
    json!({"name": name, "description": description, "parameters": {
        "type": "dict", "required": required, "properties": properties,
    }})
}

fn garden() -> Value {
    json!([
        function(
            "sprinkler.run",
            "Waters a bed of the garden.",
            &["bed", "minutes"],
            &json!({
                "bed": {"type": "string", "description": "Which bed."},
                "minutes": {"type": "integer", "description": "For how long."},
                "mist": {"type": "boolean", "description": "Whether drops are fine."},
                "pressure": {"type": "float", "description": "In bar."},
            })
        ),
        function(
            "fence.paint",
            "Paints a fence.",
            &["colour"],
            &json!({"colour": {"type": "string", "enum": ["dark red", "green"], "description": "Which."}})
        ),
        function("mower.stop", "Stops the mower.", &[], &json!({})),
    ])
}

#[test]
fn a_value_goes_to_the_parameter_it_stands_with() {
    let check = |question: &str, expect: &str| check("multiple", &garden(), question, expect);
    check(
        "Run the sprinkler in the bed 'roses' for 25 minutes.",
        "[sprinkler.run(bed='roses', minutes=25)]",
    );
    check(
        "At a pressure of 1.5, water the bed \"Rob's herbs\" for ten minutes without mist!",
        "[sprinkler.run(bed='Rob\\'s herbs', minutes=10, mist=False, pressure=1.5)]",
    );
    check(
        "Please paint the fence dark red",
        "[fence.paint(colour='dark red')]",
    );
    check("Stop that mower.", "[mower.stop()]");
}

#[test]
fn no_call_without_a_function_that_fits_or_a_value_it_needs() {
    let check = |question: &str| check("multiple", &garden(), question, "-");
    check("Who wrote Ulysses?");
    check("Water the bed 'roses'.");
    check("Run the sprinkler for 25.5 minutes in the bed 'roses'.");
    check("Paint the fence blue.");
    check("");
}

#[test]
fn several_sentences_parts_and_values_are_several_calls() {
    let check = |question: &str, expect: &str| check("parallel", &garden(), question, expect);
    check(
        "Stop the mower. Then run the sprinkler in the bed 'a' for 5 minutes, and paint the fence green.",
        "[mower.stop(), sprinkler.run(bed='a', minutes=5), fence.paint(colour='green')]",
    );
    check(
        "Run the sprinkler for 8 minutes in the beds 'a', 'b' and 'c'.",
        "[sprinkler.run(bed='a', minutes=8), sprinkler.run(bed='b', minutes=8), \
         sprinkler.run(bed='c', minutes=8)]",
    );
    check(
        "Run the sprinkler in the bed 'a' for 5 minutes and in the bed 'b' for 7 minutes.",
        "[sprinkler.run(bed='a', minutes=5), sprinkler.run(bed='b', minutes=7)]",
    );
}

#[test]
fn texts_have_the_form_that_is_asked_for() {
    let functions = json!([function(
        "meeting.plan",
        "Plans a meeting.",
        &["date", "time", "guest_email"],
        &json!({
            "date": {"type": "string", "description": "As YYYY-MM-DD."},
            "time": {"type": "string", "description": "As HH:MM."},
            "guest_email": {"type": "string", "description": "Who comes."},
            "title": {"type": "string", "description": "Its title."},
        })
    )]);
    check(
        "simple_python",
        &functions,
        "Plan a meeting at 9:30 with jo@example.org on 2031-02-03, titled 'Budget' (title: 'Budget').",
        "[meeting.plan(date='2031-02-03', time='9:30', guest_email='jo@example.org', title='Budget')]",
    );
    check(
        "simple_python",
        &functions,
        "Plan a meeting with 'Jo' on Friday.",
        "-",
    );
}

#[test]
fn lists_and_dictionaries() {
    let functions = json!([function(
        "basket.fill",
        "Fills a basket.",
        &["fruits"],
        &json!({
            "fruits": {"type": "array", "items": {"type": "string"}, "description": "Which."},
            "weights": {"type": "tuple", "items": {"type": "float"}, "description": "In kg."},
            "delivery": {"type": "dict", "description": "Where to.", "properties": {
                "floor": {"type": "integer", "description": "Which floor."},
                "note": {"type": "string", "description": "For the porter."},
            }},
        })
    )]);
    check(
        "simple_python",
        &functions,
        "Fill a basket with 'figs' and 'limes' of 1, 2.5 kg with delivery to floor 3, note 'ring twice'.",
        "[basket.fill(fruits=['figs', 'limes'], weights=(1, 2.5,), delivery={'floor': 3, 'note': 'ring twice'})]",
    );
}

#[test]
fn calls_are_written_in_the_language_of_the_functions() {
    let properties = |list: &str, map: &str| {
        json!({
            "target": {"type": "any", "description": "Which view."},
            "label": {"type": "String", "description": "What it says."},
            "sizes": {"type": list, "items": {"type": "integer"}, "description": "All sizes."},
            "style": {"type": map, "description": "How.", "properties": {
                "weight": {"type": "integer", "description": "How bold."},
            }},
            "bold": {"type": "boolean", "description": "Whether it stands out."},
        })
    };
    let question = "Draw the label \"a \\ b\" on the target `mainView` in the sizes 3, 4 and 5, bold, weight 2";
    let functions = |properties| {
        json!([function(
            "Pen.draw",
            "Draws a label.",
            &["target"],
            &properties
        )])
    };
    check(
        "simple_java",
        &functions(properties("ArrayList", "HashMap")),
        question,
        "Pen.draw(target=mainView, label=\"a \\\\ b\", sizes=new ArrayList<Integer>(Arrays.asList(3, 4, 5)), \
         style=new HashMap<String, Object>() {{ put(\"weight\", 2); }}, bold=true)",
    );
    check(
        "simple_javascript",
        &functions(properties("array", "dict")),
        question,
        "Pen.draw(target=mainView, label=\"a \\\\ b\", sizes=[3, 4, 5], style={weight: 2}, bold=true)",
    );
    let numbers = json!([function(
        "Meter.set",
        "Sets a meter.",
        &["count", "factor", "mark", "steps"],
        &json!({
            "count": {"type": "long"}, "factor": {"type": "float"}, "mark": {"type": "char"},
            "steps": {"type": "Array", "items": {"type": "integer"}},
        })
    )]);
    check(
        "simple_java",
        &numbers,
        "Set the meter to a count of 5000000000 with a factor of 0.5, mark 'x' and steps 1, 2.",
        "Meter.set(count=5000000000L, factor=0.5f, mark='x', steps=new int[]{1, 2})",
    );
}

/// A task of another benchmark has tools and no documents.
#[test]
fn tools_do_as_well_as_documents() {
    let mut sample = Sample::new("one", "Stop the mower, please.");
    sample.tools = vec![json!({"type": "function", "function": garden()[2]})];
    let task = Task {
        visible: Arc::new(Visible::of(&sample)),
        ..Task::for_test("")
    };
    let output = Demo.answer(&task).unwrap();
    assert_eq!(output.text.as_deref(), Some("[mower.stop()]"));
}

#[test]
fn any_functions_and_any_question_are_survived_in_time() {
    let pieces = [
        "run", "bed 'a'", " 5 ", "minutes", "and ", ". ", ", ", "'", "\"", "`x`", "12:3", "-1",
        "é", "not ",
    ];
    fuzz::fuzz(|dice| {
        let mut functions = garden();
        functions[0]["parameters"]["properties"]["bed"] = dice.json(&pieces, 4);
        functions[1] = dice.json(&pieces, 3);
        let question = dice.wild(&pieces);
        let _ = Demo.answer(&task("simple_java", functions, &question));
    });
    for piece in pieces
        .into_iter()
        .chain(["1,", "1 and ", "A ", "'a', ", "a-", "run bed. "])
    {
        let question = fuzz::megabyte(piece);
        let task = task("parallel", garden(), &question);
        fuzz::in_time(piece, || Demo.answer(&task).map(drop)).unwrap();
    }
}
