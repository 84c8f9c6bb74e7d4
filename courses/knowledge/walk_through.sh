#!/usr/bin/env bash
# Runs every command that STUDENT.md prints, with our solutions, on a small made-up world, and the grader.
# Usage: courses/knowledge/walk_through.sh FOLDER     (if stopped, the same command resumes)
# With TINY=1 everything trains for four steps only, to see that the commands work.
set -euo pipefail
[ $# = 1 ] || { echo "usage: $0 FOLDER" >&2; exit 2; }
course=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$1/src"
cd "$1"
attnlab knowledge world world --people 60 --biographies 2 >/dev/null
cp world/wiki.txt world/*.tsv "$course"/collect* .
cp "$course"/src/*.py src/
sed -n '/^```bash$/,/^```$/{/^```/d;s/NAME/walk_through/g;p}' "$course/STUDENT.md" >commands.sh
bash -ev commands.sh
python "$course/grade.py" assignment_walk_through.zip --labels birth_test.tsv
ls -l -- *.params *.predictions assignment_walk_through.zip grades/*
