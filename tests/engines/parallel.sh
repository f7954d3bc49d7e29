#!/bin/sh
# GNU parallel runs four shards; the process of one is killed and begun again; the merge equals the unsharded run.
. "$(dirname "$0")/common.sh"

needs cargo parallel
command_in_path
project 40 0.05
unsharded
page_file shard.sh >shard.sh
# The agent kills the run that asks it, once, in the midst of it: at the fourth question of the first run that comes so far.
mv evals/agent.sh evals/works.sh
cat >evals/agent.sh <<AGENT
#!/bin/sh
echo asked >>"$work/asked-by-\$PPID"
[ "\$(wc -l <"$work/asked-by-\$PPID")" -lt 4 ] || ! mkdir "$work/killed" 2>/dev/null || kill -9 \$PPID
exec "\${0%/*}/works.sh"
AGENT
chmod +x evals/agent.sh
parallel --retries 3 --line-buffer sh shard.sh evaltest-runs/night/{} example --shard {}/4 ::: 1 2 3 4 >shards.log 2>&1 ||
    { cat shards.log; fail "the shards"; }
[ -d "$work/killed" ] || fail "no run was killed"
grep -q "answered before" shards.log || { cat shards.log; fail "no shard went on"; }
cargo evaltest merge evaltest-runs/night -o evaltest-runs/merged >merge.out 2>&1 || { cat merge.out; fail "the merge"; }
sed 's/^/  /' merge.out
equal "$work"/whole/* evaltest-runs/merged killed
[ "$(asked)" -le 41 ] || fail "40 questions, asked $(asked) times"
said "merged, equal to the unsharded run; 40 questions were asked $(asked) times"
