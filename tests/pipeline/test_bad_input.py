"""What bad input gets: a message from the catalogue, no crash, nothing half-written, nothing half-loaded."""

import errno
import os
import pickle
import re
import shutil
import struct
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
import spacy
from spacy.tokens import Doc, Span
from spacy.training import Example

from spacy_nonlocal.models.storage import MAGIC, VERSION, pack, unpack

from .util import (
    ENTS,
    NAME,
    features,
    files_of,
    iob,
    label,
    learner,
    make_doc,
    make_examples,
    make_nlp,
    trained,
    update,
)

TEXT, LABELS = ENTS[0]
FILES = ("model", "training")


def tagger_of(nlp):
    return nlp.get_pipe(NAME)


# --- corpora -------------------------------------------------------------------------------------


def test_empty_corpus():
    nlp = make_nlp()
    with pytest.raises(ValueError, match=r"\[NL410\].*'local_tagger'.*ents"):
        nlp.initialize(lambda: iter(()))
    with pytest.raises((TypeError, ValueError)):
        nlp.initialize(lambda: [])


@pytest.mark.parametrize("target", ["ents", "tag", "pos", "spans:x"])
def test_corpus_without_annotation(target):
    nlp = make_nlp(target=target)
    examples = [Example(make_doc(nlp, TEXT), make_doc(nlp, TEXT))]
    with pytest.raises(ValueError, match=rf"\[NL410\].*'local_tagger'.*{target}"):
        nlp.initialize(lambda: examples)


def test_corpus_of_empty_documents():
    nlp = make_nlp()
    with pytest.raises(ValueError, match=r"\[NL410\]"):
        nlp.initialize(lambda: [Example(nlp.make_doc(""), nlp.make_doc(""))])


@pytest.mark.parametrize("scheme", ["BIO", "BILUO", "IO"])
def test_corpus_with_only_outside(scheme):
    nlp = make_nlp(scheme=scheme)
    examples = make_examples(nlp, (("nothing to see", "O O O"),))
    with pytest.warns(UserWarning, match=r"\[NL454\].*'local_tagger'"):
        nlp.initialize(lambda: examples)
    assert update(nlp, examples) == 0.0
    assert iob(label(nlp, TEXT)) == "O O O O O O"
    again = make_nlp(scheme=scheme).from_bytes(nlp.to_bytes())
    assert iob(label(again, TEXT)) == "O O O O O O"


@pytest.mark.parametrize("name", ["AveragedPerceptron", "MarginPerceptron", "PassiveAggressive"])
def test_corpus_with_one_label(name):
    nlp = trained((("a b", "NN NN"), ("c", "NN")), "tags", target="tag", **learner(name))
    assert [token.tag_ for token in label(nlp, "x y z")] == ["NN", "NN", "NN"]
    nlp = trained((("a b", "B-X B-X"),), **learner(name))
    assert iob(label(nlp, "a b")) == "B-X B-X"


def test_unknown_label_in_update():
    nlp = trained()
    before = tagger_of(nlp).to_bytes(exclude=["vocab", "training"])
    examples = make_examples(nlp, (("Acme Ltd. in Rome", "B-ORG I-ORG O B-LOC"),))
    with pytest.raises(
        ValueError,
        match=r"\[NL403\].*'local_tagger'.*'ORG' of 'Acme Ltd\.' in the document.*LOC, PER",
    ):
        nlp.update(examples)
    assert tagger_of(nlp).to_bytes(exclude=["vocab", "training"]) == before


def test_unknown_tag_in_update():
    nlp = trained((("a b", "DT NN"),), "tags", target="tag")
    with pytest.raises(ValueError, match=r"\[NL403\].*'VB' of 'd'"):
        nlp.update(make_examples(nlp, (("c d", "NN VB"),), "tags"))


def test_tag_that_is_no_part_of_speech():
    tagger = make_nlp(target="pos").get_pipe(NAME)
    with pytest.raises(ValueError, match=r"\[NL404\].*'local_tagger'.*'NNP'"):
        tagger.add_label("NNP")
    assert tagger.labels == ()


