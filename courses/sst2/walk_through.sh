#!/usr/bin/env bash
# Runs our notebook on a subset, writes what a student gets, and grades it: at 0 points, at full points, and a class in
# which every student makes one usual mistake.
# Usage: courses/sst2/walk_through.sh FOLDER
# With TINY=1 the notebook trains on a handful of sentences, and the class is left out.
# The data is ATTNLAB_DATA/sst2, or else Rotten Tomatoes; the notebook says which model it fine-tunes.
set -euo pipefail
[ $# = 1 ] || { echo "usage: $0 FOLDER" >&2; exit 2; }
course=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$1"
cd "$1"
rm -rf student class # what an earlier walk left behind
if [ -n "${TINY:-}" ]; then
    export TRAIN_ROWS=32 EVAL_ROWS=16 NUM_EPOCHS=1
    export OMP_NUM_THREADS=1
fi

echo "== our notebook (notebook/A2S3.ipynb)"
mkdir -p notebook
cp "$course/A2S3.ipynb" notebook
(cd notebook && jupyter execute --inplace A2S3.ipynb 2>log.txt) || { cat notebook/log.txt >&2; exit 1; }
rm notebook/log.txt
python - notebook/A2S3.ipynb <<'END'
import json, sys
for cell in json.load(open(sys.argv[1], encoding="utf-8"))["cells"]:
    for output in cell.get("outputs", ()):
        print("".join(output.get("text", "")), end="")
END

echo "== what a student gets, and its grades before and after"
python "$course/../handout.py" sst2 student
python "$course/grade.py" student --out grades/before
grep -q '^student,0,0,0,0,0,0,0,24,' grades/before/grades.csv
cp "$course/A2S3.ipynb" notebook/A2S3_results.json student
python "$course/grade.py" student --out grades/after
grep -q '^student,6,5,3,5,4,1,24,24,$' grades/after/grades.csv

if [ -z "${TINY:-}" ]; then
    echo "== a class in which every student makes one usual mistake"
    PYTHONPATH="$course/..${PYTHONPATH:+:$PYTHONPATH}" python -m grading.sst2.submissions class
    python "$course/grade.py" class/* --out grades/class
    if grep ',24,24,' grades/class/grades.csv; then
        echo "$0: the grader missed these mistakes" >&2
        exit 1
    fi
fi

echo "== artefacts"
find . -type f -not -path './class/*' | sort | xargs ls -l
