#!/usr/bin/env bash
# Runs every command that STUDENT.md prints, with our solutions, on a small made-up world, and the grader.
# Usage: courses/knowledge/walk_through.sh FOLDER     (if stopped, the same command resumes)
# With TINY=1 everything trains for four steps only, to see that the commands work. With FULL=1 the data is the
# course's own, in ATTNLAB_DATA/birthplace, and all commands are followed by --to-the-letter: a matter of hours.
set -euo pipefail
[ $# = 1 ] || { echo "usage: $0 FOLDER" >&2; exit 2; }
course=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$1/src"
cd "$1"
cp "$course"/collect* .
cp "$course"/src/*.py src/
sed -n '/^```bash$/,/^```$/{/^```/d;s/NAME/walk_through/g;p}' "$course/STUDENT.md" >commands.sh
if [ -n "${FULL:-}" ]; then
    data=${ATTNLAB_DATA:?FULL=1 needs it: a folder whose birthplace/ has wiki.txt and the .tsv files of the course}/birthplace
    cp "$data"/wiki.txt "$data"/*.tsv .
    python - "$course/../../results/knowledge_printed_hours.json" <<'EOF'
import json, sys
told = json.load(open(sys.argv[1]))
print(f"Both pretrainings take about {told['value']:.0f} hours on two cores like those of {told['date']}.")
print("If stopped, the same command resumes. The fast recipe: make course-knowledge without FULL=1.")
EOF
else
    attnlab knowledge world world --people 60 --biographies 2 >/dev/null
    cp world/wiki.txt world/*.tsv .
fi
bash -ev commands.sh
labels=()
[ -e birth_test.tsv ] && labels=(--labels birth_test.tsv)
python "$course/grade.py" assignment_walk_through.zip "${labels[@]}"
ls -l -- *.params *.predictions assignment_walk_through.zip grades/*
