#!/usr/bin/env bash
# Pack the work in this folder: bash collect_submission.sh NAME makes assignment_NAME.zip.
set -euo pipefail
here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
python="$here/../../.venv/bin/python"
[ -x "$python" ] || python=python3
"$python" -c 'import attnlab' 2>/dev/null ||
    { echo "collect_submission: $python has no attnlab. Activate the environment that has it, and repeat." >&2; exit 2; }
exec "$python" "$here/collect.py" "$@"
