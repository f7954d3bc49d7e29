//! What the README shows is what the program prints.

use crate::project::{Project, Ran, root};

/// The lines of the first fenced block that holds `mark`.
fn block(readme: &str, mark: &str) -> Vec<String> {
    let mut blocks = readme.split("```").skip(1).step_by(2);
    let block = blocks.find(|block| block.contains(mark));
    let block = block.unwrap_or_else(|| panic!("no block of the README has `{mark}`"));
    block.lines().skip(1).map(str::to_owned).collect()
}

#[test]
fn the_matrix_of_scorers_is_that_of_the_fixtures() {
    let readme = std::fs::read_to_string(root().join("README.md")).unwrap();
    let shown = block(&readme, "cargo evaltest scorers RUN_DIR");
    let scorers = shown[0].split('\'').nth(1).expect("quoted scorers");
    let project = Project::new();
    let spec = root().join("fixtures/gaia/gaia.yaml");
    let runs = project.file("runs");
    let run =
        |arguments: &[&str]| Ran::of(&project.command_of(arguments).output().unwrap()).exits(0);
    let (spec, runs) = (spec.to_str().unwrap(), runs.to_str().unwrap());
    run(&["run", spec, "--output-root", runs]);
    let dir = std::fs::read_dir(runs)
        .unwrap()
        .flatten()
        .map(|entry| entry.path());
    let dir = dir
        .filter(|path| path.is_dir())
        .max()
        .expect("a run directory");
    let ran = run(&["scorers", dir.to_str().unwrap(), "--scorers", scorers]);
    for line in shown.iter().skip(1).filter(|line| line.trim() != "…") {
        assert!(
            ran.out.contains(line),
            "`{line}` is missing in\n{}",
            ran.out
        );
    }
    assert!(shown.len() > 10);
}