def test_examples_of_the_wrong_type():
    nlp = trained(passes=1)
    with pytest.raises(TypeError):
        tagger_of(nlp).update([make_doc(nlp, TEXT)])


# --- gold that does not fit ----------------------------------------------------------------------


def examples_with(nlp, spoilt):
    return [*make_examples(nlp), spoilt]


def test_overlapping_gold():
    nlp = make_nlp(target="spans:x")
    words = ["the", "New", "York", "Times", "of", "Rome"]
    reference = Doc(nlp.vocab, words=words)
    reference.spans["x"] = [
        Span(reference, 1, 4, label="ORG"),
        Span(reference, 1, 3, label="LOC"),
        Span(reference, 5, 6, label="LOC"),
    ]
    examples = [Example(Doc(nlp.vocab, words=words), reference)]
    message = r"\[NL453\].*'local_tagger'.*'New York' \(tokens 1 to 3\) in the document 'the New York Times"
    with pytest.warns(UserWarning, match=message):
        nlp.initialize(lambda: examples)
    with pytest.warns(UserWarning, match=message):
        update(nlp, examples)
    doc = nlp(Doc(nlp.vocab, words=words))
    assert [(s.start, s.end, s.label_) for s in doc.spans["x"]] == [(1, 4, "ORG"), (5, 6, "LOC")]


def test_whitespace_gold():
    nlp = make_nlp()
    words = ["Rome", "\n\n", "said"]
    spoilt = Example(
        Doc(nlp.vocab, words=words), Doc(nlp.vocab, words=words, ents=["B-LOC", "B-PER", "O"])
    )
    examples = examples_with(nlp, spoilt)
    message = r"(?s)\[NL451\].*'local_tagger'.*\(tokens 1 to 2\) in the document"
    nlp.initialize(lambda: examples)
    with pytest.warns(UserWarning, match=message):
        update(nlp, examples)
    assert iob(label(nlp, TEXT)) == LABELS
    assert iob(nlp(Doc(nlp.vocab, words=words))).split()[0] == "B-LOC"


def test_misaligned_gold():
    nlp = make_nlp()
    predicted = Doc(nlp.vocab, words=["Anna", "is", "in", "Rome-Paris"])
    reference = Doc(
        nlp.vocab,
        words=["Anna", "is", "in", "Rome", "-Paris"],
        spaces=[True, True, True, False, True],
        ents=["B-PER", "O", "O", "B-LOC", "O"],
    )
    examples = examples_with(nlp, Example(predicted, reference))
    message = (
        r"\[NL452\].*'local_tagger'.*'Rome' \(tokens 3 to 4.*the document 'Anna is in Rome -Paris'"
    )
    nlp.initialize(lambda: examples)
    with pytest.warns(UserWarning, match=message):
        update(nlp, examples)
    assert iob(label(nlp, TEXT)) == LABELS
    assert iob(nlp(predicted.copy())).split()[:3] == ["B-PER", "O", "O"]


# --- before training -----------------------------------------------------------------------------


def test_used_before_training():
    nlp = make_nlp()
    with pytest.raises(ValueError, match=r"\[NL407\].*'local_tagger'"):
        nlp(TEXT)
    with pytest.raises(ValueError, match=r"\[NL407\].*'local_tagger'"):
        list(nlp.pipe([TEXT]))
    with pytest.raises(ValueError, match=r"\[NL407\].*'local_tagger'"):
        nlp.update(make_examples(nlp))


