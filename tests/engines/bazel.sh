#!/bin/sh
# Bazel runs an `sh_test` of three shards; the merge equals the unsharded run.
. "$(dirname "$0")/common.sh"

needs cargo bazel unzip
case $(bazel --version) in
"bazel 4."* | "bazel no_version"*) ;;
*) skip "this Bazel has its rules from the net; Debian's 4 has them with it" ;;
esac
root=$work/bazel
finish() { (cd "$work/project" && bazel --output_user_root="$root" shutdown >/dev/null 2>&1) || true; chmod -R u+w "$root" 2>/dev/null || true; }

command_in_path
project 24 0.02
unsharded
page_file BUILD.bazel >BUILD.bazel
page_file shard_test.sh >shard_test.sh
chmod +x shard_test.sh
touch WORKSPACE
# What a shell test does not need of the rules that Bazel else has from the net.
for rules in remote_coverage_tools rules_cc rules_java; do
    mkdir -p "$work/$rules"
    touch "$work/$rules/WORKSPACE" "$work/$rules/BUILD"
done
echo 'filegroup(name = "coverage_report_generator", visibility = ["//visibility:public"])' >"$work/remote_coverage_tools/BUILD"
natives() {
    mkdir "$work/rules_$1/$1"
    touch "$work/rules_$1/$1/BUILD"
    for rule in $2; do echo "$1_$rule = native.$1_$rule"; done >"$work/rules_$1/$1/defs.bzl"
}
natives cc "library binary test import toolchain toolchain_suite proto_library"
natives java "library binary test import plugin toolchain runtime package_configuration proto_library lite_proto_library"
echo "objc_library = native.objc_library" >>"$work/rules_cc/cc/defs.bzl"
set -- --test_env=PATH --test_env=HOME
for rules in remote_coverage_tools rules_cc rules_java; do set -- "$@" "--override_repository=$rules=$work/$rules"; done
bazel --output_user_root="$root" test //:example "$@" >bazel.log 2>&1 || {
    cat bazel.log bazel-testlogs/example/*/test.log 2>/dev/null | tail -n 60
    fail "the test"
}
said "$(grep -o 'Executed .*' bazel.log); $(find -L bazel-testlogs/example -name 'outputs.zip' | wc -l | tr -d ' ') shards"
mkdir -p evaltest-runs/bazel
for zip in bazel-testlogs/example/*/test.outputs/outputs.zip; do
    unzip -q "$zip" -d "evaltest-runs/bazel/$(basename "${zip%/test.outputs/*}")"
done
cargo evaltest merge evaltest-runs/bazel -o evaltest-runs/merged >merge.out 2>&1 || { cat merge.out; fail "the merge"; }
sed 's/^/  /' merge.out
equal "$work"/whole/* evaltest-runs/merged
said "merged, equal to the unsharded run"
