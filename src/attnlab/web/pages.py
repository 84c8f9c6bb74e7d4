"""What the page of one run, of a study or of a comparison shows."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from attnlab.errors import UserError
from attnlab.report.plain_blocks import blocks_json
from attnlab.report.run_list import run_line, study_line
from attnlab.runs.directory import Run
from attnlab.runs.study import STUDY, Study
from attnlab.web.listing import line_json
from attnlab.web.words import in_form_words


def head(path: Path, root: Path) -> dict[str, Any]:
    """Return what may change from one moment to the next: how far a run or study is."""
    return (_study_head if is_study(path) else _run_head)(path, root)


def body(path: Path) -> dict[str, Any]:
    """Return what a run or study has come to."""
    return (_study_body if is_study(path) else _run_body)(path)


def is_study(path: Path) -> bool:
    """Whether a folder of ours is a study."""
    return (path / STUDY).exists()


def signature(path: Path) -> tuple[Any, ...]:
    """Return what changes when a run or study does: size and time of its files."""
    inner = Study.open(path).begun() if is_study(path) else ()
    return *_files(path), *(signature(run.path) for run in inner)


def _files(path: Path) -> tuple[Any, ...]:
    files = sorted(file for file in path.glob("*") if file.is_file() and file.name != ".lock")
    times = [(file.name, (there := file.stat()).st_mtime_ns, there.st_size) for file in files]
    return str(path), *times


def _run_head(path: Path, root: Path) -> dict[str, Any]:
    run, above = Run.open(path), path.parent
    return {
        **line_json(run_line(run, root)),
        "kind": "run",
        "study": str(above.relative_to(root)) if is_study(above) else None,
    }


def _run_body(path: Path) -> dict[str, Any]:
    """Return what a run has come to, and how it was made."""
    from attnlab.recipes.reporting import section_of
    from attnlab.report.build_report import how_it_was_made
    from attnlab.report.sections.one_run import ONE_RUN, tables

    run = Run.open(path)
    scores = run.record["scores"] if run.finished else {}
    summary = section_of(run.config["job"], ONE_RUN).summary([run]) if scores else ()
    return {
        "scores": scores,
        "summary": blocks_json(summary),
        "details": blocks_json(tables(run)) if scores else [],
        "made": blocks_json(how_it_was_made(run)),
        "splits": sorted(file.stem for file in path.glob("predictions/*.jsonl")),
    }


def _study_head(path: Path, root: Path) -> dict[str, Any]:
    study = Study.open(path)
    line = study_line(study, study.begun(), root)
    begun = {Path(cell.name).name for cell in line.cells}
    waiting = [cell["name"] for cell in study.cells if cell["name"] not in begun]
    return {
        **line_json(line),
        "kind": "study",
        "title": study.title,
        "notes": list(study.notes),
        "waiting": waiting,
    }


def _study_body(path: Path) -> dict[str, Any]:
    """Return what the cells of a study have come to; why not, if they have not yet."""
    from attnlab.recipes.reporting import section_of
    from attnlab.report.sections.comparison import COMPARISON

    study = Study.open(path)
    try:
        runs = study.opened()
        summary = blocks_json(section_of(study.job, COMPARISON).summary(runs))
    except UserError as error:
        return {"summary": [], "problem": in_form_words(str(error))}
    return {"summary": summary, "problem": None}


def answers(path: Path, split: str, *, only_wrong: bool, start: int, count: int) -> dict[str, Any]:
    """Return some of the stored predictions on a split."""
    rows = Run.open(path).predictions(split)
    chosen = [row for row in rows if row.get("prediction") != row.get("gold")]
    shown = chosen if only_wrong else rows
    return {
        "n": len(rows),
        "n_wrong": len(chosen) if rows and "gold" in rows[0] else None,
        "n_shown": len(shown),
        "rows": shown[start : start + count],
    }


def comparison(paths: Sequence[Path], split: str | None, metric: str | None) -> dict[str, Any]:
    """Compare runs as `attnlab runs compare` does."""
    from attnlab.evaluation.comparison import compare
    from attnlab.report.sections.comparison import comparison_blocks, comparison_json

    found = compare([Run.open(path) for path in paths], split=split, metric=metric, all_pairs=False)
    return {**comparison_json(found), "blocks": blocks_json(comparison_blocks(found))}
