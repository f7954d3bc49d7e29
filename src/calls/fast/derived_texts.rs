//! Texts for comparisons with the parser: answers in the style of models, programs, prose, and mutations of them with
//! tokens lost, added and swapped.

use crate::tests::fuzz::Dice;

/// Handmade answers.
#[rustfmt::skip]
const ANSWERS: &[&str] = &[
    "Store.put(key=\"a b\", value='x', count=3, deep=true)", "play(list=songs, at=-2.5, loop=false, next=null)",
    "a.b.Clock.set(zone=Zone.UTC, name=\"\", on=DAYS, tail=0);", "Store.sort(by=new String[]{\"x\", \"y\"}, up=true)",
    "Store.fill(map=new HashMap<String, Integer>() {{ put(\"k\", 1); }}, list=Arrays.asList(1, 2));",
    "play(list=['a', \"b\"], options={\"loop\": true, rate: 1.5}, done=undefined)",
    "play(list=[[1, 2], []], opts={})", "play(\n  list = songs,\n  at = 2\n)",
    "{\"tool_calls\": [{\"name\": \"play\", \"arguments\": {\"list\": [1, -2.5, null]}}]}",
    "play\n{\"list\": \"a\", \"at\": {\"x\": [true]}}",
    "<tool_call>\n{\"name\": \"play\", \"arguments\": {}}\n</tool_call>",
    "python\n    [{'name': 'play', 'at': [1, 2]}]\n    ```\n\n    ### Note\n    It's `play`.",
    "play(list=[\"a\", 'b'], at=1)",
    "To play the list for the user, you can use the `play` function:\n\n```javascript\nplay(list);\n```\n",
    "Here's how the user's list is played if it isn't empty: the class Player has it (see `Player`).",
    "on(event='end', call=(e) => { if (e) stop(e); }, also=function(x) { return x; })", "tools call: [play(at=\"1\")",
    "The function `play` takes these:\n\n1. **list**: the list, e.g. \"songs\"\n- `at`: where to start\n",
    "from player import play\n\nplay(at=1) # now\nfor x in y:\n    try: play(x)", "play(a=`t ${x}`, b=/r'/g)",
    "play(a='{\"k\": \"v\"}')", "f(a=1)", "f(a=1);", "f(aa=\"1234567890\")",
    "x.y.z(a='it', b=\"it's\", c=\"a // b\", d='/* c', e=\"//\")", "f(a=1, a=2)", "f(a, b=2)",
];

#[rustfmt::skip]
const PIECES: &[&str] = &[
    "f(", "a.b(", "a=", "x = ", "1", "1.", "01", "1e5", "10n", "5L", "3rd ", "\"s\"", "'c'", "`t`", "``", "\"\"",
    "''", "\"\"\"", "{\"a\":", "{'a': ", "true", "null", "undefined", ")", ");", "}", "{", "]", "[", ";", ",", ", ",
    ".", "=", ":", "::", "\"", "'", "`", "\\", "\\'", "\\n", "\n", "\n", " ", " ", "\t", "\r", "\0", "\u{a0}", "é",
    "漢", "😀", "#", "##", "#x", "#!", "@", "?", "?.", "...", "-", "--", "-->", "+", "++", "/", "//", "/*", "*/", "*",
    "**", "<", ">", "=>", "->", "&&", "!", "<!-- c", "</a>", "<a b='c' d>", "${", "new ", "int[]", "for ", "for (",
    "for (var x ", "if ", "if (x) ", "while ", "with ", "switch ", "try ", "try {", "do ", "function ",
    "function g() {", "class ", "class C { ", "import ", "export ", "from ", "case ", "default ", "else ", "catch ",
    "get ", "set ", "static ", "async ", "await ", "of ", "in ", "let ", "var ", "const ", "yield ", "return ",
    "this ", "super", "extends ", "break ", "throw ", "as ", "to ", "the ", "user's ", "Here's ", "don't\n", "# Note",
    "package ", "assert ", "String s", "public ", "void f() {", "enum E {", "record ", "<tool_call>\n{\"",
    "python\n    [", "I am sorry", "f(a=[\"x\"])", "f(a={\"b\": 1})", "a=b", ", b='x'", ", c=[1, 2]", ", d={k: 'v'}",
];