def test_failed_initialization_leaves_no_wreck(tmp_path):
    """Afterwards the component works as before, or says that it is not trained."""
    names = tmp_path / "names.txt"
    names.write_text("Anna\n", encoding="utf8")
    gazetteer = {"@misc": "spacy-nonlocal.Gazetteer.v1", "path": str(names)}
    nlp = trained(**features("orth[0]", "gazetteer:n[0]", gazetteers={"n": gazetteer}))
    before = iob(label(nlp, TEXT))
    names.unlink()
    examples = make_examples(nlp, (("Acme in Rome", "B-ORG O B-LOC"),))
    with pytest.raises(FileNotFoundError, match=r"\[NL121\].*names\.txt"):
        nlp.initialize(lambda: examples)
    try:
        after = iob(label(nlp, TEXT))
    except ValueError as error:
        assert "[NL407]" in str(error)  # noqa: PT017
    else:
        assert after == before


# --- files ---------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """A trained component, saved."""
    path = tmp_path_factory.mktemp("saved")
    tagger_of(trained()).to_disk(path, exclude=["vocab"])
    return path


@pytest.fixture
def directory(saved, tmp_path):
    return Path(shutil.copytree(saved, tmp_path / "copy"))


@pytest.fixture(scope="module")
def survivor():
    nlp = trained((("Zoe sees Oslo", "B-PER O B-LOC"),))
    return nlp, tagger_of(nlp).to_bytes()


@pytest.fixture
def other(survivor):
    """Another trained component, which must survive every failure as it is."""
    nlp, data = survivor
    tagger_of(nlp).from_bytes(data)
    return nlp


def refuse(other, directory, message):
    """The directory is not loaded, and the component is what it was before."""
    tagger = tagger_of(other)
    before = tagger.to_bytes(), iob(label(other, "Zoe sees Oslo"))
    with pytest.raises(ValueError, match=message) as caught:
        tagger.from_disk(directory)
    assert before == (tagger.to_bytes(), iob(label(other, "Zoe sees Oslo")))
    fresh = make_nlp()
    with pytest.raises(ValueError, match=message):
        tagger_of(fresh).from_disk(directory)
    assert tagger_of(fresh).labels == ()
    with pytest.raises(ValueError, match=r"\[NL407\]"):
        fresh(TEXT)
    return str(caught.value)


def change(directory, name, function):
    path = directory / name
    path.write_bytes(function(path.read_bytes()))
    return path


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("keep", [0, 1, 7, 8, 15, 16, 17, 40, 47, 48, 100, -33, -32, -1])
def test_truncated_file(name, keep, directory, other):
    path = change(directory, name, lambda data: data[:keep])
    assert str(path) in refuse(other, directory, r"\[NL20[13]\]")


@pytest.mark.parametrize("name", FILES)
def test_file_with_something_after_its_end(name, directory, other):
    path = change(directory, name, lambda data: data + b"\0")
    assert str(path) in refuse(other, directory, r"\[NL203\]")


@pytest.mark.parametrize("name", FILES)
def test_flipped_bits(name, directory):
    nlp = make_nlp()
    path = directory / name
    data = path.read_bytes()
    places = {*range(48), *range(48, len(data), 211), *range(len(data) - 40, len(data))}
    for i in sorted(places):
        flipped = bytearray(data)
        flipped[i] ^= 1 << (i % 8)
        path.write_bytes(flipped)
        with pytest.raises(ValueError, match=r"\[NL20[123]\]") as caught:
            tagger_of(nlp).from_disk(directory)
        assert str(path) in str(caught.value)
    assert tagger_of(nlp).labels == ()


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"{}",
        b"PK\x03\x04" + b"\0" * 100,
        pickle.dumps({"weights": [1.0]}),
        b"lCRF" + b"\0" * 100,  # CRFsuite's
        MAGIC[:4] + b"\n" * 100,
    ],
)
def test_foreign_file(name, data, directory, other):
    path = change(directory, name, lambda _: data)
    assert str(path) in refuse(other, directory, r"\[NL201\].*not a spacy-nonlocal model file")


@pytest.mark.parametrize("name", FILES)
def test_newer_version(name, directory, other):
    newer = struct.pack("<I", VERSION + 1)
    path = change(directory, name, lambda data: data[: len(MAGIC)] + newer + data[len(MAGIC) + 4 :])
    message = refuse(other, directory, r"\[NL202\].*Install a newer")
    assert str(path) in message
    assert f"version {VERSION + 1}" in message


