//! `cargo evaltest`.
fn main() {}
