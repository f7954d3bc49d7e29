//! A dataset read from its file on demand equals the same dataset in memory.

use std::fs;
use std::path::Path;

use super::{BaselineUse, Plan};
use crate::Aime;
use crate::Answers;
use crate::Gaia;
use crate::Gsm8k;
use crate::Qa;
use crate::benchmark::Benchmark;
use crate::data::dataset::LARGE_HERE;
use crate::data::{AgentError, Output, Task};
use crate::error::Result;
use crate::eval::Eval;

fn eval(benchmark: impl Benchmark + 'static) -> Eval {
    let agent = |_: &Task| -> Result<Output, AgentError> { Ok("1".into()) };
    Eval::new(benchmark, agent).shuffle(7)
}

fn load(benchmark: impl Benchmark + 'static) -> Result<Plan> {
    Plan::load(&eval(benchmark), BaselineUse::Ignore)
}

/// Everything known of a dataset, and which rows stay in their file.
pub(super) fn described(plan: &Plan) -> (String, Vec<bool>) {
    let items = plan.items.iter().map(|item| {
        let item = item.unpack().unwrap();
        let hashes = [&item.input_hash, &item.target_hash, &item.question_hash];
        format!("{:?} {hashes:?}", item.sample)
    });
    let items: Vec<String> = items.collect();
    let described = format!(
        "{items:#?} {:?} {} {:?}",
        plan.order, plan.dataset_hash, plan.notices
    );
    let placed = plan.items.iter().map(super::Packed::is_placed);
    (described, placed.collect())
}

/// Loads a benchmark with its rows in memory and with its rows in their file.
fn check<B: Benchmark + 'static>(open: impl Fn() -> Result<B>) {
    let whole = load(open().unwrap()).unwrap();
    LARGE_HERE.set(0);
    let placed = load(open().unwrap());
    LARGE_HERE.set(u64::MAX);
    let (whole, _) = described(&whole);
    let (placed, in_file) = described(&placed.unwrap());
    assert_eq!(whole, placed);
    assert!(!in_file.is_empty() && !in_file.contains(&false), "{whole}");
}

fn fixture(path: &str) -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("fixtures")
        .join(path)
}

#[test]
fn the_fixtures_are_the_same_by_place() {
    check(|| Gaia::open(fixture("gaia")));
    check(|| Ok(Gaia::open(fixture("gaia"))?.levels([1, 3])));
    check(|| Aime::open(fixture("aime/problems.jsonl")));
    check(|| Gsm8k::open(fixture("gsm8k/problems.jsonl")));
    check(|| Qa::open(fixture("judge/questions.jsonl")));
}

/// A row 500 times, with `#` replaced by its number.
fn repeated(row: &str) -> String {
    let rows = (0..500).map(|number: u32| row.replace('#', &number.to_string()));
    rows.collect()
}

/// The same rows in every format, with everything that makes them hard to find.
#[test]
fn every_format_is_the_same_by_place() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, content: &[u8]| {
        let path = folder.path().join(name);
        fs::write(&path, content).unwrap();
        path
    };
    let long = "Z\u{fc}rich ".repeat(20_000);
    let many = repeated("{\"id\": \"m#\", \"question\": \"#?\", \"answer\": #}\n");
    let jsonl = format!(
        "\u{feff}{{\"id\": \"a\", \"question\": \"\u{2028}?\", \"answer\": \"x\", \"n\": NaN, \"level\": 1}}\r\n\r\n  \n \
         {{\"id\": \"b\", \"question\": \"{long}\", \"answer\": 17, \"level\": 2.0, \"file_name\": \"a.csv\"}} \n{many}\
         {{\"answer\": \"y\", \"id\": \"c\", \"question\": \"\\u00e9\", \"deep\": {{\"f\": [0.1, 1e300]}}}}"
    );
    for name in ["a.jsonl", "a.json"] {
        let path = file(name, jsonl.as_bytes());
        check(|| Qa::open(&path));
        check(|| Gaia::open(&path));
        check(|| Ok(Qa::open(&path)?.ids(["c", "m7", "a"])));
        check(|| {
            Ok(Qa::open(&path)?
                .ground_truth_column("answer")
                .prompt_column("/question"))
        });
    }
    let many = repeated("m#,#?,#,\r\n");
    let csv = format!(
        "\u{feff}id, question ,answer,file_name\r\n\r\n\na,\"x, \"\"y\"\"\r\nz\",1,\r\n\u{feff}b,{long},2,a.csv\r\n\
         {many}c,\"\nx\",\"3\n\",\n\n\nd,\"\u{e9};\",,\"\""
    );
    let path = file("a.csv", csv.as_bytes());
    check(|| Qa::open(&path).map(|qa| qa.template("Q: {question}").unwrap().id_column("id")));
    let tsv = "id\tquestion\tanswer\n1\ta\t2\n2\t\"b\tc\"\t3\n";
    let path = file("a.tsv", tsv.as_bytes());
    check(|| Qa::open(&path));
    check(|| Gsm8k::open(&path));
    check(|| Aime::open(&path));
    let path = file("b.csv", tsv.replace('\t', ";").as_bytes());
    check(|| Qa::open(&path));
}

