"""Saving components: three files, all or nothing, and nothing loaded before all of it is checked."""

from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import Any, cast

import srsly
from spacy import util
from spacy.pipeline import TrainablePipe

from ..codecs import Codec
from ..errors import Errors
from ..learners.learner import Learner
from ..models.linear_chain import LinearChainShim
from ..models.storage import write_files
from ..targets import Target
from .gold import GoldLabels


class SavedPipe(TrainablePipe):
    """The half of a labelling component that is about files."""

    learner: Learner
    resumable: bool
    _target: Target
    _codec: Codec
    _gold: GoldLabels
    _seen: int  # examples that `update` was given
    _skip: int  # examples that a resumed run has seen already
    _scores: dict[
        str, dict[str, Any]
    ]  # what was measured during training, by the number of examples seen

    @property
    def labels(self) -> tuple[str, ...]:
        """RETURNS (Tuple[str, ...]): The classes that the component tells apart."""
        return tuple(self.cfg["labels"])

    def _set_labels(self, labels: Iterable[str]) -> None:
        """Derive what follows from the labels; the one place, for new and for loaded components."""
        labels = sorted(labels)
        self._codec = self._target.codec(labels)
        self._gold = GoldLabels()
        self.cfg["labels"] = labels
        for label in self.labels:
            self.vocab.strings.add(label)

    @property
    def _shim(self) -> LinearChainShim:
        return cast(LinearChainShim, self.model.shims[0])

    def _files(self, exclude: Iterable[str]) -> dict[str, bytes]:
        """The contents of the component's files."""
        cfg = {**self.cfg, "trained": self._shim.is_ready}
        files = {"cfg": srsly.json_dumps(cfg).encode("utf8")}
        if self._shim.is_ready:
            files["model"] = self._shim.model_bytes(self.name)
        if self._shim.is_trainable and self.resumable:
            seen = max(self._seen, self._skip)
            state = {**self.learner.state(), "seen": seen, "scores": self._scores}
            files["training"] = self._shim.training_bytes(state, files["model"])
        return {name: data for name, data in files.items() if name not in set(exclude)}

    def to_bytes(self, *, exclude: Iterable[str] = ()) -> bytes:
        """Write the component into bytes.

        exclude (Iterable[str]): What to leave out: "training", "vocab".
        RETURNS (bytes): The component.
        """
        files = self._files(exclude)
        serialize: dict[str, Callable[[], Any]] = {name: partial(files.get, name) for name in files}
        serialize["vocab"] = lambda: self.vocab.to_bytes(exclude=exclude)
        return util.to_bytes(serialize, exclude)

    def from_bytes(self, bytes_data: bytes, *, exclude: Iterable[str] = ()) -> "SavedPipe":
        """Load the component from bytes.

        bytes_data (bytes): What `to_bytes` has written.
        exclude (Iterable[str]): What to leave out: "training", "vocab".
        RETURNS (SavedPipe): The component.
        """
        files: dict[str, bytes] = {}
        deserialize: dict[str, Callable[[Any], Any]] = {
            name: partial(files.__setitem__, name) for name in ("cfg", "model", "training")
        }
        deserialize["vocab"] = lambda data: self.vocab.from_bytes(data, exclude=exclude)
        util.from_bytes(bytes_data, deserialize, exclude)
        self._load(files, f"component '{self.name}'")
        return self

    def to_disk(self, path: str | Path, *, exclude: Iterable[str] = ()) -> None:
        """Save the component: all of it, or, if anything fails, nothing.

        path (Union[str, Path]): A directory.
        exclude (Iterable[str]): What to leave out: "training", "vocab".
        """
        directory = util.ensure_path(path)
        files = self._files(exclude)
        stale = tuple(name for name in ("model", "training") if name not in files)
        write_files(directory, files, remove=stale)
        if "vocab" not in exclude:
            self.vocab.to_disk(directory / "vocab", exclude=exclude)

    def from_disk(self, path: str | Path, *, exclude: Iterable[str] = ()) -> "SavedPipe":
        """Load the component from a directory.

        path (Union[str, Path]): The directory.
        exclude (Iterable[str]): What to leave out: "training", "vocab".
        RETURNS (SavedPipe): The component.
        """
        directory = util.ensure_path(path)
        if not (directory / "cfg").is_file():
            raise ValueError(Errors.NL412.format(source=directory / "cfg"))
        names = [n for n in ("cfg", "model", "training") if n not in set(exclude)]
        files = {n: (directory / n).read_bytes() for n in names if (directory / n).is_file()}
        if "vocab" not in exclude and (directory / "vocab").is_dir():
            self.vocab.from_disk(directory / "vocab", exclude=exclude)
        self._load(files, str(directory))
        return self

    def _load(self, files: dict[str, bytes], source: str) -> None:
        """Check everything, then take it over."""
        labels, trained, threshold = self._read_cfg(files.get("cfg"), source)
        if trained and "model" not in files:
            raise ValueError(Errors.NL412.format(source=f"{source}/model"))
        if "model" in files:
            training = files.get("training")
            state = self._shim.load(
                (files["model"], f"{source}/model"),
                None if training is None else (training, f"{source}/training"),
                labels=self._target.codec(labels).labels,
                rule=self.learner.rule,
                probabilistic=self.learner.probabilistic,
            )
            self._seen = state.get("seen", 0)
            self._scores = state.get("scores", {})
            self.learner.set_state(state)
        else:
            self._shim.clear()
        self._set_labels(labels)
        if self.cfg["threshold"] is None:
            # The config decides; what was set on the component fills in where it says nothing.
            self.cfg["threshold"] = threshold

    def _read_cfg(self, data: bytes | None, source: str) -> tuple[list[str], bool, float | None]:
        """RETURNS (Tuple[List[str], bool, Optional[float]]): The labels, whether there has to be a model, and the
        threshold."""
        if data is None:
            return list(self.labels), False, None
        try:
            cfg = srsly.json_loads(data)
            labels = sorted(cfg["labels"])
            if not all(isinstance(label, str) for label in labels):
                raise TypeError
            return labels, bool(cfg.get("trained", False)), cfg.get("threshold")
        except (ValueError, KeyError, TypeError, AttributeError):
            raise ValueError(Errors.NL203.format(source=f"{source}/cfg")) from None