#[rustfmt::skip]
const WORDS: &[&str] = &[
    "a", "b", "x", "the", "for", "if", "while", "with", "switch", "try", "function", "class", "import", "get", "set",
    "static", "async", "of", "let", "from", "as", "this", "default", "case", "in", "new", "undefined", "target",
    "record", "open", "when", "to",
];

/// Rules for statements and values in both languages: `W` is a word, `V` a value, `S` a statement.
type Rules = [&'static [&'static str]; 2];

#[rustfmt::skip]
const JAVASCRIPT: Rules = [
    &[
        "V;", "V\n", "V", "W: V;", "for (W of V) S", "for (let W of V) S", "for (var W in V) S", "for (V; V; V) S",
        "for (var W; V; V) { S }", "if (V) S", "if (V) S else S", "while (V) S", "do S while (V);", "with (V) S",
        "switch (V) { case V: S default: S }", "try { S } catch (W) { S }", "try { S } finally { S }",
        "function W(W) { S }", "async function W() { S }", "class W { W() { S } }",
        "class W extends V { W; W = V; static { S } }", "@W class W {}", "class W { @W W() {} @W W; get W() {} }",
        "import W from 'x';", "import W, {W} from 'x';", "import * as W from 'x';", "import 'x';",
        "import {W as W} from 'x'", "export default V;", "export {W};", "export const W = V;", "let W = V;",
        "var W = V, W;", "return V;", "throw V;", "break W;", "{ S }", "S S", "S S S", ";", "label: S", "W for V",
        "W if V", "W function V", "V; for V", "V class V", "S # S", "import W V", "V try V", "class W", "W import W",
        "V while W", "let for", "var for", "{ W for }", "({W for})", "f(for W)", "f(a for W)", "async for", "get for",
        "x ' y\nV", "x ` V",
    ],
    &[
        "W", "W", "1", "1.", "'s'", "\"t\"", "`u`", "[V, V]", "{W: V}", "{W, W}", "{W() { S }}", "{get W() { S }}",
        "{async W(W) { S }}", "f(V)", "f(V, V)", "V.W", "V[V]", "(V)", "V + V", "V - V", "V = V", "V ? V : V",
        "function (W) { S }", "function W(W, W) { S }", "(W) => V", "W => V", "async W => V", "new W(V)", "typeof V",
        "!V", "V in V", "V instanceof W", "`a ${V} b`", "`it's # \" '`", "'it # for the'", "\"a ` b # '\"", "'a\\'b'",
        "/re'g#/", "class { W() { S } }", "class W { W = V; W }", "<a b='c' d>it's # W</a>", "V++", "--V", "V, V",
        "...V", "{'a': V}", "{\"a\": V, 'b': V}", "{[V]: V}", "{static: V}", "yield V", "await V", "import(V)",
        "import.meta", "V\n.W", "V // c\n", "V /* c */", "null", "-V", "V * V", "V / V", "V || V", "V?.W", "V`x`",
        "#x in V", "'a'\n'", "'\n'", "`", "'open\n", "\"x\n", "[V V]", "(V V)", "V V",
    ],
];

#[rustfmt::skip]
const JAVA: Rules = [
    &[
        "V;", "V", "W W;", "W W = V;", "int W = V, W;", "int[] W = {V, V};", "for (W W : V) S",
        "for (int W = V; V; V) S", "if (V) S", "if (V) S else S", "while (V) S", "do S while (V);",
        "switch (V) { case \"a\": S default: S }", "switch (V) { case V: S }", "try { S } catch (W W) { S }",
        "class W { W W; void W() { S } }", "class W extends W { @W int W = V; }", "@W({\"a\", \"b\"}) class W {}",
        "@W(a = {\"x\"}) class W {}", "interface W {}", "enum W { W, W }", "record W(int W) {}", "import W.W;",
        "return V;", "throw V;", "break W;", "{ S }", "S S", "S S S", ";", "assert V : \"a\";", "W: S",
        "{ \"a\": S }", "{ \"a\" : }", "synchronized (V) S", "yield V;", "W<W, W> W = V;", "void W(int W) { S }",
        "S # S", "x ' y\nS", "{ V ? \"a\" : V; }", "case \"a\": S", "{ case \"a\": S }", "{ default: S }",
    ],
    &[
        "W", "1", "1.", "\"s\"", "'c'", "'cc'", "f(V)", "f(V, V)", "V.W", "V[V]", "(V)", "V + V", "W = V",
        "V ? V : V", "V ? \"a\" : V", "new W(V)", "new int[V]", "new W[]{V, V}", "new W() { int W; }", "(W) -> V",
        "W -> { S }", "W::new", "\"a\"::W", "(int) V", "V instanceof W", "switch (V) { case V -> V; default -> V; }",
        "\"it's # `\"", "\"\"\"\n a \"b\" # ' \"\"\"", "\"a\\\"b\"", "'\\''", "V // c'\n", "V /* ' */", "null",
        "true", "-V", "V < V", "V > V", "new W<W, W>(V)", "a[new B<C, D>(V)]", "[V, V]", "[V]", "{\"a\": V}",
        "{'a': V}", "V V", "W.<A, B>f(V)", "\"a\\{V}b\"", "''", "'open\n",
    ],
];