def test_swapped_files(directory, other):
    (directory / "model").rename(directory / "x")
    (directory / "training").rename(directory / "model")
    (directory / "x").rename(directory / "training")
    assert str(directory / "model") in refuse(other, directory, r"\[NL204\].*'training'.*'model'")


def repack(kind, change_arrays):
    """A change of a file's arrays that leaves the checksum right."""

    def function(data):
        settings, arrays = unpack(data, kind, "test")
        arrays = {name: array.copy() for name, array in arrays.items()}
        change_arrays(arrays)
        return pack(kind, settings, arrays)

    return function


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize(
    ("name", "array"),
    [
        ("model", "node.values"),
        ("model", "edge.values"),
        ("training", "node.w.values"),
        ("training", "node.u.values"),
        ("training", "edge.w.values"),
        ("training", "edge.u.values"),
    ],
)
def test_file_with_weights_that_are_no_numbers(name, array, value, directory, other):
    def spoil(arrays):
        arrays[array][-1] = value

    path = change(directory, name, repack(name, spoil))
    assert str(path) in refuse(other, directory, r"\[NL205\].*not finite")


@pytest.mark.parametrize(
    "content", [b"", b"{", b"null", b"[]", b'{"labels": 7}', b"\xff\xfe", b'{"labels": [1, 2]}']
)
def test_damaged_cfg(content, directory, other):
    path = change(directory, "cfg", lambda _: content)
    assert str(path) in refuse(other, directory, r"\[NL203\]")


def test_directory_that_is_not_there(tmp_path, other):
    refuse(other, tmp_path / "nowhere", r"\[NL412\].*nowhere")


def test_directory_of_something_else(tmp_path, other):
    (tmp_path / "moves").write_bytes(b"\0")
    refuse(other, tmp_path, r"\[NL412\]")


def test_directory_without_its_model_file(directory, other):
    (directory / "model").unlink()
    assert str(directory / "model") in refuse(other, directory, r"\[NL412\].*missing")


def test_directory_of_an_untrained_component(tmp_path):
    nlp, untrained = trained(), make_nlp()
    tagger_of(untrained).add_label("ORG")
    tagger_of(untrained).to_disk(tmp_path)
    tagger_of(nlp).from_disk(tmp_path)
    assert tagger_of(nlp).labels == ("ORG",)
    with pytest.raises(ValueError, match=r"\[NL407\]"):
        label(nlp, TEXT)


def test_whole_pipeline_with_a_damaged_file(tmp_path):
    trained().to_disk(tmp_path)
    path = change(tmp_path / NAME, "model", lambda data: data[:-5])
    with pytest.raises(ValueError, match=r"\[NL203\]") as caught:
        spacy.load(tmp_path)
    assert str(path) in str(caught.value)


@pytest.mark.parametrize("cut", [10, 200, -1])
def test_damaged_bytes(cut, other):
    tagger = tagger_of(other)
    before = tagger.to_bytes()
    files = tagger_of(trained())._files(())
    data = spacy.util.to_bytes(
        {"cfg": lambda: files["cfg"], "model": lambda: files["model"][:cut]}, ()
    )
    with pytest.raises(ValueError, match=r"\[NL20[13]\].*'local_tagger'"):
        tagger.from_bytes(data)
    assert tagger.to_bytes() == before


