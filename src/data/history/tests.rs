use std::path::Path;

use super::*;

fn line(id: &str, time: &str) -> String {
    format!(r#"{{"format_version":1,"kind":"run","id":"{id}","eval":"gaia","time":"{time}"}}"#)
}

fn ids(history: &History) -> Vec<&str> {
    history.lines.iter().map(|line| &*line.id).collect()
}

fn read(text: &str) -> History {
    History::of(text.as_bytes(), Path::new("history.jsonl"), "gaia")
}

#[test]
fn lines_are_in_the_order_of_their_time_whatever_that_of_the_file() {
    let [first, second, third] = [
        line("b", "2026-11-23T19:53:21.001Z"),
        line("a", "2026-11-23T19:53:21.002Z"),
        // A line written in another time zone.
        line("c", "2026-11-23T21:53:21+01:00"),
    ];
    let expect = ["b", "a", "c"];
    let one = read(&format!("{third}\n{first}\r\n\n{second}"));
    assert_eq!(ids(&one), expect);
    assert!(!one.is_ended);
    assert_eq!(one.skipped, []);
    let other = read(&format!("\u{feff}{second}\n{first}\n{third}\n{first}\n"));
    assert_eq!(other.lines, one.lines);
    assert!(other.is_ended);
}

#[test]
fn of_two_lines_with_one_id_the_later_counts() {
    let wrong = line("a", "2026-11-23T19:53:21Z");
    let right = line("a", "2026-11-23T19:53:22Z").replace('}', r#","samples":3}"#);
    let accept = line("a", "2026-11-23T19:53:20Z").replace("run", "accept");
    for text in [
        format!("{wrong}\n{right}\n{accept}\n"),
        format!("{accept}\n{right}\n{wrong}\n"),
    ] {
        let history = read(&text);
        assert_eq!(ids(&history), ["a", "a"]);
        assert_eq!(history.lines[0].kind, HistoryKind::Accept);
        assert_eq!(history.lines[1].samples, 3);
        assert_eq!(history.runs().count(), 1);
    }
}

#[test]
fn invalid_lines_are_excluded_and_reported() {
    let check = |text: &str, why: &str| {
        let good = line("a", "2026-11-23T19:53:21Z");
        let history = read(&format!(
            "{good}\n{text}\n{}\n",
            good.replace("gaia", "other")
        ));
        let notices = history.notices();
        assert_eq!(ids(&history), ["a"], "{text}");
        assert_eq!(history.skipped.len(), 2, "{text}");
        assert!(notices[0].contains("history.jsonl:2: "), "{notices:?}");
        assert!(notices[0].contains(why), "{notices:?}");
        assert!(
            notices[1].contains("it belongs to eval `other`"),
            "{notices:?}"
        );
    };
    let whole = line("x", "2026-11-23T19:53:21Z");
    let with = |more: &str| whole.replace('}', &format!(",{more}}}"));
    check(&whole[..whole.len() - 9], "it is cut off");
    check(&whole[..9], "it is cut off");
    check("<<<<<<< HEAD", "delete the markers");
    check("=======", "delete the markers");
    check("nonsense", "it is not a line of a history");
    check("[1]", "it is not a line of a history");
    check("{}", "missing field `format_version`");
    check(&format!("{whole}{whole}"), "trailing characters");
    check(
        &whole.replace("gaia", "ga\\u001b[2Jia"),
        "it belongs to eval `ga",
    );
    check(&whole.replace(":1,", ":3,"), "it has version 3");
    // Of this version without a checksum, and with that of another line.
    check(&whole.replace(":1,", ":2,"), "it lacks its checksum");
    let sealed = String::from_utf8(read(&whole).lines[0].to_line().unwrap()).unwrap();
    check(&sealed.replace("\"x\"", "\"y\""), "it was changed");
    check(&sealed.replace("gaia", "gaib"), "it was changed");
    check(
        r#"{"format_version":99,"of":"later"}"#,
        "cargo install cargo-evaltest",
    );
    check(&whole.replace("run", "dance"), "dance");
    check(&whole.replace("\"x\"", "\"\""), "it has no `id`");
    check(&whole.replace("2026", "soon"), "its `time` is not a time");
    check(
        &with(r#""samples":2,"scored":3"#),
        "it counts more than there is",
    );
    check(&with(r#""correct":1"#), "it counts more than there is");
    check(
        &with(r#""slices":{"l":{"1":{"correct":1}}}"#),
        "it counts more",
    );
    check(&with(r#""accuracy":7"#), "not between 0 and 1");
    check(&with(r#""samples":-1"#), "it is not a line of a history");
    let answers = |bits: &str| {
        with(&format!(
            r#""answers":{{"samples":"x","count":3,"runs":[{{"right":"{bits}"}}]}}"#
        ))
    };
    check(&answers("?"), "not base64");
    check(&answers("oAA="), "do not match its number of samples");
    // Members of a later version are ignored.
    let more = read(&answers("oA==").replace("\"count\"", "\"more\":[{}],\"count\""));
    assert_eq!(more.notices(), Vec::<String>::new());
    let answers = more.lines[0].answers.as_ref().unwrap();
    assert_eq!(answers.of_sample(0), (1, 1));
    assert_eq!(answers.of_sample(1), (0, 1));
}

#[test]
fn alerts_need_a_history_without_damage() {
    let good = line("a", "2026-11-23T19:53:21Z");
    let check = |text: &str, expect: Option<&str>| {
        let refused = read(&format!("{good}\n{text}\n")).refuse_damage();
        let message = refused.err().map(|error| error.message().to_owned());
        assert_eq!(message.as_deref(), expect);
    };
    check(&good, None);
    // Nothing of this eval is missing.
    check(&good.replace("gaia", "other"), None);
    check("=======", None);
    let damaged =
        "history.jsonl:2: the alerts cannot be judged on a damaged history: it is cut off";
    check(&good[..20], Some(damaged));
}

#[test]
fn a_flood_of_such_lines_is_counted() {
    let notices = read(&"x\n".repeat(100)).notices();
    assert_eq!(notices.len(), 6);
    assert!(notices[5].contains("95 further lines"), "{notices:?}");
}

#[test]
fn a_line_comes_back_as_it_went() {
    let row = AnswerRow::of(&[Some(true), None, Some(false)]);
    let line = HistoryLine {
        format_version: HISTORY_VERSION,
        id: "gaia-1".to_owned(),
        eval: "gaia".to_owned(),
        time: "2026-11-23T19:53:21.123Z".parse().unwrap(),
        samples: 3,
        scored: 2,
        correct: 1,
        epochs: 1,
        accuracy: Some(0.5),
        answers: Some(HistoryAnswers {
            samples: "hash".to_owned(),
            count: 3,
            runs: vec![row],
        }),
        ..HistoryLine::default()
    };
    let text = String::from_utf8(line.to_line().unwrap()).unwrap();
    let history = read(&text);
    assert_eq!(history.notices(), Vec::<String>::new());
    assert_eq!(history.lines, [line]);
    let row = &history.lines[0].answers.as_ref().unwrap().runs[0];
    let verdicts: Vec<_> = (0..3).map(|place| row.verdict(place)).collect();
    assert_eq!(verdicts, [Some(true), None, Some(false)]);
}
