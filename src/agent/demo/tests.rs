use super::*;
use crate::tests::fuzz;

/// Asks a question without files; `-` for no answer.
fn check(question: &str, expect: &str) {
    let got = words::solve(question).or_else(|| arithmetic::solve(question));
    assert_eq!(got.as_deref().unwrap_or("-"), expect, "{question}");
}

#[test]
fn arithmetic_in_symbols_and_words() {
    check("What is 2 + 3 * (4 - 1)^2?", "29");
    check("Compute 0.1 + 0.2.", "0.3");
    check("not 1 + 1 but 2 * (3 + 4) here", "14");
    check("2^3^2 and -2^2", "512");
    check("1,250 / 8 and 6x - 7", "156.25");
    check("17 % 5 times 2", "4");
    check("80 is reduced by 15 percent", "68");
    check("How much is 12 percent of 250?", "30");
    check("What is the square root of the sum of 9 and 16?", "5");
    check("the sum of all odd integers from 1 to 9", "25");
    check("the remainder when 2^10 is divided by 7", "2");
    check("There are 3 cats and 4 dogs. How many pets in total?", "7");
    check("Of 20 eggs 6 broke. How many are left?", "14");
    for nothing in [
        "just 7",
        "5 + 10 / 0",
        "7 +",
        "on 2031-05-06",
        "(((2",
        "9^9^9^9",
        "",
    ] {
        check(nothing, "-");
    }
}

#[test]
fn letters_and_words() {
    check("How many vowels are in \"Sea Otter\"?", "4");
    check("How many times is the letter 'T' in \"Tattoo\"?", "3");
    check("How many words does “one fine day” have?", "3");
    check("The first letter of each word: \"Very odd word\"", "Vow");
    check("What is the last word of «тихое море»?", "море");
    check("Write \"lamp\" backwards.", "pmal");
    check(
        "Put in alphabetical order: pear, Apple, fig",
        "Apple, fig, pear",
    );
    check("How many moons has \"The Sky\"?", "-");
    check("Who said \"hello\"?", "-");
}

fn check_file(name: &str, text: &str, question: &str, expect: &str) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    std::fs::write(&path, text).unwrap();
    let got = from_file(question, name, &path);
    assert_eq!(got.as_deref().unwrap_or("-"), expect, "{name}: {question}");
}

const PORT: &str = r#"{"port": {"piers": [{"id": "P1 east", "length": 40}, {"id": "P2 west", "length": 65}],
        "tide": {"high": {"depth": 9.5}, "low": {"depth": 3}}}}"#;

const NOTE: &str = "Ship: Heron\nHome port: Vell\n\nrain, rain and Rainfall\nno rain today\n";

#[test]
fn one_lookup_in_a_file() {
    const SHOP: &str =
        "item,kind,unit_price,stock\nrope,deck,4.5,30\nlamp,cabin,12.25,8\nbell,deck,20.1,2\n";
    let table = |question: &str, expect: &str| check_file("a.csv", SHOP, question, expect);
    table("What is the sum of the stock column?", "40");
    table("The average unit price where the kind is deck?", "12.3");
    table("What is the median stock?", "8");
    table("Which item has the highest unit price?", "bell");
    table(
        "How many items of kind deck have a stock of at least 2?",
        "2",
    );
    table("How many items have a stock greater than 8?", "1");
    table(
        "How many items of kind deck have a stock greater than 8?",
        "1",
    );
    table("What is the sum of the item column?", "-");
    table("Where is it?", "-");
    check_file("a.tsv", "n\tm\n1\t2\n3\t4\n", "total m?", "6");

    let json = |question: &str, expect: &str| check_file("a.json", PORT, question, expect);
    json("What is at `port.piers[1].length`?", "65");
    json("What is the depth of the port at low tide?", "3");
    json("What is the length of the pier P2 west?", "65");
    json("How many piers are P1 east?", "1");
    json("Who is the captain?", "-");

    let text = |question: &str, expect: &str| check_file("a.txt", NOTE, question, expect);
    text("Which home port has the ship?", "Vell");
    text("How many lines contain the word \"rain\"?", "2");
    text("How many times does the word \"rain\" occur?", "3");
    text("Who is the captain?", "-");

    for name in ["a.csv", "a.tsv", "a.json", "a.txt", "a.png", "a", ".csv"] {
        for text in [
            "",
            "\n\n",
            "\"",
            "[[[[",
            ",,,\n,,\n",
            "{\"a\":1e999}",
            "a,b\n1\n",
        ] {
            check_file(
                name,
                text,
                "Which zebra has the largest girth, in total?",
                "-",
            );
        }
    }
    assert_eq!(from_file("sum of n", "a.csv", &std::env::temp_dir()), None);
}

/// It never panics, and is deterministic.
#[test]
fn any_question_is_handled() {
    const PIECES: &[&str] = &[
        "'x' ",
        "\"",
        "'",
        "12 ",
        "-3.5",
        "^",
        "(",
        ")",
        " is reduced by ",
        "percent ",
        "and ",
        "sum of ",
        ", ",
        "how many ",
        "the largest ",
        "stock ",
        "Name ",
        "06:45 ",
        ": ",
        "square root of ",
        "é",
        ".",
    ];
    let document = serde_json::from_str(PORT).unwrap();
    fuzz::fuzz(|dice| {
        let question = dice.wild(PIECES);
        let _ = (words::solve(&question), arithmetic::solve(&question));
        let subject = table::TableQuestion::new(&question);
        let rows = table::Table::parse("stock,name\n1,x\n2,Name\n", b',').unwrap();
        let _ = (
            subject.of_table(&rows),
            subject.of_json(&document),
            subject.of_text("name: x\n: y"),
        );
    });
    for long in ["(", "-", "5 percent of ", "\"a", "9^"] {
        let _ = arithmetic::solve(&long.repeat(4_000));
        let _ = words::solve(&long.repeat(4_000));
    }
}
