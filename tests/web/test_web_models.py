"""The model that requests ask: loaded late, one at a time, and refused in words."""

import asyncio
import json
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from served import client_of, with_log
from trained import write_classifier

from attnlab.errors import NotFoundError, UserError
from attnlab.runs.directory import Run
from attnlab.runs.model_kind import CLASSIFIER, LANGUAGE_MODEL, need_model
from attnlab.web import models as held
from attnlab.web.models import ASK, CLASSIFY, LOOK, WRITE, Models, NobodyWaits, SessionKind
from attnlab.web.settings import WebSettings


def ask(models: Models, kind: SessionKind, path: Path, compute: Any = id, **given: Any) -> Any:
    return asyncio.run(models.answer(kind, path, compute, **given))


def watch_loading(
    monkeypatch: pytest.MonkeyPatch, look: Callable[[], object] = lambda: None
) -> list[str]:
    """Return the runs whose models are loaded from now on; ``look`` is called before each."""
    loaded, load = list[str](), held.load

    def watched(path: Path) -> Any:
        loaded.append(path.name)
        look()
        return load(path)

    monkeypatch.setattr(held, "load", watched)
    return loaded


def test_a_session_of_each_kind_answers(trained: Path) -> None:
    models = Models()
    answer = ask(models, ASK, trained / "gpt", lambda session: session.answer("Who?"))
    assert 0 <= answer.probability <= 1
    assert ask(models, WRITE, trained / "gpt", lambda session: session.lm.model.max_len) > 0
    (row,) = ask(models, CLASSIFY, trained / "bert", lambda session: session.given(["fine"], []))
    assert sum(row["probabilities"].values()) == pytest.approx(1)


