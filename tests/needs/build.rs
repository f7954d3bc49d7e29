//! Tells the tests where the parity data is.

use std::path::Path;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed=EVALTEST_PARITY_DATA");
    // As `src/tests/parity.rs` has it.
    let folder = std::env::var("EVALTEST_PARITY_DATA")
        .unwrap_or_else(|_| concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared").to_owned());
    // A path that is not there would have the tests built anew each time.
    if Path::new(&folder).is_dir() {
        println!("cargo::rerun-if-changed={folder}");
    }
    println!("cargo::rustc-env=NEEDS_DATA={folder}");
}
