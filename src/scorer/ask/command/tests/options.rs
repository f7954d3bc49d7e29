//! The effects of options, and the errors for wrong ones.

use super::*;

#[test]
fn scripts_are_in_the_fingerprint() {
    let project = Project::new();
    fs::write(project.path("judge.sh"), "echo 1").unwrap();
    fs::write(project.path("data"), b"\0\xff").unwrap();
    let of = |argv: &[&str]| project.command(argv).fingerprint();
    let before = of(&["sh", "judge.sh", "data"]);
    let data = r#"command [["sh","judge.sh","data"],[],true,{"judge.sh":"#;
    assert!(
        before.starts_with(data) && !before.contains(r#""data":"#),
        "{before}"
    );
    fs::write(project.path("judge.sh"), "echo 2").unwrap();
    assert_ne!(of(&["sh", "judge.sh", "data"]), before);
    let one = project.command(&["sh"]);
    let all = [
        one.fingerprint(),
        project.command(&["sh"]).env(["A"]).fingerprint(),
        project.command(&["sh"]).without_target().fingerprint(),
        project.command(&["dash"]).fingerprint(),
    ];
    for (place, fingerprint) in all.iter().enumerate() {
        assert!(!all[..place].contains(fingerprint), "{fingerprint}");
    }
    // Speed options do not change verdicts.
    let quick = project.command(&["sh"]).processes(9).timeout(SHORT);
    assert_eq!(quick.fingerprint(), one.fingerprint());
}

#[test]
fn options_that_are_wrong() {
    let project = Project::new();
    let message = |options: Value| {
        let Value::Object(mut spec) = options else {
            panic!("no options: {options}");
        };
        spec.insert("type".into(), "command".into());
        let context = Context {
            folder: project.folder.path(),
            registry: None,
            item_parts: None,
        };
        let error = from_value(&spec.into(), &context).err().unwrap();
        assert_eq!(error.exit(), crate::Exit::Usage);
        error.to_string()
    };
    let needs = "scorer `command` needs the option `command`, the program and its arguments, a list of texts\n\n\
        hint: write `{ type: command, command: … }`";
    assert_eq!(message(json!({})), needs);
    assert_eq!(message(json!({"command": []})), needs);
    let option = |key: &str, value: Value| {
        let mut options = json!({"command": ["sh"]});
        options[key] = value;
        message(options)
    };
    let at = |key: &str, text: &str| format!("scorer `command`, option `{key}`: {text}");
    assert_eq!(
        option("command", json!("sh")),
        at("command", "`\"sh\"` is not a list of texts")
    );
    assert_eq!(
        option("processes", json!(0)),
        at("processes", "`0` is not a whole number from 1 to 256")
    );
    assert_eq!(
        option("timeout_s", json!(0)),
        at("timeout_s", "`0` is not a number from 0.001 to 86400")
    );
    assert_eq!(
        option("env", json!([1])),
        at("env", "`[1]` is not a list of texts")
    );
    // Before an agent is paid.
    fs::write(project.path("judge.py"), "").unwrap();
    let folder = project.folder.path().display();
    assert_eq!(
        option("command", json!(["judge.py"])),
        format!(
            "scorer `command`: command not found: `judge.py` is not in `PATH`\n\n\
             hint: write `./judge.py` for the file in `{folder}`"
        )
    );
    assert_eq!(
        option("command", json!(["./gone"])),
        format!("scorer `command`: command not found: `./gone`, looked for from `{folder}`")
    );
}
