//! `report --format html`: one page, read without script and with it.

use needs::needs;
use regex::Regex;
use serde_json::json;

use crate::browser::Browser;
use crate::project::Project;

/// What somebody may have called a sample.
const HOSTILE: &str = "</script><img src=x onerror=alert(1)>";

/// Twelve questions in two topics; an agent that answers with its messages, at first all right, and then three wrong and
/// one not at all.
fn project(more: &str) -> Project {
    let project = Project::new();
    let lines = (0..12).map(|number| {
        let id = match number {
            11 => HOSTILE.to_owned(),
            number => format!("q{number:02}"),
        };
        let topic = if number % 2 == 0 { LONG } else { "odd & ends" };
        json!({"id": id, "question": format!("What is <{number}>?\nSay it."), "answer": format!("it is {number}"), "topic": topic})
            .to_string()
    });
    project.write("data.jsonl", lines.collect::<Vec<_>>().join("\n"));
    project.write(
        "eval.yaml",
        format!(
            "name: e\nbenchmark: {{ type: qa, path: data.jsonl, slices: [topic] }}\n\
             agent: {{ type: replay, path: answers.jsonl }}\nscorers: [exact, includes]\n\
             gates: [accuracy >= 0.9, \"accuracy[topic={LONG}] >= 0.1\", no_regression]\n{more}"
        ),
    );
    project
}

/// A topic without a blank, as long as the names of some benchmarks' categories.
const LONG: &str = "even_and_no_other_than_even_live_parallel_multiple";

fn answers(project: &Project, is_right: impl Fn(u32) -> bool) {
    let lines = (0..12).filter(|number| *number != 3 || is_right(3)).map(|number| {
        let id = match number {
            11 => HOSTILE.to_owned(),
            number => format!("q{number:02}"),
        };
        let answer = if is_right(number) {
            format!("it is {number}")
        } else {
            format!("<b onclick=alert(2)>it is not {number}</b>")
        };
        json!({"id": id, "answer": answer, "messages": [
            {"role": "system", "content": "You are terse."},
            {"role": "assistant", "content": null, "tool_calls": [
                {"id": "c1", "type": "function", "function": {"name": "look_up", "arguments": "{\"of\": \"<i>\"}"}}]},
            {"role": "tool", "tool_call_id": "c1", "content": "found <i>it</i>"},
            {"role": "assistant", "content": answer},
        ]})
        .to_string()
    });
    project.write("answers.jsonl", lines.collect::<Vec<_>>().join("\n"));
}

/// A run that is worse than its baseline, and its page.
fn worse(more: &str) -> (Project, String) {
    let project = project(more);
    answers(&project, |_| true);
    project.run("run eval.yaml --run-id one").exits(0);
    project.run("accept one").exits(0);
    answers(&project, |number| ![3, 5, 11].contains(&number));
    project.run("run eval.yaml --run-id two");
    project.run("report two -o page.html").exits(0);
    let page = project.read("page.html");
    (project, page)
}

/// The tags of a page, and what stands between them.
fn outside_of_data(page: &str) -> String {
    let data = Regex::new("(?s)<(script|style)[^>]*>.*?</(script|style)>").unwrap();
    data.replace_all(page, "").into_owned()
}

