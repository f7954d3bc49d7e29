//! The committed reference is what the program writes, and has every name.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use evaltest::engine::eval::{agents, benchmarks};
use evaltest::engine::scorers;
use evaltest::engine::verdict::METRICS;

use crate::project::{Project, root};

fn names(folder: &Path) -> BTreeSet<String> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries
        .map(|entry| entry.file_name().into_string().unwrap())
        .collect()
}

#[test]
fn the_committed_pages_are_those_of_the_program() {
    let project = Project::new();
    project.run("reference pages").exits(0);
    let committed = root().join("docs/src/reference");
    let what = "the reference differs: cargo evaltest reference docs/src/reference";
    let written = project.file("pages");
    assert_eq!(names(&written), names(&committed), "{what}");
    for name in names(&written) {
        let now = fs::read_to_string(written.join(&name)).unwrap();
        let then = fs::read_to_string(committed.join(&name)).unwrap();
        let differing = now
            .lines()
            .zip(then.lines())
            .find(|(now, then)| now != then);
        assert!(now == then, "{name}: {differing:?}\n{what}");
        let home = root().display().to_string();
        assert!(
            !now.contains(&home) && !now.contains("/tmp/"),
            "{name} has a path"
        );
    }
}

#[test]
fn each_name_has_a_place_where_it_is_explained() {
    let page =
        |name: &str| fs::read_to_string(root().join("docs/src/reference").join(name)).unwrap();
    let check = |file: &str, text: String| assert!(page(file).contains(&text), "{file}: {text}");
    for name in scorers::names() {
        check("scorers.md", format!("\n## {name}\n"));
    }
    for kind in agents::BUILT_IN {
        check("agents.md", format!("\n## {}\n", kind.name));
    }
    for kind in benchmarks::BUILT_IN {
        check("benchmarks.md", format!("\n## {}\n", kind.name));
    }
    let metrics = METRICS.iter().filter(|metric| metric.is_of_gates());
    for form in metrics.flat_map(|metric| metric.forms) {
        let gate: Result<evaltest::Gate, _> = form.example.parse();
        assert!(gate.is_ok(), "{}", form.example);
        check("gates.md", format!("\n| `{}` | ", form.form));
    }
    for (option, _, example) in evaltest::engine::verdict::GATE_OPTIONS {
        let gate: Result<evaltest::Gate, _> = example.parse();
        assert!(gate.is_ok() && example.contains(option), "{example}");
        check("gates.md", format!("\n| `{option}` | "));
    }
    for exit in evaltest::Exit::ALL {
        check("exit-codes.md", format!("\n| {} | ", exit.code()));
    }
}