def test_a_refused_model_leaves_the_gazetteers(tmp_path):
    """A sound model file beside a damaged training file brings another gazetteer: it must not get in."""

    def make(name):
        path = tmp_path / f"{name}.txt"
        path.write_text(f"{name}\n", encoding="utf8")
        gazetteer = {"@misc": "spacy-nonlocal.Gazetteer.v1", "path": str(path)}
        config = features("gazetteer:g[0]", gazetteers={"g": gazetteer})
        data = ((f"go {name} go", "O B-LOC O"), (name, "B-LOC"), ("go go", "O O"))
        return trained(data, **config, **learner("MarginPerceptron"))

    nlp, another = make("Oslo"), make("Lima")
    tagger_of(another).to_disk(tmp_path / "another")
    change(tmp_path / "another", "training", lambda data: data[:-1])
    assert iob(label(nlp, "Lima and Oslo")) == "O O B-LOC"
    before = tagger_of(nlp).to_bytes(exclude=["vocab"])
    with pytest.raises(ValueError, match=r"\[NL203\]"):
        tagger_of(nlp).from_disk(tmp_path / "another", exclude=["vocab"])
    assert iob(label(nlp, "Lima and Oslo")) == "O O B-LOC"
    assert tagger_of(nlp).to_bytes(exclude=["vocab"]) == before


# --- model and config that do not fit ------------------------------------------------------------


@pytest.mark.parametrize("config", [{"scheme": "BILUO"}, {"scheme": "IO"}, {"target": "tag"}])
def test_config_changed_after_training(config, directory):
    tagger = tagger_of(make_nlp(**config))
    with pytest.raises(ValueError, match=r"\[NL411\]") as caught:
        tagger.from_disk(directory)
    assert str(directory / "model") in str(caught.value)


@pytest.mark.parametrize("labels", [[], ["PER"], ["LOC", "ORG", "PER"]])
def test_label_set_that_differs_from_the_model(labels, directory, other):
    change(directory, "cfg", lambda _: spacy.util.srsly.json_dumps({"labels": labels}).encode())
    refuse(other, directory, r"\[NL411\]")


def test_cfg_of_another_component_with_as_many_labels(directory, other, tmp_path):
    another = trained((("Acme fell on Monday", "B-ORG O O B-DATE"),))
    tagger_of(another).to_disk(tmp_path / "another", exclude=["vocab"])
    shutil.copy(tmp_path / "another" / "cfg", directory / "cfg")
    refuse(other, directory, r"\[NL411\]")


def test_training_file_of_another_component(directory, other, tmp_path):
    another = trained((("Ann saw Rome", "B-PER O B-LOC"),))
    tagger_of(another).to_disk(tmp_path / "another", exclude=["vocab"])
    shutil.copy(tmp_path / "another" / "training", directory / "training")
    refuse(other, directory, r"\[NL211\]")


def test_training_file_with_other_labels(directory, other, tmp_path):
    another = trained((("Ann saw Rome", "B-PER O B-PER"),))
    tagger_of(another).to_disk(tmp_path / "another", exclude=["vocab"])
    shutil.copy(tmp_path / "another" / "training", directory / "training")
    assert str(directory / "training") in refuse(other, directory, r"\[NL211\]")


def test_learner_changed_after_training(directory):
    tagger = tagger_of(make_nlp(**learner("Perceptron")))
    with pytest.raises(ValueError, match=r"\[NL413\]") as caught:
        tagger.from_disk(directory)
    assert tagger_of(make_nlp()).learner.name in str(caught.value)
    # Prediction alone needs no learner.
    nlp = make_nlp(**learner("Perceptron"))
    tagger_of(nlp).from_disk(directory, exclude=["training"])
    assert iob(label(nlp, TEXT)) == LABELS


# --- saving --------------------------------------------------------------------------------------


@pytest.mark.parametrize("value", [np.nan, np.inf])
@pytest.mark.parametrize("part", ["node", "edge"])
def test_weights_that_are_no_numbers_are_not_saved(part, value, tmp_path):
    nlp = trained(passes=2)
    tagger = tagger_of(nlp)
    tagger.to_disk(tmp_path, exclude=["vocab"])
    before = files_of(tmp_path)
    nlp.update(make_examples(nlp))
    getattr(tagger.model.shims[0].trainer, part).w[0, 0] = value
    with pytest.raises(ValueError, match=r"\[NL207\].*'local_tagger'"):
        tagger.to_disk(tmp_path, exclude=["vocab"])
    with pytest.raises(ValueError, match=r"\[NL207\].*'local_tagger'"):
        tagger.to_bytes()
    assert files_of(tmp_path) == before


