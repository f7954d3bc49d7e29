//! Tests of the `cargo evaltest` program on real temporary projects. One binary, a module per topic.
//!
//! They belong to the package `cargo-evaltest`, which builds the program.

mod asked;
mod ast_match;
mod bad_input;
mod baselines;
mod benchmarks;
mod bfcl;
mod bfcl_files;
mod cache;
mod custom;
mod disk_full;
mod doctor;
mod endpoints;
mod epochs;
mod errors;
mod explained;
mod exported;
mod faults;
mod fixtures;
mod flips;
mod harness;
mod hub;
mod init;
mod killed;
mod limits;
mod nextest;
mod project;
mod readme;
mod redaction;
mod rescored;
mod resume;
mod run_dir;
mod run_options;
mod sandbox;
mod scored;
mod scorer_process;
mod scorers;
mod server;
mod signals;
mod story;
mod tidy;
mod trials;
mod unknown_members;
mod verdicts;
mod worker;
