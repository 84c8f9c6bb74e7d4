"""Which runs have a model to ask, the newest first."""

from pathlib import Path
from typing import Any

from fastapi import APIRouter, Request

from attnlab.report.run_list import run_line, score_text
from attnlab.runs.directory import Run
from attnlab.runs.listing import list_runs
from attnlab.runs.model_kind import CLASSIFIER, ModelKind, model_kind
from attnlab.web.inside import link_out
from attnlab.web.runs import LIST_LASTS, Queues
from attnlab.web.settings import settings_of

router = APIRouter(prefix="/api/models")


@router.get("")
async def list_(request: Request, queues: Queues) -> Any:
    """List the finished runs that have a model, and of which kind it is."""
    root = settings_of(request).runs
    return await queues["list"].result("models", lambda: models_json(root), lasts=LIST_LASTS)


def models_json(root: Path) -> dict[str, Any]:
    """Return one line per run with a model; runs that lead out of the folder are left out."""
    found, _ = list_runs(root)
    kinds = [(run, kind) for run in found if (kind := model_kind(run))]
    return {
        "folder": str(root),
        "models": [_line(run, kind, root) for run, kind in kinds if not link_out(run.path, root)],
    }


def _line(run: Run, kind: ModelKind, root: Path) -> dict[str, Any]:
    line = run_line(run, root)
    return {
        "name": line.name,
        "kind": kind,
        "job": line.job,
        "model": line.model,
        "score_text": score_text(line) if line.score else None,
        "has_pairs": kind == CLASSIFIER and bool(run.record.get("has_pairs")),
    }
