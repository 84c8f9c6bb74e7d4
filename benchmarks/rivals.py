"""The libraries we compare with, in an environment of their own.

They are installed without their dependencies, so that both sides run on the same torch.
"""

import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
FOLDER = HERE / ".rivals"
WANTED = HERE / "rivals.txt"


def use_rivals() -> None:
    """Install them if they are not there as wanted, and make them importable."""
    stamp = FOLDER / "installed.txt"
    if not stamp.exists() or stamp.read_text() != WANTED.read_text():
        pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--upgrade"]
        subprocess.run([*pip, "--target", str(FOLDER), "-r", str(WANTED)], check=True)
        stamp.write_text(WANTED.read_text())
    sys.path.append(str(FOLDER))
