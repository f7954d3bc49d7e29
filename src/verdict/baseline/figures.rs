//! The figures of answers, such as their tokens and steps: as snapshots keep them, and as gates compare them.

pub(in crate::verdict) mod columns;

use std::borrow::Cow;
use std::fmt;
use std::fmt::Write as _;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::data::{DetailBounds, Record, Status, Usage};
use crate::stats::as_f64;
use crate::text::hash::MaskKey;
use crate::verdict::gate::figure::{LATENCY, NAMES, VALUE};

/// The tools of an answer in their order, in a snapshot.
pub(crate) const TOOLS: &str = "tools";

/// What stands for a figure that is not known.
const NONE: &str = "-";

/// What stands for an answer without any tool.
const NO_TOOL: &str = "[]";

/// A number of three significant digits: enough for a comparison, and a snapshot's difference stays small.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) struct Rounded {
    digits: i16,
    exponent: i8,
}

impl Rounded {
    /// The number nearest to `value`; `None` if it is not finite, or beyond what anybody measures.
    pub(crate) fn of(value: f64) -> Option<Self> {
        if !value.is_finite() {
            return None;
        }
        let text = format!("{value:.2e}");
        let (digits, exponent) = text.split_once('e')?;
        let digits: i16 = digits.replace('.', "").parse().ok()?;
        let exponent: i8 = exponent.parse::<i8>().ok()?.checked_sub(2)?;
        (-20..=20).contains(&exponent).then_some(match digits {
            // There is one zero.
            0 => Self {
                digits: 0,
                exponent: 0,
            },
            digits => Self { digits, exponent },
        })
    }

    /// The number.
    pub(crate) fn value(self) -> f64 {
        let (digits, power) = (
            f64::from(self.digits),
            10_f64.powi(i32::from(self.exponent.abs())),
        );
        if self.exponent < 0 {
            digits / power
        } else {
            digits * power
        }
    }
}

/// As in a snapshot.
impl fmt::Display for Rounded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.value())
    }
}

/// The figures of the answers to a sample, in the order of its answers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AnswerFigures {
    /// The verdict on each answer.
    pub(crate) verdicts: Vec<Option<bool>>,
    /// By name; each has as many entries as there are answers.
    columns: Vec<(Cow<'static, str>, Vec<Option<Rounded>>)>,
    /// The tools that each answer took, in their order; empty if no answer tells.
    tools: Vec<Option<Vec<String>>>,
}

/// How the figures of a record are named and stored.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct FigureRules<'a> {
    /// The deciding scorer, if its name is known.
    pub(crate) scorer: Option<&'a str>,
    /// The key by which names of tools are masked.
    pub(crate) key: Option<&'a MaskKey>,
    /// Whether latencies are stored.
    pub(crate) latency: bool,
    /// Of the details of scores only those in here are stored: others may be the answer itself.
    pub(crate) details: Option<&'a DetailBounds>,
}

impl AnswerFigures {
    /// Of one answer.
    pub(crate) fn of(record: &Record, rules: FigureRules<'_>) -> Self {
        let outcome = &record.result;
        let answered = [Status::Scored, Status::Unscored, Status::ScorerFailed];
        let is_answered = answered.contains(&outcome.status) && !outcome.is_failure_as_wrong();
        let mut figures = Self {
            verdicts: vec![(outcome.status == Status::Scored).then(|| outcome.is_correct())],
            ..Self::default()
        };
        if !is_answered {
            return figures;
        }
        // Records of older versions have these in their outputs alone.
        let output = outcome.output.as_ref();
        let tools = outcome.tools.clone();
        let tools = tools.or_else(|| output?.tools_taken());
        // The length of a right answer is a hint at it.
        let length = outcome.output_length.filter(|_| rules.key.is_none());
        let length = length.or_else(|| output.filter(|_| rules.key.is_none())?.length());
        let calls = tools.as_ref().map(|tools| as_f64(tools.len() as u64));
        let Usage {
            input_tokens,
            output_tokens,
            cost_usd,
            cached_tokens,
        } = outcome.usage.unwrap_or_default();
        let [input, written, cached] =
            [input_tokens, output_tokens, cached_tokens].map(|tokens| tokens.map(as_f64));
        // What a provider's cache takes over swings by itself.
        let read = input.map(|input| (input - cached.unwrap_or_default()).max(0.0));
        let is_timed = rules.latency && outcome.is_timed();
        let own = [
            (
                "tokens",
                read.zip(written).map(|(read, written)| read + written),
            ),
            ("input_tokens", read),
            ("cached_tokens", cached),
            ("output_tokens", written),
            ("cost_usd", cost_usd),
            ("steps", outcome.steps.map(as_f64)),
            ("tool_calls", calls),
            ("output_length", length.map(as_f64)),
            (LATENCY, Some(outcome.latency_s).filter(|_| is_timed)),
        ];
        for (name, value) in own {
            figures.set(Cow::Borrowed(name), value);
        }
        figures.add_scores(record, rules);
        figures.tools = match tools {
            Some(tools) => vec![Some(match rules.key {
                Some(key) => tools.iter().map(|tool| key.short(["tool", tool])).collect(),
                None => tools,
            })],
            None => Vec::new(),
        };
        figures
    }

