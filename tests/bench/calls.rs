//! Entries of the function-calling leaderboard and answers to them, made up from a seed in the official formats.

use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::Path;

/// A category with its official number of entries, how many functions an entry describes and how many calls it
/// expects.
struct Category {
    name: &'static str,
    entries: u32,
    functions: u64,
    calls: u64,
}

const fn category(name: &'static str, entries: u32, functions: u64, calls: u64) -> Category {
    Category {
        name,
        entries,
        functions,
        calls,
    }
}

const CATEGORIES: [Category; 13] = [
    category("simple_python", 400, 1, 1),
    category("simple_java", 100, 1, 1),
    category("simple_javascript", 50, 1, 1),
    category("multiple", 200, 3, 1),
    category("parallel", 200, 1, 3),
    category("parallel_multiple", 200, 3, 3),
    category("irrelevance", 240, 1, 0),
    category("live_simple", 258, 1, 1),
    category("live_multiple", 1053, 5, 1),
    category("live_parallel", 16, 1, 2),
    category("live_parallel_multiple", 24, 3, 2),
    category("live_irrelevance", 884, 4, 0),
    category("live_relevance", 16, 4, 0),
];

/// All categories together.
pub(crate) const ENTRIES: u32 = 3641;

/// A line of answers is of one of them: the categories that published results of many models have.
const ANSWERED: usize = 7;

/// A parameter: name, type in Python's terms, and an example.
type Parameter = (&'static str, &'static str, &'static str);

/// Functions with their parameters, the last one optional.
const FUNCTIONS: [(&str, &[Parameter]); 6] = [
    (
        "weather.forecast",
        &[
            ("city", "string", "Reykjavík"),
            ("days", "integer", ""),
            ("unit", "string", "celsius"),
        ],
    ),
    (
        "calculate_area",
        &[
            ("width", "float", ""),
            ("height", "integer", ""),
            ("is_metric", "boolean", ""),
        ],
    ),
    (
        "library.find_books",
        &[
            ("title", "string", "It's a long way down"),
            ("genres", "texts", "crime"),
            ("limit", "integer", ""),
        ],
    ),
    (
        "bank_transfer",
        &[
            ("account", "string", "DE-1234 5678"),
            ("amount", "float", ""),
            ("details", "dict", "rent"),
        ],
    ),
    (
        "statistics.mean",
        &[("numbers", "integers", ""), ("precision", "integer", "")],
    ),
    (
        "hotel_booking.book_room",
        &[
            ("name", "string", "Grand Hôtel"),
            ("guests", "integer", ""),
            ("dates", "texts", "2026-07-"),
            ("breakfast", "boolean", ""),
        ],
    ),
];

#[derive(Clone, Copy, PartialEq, Eq)]
enum Language {
    Python,
    Java,
    JavaScript,
    Json,
}

/// Knuth's generator; its upper bits are good enough to vary an input.
struct Random(u64);

impl Random {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % end
    }
}

/// A call: its function and the seed of its values.
#[derive(Clone, Copy)]
struct Call {
    function: usize,
    seed: u64,
}

/// The expected calls of an entry; those that the functions of irrelevance are about, too.
fn calls(category: &Category, number: u32) -> Vec<Call> {
    let mut random = Random(u64::from(number) << 20 | category.functions << 8 | category.calls);
    let first = random.below(6);
    (0..category.calls.max(1))
        .map(|place| {
            // Values of nested dictionaries have no type in Java and JavaScript.
            let function = match (category.name, (first + place % category.functions) % 6) {
                ("simple_java" | "simple_javascript", 3) => 0,
                (_, function) => function,
            };
            Call {
                function: usize::try_from(function).unwrap_or(0),
                seed: random.below(1 << 30),
            }
        })
        .collect()
}

fn language(category: &str) -> Language {
    match category {
        "simple_java" => Language::Java,
        "simple_javascript" => Language::JavaScript,
        _ => Language::Python,
    }
}

/// Writes data in the official layout, and gives the number of entries.
pub(crate) fn write_data(folder: &Path) -> io::Result<()> {
    fs::create_dir_all(folder.join("possible_answer"))?;
    for category in &CATEGORIES {
        let file = format!("BFCL_v4_{}.json", category.name);
        let mut entries = BufWriter::new(File::create(folder.join(&file))?);
        let mut truths = String::new();
        for number in 0..category.entries {
            let calls = calls(category, number);
            let functions: Vec<String> = (0..category.functions.max(1))
                .map(|place| {
                    let first = calls[0].function;
                    let place = usize::try_from(place).unwrap_or(0);
                    let known = calls.iter().map(|call| call.function).nth(place);
                    document(
                        known.unwrap_or((first + place) % 6),
                        language(category.name),
                    )
                })
                .collect();
            writeln!(
                entries,
                r#"{{"id": "{}_{number}", "question": [[{{"role": "user", "content": "Number {number}: in the house of many rooms everyone wants to know what it will be like tomorrow, what it costs, and for how many it is enough. Please see to it."}}]], "function": [{}]}}"#,
                category.name,
                functions.join(", ")
            )?;
            let expected: Vec<String> = calls.iter().map(expected).collect();
            let _ = writeln!(
                truths,
                r#"{{"id": "{}_{number}", "ground_truth": [{}]}}"#,
                category.name,
                expected.join(", ")
            );
        }
        entries.flush()?;
        if category.calls > 0 {
            fs::write(folder.join("possible_answer").join(&file), truths)?;
        }
    }
    Ok(())
}

