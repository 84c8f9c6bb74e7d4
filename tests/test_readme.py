"""What README and manual show is there and works."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from attnlab import cli
from attnlab.recipes.attention.check import check_file

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
MANUAL = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")


def test_the_map_of_the_files_is_what_their_docstrings_say() -> None:
    done = subprocess.run([sys.executable, str(ROOT / "docs" / "build.py"), "check"], check=False)
    assert done.returncode == 0


def shown_commands() -> list[str]:
    blocks = re.findall(r"```bash\n(.*?)```", README + MANUAL, re.DOTALL)
    lines = [line.split("#")[0].strip() for block in blocks for line in block.splitlines()]
    return list(dict.fromkeys(line for line in lines if line))


@pytest.mark.parametrize("command", [c for c in shown_commands() if c.startswith("attnlab")])
def test_every_shown_command_exists_with_its_options(
    command: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = shlex.split(command.split(">")[0])
    monkeypatch.setattr(sys, "argv", [*words, "--help"])
    with pytest.raises(SystemExit) as left:
        cli.main()
    assert left.value.code in (0, None)


def test_the_make_targets_shown_exist() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    shown = set(re.findall(r"\bmake ([a-z0-9-]+)", README)) - {"help"}
    assert shown
    for target in shown:
        assert re.search(rf"^{target}:", makefile, re.MULTILINE), target


def test_ci_calls_the_readmes_own_test_command() -> None:
    assert "\nmake test\n" in (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    assert "make test " in README


def test_the_attention_class_of_the_manual_keeps_every_promise(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "attention.md").read_text(encoding="utf-8")
    (code,) = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    (tmp_path / "mean.py").write_text(code, encoding="utf-8")
    (findings,) = check_file(tmp_path / "mean.py").values()
    assert [finding for finding in findings if not finding.right] == []
