#!/bin/bash
# Step 5 of the assignment: the ten questions of step 2, on a node of a cluster.
# Usage, in this folder: sbatch launchpad.sh     (if the job is stopped, the same command resumes the run)
# What your cluster wants besides, such as -A ACCOUNT --partition=NAME --qos=NAME, goes before launchpad.sh.
# The figure is figures/overfit.png, what is printed slurm-JOB.out.
#SBATCH --job-name=boolq-overfit
#SBATCH --output=slurm-%j.out
#SBATCH --open-mode=append
#SBATCH --nodes=1
#SBATCH --ntasks-per-node=1
#SBATCH --gres=gpu:1
#SBATCH --time=1:00:00

# PROFILE is a shell file of your cluster: modules, the environment, a model in the place of the hub's.
profile=${PROFILE:-profile.sh}
if [ -e "$profile" ]; then
    source "./$profile"
elif [ -n "${PROFILE:-}" ]; then
    echo "launchpad.sh: there is no profile $PROFILE in $PWD" >&2
    exit 2
fi
srun python classification.py --experiment "overfit" --small_subset True --device cuda \
    --model "distilbert-base-uncased" --batch_size "64" --lr 1e-4 --num_epochs 20
