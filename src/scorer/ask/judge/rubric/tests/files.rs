//! Rubrics in files: what is read, and the reported position of an error.

use std::fs;

use super::*;

#[test]
fn a_rubric_in_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("mine.yaml");
    let place = path.display().to_string();
    let read_file = |text: &str| {
        fs::write(&path, text).unwrap();
        read_in(folder.path(), "rubric: mine.yaml")
    };
    for ready in ready::READY.iter().filter(|ready| ready.name != "qa") {
        let expect = read(&format!("rubric: {}", ready.name)).unwrap();
        assert_eq!(read_file(ready.text).unwrap(), expect);
        let text = format!("\u{feff}{}", ready.text.replace('\n', "\r\n"));
        assert_eq!(read_file(&text).unwrap(), expect);
    }
    let check = |text: &str, at: &str, message: &str, hint: &str| {
        let error = read_file(text).expect_err(text);
        let expect = format!("scorer `judge`, option `rubric`: {place}:{at}: {message}");
        assert_eq!(error.message(), expect, "{text}");
        let message = error.hint_text().unwrap_or_default();
        assert!(message.contains(hint) && !message.is_empty(), "{message}");
        // In the spec the place is the key with the file's name.
        let steps: Vec<_> = error.key_path().unwrap().steps().cloned().collect();
        assert_eq!(steps, ["rubric".into()]);
    };
    check(
        "dimensions:\n  - name: a\n    weigth: 2\n",
        "3:5",
        "dimension `a`: unknown key `weigth`, expected one of `name`, `description`, `weight`, `scale`, `examples`",
        "did you mean `weight`?",
    );
    check(
        "# mine\ndimensions:\n  - name: a\n    scale: [5, 1]\n",
        "4:12",
        "dimension `a`: the scale [5, 1] is reversed",
        "[1, 5]",
    );
    check(
        "dimensions:\n  - name: a\n    weight: 0\n",
        "3:13",
        "dimension `a`: the weight 0 is not a finite number above 0",
        "weight: 2",
    );
    check(
        "dimensions: []\n",
        "1:13",
        "`dimensions` are empty: there is nothing to grade",
        "clarity",
    );
    check(
        "- name: a\n",
        "1:1",
        "a rubric is a map, not a list",
        "dimensions",
    );
    check("", "1:1", "the rubric is empty", "dimensions");
    check("# only this\n", "1:1", "the rubric is empty", "dimensions");
    check(
        "instructions: x\n",
        "1:1",
        "a rubric needs `dimensions` or `choices`",
        "dimensions",
    );
    check(
        "choices: { a: 0.5, b: 0 }\npass: 1\n",
        "2:7",
        "no choice reaches `pass` 1: the highest value is 0.5",
        "pass: 0.5",
    );
    check(
        "choices: { a: 0.5, b: 0 }\n",
        "1:1",
        "no choice reaches the default `pass` 1: the highest value is 0.5",
        "pass: 0.5",
    );
    check(
        "dimensions:\n  - name: a\n\n    name: b\n",
        "4:5",
        "the key `name` is there twice",
        "keep one",
    );
    check(
        "choices: { a: 1, b: 0, a: 0 }\n",
        "1:24",
        "the key `a` is there twice",
        "keep one",
    );
    check(
        "dimensions: [{ name: a\npass: 3\n",
        "2:5",
        "not YAML: did not find expected ',' or '}'",
        "quotes",
    );
    check(
        "pass: 1\n---\npass: 2\n",
        "2:1",
        "not YAML: deserializing from YAML containing more than one document is not supported",
        "map",
    );
    // The options override the limits of the file, so the error is theirs.
    fs::write(&path, "dimensions: [{ name: a }]\n").unwrap();
    let error = read_in(folder.path(), "{ rubric: ./mine.yaml, pass: 9 }").unwrap_err();
    let expect = "scorer `judge`, option `pass`: `pass` 9 is off the scale, which goes from 1 to 5";
    assert_eq!(error.message(), expect);
}

#[test]
fn files_that_are_not_there() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("amie");
    let error = read_in(folder.path(), "rubric: amie").unwrap_err();
    let expect = format!(
        "scorer `judge`, option `rubric`: `amie` is not a ready rubric, and there is no file `{}`\n\n\
         hint: did you mean `aime`? the ready rubrics are `aime`, `qa`, `code`, `creative_writing`, `technical_docs`; \
         a path starts in the folder of the spec",
        path.display()
    );
    assert_eq!(error.to_string(), expect);
    fs::create_dir(&path).unwrap();
    let error = read_in(folder.path(), "rubric: amie").unwrap_err();
    assert!(
        error.message().contains("cannot read") && error.hint_text().is_some(),
        "{error}"
    );
    fs::write(folder.path().join("latin"), b"instructions: \xe9").unwrap();
    let error = read_in(folder.path(), "rubric: latin").unwrap_err();
    assert!(error.message().contains("UTF-8"), "{error}");
    assert_eq!(error.exit(), crate::exit::Exit::Usage);
    // A file may have the name of a built-in rubric.
    fs::write(folder.path().join("qa"), "dimensions: [{ name: a }]").unwrap();
    assert!(matches!(
        read_in(folder.path(), "rubric: ./qa"),
        Ok(Grading::Rubric(_))
    ));
    assert!(matches!(
        read_in(folder.path(), "rubric: qa"),
        Ok(Grading::Choices(_))
    ));
}

#[test]
fn a_spec_is_no_rubric() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tone.yaml");
    for (text, is_spec) in [
        ("name: tone\nbenchmark: { type: custom }\n", true),
        ("agent: { type: echo }\n", true),
        ("name: tone\n", false),
        ("agent: x\ndimensions: [{ name: a }]\n", false),
    ] {
        fs::write(&path, text).unwrap();
        let error = read_in(folder.path(), "rubric: tone.yaml").unwrap_err();
        let message = "tone.yaml:1:1: this is a spec, not a rubric";
        assert_eq!(error.message().contains(message), is_spec, "{error}");
        if is_spec {
            let hint = error.hint_text().unwrap_or_default();
            assert!(hint.contains("`../tone.yaml`"), "{hint}");
        }
    }
}
