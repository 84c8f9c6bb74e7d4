"""Packs a submission: report, code, the scripts of the experiments, and what each run recorded.

    bash collect_submission.sh NAME    # in the folder of the assignment: assignment_NAME.zip

Weights stay at home: a run's settings, scores, curves and predictions are packed. Everything is checked
before anything is written.
"""

from pathlib import Path

from attnlab.cli.packing import main, need_files
from attnlab.errors import UserError

CODE = ("mymodel.py", "classifier.py", "classifier_mlm.py", "data_utils.py", "mlm_utils.py")
"""Without these there is nothing to grade; all other Python files are packed too."""
REPORTS = ("pdf", "md", "txt", "docx", "odt", "tex", "ipynb")
OURS = "collect_submission.sh"
RECORDED = ("config.json", "record.json", "metrics.jsonl", "predictions/*.jsonl")
"""What is packed of a run."""


def find(folder: Path) -> list[str]:
    """Return what is packed; refuse a folder that lacks a part of a submission."""
    need_files(folder, CODE)
    reports = [folder / f"report.{kind}" for kind in REPORTS]
    reports = [path for path in reports if path.is_file() and path.stat().st_size]
    if not reports:
        raise UserError(f"there is no report in {folder}: write report.pdf or report.md.")
    scripts = [path for path in sorted(folder.glob("*.sh")) if path.name != OURS]
    if not scripts:
        raise UserError(
            f"there is no script in {folder}: put the commands of your experiments into run.sh."
        )
    runs = sorted(record.parent for record in folder.rglob("record.json"))
    if not runs:
        raise UserError(f"there is no finished run below {folder}: run the commands first.")
    recorded = [path for run in runs for what in RECORDED for path in sorted(run.glob(what))]
    tables = sorted(folder.glob("results.*"))
    paths = [*reports, *tables, *sorted(folder.glob("*.py")), *scripts, *recorded]
    return [str(path.relative_to(folder)) for path in paths]


if __name__ == "__main__":
    main(find)
