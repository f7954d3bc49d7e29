#!/bin/sh
# An array job on a Slurm cluster of this machine alone: one task is requeued by its operator, the process of another is
# killed; the merge equals the unsharded run, and nobody is asked again what was answered.
. "$(dirname "$0")/common.sh"

PATH=$PATH:/usr/sbin:/sbin
needs cargo slurmctld slurmd sbatch munged mungekey

# A munge, a controller and a node of our own, beside those that the machine may have. All they write lies in one folder.
cluster=$work/slurm
finish() {
    scancel --user="$(id -un)" 2>/dev/null || true
    for daemon in slurmd slurmctld munged; do
        if [ -s "$cluster/$daemon.pid" ]; then
            kill "$(cat "$cluster/$daemon.pid")" 2>/dev/null || true
        fi
    done
    # What they write to the end is not to fall behind the folder's.
    sleep 1
}

start_cluster() {
    host=$(hostname | cut -d. -f1)
    me=$(id -un)
    # Ports that nobody has: two in a row from a number of this process.
    port=$((20000 + $$ % 20000))
    mkdir -p "$cluster/state" "$cluster/spool"
    chmod 755 "$work" "$cluster"
    mungekey --create --keyfile="$cluster/munge.key"
    munged --force --socket="$cluster/munge.socket" --key-file="$cluster/munge.key" --pid-file="$cluster/munged.pid" \
        --log-file="$cluster/munged.log" --seed-file="$cluster/munged.seed" 2>"$cluster/munged.said" ||
        { cat "$cluster/munged.said"; fail "munged does not start"; }
    cat >"$cluster/slurm.conf" <<CONF
ClusterName=one
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=$port
SlurmdPort=$((port + 1))
AuthType=auth/munge
# A task that is requeued waits as long as a credential lives, two minutes by default.
AuthInfo=socket=$cluster/munge.socket,cred_expire=5
CredType=cred/munge
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
# Four tasks at once, also on a machine with two cores.
SlurmdParameters=config_overrides
SlurmUser=$me
SlurmdUser=$me
ReturnToService=2
JobRequeue=1
StateSaveLocation=$cluster/state
SlurmdSpoolDir=$cluster/spool
SlurmctldPidFile=$cluster/slurmctld.pid
SlurmdPidFile=$cluster/slurmd.pid
SlurmctldLogFile=$cluster/slurmctld.log
SlurmdLogFile=$cluster/slurmd.log
SchedulerParameters=sched_interval=1,batch_sched_delay=0
NodeName=$host NodeAddr=127.0.0.1 Port=$((port + 1)) CPUs=4 RealMemory=500 State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES State=UP
CONF
    export SLURM_CONF="$cluster/slurm.conf"
    slurmctld && slurmd || fail "the cluster does not start"
    for wait in $(seq 120); do
        if [ "$(sinfo --noheader --format=%T 2>/dev/null)" = idle ]; then return; fi
        sleep 0.5
    done
    tail -n 5 "$cluster"/slurm*.log
    fail "the node is not idle after 60 s"
}

command_in_path
project 24 1
unsharded
start_cluster
said "a cluster of $(slurmctld -V), one node of 4"

page_file shard.sh >shard.sh
page_file shards.sbatch >shards.sbatch
job=$(sbatch --parsable shards.sbatch)
merge=$(sbatch --parsable --dependency=afterany:"$job" --output=merge.out \
    --wrap "cargo evaltest merge evaltest-runs/$job -o evaltest-runs/merged")

# answered TASK: once the run that a task began has an answer.
answered() {
    for wait in $(seq 600); do
        if grep -qs '"answered"' evaltest-runs/"$job"/"$1"/*/events.jsonl; then return; fi
        sleep 0.1
    done
    cat slurm-*.out
    fail "task $1 has no answer after 60 s"
}

# process TASK: that of the run which a task is at.
process() {
    task=$(squeue --noheader --jobs "${job}_$1" --format %A)
    for pid in $(scontrol listpids "$task" | awk '{ print $1 }'); do
        case $(ps -o args= -p "$pid" 2>/dev/null) in *" run "*" --shard auto "*) echo "$pid" ;; esac
    done
}

# Those with the most samples, for the machine may be slow to say which process it is.
answered 4
scontrol requeue "${job}_4"
said "task 4 of 4 was requeued while it ran"
answered 1
pid=$(process 1)
kill -9 $pid || fail "task 1 has no process"
said "the process of task 1 of 4 was killed"

for wait in $(seq 360); do
    if ! squeue --noheader --jobs "$merge" 2>/dev/null | grep -q .; then break; fi
    sleep 0.5
done
sed 's/^/  /' merge.out
scontrol show job "$merge" | grep -q 'JobState=COMPLETED .*' || fail "the merge did not end well"
for task in 1 4; do
    grep -q "answered before" slurm-"$job"_$task.out || fail "task $task began anew"
done
equal "$work"/whole/* evaltest-runs/merged killed
# What was in flight when they were ended is all that was asked twice.
[ "$(asked)" -le 26 ] || fail "24 questions, asked $(asked) times"
said "merged, equal to the unsharded run; 24 questions were asked $(asked) times"
