//! Fuzz tests: answers of any size and shape get a verdict without panics, in linear time and bounded stack.

use crate::calls::{CallFormat, Dict, JsonValue as _, Value};
use std::io::Write as _;
use std::time::Duration;

use super::*;
use crate::tests::fuzz::cpu;

fn entry() -> AnswerKey {
    let functions = r#"[{"name": "f", "parameters": {"type": "dict", "required": ["a"], "properties": {
        "a": {"type": "integer"}, "b": {"type": "string"}, "c": {"type": "float"}, "d": {"type": "dict"},
        "e": {"type": "array", "items": {"type": "integer"}},
        "g": {"type": "array", "items": {"type": "dict"}}, "h": {"type": "any"}
    }}}]"#;
    let ground_truth = r#"[{"f": {"a": [1, 2], "b": ["x", ""], "c": [1.5, ""], "d": [{"k": [1, ""]}, ""],
        "e": [[1, 2], ""], "g": [[{"k": [1]}], ""], "h": ["y", ""]}}]"#;
    let read = |text| Value::from_json(text).unwrap();
    AnswerKey::new(&read(functions), Some(&read(ground_truth))).unwrap()
}

/// The same parameters with the types of Java or JavaScript.
fn typed_entry(types: [&str; 4]) -> AnswerKey {
    let [integer, list, map, text] = types;
    let functions = format!(
        r#"[{{"name": "f", "parameters": {{"required": [], "properties": {{
            "a": {{"type": "{integer}"}}, "e": {{"type": "{list}", "items": {{"type": "{integer}"}}}},
            "d": {{"type": "{map}"}}, "b": {{"type": "{text}"}}
        }}}}}}]"#
    );
    let ground_truth =
        r#"[{"f": {"a": [1, ""], "e": [[1], ""], "d": [{"k": [1]}, ""], "b": ["x", ""]}}]"#;
    let read = |text| Value::from_json(text).unwrap();
    AnswerKey::new(&read(&functions), Some(&read(ground_truth))).unwrap()
}

struct Entries {
    python: AnswerKey,
    java: AnswerKey,
    array: AnswerKey,
    javascript: AnswerKey,
}

impl Entries {
    fn new() -> Self {
        Self {
            python: entry(),
            java: typed_entry(["integer", "ArrayList", "HashMap", "String"]),
            array: typed_entry(["long", "Array", "HashMap", "double"]),
            javascript: typed_entry(["integer", "array", "dict", "String"]),
        }
    }

    /// Checks a text as an answer of each kind; returns the number of verdicts.
    fn check_all(&self, text: &str) -> usize {
        let answer = Value::from(text);
        let mut count = 0;
        let mut run = |entry: &AnswerKey, category: &str, answer: ModelAnswer<'_>, format, tag| {
            let verdict = check(&CheckRequest {
                format,
                has_tool_call_tag: tag,
                ..CheckRequest::new(entry, category, answer)
            });
            assert_eq!(verdict.valid, verdict.error_type.is_none());
            assert_eq!(verdict.valid, verdict.error.is_empty());
            let error = verdict.error_value(entry);
            let _ = (error.to_json(), error.to_json_text());
            let decoded = verdict.decoded.as_ref();
            let _ = decoded.map(|value| (value.repr(), value.to_json(), value.to_json_text()));
            count += 1;
        };
        let prompt = ModelAnswer::Prompt(&answer);
        for (category, format) in [
            ("simple_python", None),
            ("live_parallel", None),
            ("live_irrelevance", None),
            ("simple_python", Some(CallFormat::Json)),
            ("simple_python", Some(CallFormat::VerboseXml)),
            ("multiple", Some(CallFormat::ConciseXml)),
        ] {
            run(&self.python, category, prompt, format, false);
        }
        run(&self.python, "simple_python", prompt, None, true);
        run(&self.java, "simple_java", prompt, None, false);
        run(&self.javascript, "simple_javascript", prompt, None, false);
        let call = |arguments: String| {
            let call = [(Value::from("f"), Value::Str(arguments))];
            Value::List(vec![Value::Dict(call.into_iter().collect())])
        };
        let native = call(text.to_owned());
        run(
            &self.python,
            "simple_python",
            ModelAnswer::Native(&native),
            None,
            false,
        );
        // The text as the value of each argument.
        let arguments = ["a", "b", "d", "e"].map(|key| (Value::from(key), answer.clone()));
        let arguments = Value::Dict(arguments.into_iter().collect());
        let native = call(arguments.to_json_text());
        for (entry, category) in [
            (&self.python, "simple_python"),
            (&self.java, "simple_java"),
            (&self.array, "simple_java"),
            (&self.javascript, "simple_javascript"),
        ] {
            run(entry, category, ModelAnswer::Native(&native), None, false);
        }
        for argument in ["e", "d"] {
            let arguments = Dict::of(Value::from(argument), answer.clone());
            let native = call(Value::Dict(arguments).to_json_text());
            run(
                &self.java,
                "simple_java",
                ModelAnswer::Native(&native),
                None,
                false,
            );
            run(
                &self.array,
                "simple_java",
                ModelAnswer::Native(&native),
                None,
                false,
            );
            run(
                &self.javascript,
                "simple_javascript",
                ModelAnswer::Native(&native),
                None,
                false,
            );
        }
        count
    }
}

