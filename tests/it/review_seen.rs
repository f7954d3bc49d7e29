//! The page of `review` as it is seen and heard: contrast, narrow screens, names for a screen reader, and where Tab leads.

use needs::needs;
use serde_json::Value;

use crate::browser::Browser;
use crate::review_page::{CHECKED, complains_of_nothing, shows};
use crate::reviewing::{ReviewWindow, items};

/// Texts of which less contrast is seen than people need, as `ratio text`.
const FAINT: &str = r"(() => {
    const parts = (color) => color.match(/[\d.]+/g).map(Number);
    const light = ([r, g, b]) => [r, g, b].map((c) => (c /= 255) <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4).reduce((all, c, i) => all + c * [0.2126, 0.7152, 0.0722][i], 0);
    const back = (it) => { for (; it; it = it.parentElement) { const color = parts(getComputedStyle(it).backgroundColor); if (color.length < 4 || color[3] > 0) return color; } return [255, 255, 255]; };
    const faint = [];
    let seen = 0;
    for (const it of document.querySelectorAll('body *')) {
        const own = [...it.childNodes].some((child) => child.nodeType === 3 && child.data.trim());
        if (!(own || it.matches('input, textarea, progress')) || !it.checkVisibility({ opacityProperty: true }) || it.closest('.skip')) continue;
        seen++;
        const [one, other] = [light(parts(getComputedStyle(it).color)), light(back(it))].sort((a, b) => b - a);
        const ratio = (one + 0.05) / (other + 0.05);
        if (ratio < 4.5) faint.push(`${ratio.toFixed(2)} ${it.localName} ${it.textContent.slice(0, 30)}`);
    }
    return seen < 40 ? `only ${seen} texts` : faint.join('\n');
})()";

#[needs(browser)]
#[test]
fn the_page_is_read_on_any_screen() {
    let project = items(12);
    let mut all: Value = serde_json::from_str(&project.read("items.json")).unwrap();
    all[0]["id"] = "a_name_without_any_blank_that_is_longer_than_a_narrow_screen_is_wide".into();
    all[0]["solution"] = format!(
        "$$\\sum_{{k=1}}^{{n}} {}$$ {} {}",
        "a_1 + b_2 \\cdot ".repeat(30) + "c",
        "w".repeat(300),
        "$x^2$"
    )
    .into();
    project.write("items.json", all.to_string());
    let window = ReviewWindow::open(&project, "items.json --reviewer Anna");
    let mut tab = Browser::open(&window.url, 1280);
    shows(&mut tab, 1);
    // What is checked, what is missing and what is told are to be read, too.
    tab.keys("12");
    tab.key("Enter");
    tab.eval("document.getElementById('all').open = true");
    tab.until("document.querySelector('#all li')");
    for scheme in ["light", "dark"] {
        tab.medium("screen", scheme);
        // Colours that change take their time.
        tab.until(&format!("{FAINT} === ''"));
        assert_eq!(tab.eval(FAINT), "", "{scheme}");
        // 320 is a telephone, 640 a window of 1280 at 200 %.
        for width in [320, 640, 1280] {
            tab.width(width);
            let wider = tab.eval(
                "document.documentElement.scrollWidth > document.documentElement.clientWidth",
            );
            assert_eq!(wider, false, "{scheme}, {width}");
        }
    }
    complains_of_nothing(&mut tab);
}

#[needs(browser)]
#[test]
fn the_page_is_gone_through_by_a_screen_reader_and_by_tab() {
    let project = items(12);
    let window = ReviewWindow::open(&project, "items.json --reviewer Anna");
    let mut tab = Browser::open(&window.url, 1280);
    shows(&mut tab, 1);
    tab.keys("12");
    tab.key("Enter");
    tab.eval("document.getElementById('all').open = true");
    tab.until("document.querySelector('#all li')");
    let accessible = tab.accessible();
    let roles = [
        "button",
        "combobox",
        "form",
        "navigation",
        "progressbar",
        "radio",
        "radiogroup",
        "spinbutton",
        "textbox",
    ];
    let of_role = |role: &str| -> Vec<&str> {
        let found = accessible.iter().filter(|(known, _)| known == role);
        found.map(|(_, name)| &**name).collect()
    };
    for role in roles {
        for name in of_role(role) {
            assert!(!name.is_empty(), "a {role} has no name: {accessible:#?}");
        }
    }
    for (role, name) in [
        ("heading", "Review of items.json"),
        ("heading", "Your review"),
        ("progressbar", "0 of 12 reviewed"),
        ("group", "correctness"),
        ("group", "Status is missing"),
        ("radio", "needs revision"),
        ("textbox", "Comment (may be empty)"),
        ("button", "Submit and show the next"),
        ("button", "Source of formulas"),
        ("spinbutton", "Item"),
    ] {
        let found = of_role(role);
        assert!(found.contains(&name), "no {role} `{name}`: {accessible:#?}");
    }
    assert_eq!(of_role("radio").len(), 23);
    for role in ["status", "alert", "main", "form", "navigation"] {
        assert!(!of_role(role).is_empty(), "no {role}: {accessible:#?}");
    }

    // One comes to everything by Tab, in the order of the page, and sees where one is.
    tab.eval("document.activeElement.blur(); document.querySelector('.skip').focus()");
    let mut order = Vec::new();
    for _ in 0..60 {
        tab.key("Tab");
        let at = tab.eval("(() => { const it = document.activeElement; const box = it.closest('.choice') || it; return [it.id || it.name || it.localName, getComputedStyle(box).outlineStyle !== 'none']; })()");
        let name = at[0].as_str().unwrap().to_owned();
        if name == "body" {
            break;
        }
        assert_eq!(at[1], true, "one does not see to be at `{name}`");
        order.push(name);
    }
    let place = |name: &str| {
        order
            .iter()
            .position(|known| known == name)
            .unwrap_or_else(|| panic!("`{name}` is not in {order:?}"))
    };
    let expect = [
        "previous", "next", "number", "source", "keys", "score-0", "score-3", "status", "comment",
        "submit", "undo",
    ];
    let places = expect.map(place);
    assert!(places.is_sorted(), "{order:?}");

    // Help opens and closes by keys, and what is behind it waits.
    tab.eval("document.activeElement.blur()");
    tab.key("?");
    tab.until("document.getElementById('help').open");
    tab.key("5");
    // They can be done without.
    tab.eval("document.getElementById('single').focus()");
    tab.key("Space");
    tab.key("Escape");
    tab.until("!document.getElementById('help').open");
    tab.keys("5a");
    tab.reload();
    shows(&mut tab, 1);
    tab.keys("5a");
    assert_eq!(tab.eval(CHECKED), "score-0=1 score-1=2");
    complains_of_nothing(&mut tab);
}