#[cfg(feature = "parquet")]
#[test]
fn parquet_is_the_same_by_place() {
    use crate::data::dataset::parquet::tests::of_texts;

    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.parquet");
    let write = |ids: [&str; 2]| {
        let long = "Z\u{fc}rich\n".repeat(20_000);
        let columns: [&[&str]; 4] = [
            &["id", ids[0], ids[1]],
            &["question", "\"1\"?", &long],
            &["answer", "1", "2"],
            &["level", "1", "2.0"],
        ];
        fs::write(&path, of_texts(&columns)).unwrap();
    };
    write(["a", "b"]);
    check(|| Qa::open(&path));
    check(|| Gaia::open(&path));
    check(|| Gsm8k::open(&path));
    check(|| Ok(Aime::open(&path)?.ids(["b"])));
    write(["a", "a"]);
    LARGE_HERE.set(0);
    let error = load(Qa::open(&path).unwrap()).err().unwrap().to_string();
    assert!(
        error.contains("a.parquet: row 2: the id `a` is taken"),
        "{error}"
    );
}

#[cfg(feature = "bfcl")]
#[test]
fn calls_are_the_same_by_place() {
    use crate::Bfcl;

    check(|| Bfcl::open(fixture("bfcl")));
    check(|| Bfcl::open(fixture("bfcl/simple.jsonl")));
    check(|| Bfcl::open(fixture("bfcl/BFCL_v4_simple_python.json")));
    check(|| Bfcl::open(fixture("bfcl/BFCL_v4_live_relevance.json")));
    check(|| Ok(Bfcl::open(fixture("bfcl"))?.categories(["non_live", "live_simple"])));
    let folder = tempfile::tempdir().unwrap();
    let check = |entries: &str, answers: &str, expect: &str| {
        let path = folder.path().join("BFCL_v4_simple_python.json");
        fs::write(&path, entries).unwrap();
        let answers_dir = folder.path().join("possible_answer");
        if !answers.is_empty() {
            fs::create_dir_all(&answers_dir).unwrap();
            fs::write(answers_dir.join("BFCL_v4_simple_python.json"), answers).unwrap();
        }
        for path in [folder.path(), &path] {
            let load = || {
                let loaded = Bfcl::open(path).and_then(load);
                loaded.err().unwrap().to_string()
            };
            let whole = load();
            LARGE_HERE.set(0);
            let placed = load();
            LARGE_HERE.set(u64::MAX);
            assert_eq!(whole, placed);
            assert!(placed.contains(expect), "{placed}");
        }
    };
    let one = r#"{"id": "a", "question": "?", "function": []}"#;
    check("\n", "", "there is no entry");
    check(
        &format!("{one}\n{{"),
        "",
        "python.json:2: broken JSON in column 1",
    );
    check(
        &format!("{one}\n\n{one}"),
        "",
        "python.json:3: the id `a` is taken by line 1",
    );
    check(
        one,
        "",
        "python.json:1: there are questions without ground truth",
    );
    check(
        one,
        "{\"id\": \"a\"}",
        "possible_answer/BFCL_v4_simple_python.json:1: `ground_truth`",
    );
    let other = r#"{"id": "b", "ground_truth": [{"f": {}}]}"#;
    check(one, other, "python.json:1: `a` has no ground truth");
    let own = one.replace("[]}", r#"[], "ground_truth": 7}"#);
    check(&own, "", "python.json:1: ");
}

/// Rows of more than [`SMALL`](super::plan_file::SMALL) bytes, with ids and levels of every kind.
fn large() -> String {
    let text = "How many? ".repeat(400);
    let row = |number: usize| {
        let id = [
            format!("\"q{number}\""),
            format!("{number}"),
            format!("{number}.50"),
            format!("9{number:030}"),
        ];
        let levels = ["1", "\"2\"", "3.0", "null", "true", "\" \\u0034 \""];
        let id = &id[number % id.len()];
        let level = match levels.get(number % 7) {
            Some(level) => format!(", \"level\": {level}"),
            None => String::new(),
        };
        format!("{{\"question\": \"{text}\", \"answer\": {number}, \"id\": {id}{level}}}\n")
    };
    (0..300).map(row).collect()
}

#[test]
fn a_limit_reads_no_more_than_ids_and_slices_of_other_rows() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.jsonl");
    let load = |mut eval: Eval, limit: Option<usize>| {
        eval.limits.limit = limit;
        Plan::load(&eval, BaselineUse::Ignore)
    };
    let rows = large();
    fs::write(&path, &rows).unwrap();
    let open: [fn(&Path) -> Eval; 2] = [
        // The key of masked answers is made of all questions.
        |path| eval(Gaia::open(path).unwrap()).answers(Answers::Plain),
        |path| eval(Qa::open(path).unwrap()),
    ];
    for open in open {
        let whole = load(open(&path), None).unwrap();
        let few = load(open(&path), Some(250)).unwrap();
        let items = |plan: &Plan| {
            let items = plan.order.iter().map(|place| {
                let item = plan.items[*place].unpack().unwrap();
                let hashes = [&item.input_hash, &item.target_hash, &item.question_hash];
                format!("{:?} {hashes:?}", item.sample)
            });
            items.collect::<Vec<_>>()
        };
        assert_eq!(items(&few), items(&whole)[..250]);
        // What is wrong with other rows is told when they are asked.
        let asked: Vec<_> = few.items.iter().map(|item| &*item.id).collect();
        let mut others = whole.items.iter();
        let other = others.find(|item| {
            let is_read_whole = item.id.contains('.') || item.id.len() > 20;
            let level = item.slices.first().map(|(_, level)| &**level);
            !asked.contains(&&*item.id) && !is_read_whole && level != Some("3")
        });
        let (other, asked) = (
            other.unwrap().sample().unwrap(),
            few.items[7].sample().unwrap(),
        );
        for (sample, is_asked) in [(other, false), (asked, true)] {
            let target = sample.target.unwrap().as_text().unwrap().to_owned();
            let answer = format!("\"answer\": {target},");
            let lines = rows.lines().map(|line| {
                let question = if line.contains(&answer) {
                    " "
                } else {
                    "How many? "
                };
                line.replace("How many? ", question)
            });
            fs::write(
                &path,
                lines.collect::<Vec<_>>().join("\n") + &" ".repeat(1 << 20),
            )
            .unwrap();
            assert!(load(open(&path), None).is_err());
            let error = load(open(&path), Some(250)).err();
            assert_eq!(error.is_some(), is_asked, "{error:?}");
        }
        let id = &few.items[9].id;
        let answer = few.items[9].sample().unwrap().target.unwrap();
        let answer = format!("\"answer\": {},", answer.as_text().unwrap());
        fs::write(&path, rows.replace(&answer, "\"answer\": null,")).unwrap();
        let hidden = load(open(&path), Some(250)).unwrap();
        let notice = "1 of the 250 samples that are asked have no ground truth";
        let mut notices = hidden.notices.iter();
        assert!(
            notices.any(|it| it.starts_with(notice)),
            "{id}: {:?}",
            hidden.notices
        );
        let twice = format!("{rows}{}", rows.lines().next().unwrap());
        fs::write(&path, twice).unwrap();
        let error = load(open(&path), Some(1)).err().unwrap();
        assert!(
            error
                .message()
                .contains("a.jsonl:301: the id `q0` is taken"),
            "{error}"
        );
        fs::write(&path, &rows).unwrap();
    }
}