#[test]
fn a_page_says_all_without_script_and_has_nothing_from_elsewhere() {
    let (_project, page) = worse("snapshot: { answers: plain }\n");
    let text = outside_of_data(&page);
    for expect in [
        "Became wrong: ",
        "accuracy &gt;= 0.9",
        "What is &lt;5&gt;? Say it.",
        "&lt;/script&gt;&lt;img src=x onerror=alert(1)&gt;",
        "&lt;b onclick=alert(2)&gt;it is not 11&lt;/b&gt;",
        "odd &amp; ends",
        "<svg ",
        "cargo evaltest show two ",
    ] {
        assert!(text.contains(expect), "`{expect}` is not in\n{text}");
    }
    let policy = "default-src &#39;none&#39;; style-src &#39;sha256-";
    assert!(page.contains(policy), "{page}");
    // Whatever was said, it made no tag, no attribute and no address.
    let elsewhere = Regex::new(r#"(?i)<[a-z][^>]*\s(on\w+|style|src|srcset|action)=|href="[^#]|@import|url\(|<(img|b|i|iframe|object|link|base)\b[^>]*="#).unwrap();
    if let Some(found) = elsewhere.find(&text) {
        panic!("`{}` is in\n{text}", found.as_str());
    }
    let scripts = page.matches("<script").count();
    assert_eq!(scripts, page.matches("</script>").count());
    assert_eq!(page.matches("<img src=x").count(), 0, "{page}");
}

#[test]
fn the_first_screen_has_the_verdict_the_change_and_what_became_wrong() {
    let (_project, page) = worse("snapshot: { answers: plain }\n");
    let text = outside_of_data(&page);
    let places = [
        // The verdict, and the accuracy against that of the baseline, on an axis.
        "<p><strong>Failed</strong>: ",
        ">0 %</text><text class=\"to\" x=\"100%\" y=\"90%\">100 %</text>",
        ">baseline</text>",
        "<th scope=\"row\">baseline</th>",
        "<th scope=\"row\">this run</th>",
        "<strong>Became wrong: 2</strong>",
        "<th scope=\"col\">question</th>\n<th scope=\"col\">expected</th>\n<th scope=\"col\">got</th>\n<th scope=\"col\">why</th>",
        // Each cell has its label, for narrow pages.
        "<td data-label=\"expected\">it is 5</td><td data-label=\"got\">&lt;b onclick=alert(2)&gt;it is not 5&lt;/b&gt;</td>",
        "<h3>Gates</h3>",
        "<details><summary>Other gates: 2 passed</summary>",
    ];
    let places = places.map(|part| {
        let place = text.find(part);
        place.unwrap_or_else(|| panic!("`{part}` is not in\n{text}"))
    });
    assert!(places.is_sorted(), "{places:?} in\n{text}");
    // Names in messages are code; what an agent said stays as it was.
    let mut own = text
        .lines()
        .filter(|line| !line.contains("no recorded answer"));
    assert!(!own.any(|line| line.contains('`')), "{text}");
}

#[test]
fn of_a_masked_benchmark_the_page_has_no_texts_unless_asked() {
    let (project, page) = worse("snapshot: { answers: masked }\n");
    for not in ["Say it.", "it is not ", "look_up", "terse"] {
        assert!(!page.contains(not), "`{not}` is in\n{page}");
    }
    assert!(page.contains("q05") && page.contains("masked"), "{page}");
    project.run("report two --show-texts -o all.html").exits(0);
    assert!(project.read("all.html").contains("it is not 5"));
}

#[test]
fn several_runs_stand_side_by_side() {
    let (project, _) = worse("snapshot: { answers: plain }\n");
    let page = project.run("report one two --format html").exits(0).out;
    for expect in ["<h1>2 runs</h1>", "id=\"run-0\"", "id=\"run-1\""] {
        assert!(page.contains(expect), "`{expect}` is not in\n{page}");
    }
}

/// The ids of the rows that are shown.
const IDS: &str =
    "[...document.querySelectorAll('.by-script tbody th')].map((it) => it.textContent).join(' ')";

#[needs(browser)]
#[test]
fn samples_are_filtered_searched_sorted_and_looked_at() {
    let more = "prompt: { template: \"Be brief. {prompt}\" }\nsnapshot: { answers: plain }\n";
    let (project, _) = worse(more);
    let url = format!("file://{}", project.file("page.html").display());
    let mut tab = Browser::open(&url, 1200);
    // Prompts begin alike: the list has what was asked.
    let requested = "document.querySelector('.by-script tbody td').textContent";
    assert_eq!(tab.eval(requested), "What is <5>? Say it.");
    let heads = "[...document.querySelectorAll('.by-script thead th')].map((it) => it.textContent).join(' ')";
    // No agent told a cost.
    assert_eq!(tab.eval(heads), "sample question expected got verdict time");
    // What became wrong is shown first, and is what one came for.
    assert_eq!(tab.eval(IDS), format!("q05 {HOSTILE}"));
    tab.click("button", "All 12");
    assert_eq!(
        tab.eval("document.querySelectorAll('.by-script tbody tr').length"),
        12
    );
    tab.click("button", "Errors 1");
    assert_eq!(tab.eval(IDS), "q03");
    tab.click("button", "All 12");
    tab.fill("#search-0", "IT IS NOT");
    tab.until(&format!("{IDS} === {:?}", format!("q05 {HOSTILE}")));
    tab.fill("#search-0", "");
    tab.until(&format!("{IDS}.startsWith('q00')"));
    tab.fill("#slice-0", "0");
    assert_eq!(tab.eval(IDS), "q00 q02 q04 q06 q08 q10");
    tab.fill("#slice-0", "");
    tab.fill("#order-0", "failing");
    assert_eq!(
        tab.eval(IDS).as_str().unwrap().split(' ').next(),
        Some("q05")
    );

    tab.click(".by-script tbody a", HOSTILE);
    tab.until("document.querySelector('#sample h1')");
    let sample = tab.text("#sample");
    for expect in [
        HOSTILE,
        "wrong",
        "became wrong",
        "What is <11>?\nSay it.",
        "<b onclick=alert(2)>it is not 11</b>",
        "it is 11",
        "You are terse.",
        "calls look_up",
        "\"of\": \"<i>\"",
        "found <i>it</i>",
    ] {
        assert!(sample.contains(expect), "`{expect}` is not in\n{sample}");
    }
    assert_eq!(
        tab.eval(
            "[...document.querySelectorAll('#sample mark.wrong')].map((it) => it.textContent).join('|')"
        ),
        "answered|<b onclick=alert(2)>|not |</b>"
    );
    assert_eq!(
        tab.eval("document.querySelectorAll('#sample :is(b[onclick], img, i)').length"),
        0
    );
    // It can be sent as an address, and one comes back from it.
    assert_eq!(tab.eval("location.hash.startsWith('#sample/0/0/')"), true);
    tab.click("#sample a", "Back to the list");
    tab.until("!document.querySelector('#sample') && !document.querySelector('#content').hidden");
    let none: &[String] = &[];
    assert_eq!(tab.complaints(), none);
}

/// The elements that are wider than the page, but for what scrolls by itself.
pub(crate) const TOO_WIDE: &str = "[...document.querySelectorAll('main *')].filter((it) => !it.closest('.wide') && it.getBoundingClientRect().right > innerWidth + 1).map((it) => it.outerHTML.slice(0, 80)).join('; ')";

/// The least contrast of a text with what is behind it, and of which text.
pub(crate) const CONTRAST: &str = r"(() => {
  const numbers = (color) => color.match(/[\d.]+/g).map(Number);
  const light = ([r, g, b]) => [r, g, b].map((c) => (c /= 255) <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4).reduce((sum, c, at) => sum + c * [0.2126, 0.7152, 0.0722][at], 0);
  let least = [99, ''];
  for (const it of document.querySelectorAll('body *')) {
    if (![...it.childNodes].some((node) => node.nodeType === 3 && node.data.trim()) || !it.getClientRects().length || it.closest('script, style')) continue;
    let behind = it;
    while (behind && (numbers(getComputedStyle(behind).backgroundColor)[3] ?? 1) === 0) behind = behind.parentElement;
    const back = behind ? numbers(getComputedStyle(behind).backgroundColor) : [255, 255, 255];
    const style = getComputedStyle(it);
    const front = numbers(it.closest('svg') ? style.fill : style.color);
    const [one, two] = [light(front), light(back)];
    const ratio = (Math.max(one, two) + 0.05) / (Math.min(one, two) + 0.05);
    if (ratio < least[0]) least = [ratio, it.outerHTML.slice(0, 120)];
  }
  return least;
})()";

