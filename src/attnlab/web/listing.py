"""The list of runs as the page shows it."""

from pathlib import Path
from typing import Any

from attnlab.recipes.jobs import JOBS
from attnlab.report.run_list import Line, run_line, score_text, sorted_lines, study_line
from attnlab.runs.listing import find_all
from attnlab.web.inside import leads_out, link_out

TRIES = 3
"""A run may be removed while the list is made."""


def list_json(root: Path) -> dict[str, Any]:
    """Return one line per run and study, the newest first, and what could not be read."""
    for _ in range(TRIES - 1):
        try:
            return _list(root)
        except FileNotFoundError:
            continue
    return _list(root)


def _list(root: Path) -> dict[str, Any]:
    found = find_all(root)
    folders = [run.path for run in found.runs] + [study.path for study, _ in found.studies]
    links = {path: link for path in folders if (link := link_out(path, root))}
    lines = [run_line(run, root) for run in found.runs if run.path not in links]
    lines += [
        study_line(study, cells, root) for study, cells in found.studies if study.path not in links
    ]
    problems = [leads_out(link, root) for link in links.values()]
    return {
        "folder": str(root),
        "runs": [line_json(line) for line in sorted_lines(lines, "age")],
        "problems": [*found.problems, *problems],
    }


def line_json(line: Line) -> dict[str, Any]:
    """Return what the list shows of a run; its settings are on its own page."""
    plain = line.as_json()
    hidden = ("settings", "resolved", "cells")
    return {
        **{key: value for key, value in plain.items() if key not in hidden},
        "score_text": score_text(line) if line.score else None,
        "is_prediction": line.job in JOBS and JOBS[line.job].is_prediction,
        "cells": [line_json(cell) for cell in line.cells],
    }