#[test]
fn a_limit_parses_rows_of_csv_as_csv() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.csv");
    let long = "x".repeat(1 << 20);
    let rows = format!(
        "id,question,answer\na,{long},1\n{{\"id\": \"b\",\"question\": 2,\"answer\": 3}}\n"
    );
    fs::write(&path, rows + &repeated("m#,#?,#\n")).unwrap();
    let items = |limit: Option<usize>| {
        let mut eval = eval(Qa::open(&path).unwrap());
        eval.limits.limit = limit;
        let plan = Plan::load(&eval, BaselineUse::Ignore).unwrap();
        let items = plan.items.iter().map(|item| {
            let item = item.unpack().unwrap();
            let hashes = [&item.input_hash, &item.target_hash, &item.question_hash];
            format!("{} {hashes:?}", item.sample.id)
        });
        items.collect::<Vec<_>>()
    };
    let mut whole = items(None);
    whole.sort_unstable();
    for large in [u64::MAX, 0] {
        LARGE_HERE.set(large);
        let few = items(Some(501));
        assert!(
            few.iter().all(|item| whole.binary_search(item).is_ok()),
            "{few:?}"
        );
        assert!(few.iter().any(|item| item.starts_with("{\"id\": \"b\" ")));
    }
    LARGE_HERE.set(u64::MAX);
}