#[needs(browser)]
#[test]
fn a_page_is_read_on_a_telephone_in_the_dark_and_on_paper() {
    let (project, _) = worse("snapshot: { answers: plain }\n");
    let url = format!("file://{}", project.file("page.html").display());
    let mut tab = Browser::open(&url, 320);
    for address in ["", "#sample/0/0/q05"] {
        tab.eval(&format!("location.hash = {address:?}"));
        tab.until(&format!(
            "Boolean(document.querySelector('#sample')) === {}",
            !address.is_empty()
        ));
        // 718 pixels are what is left of A4 within its margins.
        for (medium, scheme, screen) in [
            ("screen", "light", 320),
            ("screen", "dark", 320),
            ("print", "dark", 718),
        ] {
            tab.width(screen);
            tab.medium(medium, scheme);
            assert_eq!(tab.eval(TOO_WIDE), "", "{address} {medium} {scheme}");
            let width = tab.eval("document.documentElement.scrollWidth");
            let beyond = tab.eval("[...document.querySelectorAll('main *')].filter((it) => it.getBoundingClientRect().right > innerWidth + 1).map((it) => it.outerHTML.slice(0, 300)).slice(0, 5).join('\\n')");
            assert!(
                width.as_u64() <= Some(screen.into()),
                "{address} {medium}: {width}\n{beyond}"
            );
            let least = tab.eval(CONTRAST);
            let ratio = least[0].as_f64().unwrap();
            assert!(
                (4.5..99.0).contains(&ratio),
                "{address} {medium} {scheme}: {least}"
            );
        }
        tab.medium("screen", "light");
        tab.width(320);
    }
    // On paper stands what one reads without script.
    tab.eval("location.hash = ''");
    tab.until("!document.querySelector('#sample')");
    tab.medium("print", "light");
    let paper = tab.text("#content");
    assert!(paper.contains("Wrong answers and errors: 3"), "{paper}");
    assert!(!paper.contains("Search"), "{paper}");
}
