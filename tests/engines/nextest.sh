#!/bin/sh
# The samples of an eval as tests under cargo-nextest, in two partitions whose gates wait; the merge equals the unsharded run.
. "$(dirname "$0")/common.sh"

needs cargo cargo-nextest
command_in_path
project 24 0.02
unsharded
# The project of a user, built with what this checkout has built.
cat >Cargo.toml <<'MANIFEST'
[package]
name = "user"
version = "0.1.0"
edition = "2024"

[workspace]
MANIFEST
mkdir src
echo "//! A user's crate." >src/lib.rs
cargo evaltest init --name example --from path -- ./agent.sh >init.log 2>&1 || { cat init.log; fail "init"; }
cp "$top/Cargo.lock" Cargo.lock
export CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-$top/target}"
export EVALTEST_GATE=defer
for partition in 1 2; do
    cargo nextest run --offline --test example --partition "slice:$partition/2" >"partition-$partition.log" 2>&1 || {
        tail -n 20 "partition-$partition.log"
        fail "partition $partition of 2"
    }
    said "partition $partition of 2: $(grep -o '[0-9]* tests run: .*' "partition-$partition.log" | tail -n 1)"
done
cargo evaltest merge evaltest-runs -o evaltest-runs/merged >merge.out 2>&1 || { cat merge.out; fail "the merge"; }
sed 's/^/  /' merge.out
equal "$work"/whole/* evaltest-runs/merged
[ "$(asked)" = 24 ] || fail "24 questions, asked $(asked) times"
said "merged, equal to the unsharded run; each question was asked once"
