#!/usr/bin/env bash
# Runs every command of the assignment, as printed there, on a small made-up world; takes a few minutes.
# Usage: courses/knowledge/walk_through.sh FOLDER     (if stopped, the same command resumes)
set -euo pipefail
[ $# = 1 ] || { echo "usage: $0 FOLDER" >&2; exit 2; }
course=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$1"
cd "$1"
attnlab knowledge world world --people 200 --biographies 3 >/dev/null
cp world/*.tsv .
# the vocabulary is that of the text, which has no question mark of its own
{ cat world/wiki.txt; echo "Quiz. Where was everybody born?"; } >wiki.txt
mkdir -p src
cp "$course"/src/*.py src/

run() {
    echo "\$ python src/run.py $*"
    python src/run.py "$@"
}
evaluate() { # VARIANT PARAMS NAME
    run evaluate "$1" wiki.txt --reading_params_path "$2" --eval_corpus_path birth_dev.tsv \
        --outputs_path "$3.dev.predictions"
    run evaluate "$1" wiki.txt --reading_params_path "$2" --eval_corpus_path birth_test_inputs.tsv \
        --outputs_path "$3.test.predictions"
}

# (b), (e) look at the data
python src/dataset.py namedata
python src/dataset.py charcorruption
# (d) without pretraining, and the baseline
run finetune vanilla wiki.txt --writing_params_path vanilla.model.params \
    --finetune_corpus_path birth_places_train.tsv --length "3 epochs"
evaluate vanilla vanilla.model.params vanilla.nopretrain
python src/london_baseline.py birth_dev.tsv
# (f), (g) pretrain, finetune, evaluate
for variant in vanilla synthesizer; do
    run pretrain $variant wiki.txt --writing_params_path $variant.pretrain.params --length "3 epochs"
    run finetune $variant wiki.txt --reading_params_path $variant.pretrain.params \
        --writing_params_path $variant.finetune.params \
        --finetune_corpus_path birth_places_train.tsv --length "1 epoch"
    evaluate $variant $variant.finetune.params $variant.pretrain
done
bash "$course/collect_submission.sh" walk_through
python "$course/grade.py" assignment_walk_through.zip --labels birth_test.tsv
