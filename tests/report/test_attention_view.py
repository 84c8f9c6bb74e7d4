"""The attention lab on a terminal."""

import io

from rich.console import Console

from attnlab.attention import ATTENTION
from attnlab.checks.cost import Cost
from attnlab.report.attention import costs_view

LENGTHS = (64, 128, 256, 512, 1024, 2048)


def test_every_variant_has_one_line_of_each_table_at_80_columns() -> None:
    names = [*ATTENTION.names(), "custom:score=some/where/far/away/mine.py:dot"]
    costs = [
        Cost(name, length, length / 1.2e3, 10**6 * length, (length / 2e3, length / 1.2e3, 3.0))
        for name in names
        for length in LENGTHS
    ]
    console = Console(file=io.StringIO(), width=80, force_terminal=True, color_system=None)
    console.print(costs_view(costs), crop=False)
    assert isinstance(console.file, io.StringIO)
    lines = console.file.getvalue().splitlines()
    assert len(lines) == 3 * (1 + len(names)) + 2
    assert max(map(len, lines)) <= 80
    assert lines[0].split() == ["ms", *map(str, LENGTHS)]
    assert any(line.split()[:2] == ["linear", "53.3"] for line in lines)
    assert sum("time from 512" in line for line in lines) == 1
    assert "noisy, n^" in console.file.getvalue()
