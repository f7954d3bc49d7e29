//! Test data written by the official programs: `../shared` beside the checkout, or the folder that
//! `EVALTEST_PARITY_DATA` names. A clone has none of it; its tests then say so and pass.

use std::io::Write as _;
use std::path::PathBuf;

use serde::de::DeserializeOwned;
use serde_json::Value;

/// The text of a file of the parity data, or `None` (and a message) without that file.
pub(crate) fn text(name: &str) -> Option<String> {
    let path = path(name);
    let text = std::fs::read_to_string(&path);
    if let Err(error) = &text {
        // Not `eprintln!`: the test harness would hide it.
        let _ = writeln!(
            std::io::stderr(),
            "skipped: no parity data at `{}` ({error})",
            path.display()
        );
    }
    text.ok()
}

/// Where a file of the parity data is, if it is there.
pub(crate) fn path(name: &str) -> PathBuf {
    let folder = std::env::var_os("EVALTEST_PARITY_DATA").map_or_else(
        || PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../shared")),
        PathBuf::from,
    );
    folder.join(name)
}

/// A JSON file of the parity data.
pub(crate) fn json(name: &str) -> Option<Value> {
    text(name).map(|text| serde_json::from_str(&text).expect("parity data is JSON"))
}

/// One entry of a JSON object, as the type asked for.
pub(crate) fn get<T: DeserializeOwned>(object: &Value, key: &str) -> T {
    serde_json::from_value(object[key].clone()).expect(key)
}
