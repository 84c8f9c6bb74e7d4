#!/bin/bash
#SBATCH --job-name="attnlab-reader"
#SBATCH --output="/home/me/my runs/.jobs/reader/%j.log"
#SBATCH --open-mode=append
#SBATCH --nodes=1
#SBATCH --ntasks-per-node=1
#SBATCH --cpus-per-task=1
#SBATCH --requeue
#SBATCH --signal=USR1@120

export OMP_NUM_THREADS="${OMP_NUM_THREADS:-1}"

restarts=${SLURM_RESTART_COUNT:-0}
echo "job $SLURM_JOB_ID on $SLURM_JOB_NODELIST, requeued $restarts of at most 20 times"
if [ "$restarts" -gt 20 ]; then
    echo "requeued too often: submit it again to go on"
    exit 1
fi

srun --kill-on-bad-exit=1 --cpus-per-task=1 \
    /home/me/venv/bin/python -m attnlab run knowledge-pretrain --config '/home/me/my runs/.jobs/reader/settings.yaml' --name reader --runs '/home/me/my runs'
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