    /// The numbers of the scorers, except those that only repeat a verdict.
    fn add_scores(&mut self, record: &Record, rules: FigureRules<'_>) {
        let outcome = &record.result;
        let is_stored = |scorer: &str, name: &str| {
            let bounds = rules.details.map(|all| all.get(scorer));
            bounds.is_none_or(|bounds| bounds.is_some_and(|bounds| bounds.contains_key(name)))
        };
        let mut add = |scorer: &str, value: f64, correct: bool, details: &[(&str, Option<f64>)]| {
            let is_verdict = value.to_bits() == f64::from(u8::from(correct)).to_bits();
            let value = (VALUE, Some(value).filter(|_| !is_verdict));
            let details = details.iter().copied();
            let details = details.filter(|(name, _)| is_stored(scorer, name));
            for (name, value) in std::iter::once(value).chain(details) {
                let name = format!("{scorer}.{name}");
                // As it stands in a line of a snapshot.
                let is_plain = |c: char| !c.is_control() && c != ':';
                if name.chars().all(is_plain) && name.trim() == name {
                    self.set(name.into(), value);
                }
            }
        };
        if outcome.scores.is_empty() {
            if let (Some(score), Some(scorer)) = (&outcome.score, rules.scorer) {
                let details = score.details.iter();
                let details: Vec<_> = details
                    .map(|(name, value)| (name, value.as_f64()))
                    .collect();
                add(scorer, score.value, score.correct, &details);
            }
            return;
        }
        for (scorer, score) in &outcome.scores {
            let value = score.get("value").and_then(Value::as_f64);
            let correct = score.get("correct").and_then(Value::as_bool);
            let details = score.get("details").and_then(Value::as_object);
            let details = details.into_iter().flatten();
            let details: Vec<_> = details
                .map(|(name, value)| (&**name, value.as_f64()))
                .collect();
            if let (Some(value), Some(correct)) = (value, correct) {
                add(scorer, value, correct, &details);
            }
        }
    }

    fn set(&mut self, name: Cow<'static, str>, value: Option<f64>) {
        if let Some(value) = value.and_then(Rounded::of) {
            self.columns.push((name, vec![Some(value)]));
        }
    }

    /// Of answers with these verdicts and values of a figure, for simulations.
    pub fn simulated(
        name: impl Into<Cow<'static, str>>,
        verdicts: &[Option<bool>],
        values: &[f64],
    ) -> Self {
        Self::unknown(verdicts).with(name, values)
    }

    /// With the values of one more figure.
    #[must_use]
    pub fn with(mut self, name: impl Into<Cow<'static, str>>, values: &[f64]) -> Self {
        let values = values.iter().map(|value| Rounded::of(*value));
        self.columns.push((name.into(), values.collect()));
        self
    }

    /// The same of the tools that each answer took.
    pub fn simulated_tools(verdicts: &[Option<bool>], tools: &[Vec<String>]) -> Self {
        Self {
            tools: tools.iter().cloned().map(Some).collect(),
            ..Self::unknown(verdicts)
        }
    }

    /// Without figures, for these answers.
    pub(crate) fn unknown(verdicts: &[Option<bool>]) -> Self {
        Self {
            verdicts: verdicts.to_vec(),
            ..Self::default()
        }
    }

    /// Whether no answer tells any figure.
    pub(crate) fn is_empty(&self) -> bool {
        self.columns.is_empty() && self.tools.is_empty()
    }

