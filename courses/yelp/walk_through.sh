#!/usr/bin/env bash
# Runs every command that STUDENT.md prints, with our solutions, and the grader: both problems, all labels and 50.
# Usage: courses/yelp/walk_through.sh FOLDER     (if stopped, the same command resumes)
# Small by default: some minutes. TINY=1 only tries the commands, in about a minute; FULL=1 is everything as printed.
# The data is ATTNLAB_DATA/yelp with weights/tinybert-4l-312, or else Rotten Tomatoes and MiniLM.
set -euo pipefail
[ $# = 1 ] || { echo "usage: $0 FOLDER" >&2; exit 2; }
course=$(cd "$(dirname "$0")" && pwd)
printed=huawei-noah/TinyBERT_General_4L_312D

if [ -n "${TINY:-}" ]; then
    size=tiny rows=(--train_rows 60 --dev_rows 30 --test_rows 30 --unlabeled_rows 100)
    export CLS_EPOCHS=1 FEW_EPOCHS=1 MAX_LENGTH=32 MLM_BLOCK=32
    export OMP_NUM_THREADS=1  # finding the best number takes longer than training
elif [ -n "${FULL:-}" ]; then
    size=full rows=(--test_rows 1000)
else
    size=small rows=(--train_rows 640 --dev_rows 200 --test_rows 300 --unlabeled_rows 2000)
    # so few steps learn nothing at the printed rate
    export CLS_LR=${CLS_LR:-2e-4} FEW_EPOCHS=${FEW_EPOCHS:-20} MAX_LENGTH=${MAX_LENGTH:-64} MLM_BLOCK=${MLM_BLOCK:-64}
fi
if [ -d "${ATTNLAB_DATA:-}/yelp" ] && [ -d "$ATTNLAB_DATA/weights/tinybert-4l-312" ]; then
    data=$ATTNLAB_DATA/yelp model=$ATTNLAB_DATA/weights/tinybert-4l-312
    source=("$data/train.csv" --dev_file "$data/dev.csv" --unlabeled_file "$data/unlabeled.txt")
    echo "The data is yelp: $data. The test set is held out of train.csv."
    [ "$size" = full ] && echo "This takes about 0.7 hours on two cores: 0.2 for Problem 2, 0.5 for Problem 3."
else
    model=all-MiniLM-L6-v2 source=(rotten-tomatoes)
    echo "There is no ATTNLAB_DATA with yelp and weights/tinybert-4l-312. In their place, the walk-through takes"
    echo "Rotten Tomatoes (two classes, one sentence each) and $model: the scores are not the assignment's."
    [ "$size" = full ] && echo "How long this takes is not measured; its texts are much shorter than those of yelp, which take 0.7 hours."
fi

mkdir -p "$1/$size"
cd "$1/$size"
cp "$course"/*.py "$course/collect_submission.sh" .
rm -f grade.py
echo "$printed: $model" >assets.yaml
export ATTNLAB_ASSETS=$PWD/assets.yaml
python split_data.py "${source[@]}" data "${rows[@]}"
sed -n '/^```bash$/,/^```$/{/^```/d;s/NAME/walk_through/g;p}' "$course/STUDENT.md" >commands.sh
echo "Made by the walk-through: results.md has the table, commands.sh the commands." >report.md
bash -ev commands.sh
python "$course/grade.py" assignment_walk_through.zip --labels data/test.csv
ls -l -- grades/* data/* out/*/record.json out/*/model/model.safetensors results.md assignment_walk_through.zip
