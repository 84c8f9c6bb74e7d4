#!/usr/bin/env bash
# Starts a real Slurm cluster for tests: one host, two nodes n1 and n2, everything in one folder.
# Usage: tests/slurm/start.sh FOLDER, then `export SLURM_CONF=FOLDER/slurm.conf`; stop.sh FOLDER ends it.
# Needs Debian's packages (installed here if we are root), but no systemd, no cgroups and nothing in /etc.
# Exits with 3 where Slurm cannot be had; the reason is the last line on standard error.
set -euo pipefail
[ $# = 1 ] || { echo "usage: $0 FOLDER" >&2; exit 2; }
packages="munge slurmctld slurmd slurm-client"
export PATH=$PATH:/usr/sbin:/sbin
mkdir -p "$1"
root=$(cd "$1" && pwd)
user=$(id -un)
host=$(hostname -s)

missing() { echo "no Slurm here: $1" >&2; exit 3; }

all_there() { for program in munged slurmctld slurmd sbatch; do command -v $program >/dev/null || return 1; done; }
if ! all_there; then
    [ "$(id -u)" = 0 ] || missing "install $packages, or run this as root"
    command -v apt-get >/dev/null || missing "there is no apt-get to install $packages with"
    { apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends $packages; } \
        >"$root/install.log" 2>&1 || missing "apt-get could not install $packages; see $root/install.log"
fi
[ ! -e "$root/pids" ] || { echo "$root has a cluster already: stop.sh $root ends it" >&2; exit 4; }

wait_for() { # seconds, then a command that succeeds when it is time to go on
    local tries=$(($1 * 10))
    shift
    until "$@"; do
        [ $((tries -= 1)) -gt 0 ] || return 1
        sleep 0.1
    done
}

free_port() {
    python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'
}

fail() {
    echo "the cluster did not start: $1; the logs in $root/log end with" >&2
    tail -qn 3 "$root"/log/*.log >&2
    "$(dirname "$0")/stop.sh" "$root" >&2
    exit 1
}

mkdir -p "$root"/{munge,state,log,spool-n1,spool-n2}
chmod 711 "$root/munge" # whoever submits must reach the socket
(umask 077 && head -c 1024 /dev/urandom >"$root/munge/key")
: >"$root/pids"
munged --force --num-threads=2 --key-file="$root/munge/key" --socket="$root/munge/socket" \
    --pid-file="$root/munge/pid" --seed-file="$root/munge/seed" --log-file="$root/log/munged.log" \
    2>>"$root/log/munged.log" || fail munged
wait_for 5 test -s "$root/munge/pid" || fail munged
echo "munged $(cat "$root/munge/pid")" >>"$root/pids"

# Before 23.02 the option that lets a preempted job have its --signal was another one.
version=$(slurmctld -V | grep -oE '[0-9]+\.[0-9]+' | head -n 1)
warn=PreemptParameters=send_user_signal
[ "${version/./}" -ge 2302 ] || warn=SlurmctldParameters=preempt_send_user_signal
cat >"$root/slurm.conf" <<CONF
ClusterName=attnlab
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=$(free_port)
SlurmUser=$user
SlurmdUser=$user
AuthType=auth/munge
# a requeued job is held until its credential has expired: by default two minutes
AuthInfo=socket=$root/munge/socket,cred_expire=5
CryptoType=crypto/munge
StateSaveLocation=$root/state
SlurmdSpoolDir=$root/spool-%n
SlurmctldPidFile=$root/slurmctld.pid
SlurmdPidFile=$root/slurmd-%n.pid
SlurmctldLogFile=$root/log/slurmctld.log
SlurmdLogFile=$root/log/slurmd-%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
JobCompType=jobcomp/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerParameters=sched_interval=2,sched_min_interval=100000,bf_interval=2
PriorityType=priority/basic
PreemptType=preempt/partition_prio
PreemptMode=REQUEUE
$warn
EnforcePartLimits=ALL
KillWait=5
MinJobAge=3600
ReturnToService=2
SlurmdParameters=config_overrides
SlurmdTimeout=60
TCPTimeout=5
GresTypes=gpu
NodeName=n1 NodeHostname=$host NodeAddr=127.0.0.1 Port=$(free_port) CPUs=4 RealMemory=4000 Gres=gpu:stand-in:1
NodeName=n2 NodeHostname=$host NodeAddr=127.0.0.1 Port=$(free_port) CPUs=4 RealMemory=4000 Gres=gpu:stand-in:1
# jobs of main preempt those of spare, which get 20 seconds to save
PartitionName=main Nodes=n1,n2 Default=YES MaxTime=60 PriorityTier=10 State=UP
PartitionName=spare Nodes=n1,n2 MaxTime=60 PriorityTier=1 PreemptMode=REQUEUE GraceTime=20 State=UP
CONF
# a stand-in for a GPU: jobs that ask for one are run, and see CUDA_VISIBLE_DEVICES
echo "Name=gpu Type=stand-in File=/dev/null" >"$root/gres.conf"
echo "CgroupMountpoint=/sys/fs/cgroup" >"$root/cgroup.conf"
export SLURM_CONF=$root/slurm.conf

started() { # name, pid file
    wait_for 10 test -s "$2" || fail "$1"
    echo "$1 $(cat "$2")" >>"$root/pids"
}

slurmctld -c # forgets the jobs of a cluster that was killed
started slurmctld "$root/slurmctld.pid"
for node in n1 n2; do
    slurmd -N $node
    started slurmd "$root/slurmd-$node.pid"
done
both_idle() { [ "$(sinfo -h -N -p main -t idle 2>/dev/null | wc -l)" = 2 ]; }
wait_for 30 both_idle || fail "two nodes"
sinfo -o "%50N %10c %20m %30G "
