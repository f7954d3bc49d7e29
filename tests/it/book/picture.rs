//! The picture of a run: what a command printed, as it stands in a terminal of 100 columns. `EVALTEST_BLESS=1` writes it.

use std::fmt::Write as _;

use super::compare::masked;

const COLUMNS: usize = 100;
const LINE: usize = 19;
/// The colours that the program prints.
const COLOURS: [(&str, &str); 4] = [
    ("31", "#ff6b6b"),
    ("32", "#69db7c"),
    ("33", "#ffd43b"),
    ("2", "#9a9ab0"),
];

/// What a terminal shows, without its colours.
pub(crate) fn plain(printed: &str) -> String {
    let mut pieces = printed.split("\x1b[");
    let first = pieces.next().unwrap_or_default().to_owned();
    pieces.fold(first, |text, piece| {
        text + piece.split_once('m').map_or(piece, |(_, rest)| rest)
    })
}

/// The text of a line in SVG; `colour` is the one that it begins with, and then the one that it ends with.
fn painted<'a>(line: &'a str, colour: &mut Option<&'a str>) -> String {
    let mut text = String::new();
    for (number, piece) in line.split("\x1b[").enumerate() {
        let mut words = piece;
        if number > 0 {
            let (code, rest) = piece.split_once('m').unwrap();
            *colour = (code != "0").then_some(code);
            words = rest;
        }
        let words = escaped(words);
        match *colour {
            _ if words.is_empty() => {}
            None => text += &words,
            Some(code) => {
                let (_, fill) = COLOURS.iter().find(|(known, _)| *known == code).unwrap();
                write!(text, "<tspan fill=\"{fill}\">{words}</tspan>").unwrap();
            }
        }
    }
    text
}

/// A line cut where a terminal's edge is, with the further parts a little to the right of its beginning.
fn wrapped(line: &str) -> Vec<String> {
    let indent = line.len() - line.trim_start().len();
    let mut lines = vec![" ".repeat(indent)];
    for word in line.split_whitespace() {
        let last = lines.last_mut().unwrap();
        if plain(last).chars().count() + plain(word).chars().count() + 1 > COLUMNS {
            lines.push(format!("{}{word}", " ".repeat(indent + 2)));
        } else {
            if !last.trim().is_empty() {
                last.push(' ');
            }
            last.push_str(word);
        }
    }
    lines
}

fn escaped(text: &str) -> String {
    let text = text.replace('&', "&amp;");
    text.replace('<', "&lt;").replace('>', "&gt;")
}

/// The picture of a command and of what it printed.
pub(crate) fn svg(command: &str, printed: &str) -> String {
    let printed = masked(printed);
    let mut lines = vec![format!("$ {command}")];
    lines.extend(printed.lines().flat_map(wrapped));
    let height = lines.len() * LINE + 26;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 860 {height}\" width=\"860\" height=\"{height}\" role=\"img\">\n\
         <title>A run of `{command}` that is red</title>\n\
         <rect width=\"860\" height=\"{height}\" rx=\"8\" fill=\"#1e1e2e\"/>\n\
         <g font-family=\"ui-monospace, Menlo, Consolas, 'DejaVu Sans Mono', monospace\" font-size=\"13.5\" \
         fill=\"#e6e6ef\">\n"
    );
    let mut colour = None;
    for (index, line) in lines.iter().enumerate() {
        let y = (index + 1) * LINE + 8;
        let text = painted(line, &mut colour);
        // Browsers do not inherit it.
        writeln!(
            svg,
            "<text x=\"16\" y=\"{y}\" xml:space=\"preserve\">{text}</text>"
        )
        .unwrap();
    }
    svg + "</g>\n</svg>\n"
}
