use super::*;

/// The formulas of a text.
fn formulas(text: &str) -> Vec<&str> {
    let tex = |part: &ReviewPart<'_>| match part {
        ReviewPart::Text { .. } => None,
        ReviewPart::Formula { tex, .. } => Some(&text[text.find(tex).unwrap()..][..tex.len()]),
    };
    parts(text).iter().filter_map(tex).collect()
}

/// The parts of a text, concatenated.
fn whole(text: &str) -> String {
    let part = |part: &ReviewPart<'_>| match part {
        ReviewPart::Text { text } => (*text).to_owned(),
        ReviewPart::Formula { tex, .. } => (*tex).to_owned(),
    };
    parts(text).iter().map(part).collect()
}

#[test]
fn formulas_differ_from_prices() {
    fn check(text: &str, expect: &[&str]) {
        assert_eq!(formulas(text), expect, "{text}");
        assert_eq!(whole(text), text);
    }
    check("", &[]);
    check("Let $x$ be.", &["$x$"]);
    check("$AB = 3$, so $$AB^2 = 9.$$", &["$AB = 3$", "$$AB^2 = 9.$$"]);
    check(r"\(a\) and \[b\]", &[r"\(a\)", r"\[b\]"]);
    check("$ x + ab + c $ and $2 ab$", &["$ x + ab + c $", "$2 ab$"]);
    check("$ max x $", &["$ max x $"]);
    check(r"$\text{for all } x > 0$", &[r"$\text{for all } x > 0$"]);
    check("costs $5 and $7", &[]);
    check("costs $5, then $x$", &["$x$"]);
    check("costs $5 $x$", &["$x$"]);
    check("from $5-$10, $5/$6 or 5$ and $x$", &["$x$"]);
    check(r"\$5 and \$6, but $\$5x$", &[r"$\$5x$"]);
    check("$\n\nx$", &[]);
    check("$$", &[]);
    check("$$ $$ $x$ $", &["$x$"]);
    check(r"line \\(a\) and \\[2pt] b\]", &[]);
    check(r"\(a \(b\)", &[r"\(b\)"]);
    let lines = "\\begin{align*}\n a &= b \\\\\n &= c\n\\end{align*}";
    check(&format!("So\n{lines}\nand on."), &[lines]);
    check(&format!("$${lines}$$"), &[&format!("$${lines}$$")]);
    check(r"\begin{itemize} $x$ \end{itemize}", &["$x$"]);
    check(
        r"\begin{cases} a \\ \begin{cases} b \end{cases} \end{cases}",
        &[r"\begin{cases} a \\ \begin{cases} b \end{cases} \end{cases}"],
    );
    check(r"\begin{align} $x$", &["$x$"]);
    check("über 5 € $é$ ende", &["$é$"]);
    // An invalid formula is text, and later formulas are still found.
    check(r"$\nobodyknows{x}$ $x$", &["$x$"]);
    check(r"$\frac{1}{$ and $x$", &["$x$"]);
}

#[cfg(feature = "math")]
#[test]
fn formulas_become_plain_mathml() {
    fn check(tex: &str, expect: &str) {
        let written = formula::mathml(tex, false).unwrap();
        let inner = written
            .strip_prefix("<math xmlns=\"http://www.w3.org/1998/Math/MathML\" display=\"inline\">");
        assert_eq!(
            inner.unwrap().strip_suffix("</math>").unwrap(),
            expect,
            "{tex}"
        );
    }
    check("x", "<mi>x</mi>");
    check("a<b", "<mi>a</mi><mo>&lt;</mo><mi>b</mi>");
    check(
        r"\frac{1}{2}",
        "<mfrac><mrow><mn>1</mn></mrow><mrow><mn>2</mn></mrow></mfrac>",
    );
    check(r"\text{a <b> & c}", "<mtext>a &lt;b&gt; &amp; c</mtext>");
    check(r"\color{red}x", "<mi>x</mi>");
    check(
        r"\boxed{x}",
        "<mrow class=\"menv-box\"><mrow><mi>x</mi></mrow></mrow>",
    );
    check(r"x\ y", "<mi>x</mi><mspace width=\"0.3em\"/><mi>y</mi>");
    check(
        r"\big(",
        "<mo symmetric=\"true\" stretchy=\"true\" minsize=\"1.2em\" maxsize=\"1.2em\">(</mo>",
    );
}

