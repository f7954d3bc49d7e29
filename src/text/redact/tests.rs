use super::*;
use serde_json::json;

fn check(text: &str, expect: &str) {
    let redactor = Redactor::new(
        &["corp-[0-9]+".into()],
        &["hunter2hunter2".into(), "short".into()],
    );
    assert_eq!(redactor.unwrap().text(text, &mut 0), expect);
}

#[test]
fn blanks_tokens_and_leaves_words() {
    check("key sk-proj-abc123DEF456ghi789 end", "key [REDACTED] end");
    check("hf_AbCdEfGh1234567890", "[REDACTED]");
    check("jina_0123456789abcdef", "[REDACTED]");
    check("pplx-0123456789abcdef", "[REDACTED]");
    check("AIzaSyA1234567890abcdefghijklmnopqrstuv", "[REDACTED]");
    check(
        "Authorization: Bearer abc.def-123456",
        "Authorization: [REDACTED]",
    );
    check("ghp_0123456789abcdefABCDEF", "[REDACTED]");
    check("AKIAIOSFODNN7EXAMPLE", "[REDACTED]");
    check(
        "corp-42, hunter2hunter2, short",
        "[REDACTED], [REDACTED], short",
    );
    check(
        "sk-learn-estimators and risk-adjusted-1234",
        "sk-learn-estimators and risk-adjusted-1234",
    );
    check("\x1b[31msk-abc12345\x1b[0m", "[REDACTED]\x1b[0m");
    check(r#"{"a": "\nsk-abc12345"}"#, r#"{"a": "[REDACTED]"}"#);
    check("MY_sk-abc12345", "MY[REDACTED]");
    check("sk-proj-AbCdEfGhIjKlMnOpQrStUvWx", "[REDACTED]");
    check(
        "aws_secret_access_key = wJalrXUtnFEMIKMDENGbPxRfiCYEXAMPLEKEY",
        "[REDACTED]",
    );
    check("said hunter2hun…", "said [REDACTED]…");
    check("said hunter…, hun…", "said [REDACTED]…, hun…");
    check("…2hunter2 was refused", "…[REDACTED] was refused");
    check("bearer certificates", "bearer certificates");
    check("hf_hub_download", "hf_hub_download");
}

#[test]
fn key_names_count_as_whole_words_and_numbers_survive() {
    let mut config = json!({"api_key": "x", "apiKey": "y", "max_tokens": 5, "tokens": "12",
        "nested": [{"Authorization": "z", "monkey": "m", "token": 7}]});
    Redactor::default().config(&mut config);
    assert_eq!(
        config,
        json!({"api_key": REDACTED, "apiKey": REDACTED, "max_tokens": 5, "tokens": "12",
            "nested": [{"Authorization": REDACTED, "monkey": "m", "token": 7}]})
    );
}

#[test]
fn a_variable_is_named_and_no_value() {
    let mut config = json!({"api_key_env": "MY_KEY_2", "token_env": "s3cr3t", "key_env": "AKIAIOSFODNN7EXAMPLE",
        "api_key": "MY_KEY"});
    Redactor::default().config(&mut config);
    assert_eq!(
        config,
        json!({"api_key_env": "MY_KEY_2", "token_env": REDACTED, "key_env": REDACTED, "api_key": REDACTED})
    );
}

#[test]
fn a_secret_is_met_in_lines_and_inside_of_json() {
    let secret = "-----BEGIN KEY-----\nMIIE\"abcdefg\nend\n".to_owned();
    let redactor = Redactor::new(&[], std::slice::from_ref(&secret)).unwrap();
    let clean = |text: &str| redactor.text(text, &mut 0).into_owned();
    assert_eq!(clean(&secret), "[REDACTED]\n");
    assert_eq!(clean("MIIE\"abcdefg"), REDACTED);
    assert_eq!(clean(&json!(secret).to_string()), "\"[REDACTED]\\n\"");
    assert_eq!(clean("the end"), "the end");
}

#[test]
fn bytes_in_hex_may_be_apart_and_a_lone_return_may_stand_anywhere() {
    let secret = "Zq7/Xw9+Vb3=Kf5&Lm2";
    let redactor = Redactor::new(&[], &[secret.to_owned()]).unwrap();
    let pairs = |between: &str, upper: bool| {
        let byte = |byte: u8| {
            if upper {
                format!("{byte:02X}")
            } else {
                format!("{byte:02x}")
            }
        };
        let bytes: Vec<String> = secret.bytes().map(byte).collect();
        bytes.join(between)
    };
    let mut forms: Vec<String> = [":", " ", "-", ", ", "  ", "_", ", 0x", " 0x"]
        .iter()
        .flat_map(|between| [pairs(between, false), pairs(between, true)])
        .collect();
    forms.push(pairs(" ", false).replace("71 37", "7137"));
    forms.push(pairs(":", false).replacen(":58", ":\n    58", 1));
    forms.push(secret.replace('=', "=\r"));
    forms.push(secret.replace(['7', '9'], "7\r").replacen("w7", "w9", 1));
    forms.push(json!(secret.replace('=', "=\r")).to_string());
    for form in forms {
        let clean = redactor.text(&form, &mut 0).into_owned();
        assert!(
            clean.contains(REDACTED) && clean.len() < REDACTED.len() + 5,
            "{form}: {clean}"
        );
    }
    let truncated = format!("{}…", &pairs(":", false)[..20]);
    assert_eq!(redactor.text(&truncated, &mut 0), "[REDACTED]…");
    for plain in [
        "at 10:30:59 on 2026-01-02, be added",
        "00:1a:2b:3c:4d:5e and 192.168.10.20",
        "10%\rdone\r",
    ] {
        assert_eq!(redactor.text(plain, &mut 0), plain);
    }
}

#[test]
fn a_value_is_found_as_pages_shells_and_terminals_write_it() {
    let secret = "p@s<w&\"q7'Xw9>=Kf5Lm2";
    let redactor = Redactor::new(&[], &[secret.to_owned()]).unwrap();
    let each = |write: &dyn Fn(u32) -> String| -> String {
        secret.chars().map(|c| write(u32::from(c))).collect()
    };
    let page = secret
        .replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;");
    let forms = [
        page.replace('\'', "&#39;"),
        page.replace('\'', "&apos;"),
        page.replace('&', "&amp;"),
        json!(page).to_string().trim_matches('"').to_owned(),
        secret.replace('&', "\\u0026").replace('<', "\\u003c"),
        each(&|c| format!("&#{c};")),
        each(&|c| format!("&#x{c:X};")),
        each(&|c| format!("\\{c:03o}")),
        each(&|c| format!("\\0{c:03o}")),
        secret.replace('w', "\x1b[1;31mw\x1b[0m"),
        secret.replace('w', "\\u001b[32mw"),
        page.replace('w', "\x1b[7mw\n  "),
    ];
    for form in forms {
        let shown = redactor.text(&form, &mut 0).into_owned();
        assert_eq!(shown, REDACTED, "{form}");
    }
    assert_eq!(
        redactor.text("p@s&lt;w&am…", &mut 0),
        "[REDACTED]…",
        "truncated"
    );
    for plain in [
        "a &amp; b &lt; c",
        "\\012\\0101 &#65;",
        "\x1b[31mred\x1b[0m",
    ] {
        assert_eq!(redactor.text(plain, &mut 0), plain);
    }
}

#[test]
fn a_value_is_found_in_base64_of_base64_wherever_it_begins() {
    let secret = "nq7/Xw9+Vb3=Kf5&Lm2";
    let redactor = Redactor::new(&[], &[secret.to_owned()]).unwrap();
    for last in [b"+/", b"-_"] {
        for before in 0..9 {
            // So that neither layer has padding.
            let after = 18 - (before + secret.len()) % 9;
            let text = format!("{}{secret}{}", "u".repeat(before), "z".repeat(after));
            let once = known::base64(text.as_bytes(), 0, *last).0;
            let twice = String::from_utf8(known::base64(&once, 0, *last).0).unwrap();
            let shown = redactor.text(&twice, &mut 0).into_owned();
            let others = shown.len() - REDACTED.len();
            assert!(shown.contains(REDACTED), "{twice}");
            assert!(others <= (before + after) * 16 / 9 + 1, "{twice}: {shown}");
        }
    }
}

#[test]
fn a_line_may_hold_a_piece_of_a_secret() {
    let redactor = Redactor::new(&[], &["hunter2-hunter3-hunter4".into()]).unwrap();
    for (line, expect) in [
        ("said hunter2-hun", "said [REDACTED]"),
        ("ter3-hunt", "[REDACTED]"),
        ("er4 there", "er4 there"),
        ("hunter4 there", "[REDACTED] there"),
        ("hunter", "[REDACTED]"),
        ("nothing", "nothing"),
        ("", ""),
    ] {
        assert_eq!(redactor.line(line), expect);
    }
}

#[test]
fn a_value_across_two_windows_is_found() {
    let secret = "Zq7/Xw9+Vb3=Kf5&Lm2".to_owned();
    let redactor = Redactor::new(&[], std::slice::from_ref(&secret)).unwrap();
    let escaped = secret.chars().fold(String::new(), |text, c| {
        text + &format!("\\u{:04x}", u32::from(c))
    });
    for length in (64 * 1024 - 130..64 * 1024 + 20).step_by(7) {
        let text = format!(
            "{}{escaped}{}",
            "\\\n".repeat(length / 3),
            "%41".repeat(30_000)
        );
        let mut count = 0;
        let clean = redactor.text(&text, &mut count);
        assert!(count == 1 && !clean.contains("u0037"), "{length}: {count}");
    }
}

/// A search that looks back from each mark takes minutes on this text.
#[test]
fn many_marks_are_scanned_once_and_truncated_values_are_found() {
    let words: Vec<String> = (0..250u32)
        .map(|at| format!("{:08x}", at.wrapping_mul(0x9e37_79b9)))
        .collect();
    let secret = words.concat();
    let redactor = Redactor::new(&[], std::slice::from_ref(&secret)).unwrap();
    let hex = "00:".repeat(1 << 20);
    let flood = "…".repeat((1 << 20) / 3);
    let started = std::time::Instant::now();
    assert_eq!(redactor.text(&flood, &mut 0), flood);
    assert_eq!(redactor.text(&hex, &mut 0), hex);
    let prefix = &secret[..300];
    let ended = &secret[secret.len() - 300..];
    for (given, expect) in [
        (format!("{flood}{prefix}…"), format!("{flood}[REDACTED]…")),
        (format!("…{ended}{flood}"), format!("…[REDACTED]{flood}")),
        (
            format!("{flood}x {prefix}…{ended} y{flood}"),
            format!("{flood}x [REDACTED]…[REDACTED] y{flood}"),
        ),
        (
            format!("…abc…{prefix}…abc…{ended}…abc…"),
            "…abc…[REDACTED]…abc…[REDACTED]…abc…".to_owned(),
        ),
    ] {
        assert!(redactor.text(&given, &mut 0) == expect);
    }
    // Hundreds of milliseconds; looking back from each mark takes minutes.
    assert!(started.elapsed().as_secs() < 30, "{:?}", started.elapsed());
}

/// Like the test above, for runs of backslashes.
#[test]
fn a_flood_of_backslashes_is_read_once_and_a_value_behind_it_is_found() {
    let secret = "nq7/Xw9\"Vb3=Kf5&Lm2".to_owned();
    let redactor = Redactor::new(&[], std::slice::from_ref(&secret)).unwrap();
    let escaped = json!(secret).to_string();
    let escaped = escaped.trim_matches('"');
    let twice = json!(escaped).to_string();
    let twice = twice.trim_matches('"');
    let (long, short) = (2 << 20, 150 << 10);
    for (before, length) in [("", long), ("a", short), ("ab", short), ("abc", short)] {
        let run = format!("{before}{}", "\\".repeat(length));
        let read: usize = known::windows(&run, 240).map(|(_, part)| part.len()).sum();
        assert!(read < run.len() * 101 / 100, "{read}");
        for form in [&secret, escaped, twice] {
            let clean = redactor.text(&format!("{run}{form}"), &mut 0).into_owned();
            assert!(clean.ends_with(REDACTED), "{}", &clean[clean.len() - 40..]);
        }
    }
}

#[test]
fn a_bad_pattern_is_named() {
    let error = Redactor::new(&["a(".into()], &[]).unwrap_err();
    assert!(error.message().contains("`a(`"), "{error}");
    // A pattern that matches the empty string blanks nothing.
    let lax = Redactor::new(&["x*".into()], &[]).unwrap();
    assert_eq!(lax.text("abc", &mut 0), "abc");
}
