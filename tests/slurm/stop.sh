#!/usr/bin/env bash
# Stops what start.sh has started in a folder, by process ID, after a look whether it is that program still.
# Usage: tests/slurm/stop.sh FOLDER
set -uo pipefail
[ $# = 1 ] || { echo "usage: $0 FOLDER" >&2; exit 2; }
[ -e "$1/pids" ] || { echo "$1 has no cluster"; exit 0; }
export SLURM_CONF=$1/slurm.conf

runs() { # program, process ID
    [ "$(cat "/proc/$2/comm" 2>/dev/null)" = "$1" ]
}

timeout 10 scancel --user "$(id -un)" 2>/dev/null
for _ in $(seq 100); do # the nodes' daemons end the jobs, so they must outlive them
    [ -n "$(timeout 10 squeue -h 2>/dev/null)" ] || break
    sleep 0.1
done
tac "$1/pids" | while read -r program pid; do
    runs "$program" "$pid" || { echo "$program ($pid) had ended"; continue; }
    kill "$pid"
    for _ in $(seq 50); do
        runs "$program" "$pid" || break
        sleep 0.1
    done
    runs "$program" "$pid" && kill -9 "$pid"
    echo "stopped $program ($pid)"
done
rm "$1/pids"
