use std::io::Write as _;

use super::*;

pub(in crate::calls) const LANGUAGES: [fn() -> Language; 2] = [tree_sitter_java::language, || {
    evaltest_javascript_grammar::LANGUAGE.into()
}];

/// Whether an unwatched parser reads a text without an error node.
pub(in crate::calls) fn is_read(reader: &mut TreeReader, text: &str) -> bool {
    let tree = reader.parser.parse(text, None).unwrap();
    !has_error_node(tree.root_node())
}

#[test]
fn made_up_signs_are_forgiven_however_much_is_tried_besides() {
    let mut reader = TreeReader::new(&tree_sitter_java::language()).unwrap();
    let text = "None of the provided functions can be used to answer the question \"What are the ingredients for \
                lasagna?\". The only available function is related to flight schedules, which is not relevant to the \
                given question about lasagna ingre";
    assert!(is_read(&mut reader, text));
    assert!(reader.tree(text).is_some());
    assert_eq!(reader.lost.count(), 0);
}

/// A repetitive model answer: each line is an error recovered without an error node.
#[test]
fn endless_answers_are_read() {
    let java = |line: &str| (LANGUAGES[0](), line.repeat(500));
    let javascript = |line: &str| (LANGUAGES[1](), line.repeat(500));
    for (language, text) in [
        java("FunGameBase.onFinish(layout='gameLayout', success='true')\n"),
        java("f(a='x', b='y') // again\n"),
        java("TOO MUCH INFORMATION\n"),
        javascript("f(a=1)\n```\n"),
        javascript("f(a=1) // again\n"),
    ] {
        let mut reader = TreeReader::new(&language).unwrap();
        assert!(reader.tree(&text).is_some(), "{}", &text[..40]);
        assert!(!reader.is_spent);
    }
}

/// For each `/*` the parser scans to the end of the text.
#[test]
fn what_takes_too_long_is_given_up_and_says_so() {
    let text = format!("in {}", "<=>/*".repeat(1_800));
    let fault = java(&text).unwrap_err();
    assert_eq!(fault.limit(), Some(TOO_MUCH));
    assert_eq!(java("in <=>/*").unwrap_err().limit(), None);
}

/// A partial character at the end of a chunk would make the parser read past the end.
#[test]
fn characters_are_handed_over_whole() {
    let broken = "ding\": \"utf-8\", \"f\": \"y(x\"}, \"én 漢 😀";
    for language in LANGUAGES {
        let mut reader = TreeReader::new(&language()).unwrap();
        for start in 0..2 * STEP {
            for space in 0..2 * STEP {
                let text = format!("{}{}{broken}", "a ".repeat(start), " ".repeat(space));
                assert!(reader.watched(&text).is_none(), "{text}");
            }
        }
    }
}

#[rustfmt::skip]
const PIECES: &[&str] = &[
    "f(", "a.b(", "a=", "x = ", "1", "\"s\"", "'c'", "`t`", "true", ")", ");", "}", "{", "]", "[", ";", ",", ", ", ".",
    "=", ":", "\"", "'", "`", "/* c */", "// c\n", "/*", "\n", " ", "=>", "new ", "int[]", "a", "</a>", "<a>", "#", "\\",
    "é", "漢", "😀", "class ", "function ", "if ", "return ", "import ", "@", "?", "...", "-", "/", "<!-- c", "for(", "in ",
    "package ", "*/", "${", "&&", "<tool_call>\n{\"", "python\n    [", "To update the ", "{\"name\": \"f\", ", "I am sorry",
];

/// `EVALTEST_FUZZ_CASES=1000000` makes it a million.
#[test]
fn only_texts_with_an_error_are_called_lost() {
    let mut readers = LANGUAGES.map(|language| TreeReader::new(&language()).unwrap());
    let (mut lost, mut read, mut all) = (0, 0, 0);
    crate::tests::fuzz::fuzz(|dice| {
        let mut text = dice.text(PIECES, 12);
        if dice.below(3) == 0 {
            text = format!("f(a=1, b={text});");
        }
        for reader in &mut readers {
            let expect = is_read(reader, &text);
            let got = reader.tree(&text).is_some();
            // Known beginnings give the same result.
            let again = reader.tree(&text).is_some();
            let watched = reader.watched(&text);
            let watched = watched.is_some_and(|tree| !has_error_node(tree.root_node()));
            assert_eq!([got, again, watched], [expect; 3], "{text:?}");
            all += 1;
            read += u32::from(got);
        }
        lost = readers.iter().map(|reader| reader.lost.count()).sum();
    });
    let _ = writeln!(std::io::stderr(), "{all} texts, {read} read, {lost} kept");
    assert!(read > 0 && lost > 0);
}