/// Derives a text.
pub(super) fn derived(dice: &mut Dice) -> String {
    let mut text = match dice.below(6) {
        0 | 1 => dice.pick(ANSWERS).to_owned(),
        2 => call(dice),
        3 => dice.text(PIECES, 12),
        4 => prose(dice),
        _ => program(dice),
    };
    for _ in 0..dice.below(4) {
        change(dice, &mut text);
    }
    text
}

/// Mutates a few tokens of a text.
fn change(dice: &mut Dice, text: &mut String) {
    let place = |dice: &mut Dice, text: &str| text.floor_char_boundary(dice.below(text.len() + 1));
    let start = place(dice, text);
    match dice.below(6) {
        0 => {
            let end = text.floor_char_boundary(start + dice.below(9)).max(start);
            text.replace_range(start..end, "");
        }
        1 => text.truncate(start),
        2 => *text = text.split_off(start),
        3 => {
            let rest = text.split_off(start);
            text.insert_str(0, &rest);
        }
        4 => text.insert_str(start, dice.pick(ANSWERS)),
        _ => text.insert_str(start, dice.pick(PIECES)),
    }
}

/// A call that may be plain.
fn call(dice: &mut Dice) -> String {
    let arguments: Vec<String> = (0..=dice.below(3))
        .map(|place| {
            let name = dice.pick(&["key", "list", "x"]);
            let mut value = String::new();
            let rules = if dice.below(2) > 0 { JAVA } else { JAVASCRIPT };
            expand(dice, "V", rules, 2, &mut value);
            let space = dice.pick(&["", "", " ", "\n"]);
            format!("{name}{place}{space}={space}{value}{space}")
        })
        .collect();
    let name = dice.pick(&["f", "Store.put", "a.b.c"]);
    let end = dice.pick(&["", ";"]);
    format!("{name}({}){end}", arguments.join(","))
}

fn prose(dice: &mut Dice) -> String {
    let mut text = String::new();
    for _ in 0..2 + dice.below(12) {
        text += dice.pick(WORDS);
        text += dice.pick(&[
            " ", " ", " ", " ", "\n", ", ", ". ", ": ", " (", ") ", "'s ", "` ", " `", "; ", " = ",
            " { ", "} ", "-", "/", " \"", "\" ", "[", "]", "(", "...", "!\n", "? ",
        ]);
    }
    text
}

fn program(dice: &mut Dice) -> String {
    let rules = if dice.below(3) > 0 { JAVASCRIPT } else { JAVA };
    let mut text = String::new();
    for _ in 0..=dice.below(3) {
        let depth = 1 + dice.below(4);
        expand(dice, "S", rules, depth, &mut text);
        text += dice.pick(&[" ", "\n", "; ", "", ", "]);
    }
    text.truncate(text.floor_char_boundary(400));
    text
}

fn expand(dice: &mut Dice, pattern: &str, rules: Rules, depth: usize, out: &mut String) {
    let bytes = pattern.as_bytes();
    let is_letter = |place: usize| bytes.get(place).is_some_and(u8::is_ascii_alphanumeric);
    for (place, c) in pattern.char_indices() {
        let is_alone = !is_letter(place.wrapping_sub(1)) && !is_letter(place + 1);
        let (simple, choice) = match c {
            'W' if is_alone => {
                *out += dice.pick(WORDS);
                continue;
            }
            'S' if is_alone => ("a;", rules[0]),
            'V' if is_alone => ("a", rules[1]),
            c => {
                out.push(c);
                continue;
            }
        };
        let inner = if depth == 0 {
            simple
        } else {
            dice.pick(choice)
        };
        expand(dice, inner, rules, depth.saturating_sub(1), out);
    }
}
