//! Compiles the sources in C, their functions under names of our own: a program may have another release of them, too.

const LANGUAGE: &str = "tree_sitter_javascript";

/// What they call from each other, behind the name of the language.
const SCANNER: [&str; 5] = ["create", "destroy", "scan", "serialize", "deserialize"];

fn main() {
    println!("cargo::rerun-if-changed=c");
    let mut build = cc::Build::new();
    build.std("c11").include("c/tree-sitter-javascript");
    build.warnings(false);
    build.define(LANGUAGE, "evaltest_tree_sitter_javascript");
    for function in SCANNER {
        let name = format!("{LANGUAGE}_external_scanner_{function}");
        build.define(&name, &*format!("evaltest_{name}"));
    }
    build.file("c/tree-sitter-javascript/parser.c");
    build.file("c/scanner.c");
    build.compile("evaltest-tree-sitter-javascript");
}