/// Fragments for random texts: enough of each language to get deep into its parser.
#[rustfmt::skip]
pub(crate) const PIECES: &[&str] = &[
    "f(", "a=", "b=", "c=", "d=", "e=", "g=", "h=", ")", "[", "]", "{", "}", "(", ",", ", ", ":",
    "=", ".", "1", "2", "1.5", "-", "+", "*", "**", "/", "//", "%", "<<", "|", "~", "not ", " if ",
    " else ", "lambda ", " for x in ", "await ", "yield ", "*a", "**k", "'x'", "\"y\"", "'", "\"",
    "'''", "\"\"\"", "f'{", "}'", "b'x'", "r'\\'", "u'x'", "\\", "\\n", "\\u", "\\ud800",
    "\\N{BULLET}", "\n", "\t", " ", "#", ";", "`", "True", "None", "null", "...", "1e400", "0x",
    "0x1f", "012", "1_0", "1j", "1__0", "10**9", "'a'*99", "é", "漢", "😀", "\u{a0}", "\u{feff}",
    "\0", "\u{7f}", "\u{10f800}", "\u{2028}", "ﬁ", "\r", "\r\n", "\x0c", "new ", "int[]",
    "ArrayList<>", "(Arrays.asList(", "HashMap<String, Integer>()", "{{ ", "}}", "put(\"k\", ",
    "add(", "1L", "2.5f", "true", "=>", "function ", "${", "//c", "/*", "*/", "<", ">", "&", "&&",
    "new Array(", "<TOOLCALL>", "</TOOLCALL>", "<functions>", "</functions>",
    "<function name=\"f\">", "</function>", "<params>", "</params>",
    "<param name=\"a\" value=\"1\" type=\"integer\"/>", "<param name=\"e\" type=\"array\">",
    "</param>", "&lt;", "&#65;", "&x;", "<![CDATA[", "]]>", "<!--", "-->", "<?", "?>",
    "xmlns=\"u\"", "[{\"function\": \"f\", \"parameters\": {\"a\": 1}}]", "{\"a\": 1}", "{\"a\": ",
    "\"function\"", "NaN", "Infinity", "1E5", "-0", "abs(", "len(", "int('1')",
    "MAXIMUM_STEP_LIMIT", "[f(a=1)]", "f(a=1)",
];

/// A deterministic generator, so that every run tests the same texts.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 11).unwrap_or(0) % limit
    }

    fn text(&mut self) -> String {
        let length = 1 + self.below(14);
        (0..length)
            .map(|_| PIECES[self.below(PIECES.len())])
            .collect()
    }
}

/// A few thousand verdicts per test run. `EVALTEST_FUZZ=60000` makes it more than a million.
#[test]
fn random_texts() {
    let texts = std::env::var("EVALTEST_FUZZ")
        .ok()
        .and_then(|count| count.parse().ok());
    let entries = Entries::new();
    let mut random = Random(0x2545_f491_4f6c_dd1d);
    let mut verdicts = 0;
    for _ in 0..texts.unwrap_or(300) {
        verdicts += entries.check_all(&random.text());
    }
    let _ = writeln!(std::io::stderr(), "{verdicts} verdicts");
    assert!(verdicts > 0);
}