fn document(function: usize, language: Language) -> String {
    let (name, parameters) = FUNCTIONS[function];
    let properties: Vec<String> = parameters
        .iter()
        .map(|(name, kind, _)| {
            let (kind, item) = match (language, *kind) {
                (Language::Python | Language::Json, "texts") => ("array", "string"),
                (Language::Python | Language::JavaScript | Language::Json, "integers") => {
                    ("array", "integer")
                }
                (Language::Java, "texts") => ("ArrayList", "String"),
                (Language::Java, "integers") => ("ArrayList", "integer"),
                (Language::JavaScript, "texts") => ("array", "String"),
                (Language::Java | Language::JavaScript, "string") => ("String", ""),
                (Language::Java, "float") => ("double", ""),
                (Language::JavaScript, "boolean") => ("Boolean", ""),
                (_, kind) => (kind, ""),
            };
            let items = match item {
                "" => String::new(),
                item => format!(r#", "items": {{"type": "{item}"}}"#),
            };
            format!(
                r#""{name}": {{"type": "{kind}"{items}, "description": "The {name} that is asked for, as the guests of the house wrote it down."}}"#
            )
        })
        .collect();
    let required: Vec<String> = parameters[..parameters.len() - 1]
        .iter()
        .map(|(name, ..)| format!("\"{name}\""))
        .collect();
    format!(
        r#"{{"name": "{name}", "description": "Tells or does what its name says. Note that the provided function is in a language with types.", "parameters": {{"type": "dict", "properties": {{{}}}, "required": [{}]}}}}"#,
        properties.join(", "),
        required.join(", ")
    )
}

/// `{name: {parameter: [values]}}`.
fn expected(call: &Call) -> String {
    let (name, parameters) = FUNCTIONS[call.function];
    let options: Vec<String> = parameters
        .iter()
        .enumerate()
        .map(|(place, parameter)| {
            let value = value(parameter, call.seed, Language::Json);
            let is_last = place + 1 == parameters.len();
            match (parameter.1, is_last) {
                ("dict", _) => {
                    let text = parameter.2;
                    let number = call.seed % 97;
                    format!(r#""{}": [{{"purpose": ["{text} {number}"], "month": [{number}, ""]}}, ""]"#, parameter.0)
                }
                ("string", false) => format!(r#""{}": [{value}, "{}"]"#, parameter.0, parameter.2),
                (_, false) => format!(r#""{}": [{value}]"#, parameter.0),
                (_, true) => format!(r#""{}": [{value}, ""]"#, parameter.0),
            }
        })
        .collect();
    format!(r#"{{"{name}": {{{}}}}}"#, options.join(", "))
}

fn value((_, kind, example): &Parameter, seed: u64, language: Language) -> String {
    let number = seed % 97;
    let quoted = |text: &str| match language {
        Language::Python if text.contains('\'') => format!("\"{text}\""),
        Language::Python => format!("'{text}'"),
        _ => format!("\"{text}\""),
    };
    let list = |items: [String; 3]| match language {
        Language::Java => format!("new ArrayList<>(Arrays.asList({}))", items.join(", ")),
        _ => format!("[{}]", items.join(", ")),
    };
    match *kind {
        "string" => quoted(&format!("{example} {number}")),
        "integer" => number.to_string(),
        "float" => format!("{number}.25"),
        "boolean" => match (language, number % 2) {
            (Language::Python, 0) => "True".to_owned(),
            (Language::Python, _) => "False".to_owned(),
            (_, even) => (even == 0).to_string(),
        },
        "texts" => list([0, 1, 2].map(|place| quoted(&format!("{example} {}", number + place)))),
        "integers" => list([1, 2, 3].map(|place| (number * place).to_string())),
        _ => format!(
            "{{{}: {}, {}: {number}}}",
            quoted("purpose"),
            quoted(&format!("{example} {number}")),
            quoted("month")
        ),
    }
}

/// Writes answers as many models gave them: to each entry of the categories without `live_` one after the other, two
/// of three as text, and about two of three right.
pub(crate) fn write_answers(path: &Path, lines: u64) -> io::Result<()> {
    let mut out = BufWriter::with_capacity(1 << 16, File::create(path)?);
    let mut random = Random(7);
    let entries = CATEGORIES[..ANSWERED]
        .iter()
        .flat_map(|category| (0..category.entries).map(move |number| (category, number)));
    let entries: Vec<(&Category, u32)> = entries.collect();
    for (line, (category, number)) in (0..lines).zip(entries.iter().cycle()) {
        let model = line / 1390;
        let is_native = model % 3 == 2;
        // Of real answers every fifth is equal to that of another model, so that its score is known.
        let own = if random.below(5) == 0 { 0 } else { model };
        let result = if is_native {
            let calls = native(category, *number, &mut random);
            // Between the brackets of the arguments.
            let blanks = blanks(own).replace('\n', r"\n");
            calls.replacen("\"{", &format!("\"{{{blanks}"), 1)
        } else {
            let text = text(category, *number, &mut random);
            let text = match text.strip_prefix('[') {
                Some(rest) => format!("[{}{rest}", blanks(own)),
                None => format!("{}{text}", blanks(own)),
            };
            format!("{text:?}")
        };
        writeln!(
            out,
            r#"{{"model": "model-{model}", "id": "{}_{number}", "category": "{}", "mode": "{}", "underscore_to_dot": {is_native}, "model_result": {result}}}"#,
            category.name,
            category.name,
            if is_native { "fc" } else { "prompt" },
        )?;
    }
    out.flush()
}

/// What a model has of its own, on which no verdict depends.
fn blanks(model: u64) -> String {
    let bit = |place: u32| if model >> place & 1 == 0 { ' ' } else { '\n' };
    (0..model.checked_ilog2().map_or(0, |last| last + 1))
        .map(bit)
        .collect()
}

/// Writes an answer to every entry, for `replay`.
pub(crate) fn write_recording(path: &Path) -> io::Result<()> {
    let mut out = BufWriter::new(File::create(path)?);
    let mut random = Random(9);
    for category in &CATEGORIES {
        for number in 0..category.entries {
            let text = text(category, number, &mut random);
            writeln!(
                out,
                r#"{{"id": "{}_{number}", "answer": {text:?}}}"#,
                category.name
            )?;
        }
    }
    out.flush()
}

const PROSE: &str = "I'm sorry, but none of the functions that I was given can do this. They need to be told \
                     which of the rooms is meant, and for how long.\nIf you tell me (a number will do), I'll try again.";

/// How an answer is wrong; `None` if it is right.
fn mistake(random: &mut Random) -> Option<u64> {
    Some(random.below(18)).filter(|mistake| *mistake < 6)
}

fn text(category: &Category, number: u32, random: &mut Random) -> String {
    let language = language(category.name);
    let mistake = mistake(random);
    if category.calls == 0 && mistake.is_none() {
        return PROSE.to_owned();
    }
    let calls: Vec<String> = calls(category, number)
        .iter()
        .map(|call| written(call, language, mistake))
        .collect();
    let calls = calls.join(", ");
    match mistake {
        Some(0) => format!("Here you are:\n```python\n[{calls}]\n```\nIt's what you've asked for."),
        Some(1) => PROSE.to_owned(),
        None if random.below(6) == 0 => calls,
        _ => format!("[{calls}]"),
    }
}

/// The arguments of a call, less the last one if it is left out.
fn arguments(call: &Call, language: Language, mistake: Option<u64>) -> Vec<(&'static str, String)> {
    let (_, parameters) = FUNCTIONS[call.function];
    let count = match mistake {
        Some(2) => 1,
        _ if call.seed.is_multiple_of(3) => parameters.len() - 1,
        _ => parameters.len(),
    };
    let seed = call.seed + u64::from(mistake == Some(3));
    let arguments = parameters[..count].iter();
    arguments
        .map(|parameter| match mistake {
            Some(4) => (parameter.0, format!("\"{}\"", parameter.0)),
            _ => (parameter.0, value(parameter, seed, language)),
        })
        .collect()
}

fn written(call: &Call, language: Language, mistake: Option<u64>) -> String {
    let (name, _) = FUNCTIONS[call.function];
    let name = if mistake == Some(5) { "do_it" } else { name };
    let arguments: Vec<String> = arguments(call, language, mistake)
        .into_iter()
        .map(|(name, value)| format!("{name}={value}"))
        .collect();
    format!("{name}({})", arguments.join(", "))
}

fn native(category: &Category, number: u32, random: &mut Random) -> String {
    let mistake = mistake(random);
    if (category.calls == 0 && mistake.is_none()) || mistake == Some(1) {
        return format!("{PROSE:?}");
    }
    let calls: Vec<String> = calls(category, number)
        .iter()
        .map(|call| {
            let name = FUNCTIONS[call.function].0.replace('.', "_");
            let name = if mistake == Some(5) { "do_it" } else { &name };
            let arguments: Vec<String> = arguments(call, Language::Json, mistake)
                .into_iter()
                .map(|(name, value)| format!("\"{name}\": {}", json_of(&value, category.name)))
                .collect();
            format!(
                "{{\"{name}\": {:?}}}",
                format!("{{{}}}", arguments.join(", "))
            )
        })
        .collect();
    format!("[{}]", calls.join(", "))
}

/// Models of Java and JavaScript put the source text of a value into their JSON.
fn json_of(value: &str, category: &str) -> String {
    match language(category) {
        Language::Python => value.to_owned(),
        _ => format!("{:?}", value.trim_matches('"')),
    }
}
