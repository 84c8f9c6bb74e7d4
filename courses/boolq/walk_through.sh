#!/usr/bin/env bash
# Runs every command that README.md prints, on a small part of BoolQ.
# Usage: courses/boolq/walk_through.sh FOLDER     (if stopped, the same command resumes)
# Some minutes; TINY=1 only tries the commands. FULL=1 takes all questions, with the model of MODEL or MiniLM.
set -euo pipefail
[ $# = 1 ] || { echo "usage: $0 FOLDER" >&2; exit 2; }
course=$(cd "$(dirname "$0")" && pwd)

if [ -n "${TINY:-}" ]; then
    size=tiny train=40 dev=20 smaller="--max_length 24 --num_epochs 2 --batch_size 20"
    batch_size="--max-len 24 --epochs 3" selection="--max-len 24 --lr 1e-4,1e-3 --epochs 1" comparison="--max-len 24 --lr 1e-4 --epochs 1"
    export OMP_NUM_THREADS=1  # finding the best number takes longer than training
elif [ -n "${FULL:-}" ]; then
    size=full train=8000 dev=3270 smaller="" batch_size="" selection="" comparison=""
else
    size=small train=400 dev=300 smaller="--max_length 64 --num_epochs 3"
    batch_size="--max-len 64 --epochs 6" selection="--max-len 64 --epochs 1,2,3" comparison="--max-len 64 --lr 1e-4,1e-3 --epochs 1,2"
fi
mkdir -p "$1/$size/data"
cd "$1/$size"
cp "$course"/*.py .
attnlab assets get boolq
python -c 'from attnlab.assets.datasets import dataset_file; print(dataset_file("boolq", "train").parent)' >where
for split in train dev test; do
    rows=$dev
    [ $split = train ] && rows=$train
    head -n "$rows" "$(cat where)/$split.jsonl" >"data/$split.jsonl"
done
echo "distilbert-base-uncased: ${MODEL:-all-MiniLM-L6-v2}" >assets.yaml
sed -n '/^```bash$/,/^```$/{/^```/d;p}' "$course/README.md" >commands.sh
if [ $size != full ]; then
    echo "$train training questions, $dev each of dev and test: too few to learn from. The commands are tried."
    export HF_HUB_OFFLINE=1  # small random models stand in for those of the hub
    [ -d models ] || python "$course/../../benchmarks/random_encoders.py" data/train.jsonl models --vocab_size 1000
    for kind in roberta distilbert t5; do echo "random-$kind: models/random-$kind" >>assets.yaml; done
    # what comes last counts, so these take the place of the printed values
    sed -i -E "s/(--num_epochs [0-9]+)( --batch_size 64)?\$/\1\2 $smaller/
        s/^attnlab classify batch-size .*/& $batch_size/; s/^attnlab classify select .*/& $selection/; s/^attnlab classify compare .*/& $comparison/
        s|^(attnlab classify [a-z-]+) boolq|\1 data/train.jsonl --dev data/dev.jsonl|
        s|^attnlab classify (select\|compare) .*|& --test data/test.jsonl|" commands.sh
fi
export ATTNLAB_ASSETS=$PWD/assets.yaml
sed -i 's/python classification.py/& --data_dir data/' commands.sh
bash -ev commands.sh
ls -l -- figures/*.png runs/*/record.json runs/*/report/report.html