/// Fragments that hostile texts repeat.
#[rustfmt::skip]
const REPEATS: &[&str] = &[
    "[", "]", "(", "{", "}", "[[", "()", "[]", "{}", "f(", "f(a=", "[f(a=", "{\"a\":", "{1:", "-",
    "not ", "lambda:", "1+", "1**", "a.", "a[", "f()", "x if y else ", "'", "\"", "'''", "f'{",
    "f'{x}", "'a'", "9", "0", "0x", "0xf", "1_", "1,", "a", "a=1,", "f(a=1),", "\\", "\\\n", "\n",
    " ", "\t", "#", "`", "é", "😀", "\0", "<", "<a>", "<functions>", "<function name=\"f\">", "<!--",
    "&", "&amp;", "]]>", "new int[]{", "new HashMap<", "new HashMap<>() {{ ", "put(\"", "add(",
    "new ArrayList<>() {{", "}}", "new Array(", "[1,", "a:", "a:,", ", :", "/*", "//", "${", "`${",
    "=>", "<TOOLCALL>", "{\"f\":1},", "[{", "}]", "} ", ";", "'x' 'y'", "%s", "10**",
    "1 if 1 else ", "*", "**", "@", "b'", "\\ud800", "abs(", "1<<9,", "x:=", "[x for x in ", "=",
    "==", "a==", ".", "..", "1.", ":", "::", "?", "?.", "!",
];

/// Long answers are read to the end.
#[test]
fn megabytes_are_read() {
    let entries = Entries::new();
    let long = "x".repeat(1 << 20);
    let check = |entry: &AnswerKey, category: &str, format, text: &str| {
        let answer = Value::from(text);
        let verdict = check(&CheckRequest {
            format,
            ..CheckRequest::new(entry, category, ModelAnswer::Prompt(&answer))
        });
        assert_eq!(
            verdict.error_type,
            Some("value_error:string"),
            "{category} {format:?}"
        );
        let decoded = verdict.decoded.unwrap().repr().unwrap();
        assert!(decoded.len() > long.len());
    };
    check(
        &entries.python,
        "simple_python",
        None,
        &format!("[f(a=1, b='{long}')]"),
    );
    check(
        &entries.java,
        "simple_java",
        None,
        &format!("[f(a=1, b=\"{long}\")]"),
    );
    check(
        &entries.javascript,
        "simple_javascript",
        None,
        &format!("[f(a=1, b='{long}')]"),
    );
    let json = format!(r#"[{{"function": "f", "parameters": {{"a": 1, "b": "{long}"}}}}]"#);
    check(
        &entries.python,
        "simple_python",
        Some(CallFormat::Json),
        &json,
    );
    let xml = format!(
        "<functions><function name=\"f\"><param name=\"a\" type=\"integer\">1</param><param \
         name=\"b\">{long}</param></function></functions>"
    );
    check(
        &entries.python,
        "simple_python",
        Some(CallFormat::ConciseXml),
        &xml,
    );
}

/// Measures hostile texts at one and four times the size: the time must not grow quadratically.
#[test]
fn time_is_linear_and_the_stack_is_bounded() {
    let entries = Entries::new();
    // All of them at one megabyte each take minutes.
    let whole = std::env::var_os("EVALTEST_FUZZ").is_some();
    let (size, step) = if whole { (1 << 20, 1) } else { (1 << 13, 3) };
    let frames = [
        ("", ""),
        ("[f(a=", ")]"),
        ("[f(a=1, b='", "')]"),
        ("<functions>", "</functions>"),
    ];
    for &repeat in REPEATS.iter().step_by(step) {
        for (start, end) in frames.into_iter().step_by(step) {
            let time = |size: usize| {
                let text = format!("{start}{}{end}", repeat.repeat(size / repeat.len()));
                let start = cpu();
                entries.check_all(&text);
                cpu().saturating_sub(start)
            };
            let (short, long) = (time(size / 4), time(size));
            // Linear growth is a factor of four; the rest allows for cache effects.
            let limit = short * 10 + Duration::from_secs(1);
            assert!(
                long < limit,
                "{start:?} {repeat:?} {end:?}: {short:?} and {long:?}"
            );
        }
    }
}