def failing(function, turn, calls):
    """The function, but its call number `turn` finds no space left."""

    def wrapper(*args, **kwargs):
        calls["calls"] += 1
        if calls["calls"] == turn + 1:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return function(*args, **kwargs)

    return wrapper


@pytest.mark.parametrize(
    ("where", "attr", "turn"),
    [
        *((Path, "open", turn) for turn in range(3)),
        *((os, "fsync", turn) for turn in range(3)),
        *((os, "replace", turn) for turn in range(6)),
    ],
)
def test_full_disk(where, attr, turn, tmp_path, monkeypatch):
    """Whatever step fails, what was saved before is there, and nothing else."""
    tagger_of(trained()).to_disk(tmp_path, exclude=["vocab"])
    before = files_of(tmp_path)
    another = tagger_of(trained((("Acme fell on Monday x", "B-ORG O O B-DATE B-X"),)))
    calls = Counter()
    with monkeypatch.context() as patch:
        patch.setattr(where, attr, failing(getattr(where, attr), turn, calls))
        try:
            another.to_disk(tmp_path, exclude=["vocab"])
        except OSError as error:
            assert re.search(r"\[NL206\].*No space left", str(error))  # noqa: PT017
            assert str(tmp_path) in str(error)  # noqa: PT017
            assert files_of(tmp_path) == before
        else:
            assert calls["calls"] <= turn  # there was no such step


@pytest.mark.parametrize("attr", ["fsync", "replace"])
@pytest.mark.parametrize("turn", [0, 1, 2])
def test_full_disk_at_the_first_save(attr, turn, tmp_path, monkeypatch):
    tagger = tagger_of(trained())
    with monkeypatch.context() as patch:
        patch.setattr(os, attr, failing(getattr(os, attr), turn, Counter()))
        with pytest.raises(OSError, match=r"\[NL206\].*No space left"):
            tagger.to_disk(tmp_path, exclude=["vocab"])
    assert files_of(tmp_path) == {}


def test_interrupted_save(tmp_path, monkeypatch):
    tagger_of(trained()).to_disk(tmp_path, exclude=["vocab"])
    before = files_of(tmp_path)
    another = tagger_of(trained((("Acme fell", "B-ORG O"),)))

    def interrupt(*args):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", interrupt)
        with pytest.raises(KeyboardInterrupt):
            another.to_disk(tmp_path, exclude=["vocab"])
    assert files_of(tmp_path) == before


def test_stale_training_state_goes_even_if_it_cannot_be_removed(tmp_path, monkeypatch):
    """A slim model saved over a whole one must not find the other's training state beside it."""
    tagger_of(trained()).to_disk(tmp_path, exclude=["vocab"])
    before = files_of(tmp_path)
    another = tagger_of(trained(ENTS[:2]))
    with monkeypatch.context() as patch:
        patch.setattr(Path, "unlink", failing(Path.unlink, 0, Counter()))
        try:
            another.to_disk(tmp_path, exclude=["vocab", "training"])
        except OSError:
            assert files_of(tmp_path) == before  # noqa: PT017
        else:
            assert not (tmp_path / "training").exists()
            nlp = make_nlp()
            tagger_of(nlp).from_disk(tmp_path)
            assert iob(label(nlp, TEXT)) == LABELS


def test_unwritable_directory(tmp_path):
    (tmp_path / "file").write_text("not a directory")
    with pytest.raises(OSError, match=r"\[NL206\].*writable"):
        tagger_of(trained(passes=1)).to_disk(tmp_path / "file", exclude=["vocab"])
    with pytest.raises(OSError, match=r"\[NL206\]"):
        tagger_of(trained(passes=1)).to_disk(tmp_path / "file" / "below", exclude=["vocab"])
    assert files_of(tmp_path) == {"file": b"not a directory"}