#[cfg(feature = "math")]
#[test]
fn what_cannot_be_read_or_does_harm_is_no_formula() {
    let deep = format!("{}x{}", "{".repeat(100), "}".repeat(100));
    let hostile = [
        "",
        r"\,",
        r"\frac{1}",
        "x}",
        r"\left( x",
        r"\begin{align} x",
        r"\nobodyknows",
        r"\href{javascript:alert(1)}{x}",
        r"\style{color:red}{x}",
        r"\operatorname{<script>alert(1)</script>}",
        r#"\operatorname{" onclick="}"#,
        r"\def\a{\a\a}\a",
        r"\newcommand{\a}{x}\a",
        r"\let\a=x",
        r"\hspace{9999em}x",
        r"\kern-50em x",
        "\u{202e}x",
        "\\text{a\u{2067}b}",
        "x\u{200b}y",
        "\u{e03c}",
        r"\char0",
        "\0",
        &deep,
    ];
    for tex in hostile {
        assert_eq!(formula::mathml(tex, true), None, "{tex}");
    }
}

/// Texts as in contest problems, one per line.
#[cfg(feature = "math")]
const WRITTEN: &str = include_str!("written.txt");

#[cfg(feature = "math")]
#[test]
fn what_people_write_is_typeset() {
    let unread: Vec<_> = WRITTEN
        .lines()
        .filter(|text| formulas(text) != [*text])
        .collect();
    let count = WRITTEN.lines().count();
    assert!(unread.len() * 20 < count, "of {count}: {unread:#?}");
    // Sanitising is idempotent.
    for part in WRITTEN.lines().flat_map(parts) {
        if let ReviewPart::Formula { mathml, .. } = part {
            assert_eq!(plain::plain(&mathml).as_ref(), Some(&mathml));
        }
    }
}

#[test]
fn however_long_and_odd_a_text_is_it_is_split_at_once() {
    let long = 1 << 20;
    let pieces = [
        "$",
        "$x$",
        r"$\sqrt{2}$ ",
        r"\(",
        r"\[\(",
        r"\begin{align}",
        "$ word and ",
        "$1 ",
        "$$ ",
        "\\",
        "{",
        "}",
        r"\(\sqrt",
        r"$\frac{",
        "\\begin{cases}\\x ",
        "\u{202e}$x",
        "é$",
    ];
    for piece in pieces {
        let text = piece.repeat(long / piece.len());
        let began = std::time::Instant::now();
        assert_eq!(whole(&text), text);
        assert!(
            began.elapsed().as_secs() < 20,
            "{piece}: {:?}",
            began.elapsed()
        );
    }
}

/// Random sequences of TeX fragments give only text or plain `MathML`.
#[cfg(feature = "math")]
#[test]
fn nothing_but_mathml_comes_out() {
    const PIECES: &[&str] = &[
        "\\",
        "{",
        "}",
        "[",
        "]",
        "(",
        ")",
        "^",
        "_",
        "&",
        "\\\\",
        " ",
        "#1",
        "\\frac",
        "\\sqrt",
        "\\left",
        "\\right",
        "\\begin{align}",
        "\\end{align}",
        "\\begin{array}{c|c}",
        "\\end{array}",
        "\\hline",
        "\\text{",
        "\\operatorname{",
        "<script>",
        "&amp;",
        "\"",
        "'",
        "x",
        "1",
        "2.5",
        "é",
        "漢",
        "\u{338}",
        "\\not",
        "\\big",
        "\\color{red}",
        "\\textcolor{blue}",
        "\\kern1em",
        "\\hspace{9999pt}",
        "\\substack",
        "\\overset",
        "\\binom",
        "\\hat",
        "\\boxed",
        "\\tag",
        "\\choose",
        "\\over",
        "\\limits",
        "\\middle|",
        "\\char\"",
        "\\displaystyle",
        "\\sum",
        "\\genfrac",
        "\\cfrac",
        "\\underbrace",
        "%",
        "~",
        "\\ ",
        "\\label{a}",
        "|",
        "\\mkern",
        "\\begin{matrix*}[r]",
        "\\end{matrix*}",
        "\\above",
    ];
    let mut state = 7_u64;
    let mut random = |below: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        usize::try_from(state % below as u64).unwrap()
    };
    let mut rendered = 0;
    for _ in 0..3000 {
        let count = 1 + random(8);
        let tex: String = (0..count).map(|_| PIECES[random(PIECES.len())]).collect();
        if let Some(mathml) = formula::mathml(&tex, true) {
            rendered += 1;
            assert_eq!(plain::plain(&mathml).as_ref(), Some(&mathml), "{tex}");
            assert!(!mathml.contains("<script"), "{tex}: {mathml}");
        }
    }
    assert!(rendered > 200, "{rendered}");
}
