"""The table of rooms in the design, and what no file may call, checked on every file."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import attnlab

PACKAGE = Path(attnlab.__file__).parent

ROOMS = (
    "cli web recipes report cluster evaluation checks tuning models data attention training"
    " geometry assets runs base"
).split()
"""From the roof to the ground: a room imports only from itself and from rooms below."""
BASE = (
    *("config", "registry", "errors", "environment", "users_code", "guard", "console", "phases"),
    *("randomness", "dropout"),
)
FORBIDDEN_ROOMS = {"report": {"models", "training"}, "data": {"models"}}
FORBIDDEN_LIBRARIES = {
    "cli": {"torch", "numpy"},
    "web": {"torch", "numpy"},
    "runs": {"torch"},
    "cluster": {"torch"},
    "geometry": {"torch"},
}
FORBIDDEN_IN_SETTINGS = {"torch", "numpy"}
TABLE = "is not in the house's table"


def room_of(module: str) -> str:
    """Return the room of a dotted name below the package, such as ``training.loop``."""
    first = module.partition(".")[0]
    return "base" if first in BASE else first


def imports(tree: ast.Module, package: list[str]) -> Iterator[tuple[int, str]]:
    """Give the line and full name of whatever is imported anywhere in a file.

    ``package`` is the dotted package the file stands in, which relative imports start from.
    """
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = package[: len(package) - node.level + 1] if node.level else []
            module = ".".join([*above, *([node.module] if node.module else [])])
            if module == "attnlab":
                yield from ((node.lineno, f"attnlab.{alias.name}") for alias in node.names)
            else:
                yield node.lineno, module


def violations(package_folder: Path) -> list[str]:
    """List every import that the table of rooms does not allow, lazy ones included."""
    found: list[str] = []
    for path in sorted(package_folder.rglob("*.py")):
        parts = path.relative_to(package_folder).with_suffix("").parts
        place = "/".join(path.relative_to(package_folder).parts)
        room = room_of(parts[0])
        if room not in (*ROOMS, "__init__", "__main__") or (len(parts) == 1) != (
            room in ("base", "__init__", "__main__")
        ):
            found.append(f"{place} {TABLE}")
            continue
        tree = ast.parse(path.read_text(encoding="utf-8"))
        for line, name in imports(tree, ["attnlab", *parts[:-1]]):
            problem = _problem(room, name, is_settings=parts[-1] == "settings")
            if problem:
                found.append(f"{place}:{line} imports {name}: {problem}")
    return found


def _problem(room: str, name: str, *, is_settings: bool) -> str | None:
    """Say why a file of ``room`` may not import ``name``, or None if it may."""
    library, _, module = name.partition(".")
    if library != "attnlab":
        if is_settings and library in FORBIDDEN_IN_SETTINGS:
            return f"settings must not load {library}"
        if library in FORBIDDEN_LIBRARIES.get(room, ()):
            return f"{room} must not load {library}"
        return None
    if not module or module.startswith("__"):  # `import attnlab`, `from attnlab import __version__`
        return None
    target = room_of(module)
    if target not in ROOMS:
        return f"{target} {TABLE}"
    if room == "__main__":
        return None if target == "cli" else "__main__ may import cli alone"
    if room == "__init__":
        return "the package itself imports nothing of ours"
    if ROOMS.index(target) < ROOMS.index(room):
        return f"{target} is above {room}"
    if target in FORBIDDEN_ROOMS.get(room, ()):
        return f"{room} must not import {target}"
    return None


def unsafe_calls(source: str) -> list[str]:
    """List the calls in a source text that could execute what a file or a user holds."""
    tree = ast.parse(source)
    full_names: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            full_names |= {a.asname or a.name: a.name for a in node.names}
        elif isinstance(node, ast.ImportFrom):
            full_names |= {a.asname or a.name: f"{node.module}.{a.name}" for a in node.names}
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            first, _, rest = ast.unparse(node.func).partition(".")
            name = full_names.get(first, first) + (f".{rest}" if rest else "")
            careful = any(
                keyword.arg == "weights_only" and ast.unparse(keyword.value) == "True"
                for keyword in node.keywords
            )
            if name in ("pickle.load", "pickle.loads", "pickle.Unpickler", "eval", "exec") or (
                name == "torch.load" and not careful
            ):
                found.append(f"line {node.lineno} calls {name}")
    return found


def make_package(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return folder


def test_the_package_keeps_to_the_table_of_rooms() -> None:
    assert len(list(PACKAGE.rglob("*.py"))) > 40
    assert violations(PACKAGE) == []


ALLOWED = {
    "__init__.py": '__version__ = "1"\n',
    "__main__.py": "from attnlab.cli import main\n",
    "config.py": "from attnlab.errors import UserError\nimport torch\n",
    "errors.py": "",
    "cli/__init__.py": "from attnlab import __version__\nfrom attnlab.cli import runs\n",
    "cli/runs.py": "def f():\n    from attnlab.recipes.knowledge import demo\n",
    "recipes/knowledge/demo.py": "from attnlab.recipes.classify.settings import X\nimport torch\n",
    "recipes/classify/settings.py": "from attnlab.training.settings import Y\n",
    "report/terminal.py": "from attnlab.evaluation import intervals\nfrom attnlab.runs import m\n",
    "geometry/query.py": "import numpy\nimport scipy.optimize\n",
}


def test_imports_downwards_sideways_and_of_libraries_are_allowed(tmp_path: Path) -> None:
    assert violations(make_package(tmp_path, ALLOWED)) == []


@pytest.mark.parametrize(
    ("file", "text", "expected"),
    [
        pytest.param(
            "runs/directory.py",
            "from attnlab.training.loop import train\n",
            "runs/directory.py:1 imports attnlab.training.loop: training is above runs",
            id="upward",
        ),
        pytest.param(
            "runs/directory.py",
            "import attnlab.models.gpt as g\n",
            "runs/directory.py:1 imports attnlab.models.gpt: models is above runs",
            id="upward by plain import",
        ),
        pytest.param(
            "attention/variants/dot_product.py",
            "from attnlab import errors, models\n",
            "attention/variants/dot_product.py:1 imports attnlab.models: models is above attention",
            id="upward from the package",
        ),
        pytest.param(
            "attention/positions/rotary.py",
            "x = 1\nfrom ...models import gpt\n",
            "attention/positions/rotary.py:2 imports attnlab.models: models is above attention",
            id="upward and relative",
        ),
        pytest.param(
            "training/loop.py",
            "def f():\n    from attnlab.data.batches import Batches\n",
            "training/loop.py:2 imports attnlab.data.batches: data is above training",
            id="upward inside a function",
        ),
        pytest.param(
            "training/task.py",
            "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import attnlab.models.gpt\n",
            "training/task.py:3 imports attnlab.models.gpt: models is above training",
            id="upward for type checking",
        ),
        pytest.param(
            "data/world.py",
            "from attnlab.models import gpt\n",
            "data/world.py:1 imports attnlab.models: models is above data",
            id="models in data",
        ),
        pytest.param(
            "config.py",
            "from attnlab.runs.files import to_json\n",
            "config.py:1 imports attnlab.runs.files: runs is above base",
            id="a room in the base",
        ),
        pytest.param(
            "__init__.py",
            "from attnlab.errors import UserError\n",
            "__init__.py:1 imports attnlab.errors: the package itself imports nothing of ours",
            id="the package",
        ),
        pytest.param(
            "__main__.py",
            "import attnlab.runs.machine\n",
            "__main__.py:1 imports attnlab.runs.machine: __main__ may import cli alone",
            id="main",
        ),
        pytest.param(
            "report/page.py",
            "from attnlab.models.gpt import GPT\n",
            "report/page.py:1 imports attnlab.models.gpt: report must not import models",
            id="models in report",
        ),
        pytest.param(
            "report/page.py",
            "from attnlab.training.length import parse_length\n",
            "report/page.py:1 imports attnlab.training.length: report must not import training",
            id="training in report",
        ),
        pytest.param(
            "cli/knowledge.py",
            "def demo():\n    import torch.nn\n",
            "cli/knowledge.py:2 imports torch.nn: cli must not load torch",
            id="torch in cli",
        ),
        pytest.param(
            "cli/knowledge.py",
            "import numpy as np\n",
            "cli/knowledge.py:1 imports numpy: cli must not load numpy",
            id="numpy in cli",
        ),
        pytest.param(
            "runs/machine.py",
            "from torch import Tensor\n",
            "runs/machine.py:1 imports torch: runs must not load torch",
            id="torch in runs",
        ),
        pytest.param(
            "cluster/slurm.py",
            "import torch\n",
            "cluster/slurm.py:1 imports torch: cluster must not load torch",
            id="torch in cluster",
        ),
        pytest.param(
            "geometry/query.py",
            "import torch\n",
            "geometry/query.py:1 imports torch: geometry must not load torch",
            id="torch in geometry",
        ),
        pytest.param(
            "recipes/knowledge/settings.py",
            "from numpy.typing import NDArray\n",
            "recipes/knowledge/settings.py:1 imports numpy.typing: settings must not load numpy",
            id="numpy in settings",
        ),
        pytest.param(
            "training/settings.py",
            "import torch\n",
            "training/settings.py:1 imports torch: settings must not load torch",
            id="torch in settings",
        ),
        pytest.param(
            "recipes/demo.py",
            "from attnlab.helpers import x\n",
            f"recipes/demo.py:1 imports attnlab.helpers: helpers {TABLE}",
            id="import of an unknown room",
        ),
        pytest.param("utils.py", "", f"utils.py {TABLE}", id="unknown file"),
        pytest.param("helpers/a.py", "", f"helpers/a.py {TABLE}", id="unknown room"),
        pytest.param("models.py", "", f"models.py {TABLE}", id="a room as a file"),
        pytest.param("config/a.py", "", f"config/a.py {TABLE}", id="a base file as a folder"),
    ],
)
def test_a_forbidden_import_is_found(tmp_path: Path, file: str, text: str, expected: str) -> None:
    assert violations(make_package(tmp_path, {**ALLOWED, file: text})) == [expected]


def run_python(code: str, *arguments: str) -> str:
    """Run code in a fresh interpreter and return what it wrote last."""
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()[-1]


LOADED = "print('loaded', *({'torch', 'numpy'} & set(sys.modules)))\n"


@pytest.mark.parametrize(
    "command",
    [
        ["--help"],
        ["assets", "list"],
        ["attention", "list"],
        ["attention", "solve", "average", "--help"],
        ["knowledge", "--help"],
        ["knowledge", "demo", "--settings"],
        ["runs", "list"],
    ],
    ids=" ".join,
)
def test_a_light_command_loads_neither_torch_nor_numpy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: list[str]
) -> None:
    config = '{"job": "j", "settings": {}, "resolved": {}}'
    score = '{"metric": "f1", "value": 0.5, "n": 4, "interval": [0.2, 0.8]}'
    record = f'{{"scores": {{"test": {score}}}}}'
    make_package(tmp_path, {"runs/first/config.json": config, "runs/first/record.json": record})
    monkeypatch.chdir(tmp_path)
    code = (
        "import sys\n"
        "from attnlab.cli import main\n"
        "try:\n    main()\n"
        "except SystemExit as end:\n    assert not end.code, end.code\n" + LOADED
    )
    assert run_python(code, *command) == "loaded"


def test_the_light_rooms_and_all_settings_load_no_torch() -> None:
    light = [
        ".".join(["attnlab", *path.relative_to(PACKAGE).with_suffix("").parts])
        for path in PACKAGE.rglob("*.py")
        if path.relative_to(PACKAGE).parts[0] in FORBIDDEN_LIBRARIES or path.stem == "settings"
    ]
    assert {"attnlab.cli.runs", "attnlab.runs.metrics", "attnlab.training.settings"} <= set(light)
    code = (
        "import sys, importlib\n"
        "for name in sys.argv[1:]:\n"
        "    importlib.import_module(name.removesuffix('.__init__'))\n"
        "print('loaded', *({'torch'} & set(sys.modules)))\n"
    )
    assert run_python(code, *light) == "loaded"


def test_the_check_of_loaded_modules_sees_numpy() -> None:
    assert run_python("import sys, numpy\n" + LOADED) == "loaded numpy"


def test_nothing_in_the_package_executes_what_it_reads() -> None:
    found = {
        str(path.relative_to(PACKAGE)): calls
        for path in PACKAGE.rglob("*.py")
        if (calls := unsafe_calls(path.read_text(encoding="utf-8")))
    }
    assert found == {}


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("import pickle\nx = pickle.load(f)", "line 2 calls pickle.load"),
        ("import pickle as p\np.loads(b)", "line 2 calls pickle.loads"),
        ("from pickle import loads as read\nread(b)", "line 2 calls pickle.loads"),
        ("import pickle\npickle.Unpickler(f).load()", "line 2 calls pickle.Unpickler"),
        ("import torch\ntorch.load(f)", "line 2 calls torch.load"),
        ("import torch\ntorch.load(f, weights_only=False)", "line 2 calls torch.load"),
        ("from torch import load\nload(f)", "line 2 calls torch.load"),
        ("eval('1')", "line 1 calls eval"),
        ("def f():\n    exec('1')", "line 2 calls exec"),
    ],
)
def test_a_call_that_executes_data_is_found(source: str, expected: str) -> None:
    assert unsafe_calls(source) == [expected]


@pytest.mark.parametrize(
    "source",
    [
        "import torch\ntorch.load(f, weights_only=True)",
        "import safetensors.torch\nsafetensors.torch.load(b)",
        "model.eval()",
        "import json\njson.loads(b)",
    ],
)
def test_a_harmless_call_is_left_alone(source: str) -> None:
    assert unsafe_calls(source) == []
