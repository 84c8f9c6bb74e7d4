#!/usr/bin/env bash
# Runs our notebooks, the document's questions with the answers it prints, what a student gets, and the grader:
# at 0 points, at full points, and on a class in which every student makes one usual mistake.
# Usage: courses/attention/walk_through.sh FOLDER
# With TINY=1 the experiment takes two steps, and the class is left out.
set -euo pipefail
[ $# = 1 ] || { echo "usage: $0 FOLDER" >&2; exit 2; }
course=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$1/notebooks"
cd "$1"

echo "== our notebooks"
export EXPERIMENT=1 OPTIONS="--length '20k tokens' --seeds 1" # of 2.2: enough to see that it works
if [ "${TINY:-}" = 1 ]; then
    export TEXT="$course/README.md" OPTIONS="--length '2 steps' --seeds 1"
fi
for name in A2S1 A2S2; do
    cp "$course/$name.ipynb" notebooks
    jupyter execute --inplace "notebooks/$name.ipynb" 2>notebooks/log.txt || { cat notebooks/log.txt >&2; exit 1; }
done
rm notebooks/log.txt
unset EXPERIMENT OPTIONS TEXT # a student's notebook trains nothing
ls notebooks/runs/sharing/report/report.html

echo "== the questions, with the answers that the document prints (questions.txt)"
: >questions.txt
solve() { # the verdict that is true, then the question
    verdict=$1
    shift
    echo "\$ attnlab attention solve $*" | tee -a questions.txt
    attnlab --quiet attention solve "$@" >answer.txt || [ $? = 1 ] # 1: the answer is wrong
    grep "^Your answer .*: $verdict:" answer.txt
    cat answer.txt >>questions.txt
}
solve right select --token 0 --answer "S*k0"
solve right identity --answer "S*K"
solve right average --subset 0,1,2,3 --answer "mean(K)"
solve right average --subset 0,1 --answer "10*(k0+k1)"
solve wrong repair-key --answer "q"
solve right repair-key --answer "(k0+k1)/2"
solve wrong repair-key --subset 2 --unit --query "5*(k0+k1)" --answer "q/norm(q)"
solve right repair-key --subset 2 --unit --answer "q/norm(q)"
rm answer.txt
attnlab --quiet attention check notebooks/A2S2.ipynb | tee check.txt

echo "== what a student gets, and its grades before and after"
python "$course/../handout.py" attention student
python "$course/grade.py" student --out grades/before
grep -q '^student,0,0,0,0,0,0,0,0,44,' grades/before/grades.csv
cp "$course"/A2S[12].ipynb student
python "$course/grade.py" student --out grades/after
grep -q '^student,8,8,8,8,4,4,4,44,44,$' grades/after/grades.csv

if [ "${TINY:-}" != 1 ]; then
    echo "== a class in which every student makes one usual mistake"
    PYTHONPATH="$course/..${PYTHONPATH:+:$PYTHONPATH}" python -m grading.attention.submissions class
    python "$course/grade.py" class/* --out grades/class --time-limit 30
    if grep ',44,44,' grades/class/grades.csv; then
        echo "$0: the grader missed these mistakes" >&2
        exit 1
    fi
fi

echo "== artefacts"
find . -type f -not -path './class/*' -not -path './notebooks/runs/*/*/*' | sort | xargs ls -l