    /// Appends further answers.
    pub(crate) fn append(&mut self, other: Self) {
        let before = self.verdicts.len();
        self.verdicts.extend(other.verdicts);
        let all = self.verdicts.len();
        for (name, values) in other.columns {
            let there = self.columns.iter_mut().find(|(known, _)| *known == name);
            let Some((_, column)) = there else {
                let mut column = vec![None; before];
                column.extend(values);
                self.columns.push((name, column));
                continue;
            };
            column.resize(before, None);
            column.extend(values);
        }
        if !other.tools.is_empty() {
            self.tools.resize(before, None);
            self.tools.extend(other.tools);
        }
        self.resize(all);
    }

    /// Pads or truncates at the end to this number of answers.
    pub(crate) fn resize(&mut self, answers: usize) {
        self.verdicts.resize(answers, None);
        for (_, column) in &mut self.columns {
            column.resize(answers, None);
        }
        if !self.tools.is_empty() {
            self.tools.resize(answers, None);
        }
    }

    /// The last answers that are kept, with as many before them without figures that there are `answers`.
    pub(crate) fn last(&self, keep: &[bool], answers: usize) -> Self {
        fn last<T: Clone>(all: &[Option<T>], keep: &[bool], answers: usize) -> Vec<Option<T>> {
            let chosen = all.iter().zip(keep).filter(|(_, keep)| **keep);
            let chosen: Vec<_> = chosen.map(|(value, _)| value.clone()).collect();
            let from = chosen.len().saturating_sub(answers);
            let mut last = vec![None; answers.saturating_sub(chosen.len())];
            last.extend_from_slice(&chosen[from..]);
            last
        }
        let columns = self.columns.iter();
        let columns = columns.map(|(name, column)| (name.clone(), last(column, keep, answers)));
        Self {
            verdicts: last(&self.verdicts, keep, answers),
            columns: columns.collect(),
            tools: match &self.tools[..] {
                [] => Vec::new(),
                tools => last(tools, keep, answers),
            },
        }
    }

    /// Its numbers, of the first answer.
    pub(crate) fn numbers(&self) -> impl Iterator<Item = (&str, f64)> {
        let columns = self.columns.iter();
        columns.filter_map(|(name, column)| Some((&**name, (*column.first()?)?.value())))
    }

    /// The lines of a snapshot.
    pub(crate) fn lines(&self) -> Vec<String> {
        let columns = self.columns.iter();
        let columns = columns.filter(|(_, column)| column.iter().any(Option::is_some));
        let mut lines: Vec<String> = columns
            .map(|(name, column)| {
                let text = |value: &Option<Rounded>| {
                    value.map_or_else(|| NONE.to_owned(), |value| value.to_string())
                };
                let values: Vec<_> = column.iter().map(text).collect();
                format!("{name}: {}", values.join(" "))
            })
            .collect();
        if self.tools.iter().any(Option::is_some) {
            let text = |tools: &Option<Vec<String>>| match tools.as_deref() {
                None => NONE.to_owned(),
                Some([]) => NO_TOOL.to_owned(),
                Some(tools) => {
                    let tools: Vec<_> = tools.iter().map(|tool| escaped(tool)).collect();
                    tools.join(",")
                }
            };
            let tools: Vec<_> = self.tools.iter().map(text).collect();
            lines.push(format!("{TOOLS}: {}", tools.join(" | ")));
        }
        lines
    }

    /// Reads a line of a snapshot; `Ok(false)` if it is no figure.
    ///
    /// # Errors
    /// If it has another number of values than there are answers, or one that is no number.
    pub(crate) fn read(&mut self, name: &str, text: &str) -> Result<bool, String> {
        let answers = self.verdicts.len();
        let of_answers = |count: usize| {
            (count == answers)
                .then_some(true)
                .ok_or_else(|| format!("its `{name}` has {count} values for {answers} answers"))
        };
        if name == TOOLS {
            let one = |text: &str| match text.trim() {
                NONE => None,
                NO_TOOL => Some(Vec::new()),
                text => Some(text.split(',').map(unescaped).collect()),
            };
            self.tools = text.split('|').map(one).collect();
            return of_answers(self.tools.len());
        }
        if !NAMES.contains(&name) && !name.contains('.') {
            return Ok(false);
        }
        let one = |text: &str| match text {
            NONE => Ok(None),
            text => match text.parse().ok().and_then(Rounded::of) {
                None => Err(format!("its `{name}` has `{text}`, expected a number")),
                number => Ok(number),
            },
        };
        let column: Vec<_> = text.split_whitespace().map(one).collect::<Result<_, _>>()?;
        let count = column.len();
        let known = NAMES.iter().find(|known| **known == name);
        let name_of = known.map_or_else(
            || Cow::Owned(name.to_owned()),
            |known| Cow::Borrowed(*known),
        );
        self.columns.push((name_of, column));
        of_answers(count)
    }
}

