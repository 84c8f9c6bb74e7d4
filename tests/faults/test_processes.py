"""One process against two: the same batches, cut differently."""

from pathlib import Path

from processes import NAME, finish
from safetensors.torch import load_file

# float64, no dropout: what remains is the order of additions.
EXACT = {
    "training__precision": "float64",
    "model__dropout": 0.0,
    "training__length": "50 steps",
}


def test_one_and_two_processes_agree_to_1e_10_after_fifty_steps(tmp_path: Path) -> None:
    weights = []
    for processes in (1, 2):
        folder = tmp_path / str(processes)
        done = finish(folder, processes=processes, **EXACT)
        assert done.returncode == 0, done.stderr
        checkpoint = folder / NAME / "checkpoints" / "step-00000050"
        weights.append(load_file(checkpoint / "model.safetensors"))
    one, two = weights
    assert one.keys() == two.keys()
    furthest = max(float((one[name] - two[name]).abs().max()) for name in one)
    assert furthest < 1e-10
    assert furthest > 0, "two processes cannot add in the same order: was there only one?"