/// A fault has the same message both ways.
#[test]
fn fault_has_same_message_with_place() {
    let folder = tempfile::tempdir().unwrap();
    let check = |name: &str, content: &[u8], expect: &str| {
        let path = folder.path().join(name);
        fs::write(&path, content).unwrap();
        let load = || load(Qa::open(&path).unwrap()).err().unwrap().to_string();
        let whole = load();
        LARGE_HERE.set(0);
        let placed = load();
        LARGE_HERE.set(u64::MAX);
        assert_eq!(whole, placed);
        assert!(placed.contains(expect), "{placed}");
    };
    let row = "{\"id\": 1, \"question\": \"?\", \"answer\": \"1\"}\n";
    let after_row = |bytes: &[u8]| [row.as_bytes(), bytes].concat();
    check(
        "a.jsonl",
        &after_row(b"\n{\"id\": 1"),
        "a.jsonl:3:8: broken JSON",
    );
    check(
        "a.jsonl",
        &after_row(b"[1]"),
        "a.jsonl:2: a row is an object",
    );
    check(
        "a.jsonl",
        &after_row(b"{\"a\": \"\xe9\"}"),
        "a.jsonl:2:8: invalid UTF-8",
    );
    check(
        "a.jsonl",
        &after_row(row.as_bytes()),
        "a.jsonl:2: the id `1` is taken",
    );
    check(
        "a.jsonl",
        &after_row(b"{\"id\": 2}"),
        "a.jsonl:2: the prompt is missing",
    );
    check("a.jsonl", b"\xef\xbb\xbf\n \r\n", "the dataset is empty");
    check(
        "a.json",
        b"\n{\n\"id\": 1}",
        "a.json:1: a `.json` dataset is an array",
    );
    let header = "id,question,answer\n";
    let rows = |rows: &str| format!("{header}{rows}").into_bytes();
    check(
        "a.csv",
        &rows("1,?,1\n\n2,?\n"),
        "a.csv:4: the row has 2 cells",
    );
    check(
        "a.csv",
        &rows("1,?,1\n2,\"?,1\n3,?,1\n"),
        "a.csv:3: a quote in this row",
    );
    check(
        "a.csv",
        &rows("1,?,1\r\n1,?,2"),
        "a.csv:3: the id `1` is taken",
    );
    check("a.csv", &rows(""), "the dataset is empty");
    check("a.csv", b"\n\n", "the header is missing");
    check(
        "a.csv",
        b"id,id\n1,1\n",
        "a.csv:1: the header names a column twice",
    );
    let broken = [header.as_bytes(), b"1,\"\n\xff\",2\n"].concat();
    check("a.csv", &broken, "a.csv:3:1: invalid UTF-8");
}