/// The value of a figure of an answer with this verdict. The score of a scorer is that of its verdict where it has no
/// other.
fn value_or_verdict(
    name: &str,
    decides: Option<&str>,
) -> impl Fn(Option<Rounded>, Option<bool>) -> Option<f64> + use<> {
    let scorer = name
        .strip_suffix(VALUE)
        .and_then(|name| name.strip_suffix('.'));
    let is_value = scorer.is_some() && scorer == decides;
    move |value, verdict| {
        let verdict = verdict.filter(|_| is_value);
        value
            .map(Rounded::value)
            .or(verdict.map(|it| f64::from(u8::from(it))))
    }
}

/// A name of a tool without the characters that separate names.
fn escaped(tool: &str) -> String {
    let is_special = |c: char| matches!(c, ',' | '|' | '%') || c.is_whitespace() || c.is_control();
    let mut text = String::with_capacity(tool.len());
    for c in tool.chars() {
        if is_special(c) {
            let mut bytes = [0; 4];
            for byte in c.encode_utf8(&mut bytes).bytes() {
                let _ = write!(text, "%{byte:02X}");
            }
        } else {
            text.push(c);
        }
    }
    match &*text {
        NONE => "%2D".to_owned(),
        NO_TOOL => "%5B]".to_owned(),
        _ => text,
    }
}

