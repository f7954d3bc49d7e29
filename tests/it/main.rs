//! Tests of the `cargo evaltest` program on real temporary projects. One binary, a module per topic.
//!
//! They belong to the package `cargo-evaltest`, which builds the program.

mod bad_input;
mod disk_full;
mod faults;
mod project;
mod redaction;
mod story;
mod tidy;
