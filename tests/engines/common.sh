# What the scripts beside this have in common; each reads it first.
#
# A script plays what the page `docs/src/guides/shards.md` shows, with the files of that page, in a folder of its own that is gone
# afterwards, and ends with 0 and one line `skipped: …` where its engine is not there. `$EVALTEST` is the built command; without
# it the checkout builds it.
set -eu

top=$(cd "$(dirname "$0")/../.." && pwd)
page=$top/docs/src/guides/shards.md
work=$(mktemp -d "${TMPDIR:-/tmp}/evaltest-engine.XXXXXX")

# What a script starts besides it ends in its own `finish`.
finish() { :; }
trap 'code=$?; trap - EXIT; finish; rm -rf "$work"; exit "$code"' EXIT
trap 'exit 130' INT TERM

said() { echo "${0##*/}: $*"; }

skip() {
    said "skipped: $*"
    exit 0
}

fail() {
    said "FAILED: $*" >&2
    exit 1
}

# needs PROGRAM…
needs() {
    for program in "$@"; do
        command -v "$program" >/dev/null || skip "no \`$program\` in PATH"
    done
}

# The command as the page types it: `cargo evaltest`, and no other one that is installed.
command_in_path() {
    if [ -z "${EVALTEST:-}" ]; then
        said "building the command"
        (cd "$top" && cargo build --quiet --locked --package cargo-evaltest)
        EVALTEST=${CARGO_TARGET_DIR:-$top/target}/debug/cargo-evaltest
    fi
    mkdir "$work/bin"
    ln -s "$(realpath "$EVALTEST")" "$work/bin/cargo-evaltest"
    PATH=$work/bin:$PATH
    export PATH
    # What the surroundings say of shards, CI or nextest is not this engine's.
    unset CI GITHUB_ACTIONS CI_NODE_INDEX CI_NODE_TOTAL EVALTEST_SHARD EVALTEST_GATE
    export NO_COLOR=1
}

# page_file NAME: the file that the page shows under this name.
page_file() {
    awk -v name="\`$1\`:" '
        /^```/ { if (inside) exit; if (found) { inside = 1; next } }
        inside { print; next }
        NF { found = substr($0, length($0) - length(name) + 1) == name }
    ' "$page" | grep . || fail "the page shows no \`$1\`"
}

# project SAMPLES SECONDS: a folder with an eval of so many samples, each of which takes so long.
project() {
    cd "$work"
    mkdir -p project/evals
    cd project
    seq "$1" | awk '{ printf "{\"id\": \"q%04d\", \"question\": \"What is %d and 1?\", \"answer\": \"%d\"}\n", $1, $1, $1 + 1 }' \
        >evals/sums.jsonl
    cat >evals/agent.sh <<AGENT
#!/bin/sh
# Adds one, wrong with every seventh.
set -e
line=\$(cat)
echo asked >>"$work/asked"
sleep $2
number=\${line#What is }
number=\${number%% *}
[ \$((number % 7)) = 0 ] && echo 0 || echo \$((number + 1))
AGENT
    chmod +x evals/agent.sh
    cat >evals/example.yaml <<SPEC
name: example
benchmark: { type: qa, path: sums.jsonl }
prompt: none
agent: { type: command, command: [./agent.sh] }
limits: { concurrency: 1 }
gates: [accuracy >= 0.8, min_samples >= $1]
SPEC
}

# unsharded: the same eval as one run, in `$work/whole`, all at once.
unsharded() {
    cargo evaltest run example --concurrency 32 --output-root "$work/whole" >"$work/whole.log" 2>&1 || {
        cat "$work/whole.log"
        fail "the unsharded run"
    }
    rm -f "$work/asked"
}

# equal DIR OTHER [killed]: the same answers and verdicts, byte for byte but for times. What was in flight in a run that was killed
# has one attempt more.
equal() {
    blank='s/"latency_s":[0-9.e-]+/"latency_s":0/g; /"latency_s": \{/,/\}/s/: [0-9.e-]+/: 0/'
    if [ -n "${3:-}" ]; then
        blank="$blank"'; s/"attempts": ?[0-9]+/"attempts":0/; /"recovered_by_retry": \{/,/\}/d'
    fi
    for file in samples.jsonl errors.jsonl summary.json; do
        sed -E "$blank" "$1/$file" >"$work/first"
        sed -E "$blank" "$2/$file" >"$work/other"
        cmp "$work/first" "$work/other" || fail "$file is another one than that of the unsharded run"
    done
}

# asked: how many questions the agent was asked.
asked() { wc -l <"$work/asked" | tr -d ' '; }
