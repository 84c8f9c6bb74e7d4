#!/bin/bash
#SBATCH --job-name="attnlab-grid"
#SBATCH --output="/home/me/my runs/.jobs/grid/%A_%a.log"
#SBATCH --open-mode=append
#SBATCH --nodes=1
#SBATCH --ntasks-per-node=1
#SBATCH --cpus-per-task=2
#SBATCH --partition=main
#SBATCH --array=0-2%2
#SBATCH --requeue
#SBATCH --signal=USR1@120

export OMP_NUM_THREADS="${OMP_NUM_THREADS:-2}"

restarts=${SLURM_RESTART_COUNT:-0}
echo "job $SLURM_JOB_ID on $SLURM_JOB_NODELIST, requeued $restarts of at most 20 times"
if [ "$restarts" -gt 20 ]; then
    echo "requeued too often: submit it again to go on"
    exit 1
fi

case $SLURM_ARRAY_TASK_ID in
    0) command=(/home/me/venv/bin/python -m attnlab run classify-train --config '/home/me/my runs/.jobs/lr-1e-3/settings.yaml' --name lr-1e-3 --runs '/home/me/my runs') ;;
    1) command=(/home/me/venv/bin/python -m attnlab run classify-train --config '/home/me/my runs/.jobs/it'"'"'s 5e-4/settings.yaml' --name 'it'"'"'s 5e-4' --runs '/home/me/my runs') ;;
    2) command=(/home/me/venv/bin/python -m attnlab run classify-train --config '/home/me/my runs/.jobs/lr-1e-4/settings.yaml' --name lr-1e-4 --runs '/home/me/my runs') ;;
esac
srun --kill-on-bad-exit=1 --cpus-per-task=2 "${command[@]}"
code=$?

is_preempted() {
    scontrol --oneliner show job "$SLURM_JOB_ID" | grep -q 'PreemptTime=[0-9]'
}
if [ $code = 138 ] || { [ $code = 143 ] && is_preempted; }; then
    if [ "$restarts" -lt 20 ]; then
        echo "saved; job $SLURM_JOB_ID goes back into the queue"
        scontrol requeue "$SLURM_JOB_ID" && sleep 60  # until Slurm ends this script
    else
        echo "saved; requeued 20 times, which is the limit: submit it again to go on"
    fi
fi
exit $code