def test_one_model_is_in_memory_at_a_time_and_the_same_one_is_not_loaded_again(
    trained: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    models, held_while_loading = Models(), []
    loaded = watch_loading(
        monkeypatch, lambda: held_while_loading.append((models._held, models._session))
    )
    for name in ("gpt", "gpt", "weightless", "gpt"):
        ask(models, WRITE, trained / name)
    assert loaded == ["gpt", "weightless", "gpt"]
    assert held_while_loading == [(None, None)] * 3


@pytest.mark.parametrize(
    ("run", "kinds"), [("gpt", (ASK, WRITE, LOOK, ASK)), ("bert", (CLASSIFY, LOOK, CLASSIFY))]
)
def test_another_view_of_the_same_run_asks_the_model_that_is_loaded(
    trained: Path, monkeypatch: pytest.MonkeyPatch, run: str, kinds: tuple[SessionKind, ...]
) -> None:
    models, loaded = Models(), watch_loading(monkeypatch)
    sessions = [ask(models, kind, trained / run, lambda session: session) for kind in kinds]
    assert loaded == [run]
    assert len({type(session) for session in sessions}) == len(set(kinds))


def test_what_nobody_wants_any_more_loads_nothing(
    trained: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    models, loaded = Models(), watch_loading(monkeypatch)
    with pytest.raises(NobodyWaits):
        ask(models, WRITE, trained / "gpt", is_wanted=lambda: False)
    assert loaded == []


def test_an_answer_with_a_key_is_computed_once(trained: Path) -> None:
    models, asked = Models(), []

    def compute(_: Any) -> int:
        asked.append(1)
        return len(asked)

    for key, expected in (("a", 1), ("a", 1), ("b", 2), (None, 3), (None, 4)):
        assert ask(models, WRITE, trained / "gpt", compute, key=key) == expected


def test_few_answers_are_kept(trained: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(held, "MOST_KEPT", 2)
    models = Models()
    for key in range(5):
        ask(models, WRITE, trained / "gpt", lambda _: "large", key=key)
    ask(models, WRITE, trained / "gpt", lambda _: "large")
    assert len(models._queue._kept) <= 2


def test_a_run_that_changed_is_loaded_again(trained: Path, tmp_path: Path) -> None:
    path = Path(shutil.copytree(trained / "gpt", tmp_path / "gpt"))
    models = Models()
    first = ask(models, WRITE, path, lambda session: session)
    (path / "language_model.json").touch()
    assert ask(models, WRITE, path, lambda session: session) is not first


class TestRefusals:
    def test_a_deleted_run(self, trained: Path, tmp_path: Path) -> None:
        path = Path(shutil.copytree(trained / "gpt", tmp_path / "gpt"))
        models = Models()
        ask(models, WRITE, path)
        shutil.rmtree(path)
        with pytest.raises(NotFoundError, match="there is no run 'gpt'"):
            ask(models, WRITE, path)

    def test_a_run_deleted_while_the_request_waits(self, trained: Path, tmp_path: Path) -> None:
        path = Path(shutil.copytree(trained / "gpt", tmp_path / "gpt"))
        models, go = Models(), threading.Event()

        def remove(_: Any) -> None:
            go.wait()
            shutil.rmtree(path)

        async def both() -> None:
            first = asyncio.create_task(models.answer(WRITE, trained / "gpt", remove, key="first"))
            while models._queue._waiting < 1:
                await asyncio.sleep(0.01)
            second = asyncio.create_task(models.answer(WRITE, path, id))
            while models._queue._waiting < 2:
                await asyncio.sleep(0.01)
            go.set()
            await asyncio.gather(first, second)

        with pytest.raises(NotFoundError, match="was removed"):
            asyncio.run(both())
        assert models._held is models._session is None

    def test_a_run_without_a_model(self, trained: Path) -> None:
        with pytest.raises(UserError, match="the run world has no model: a language model is made"):
            need_model(trained / "world", LANGUAGE_MODEL)

    def test_a_model_of_another_kind(self, trained: Path) -> None:
        with pytest.raises(UserError, match="bert has a classifier: a language model is made by"):
            need_model(trained / "bert", LANGUAGE_MODEL)
        assert need_model(trained / "bert", LANGUAGE_MODEL, CLASSIFIER) == CLASSIFIER

    def test_a_study(self, tmp_path: Path) -> None:
        (tmp_path / "study.json").write_text("{}")
        with pytest.raises(UserError, match="is a study, which has no model"):
            need_model(tmp_path, CLASSIFIER)

    def test_another_format(self, trained: Path, tmp_path: Path) -> None:
        path = Path(shutil.copytree(trained / "gpt", tmp_path / "gpt"))
        config = json.loads((path / "config.json").read_text())
        (path / "config.json").write_text(json.dumps(config | {"format": 2}))
        with pytest.raises(UserError, match="was made by an earlier version of attnlab"):
            ask(Models(), WRITE, path)

    def test_an_unfinished_run(self, tmp_path: Path) -> None:
        run, _ = with_log(tmp_path, "begun", lines=2)
        with pytest.raises(UserError, match="begun was stopped before it was finished: resume it"):
            need_model(run.path, LANGUAGE_MODEL)
        with run, pytest.raises(UserError, match="begun is still training"):
            need_model(run.path, LANGUAGE_MODEL)
        with pytest.raises(RuntimeError), run:
            raise RuntimeError("broken")
        with pytest.raises(UserError, match="begun has failed before it was finished"):
            need_model(run.path, LANGUAGE_MODEL)

    def test_a_damaged_model(self, trained: Path, tmp_path: Path) -> None:
        path = Path(shutil.copytree(trained / "gpt", tmp_path / "gpt"))
        (path / "language_model.json").write_text("{}")
        with pytest.raises(UserError, match=r"language_model\.json"):
            ask(Models(), WRITE, path)


@pytest.mark.slow
def test_an_encoder_of_transformers_answers(tmp_path: Path) -> None:
    run = write_classifier(tmp_path / "runs", "hub", kind="distilbert")
    (row,) = ask(Models(), CLASSIFY, run.path, lambda session: session.given(["fine"], []))
    assert set(row["probabilities"]) == set(Run.open(run.path).recorded("classes"))


def test_importing_the_holder_loads_no_torch() -> None:
    code = "import sys, attnlab.web.app; print(*({'torch', 'numpy'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "\n"


class TestList:
    def test_runs_with_a_model_are_listed_with_its_kind(self, trained: Path) -> None:
        listed = client_of(WebSettings(runs=trained)).get("/api/models").json()["models"]
        kinds = {one["name"]: one["kind"] for one in listed}
        gpts, berts = ("gpt", "weightless"), ("bert", "pairs")
        expected = dict.fromkeys(gpts, LANGUAGE_MODEL) | dict.fromkeys(berts, CLASSIFIER)
        assert kinds == expected
        assert [one["name"] for one in listed if one["has_pairs"]] == ["pairs"]

    def test_a_link_that_leads_out_is_left_out(self, trained: Path, tmp_path: Path) -> None:
        root = tmp_path / "runs"
        root.mkdir()
        (root / "gpt").symlink_to(trained / "gpt")
        assert client_of(WebSettings(runs=root)).get("/api/models").json()["models"] == []
