#!/usr/bin/env bash
# Steps 3 and 4 of the assignment: writes what its screenshots show to files, each below its command.
# Usage, on the login node: courses/boolq/capture.sh FOLDER
set -euo pipefail
[ $# = 1 ] || { echo "usage: $0 FOLDER" >&2; exit 2; }
for tool in squeue sinfo; do
    command -v $tool >/dev/null || { echo "there is no $tool here: log in to the cluster first" >&2; exit 2; }
done
mkdir -p "$1"

capture() { # file, command
    { echo "\$ $2"; bash -c "$2"; } >"$1"
    echo "$1"
}

export USER=${USER:-$(id -un)}
capture "$1/login.txt" 'hostname; whoami'
capture "$1/squeue.txt" 'squeue'
capture "$1/squeue-mine.txt" 'squeue -u $USER'
capture "$1/sinfo.txt" 'sinfo -o "%50N %10c %20m %30G "'
