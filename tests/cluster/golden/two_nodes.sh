#!/bin/bash
#SBATCH --job-name="attnlab-big"
#SBATCH --output="/home/me/my runs/.jobs/big/%j.log"
#SBATCH --open-mode=append
#SBATCH --nodes=2
#SBATCH --ntasks-per-node=4
#SBATCH --cpus-per-task=12
#SBATCH --partition=a100
#SBATCH --account=lab_gpu
#SBATCH --qos=qos_gpu
#SBATCH --time=1-12:00:00
#SBATCH --gres=gpu:4
#SBATCH --requeue
#SBATCH --signal=USR1@300
#SBATCH --mem=64G

module load anaconda
module load cuda/12.4
conda activate attnlab
export HF_HOME="$SCRATCH/hub"
export OMP_NUM_THREADS="${OMP_NUM_THREADS:-12}"

restarts=${SLURM_RESTART_COUNT:-0}
echo "job $SLURM_JOB_ID on $SLURM_JOB_NODELIST, requeued $restarts of at most 3 times"
if [ "$restarts" -gt 3 ]; then
    echo "requeued too often: submit it again to go on"
    exit 1
fi

srun --kill-on-bad-exit=1 --cpus-per-task=12 \
    /home/me/venv/bin/python -m attnlab run classify-train --config '/home/me/my runs/.jobs/big/settings.yaml' --name big --runs '/home/me/my runs'
code=$?

is_preempted() {
    scontrol --oneliner show job "$SLURM_JOB_ID" | grep -q 'PreemptTime=[0-9]'
}
if [ $code = 138 ] || { [ $code = 143 ] && is_preempted; }; then
    if [ "$restarts" -lt 3 ]; then
        echo "saved; job $SLURM_JOB_ID goes back into the queue"
        scontrol requeue "$SLURM_JOB_ID" && sleep 60  # until Slurm ends this script
    else
        echo "saved; requeued 3 times, which is the limit: submit it again to go on"
    fi
fi
exit $code