def test_saving_again_replaces_everything(tmp_path):
    tagger_of(trained()).to_disk(tmp_path, exclude=["vocab"])
    second = tagger_of(trained((("Acme fell", "B-ORG O"),)))
    second.to_disk(tmp_path, exclude=["vocab"])
    second.to_disk(tmp_path / "fresh", exclude=["vocab"])
    fresh = files_of(tmp_path / "fresh")
    assert {name: (tmp_path / name).read_bytes() for name in fresh} == fresh


# --- settings ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ({"scheme": "BMES"}, r"\[NL401\].*'BMES'"),
        ({"target": "chunks"}, r"\[NL402\].*'local_tagger'.*'chunks'"),
        ({"target": "spans:"}, r"\[NL402\]"),
        ({"unit": "page"}, r"\[NL405\].*'local_tagger'.*'page'"),
        ({"model": {"features": {"preset": "nre"}}}, r"\[NL108\].*'nre'.*ner"),
        (features("orth[0]", min_count=0), r"\[NL109\].*0"),
        (learner("MarginPerceptron", margin=-1.0), r"\[NL502\].*MarginPerceptron.*margin.*-1"),
        (learner("PassiveAggressive", C=0.0), r"\[NL501\].*PassiveAggressive.*C"),
    ],
)
def test_settings_out_of_range(config, message):
    with pytest.raises(ValueError, match=message):
        make_nlp(**config)


@pytest.mark.parametrize(
    ("config", "message"),
    [
        (features("orht[0]"), r"\[NL104\].*'orht'.*Did you mean 'orth'"),
        (features("no_such_thing[0]"), r"\[NL104\].*'no_such_thing'"),
        (features("orth[0]", edges=["orht[0]"]), r"\[NL104\].*'orht'"),
        (features("orth"), r"\[NL101\].*'orth'"),
        (features("orth[0"), r"\[NL101\]"),
        (features("orth[x]"), r"\[NL101\]"),
        (features(""), r"\[NL101\]"),
        (features("orth[0]||lower[0]"), r"\[NL101\]"),
        (features("orth[0]", edges=["bias", "%x[0,0]"]), r"\[NL101\].*%x"),
        (features("orth[-1..1]|lower[0]"), r"\[NL102\]"),
        (features("orth[2..-2]"), r"\[NL103\]"),
        (features("orth[99]"), r"\[NL103\]"),
        (features("gazetteer:places[0]"), r"\[NL105\].*places.*none"),
        (features(edges=[]), r"\[NL110\]"),
        (features("prefix0[0]"), r"\[NL104\].*'prefix0'"),
    ],
)
def test_features_that_cannot_be_read(config, message):
    with pytest.raises(ValueError, match=message):
        trained(passes=0, **config)


@pytest.mark.parametrize("kind", ["gazetteers", "clusters", "crfpp"])
def test_missing_files(kind, tmp_path):
    path = str(tmp_path / "missing.txt")
    block = {
        "gazetteers": {"n": {"@misc": "spacy-nonlocal.Gazetteer.v1", "path": path}},
        "clusters": {"@misc": "spacy-nonlocal.Clusters.v1", "path": path},
        "crfpp": path,
    }[kind]
    nodes = {"gazetteers": ["gazetteer:n[0]"], "clusters": ["cluster:4[0]"], "crfpp": []}[kind]
    with pytest.raises(FileNotFoundError, match=r"\[NL121\].*missing\.txt"):
        trained(passes=0, **features(*nodes, **{kind: block}))


@pytest.mark.parametrize("runs", [-1, -10])
def test_negative_bpm_runs(runs):
    nlp = make_nlp()
    examples = make_examples(nlp)
    with pytest.raises(ValueError, match=rf"\[NL416\].*'local_tagger'.*{runs}"):
        tagger_of(nlp).initialize(lambda: examples, bpm_runs=runs)