fn unescaped(text: &str) -> String {
    let text = text.trim();
    let mut bytes = Vec::with_capacity(text.len());
    let mut at = 0;
    while at < text.len() {
        let code = text
            .get(at + 1..at + 3)
            .filter(|_| text.as_bytes()[at] == b'%');
        if let Some(code) = code.and_then(|code| u8::from_str_radix(code, 16).ok()) {
            bytes.push(code);
            at += 3;
        } else {
            bytes.push(text.as_bytes()[at]);
            at += 1;
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::columns::FigureColumns;
    use super::*;
    use crate::data::{Output, Score};

    #[test]
    fn numbers_have_three_digits() {
        for (value, text) in [
            (0.0, "0"),
            (-0.0, "0"),
            (6.0, "6"),
            (1204.0, "1200"),
            (1205.1, "1210"),
            (0.001_234_9, "0.00123"),
            (0.4, "0.4"),
            (-2.5, "-2.5"),
            (168_000.0, "168000"),
            (99_999.0, "100000"),
        ] {
            let rounded = Rounded::of(value).unwrap();
            assert_eq!(rounded.to_string(), text);
            assert_eq!(Rounded::of(rounded.value()), Some(rounded), "{text}");
        }
        for none in [f64::NAN, f64::INFINITY, 1e300] {
            assert_eq!(Rounded::of(none), None);
        }
    }

    /// Read from these lines, for this many answers.
    fn read(lines: &[&str], answers: usize) -> Result<AnswerFigures, String> {
        let mut figures = AnswerFigures::unknown(&vec![Some(true); answers]);
        for line in lines {
            let (name, text) = line.split_once(": ").unwrap();
            assert!(figures.read(name, text)?, "{line}");
        }
        Ok(figures)
    }

    #[test]
    fn lines_are_read_as_they_were_written() {
        let lines = [
            "tokens: 1200 1180 - 1310",
            "judge.total: 4.5 4 - 4.5",
            "tools: search,open | [] | - | a%2Cb%7C%25,%2D",
        ];
        let figures = read(&lines, 4).unwrap();
        assert_eq!(figures.lines(), lines);
        let tools = &figures.tools;
        assert_eq!(
            tools[3].as_deref(),
            Some(&["a,b|%".to_owned(), "-".to_owned()][..])
        );
        assert_eq!(tools[1].as_deref(), Some(&[][..]));
        let error = read(&["steps: 1 2"], 3).unwrap_err();
        assert_eq!(error, "its `steps` has 2 values for 3 answers");
        let error = read(&["steps: 1 x"], 2).unwrap_err();
        assert_eq!(error, "its `steps` has `x`, expected a number");
        assert_eq!(AnswerFigures::default().read("found_by", "x"), Ok(false));
    }

    /// A record with an answer of 6 steps.
    fn record() -> Record {
        let mut record = Record::scored(
            "a".to_owned(),
            Score::new(0.5, false, "half").detail("total", 4.5),
        );
        let mut usage = Usage::tokens(1000, 200).cost_usd(0.01);
        usage.cached_tokens = Some(900);
        let call = |name: &str| json!({"function": {"name": name, "arguments": "{}"}});
        let messages = [
            json!({"role": "assistant", "tool_calls": [call("search"), call("open")]}),
            json!({"role": "assistant", "content": [{"type": "tool_use", "name": "pay", "input": {}}]}),
        ];
        record.result.usage = Some(usage);
        record.result.steps = Some(6);
        record.result.output = Some(Output::text("né").messages(messages));
        record
    }

    #[test]
    fn a_record_tells_its_figures() {
        let rules = FigureRules {
            scorer: Some("judge"),
            ..FigureRules::default()
        };
        assert_eq!(
            AnswerFigures::of(&record(), rules).lines(),
            [
                "tokens: 300",
                "input_tokens: 100",
                "cached_tokens: 900",
                "output_tokens: 200",
                "cost_usd: 0.01",
                "steps: 6",
                "tool_calls: 3",
                "output_length: 2",
                "judge.value: 0.5",
                "judge.total: 4.5",
                "tools: search,open,pay",
            ]
        );
        let key = MaskKey::of(crate::text::hash::Hasher::default().part("secret"));
        let masked = FigureRules {
            key: Some(&key),
            latency: true,
            ..rules
        };
        let lines = AnswerFigures::of(&record(), masked).lines();
        assert!(
            lines.iter().any(|line| line.starts_with("latency: ")),
            "{lines:?}"
        );
        assert!(!lines.concat().contains("search"), "{lines:?}");
        let mut failed = record();
        failed.result.status = Status::AgentFailed;
        assert!(AnswerFigures::of(&failed, rules).is_empty());
    }

    #[test]
    fn the_score_of_a_verdict_is_not_written_and_is_known() {
        let mut plain = record();
        plain.result.score = Some(Score::binary(true));
        plain.result.status = Status::Scored;
        let rules = FigureRules {
            scorer: Some("exact"),
            ..FigureRules::default()
        };
        let mut figures = AnswerFigures::of(&plain, rules);
        assert!(!figures.lines().concat().contains("exact"));
        figures.append(AnswerFigures::unknown(&[None]));
        let mut columns = FigureColumns::default();
        columns.push(&figures);
        let get = |scorer| -> Vec<_> {
            let row = columns.row(0);
            row.get("exact.value", Some(scorer)).collect()
        };
        assert_eq!(get("exact"), [Some(1.0), None]);
        assert_eq!(get("other"), [None, None]);
    }

    #[test]
    fn columns_hold_what_each_sample_tells() {
        let all = [
            AnswerFigures::default(),
            AnswerFigures::unknown(&[None, Some(true)]),
            read(&["steps: 6 7", "tools: a,b | -"], 2).unwrap(),
            read(&["tokens: -", "tools: []"], 1).unwrap(),
            AnswerFigures::default(),
            read(&["steps: -8.5e-9", "tokens: 5"], 1).unwrap(),
        ];
        let mut columns = FigureColumns::default();
        for figures in &all {
            columns.push(figures);
        }
        for (place, figures) in all.iter().enumerate() {
            let row = columns.row(place);
            assert_eq!(row.to_figures().lines(), figures.lines());
            assert_eq!(row.verdicts(), figures.verdicts);
            assert_eq!(row.is_empty(), figures.is_empty());
        }
        assert_eq!(columns.names().collect::<Vec<_>>(), ["steps", "tokens"]);
        // It is not empty, as ever, though it tells nothing.
        let blank = read(&["steps: - -"], 2).unwrap();
        columns.push(&blank);
        assert!(!columns.row(all.len()).is_empty());
        assert_eq!(
            columns.row(all.len()).get("steps", None).flatten().count(),
            0
        );
    }

    #[test]
    fn answers_are_appended_and_dropped_with_their_figures() {
        let mut figures = read(&["steps: 6 7", "tools: a | b"], 2).unwrap();
        figures.append(read(&["steps: 8", "tokens: 5"], 1).unwrap());
        assert_eq!(
            figures.lines(),
            ["steps: 6 7 8", "tokens: - - 5", "tools: a | b | -"]
        );
        let last = figures.last(&[true, false, true], 1);
        assert_eq!(last.lines(), ["steps: 8", "tokens: 5"]);
        assert_eq!(
            figures.last(&[true, false, true], 3).lines()[0],
            "steps: - 6 8"
        );
        figures.resize(4);
        assert_eq!(figures.lines()[0], "steps: 6 7 8 -");
    }
}
