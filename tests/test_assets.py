"""The news corpus is what its generator writes, and has the properties it is there for."""

import subprocess
import sys
from collections import Counter, defaultdict
from pathlib import Path

import pytest
import spacy

ASSETS = Path(__file__).parent.parent / "assets"
SIZES = {"train": 360, "dev": 80, "test": 80}
FILES = [*(f"news-{split}.txt" for split in SIZES), "gazetteer-places.txt"]
LABELS = {"PER", "LOC", "ORG"}


def read_documents(split):
    """Documents as lists of sentences, sentences as lists of (word, label)."""
    text = (ASSETS / f"news-{split}.txt").read_text(encoding="utf8")
    empty, *documents = text.split("-DOCSTART-\tO\n\n")
    assert empty == ""
    return [[read_sentence(s) for s in d.removesuffix("\n\n").split("\n\n")] for d in documents]


def read_sentence(text):
    return [tuple(line.split("\t")) for line in text.split("\n")]


def entities(document):
    """(name, label) of each entity, in order."""
    found = []
    for sentence in document:
        for word, label in sentence:
            if label.startswith("B-"):
                found.append(([word], label[2:]))
            elif label.startswith("I-"):
                found[-1][0].append(word)
    return [(" ".join(words), label) for words, label in found]


def classes_by_name(documents):
    """Name to the number of documents in which it has each class."""
    classes = defaultdict(Counter)
    for document in documents:
        for name, label in set(entities(document)):
            classes[name][label] += 1
    return dict(classes)


def short_names(classes):
    return {name for name in classes if " " not in name and not name.isupper()}


@pytest.fixture(scope="module")
def corpus():
    return {split: read_documents(split) for split in SIZES}


def test_committed_files_are_what_the_generator_writes(tmp_path):
    command = [sys.executable, "-B", str(ASSETS / "generate.py"), "--output", str(tmp_path)]
    subprocess.run(command, check=True)
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(FILES)
    for name in FILES:
        assert (tmp_path / name).read_bytes() == (ASSETS / name).read_bytes(), name


def test_another_seed_and_size(tmp_path):
    command = [sys.executable, "-B", str(ASSETS / "generate.py"), "--output", str(tmp_path)]
    subprocess.run([*command, "--seed", "1", "--documents", "13"], check=True)
    text = (tmp_path / "news-train.txt").read_text(encoding="utf8")
    assert text.count("-DOCSTART-") == 9
    assert text != (ASSETS / "news-train.txt").read_text(encoding="utf8")[: len(text)]


@pytest.mark.parametrize("split", SIZES)
def test_sizes(corpus, split):
    lengths = [sum(map(len, document)) for document in corpus[split]]
    assert len(lengths) == SIZES[split]
    assert min(lengths) >= 60
    assert max(lengths) <= 200


@pytest.mark.parametrize("split", SIZES)
def test_labels_are_legal_iob2(corpus, split):
    legal = {"O"} | {f"{prefix}-{label}" for prefix in "BI" for label in LABELS}
    for document in corpus[split]:
        for sentence in document:
            previous = "O"
            for _, label in sentence:
                assert label in legal
                assert label[0] != "I" or previous[2:] == label[2:], sentence
                previous = label


@pytest.mark.parametrize("split", SIZES)
def test_classes_are_balanced(corpus, split):
    counts = Counter(label for doc in corpus[split] for _, label in entities(doc))
    assert counts.keys() == LABELS
    assert min(counts.values()) >= 0.2 * sum(counts.values())


def test_documents_do_not_repeat(corpus):
    texts = [str(document) for documents in corpus.values() for document in documents]
    assert len(set(texts)) == len(texts) == sum(SIZES.values())


def test_names_are_ambiguous_across_documents(corpus):
    classes = classes_by_name([document for documents in corpus.values() for document in documents])
    assert sum(len(counts) > 1 for counts in classes.values()) >= 80
    assert sum(len(counts) == 3 for counts in classes.values()) >= 50


def test_names_are_consistent_within_a_document(corpus):
    repeated = consistent = 0
    for document in (document for documents in corpus.values() for document in documents):
        mentions = Counter(name for name, _ in entities(document))
        classes = Counter(name for name, _ in set(entities(document)))
        repeated += sum(mentions[name] > 1 for name in mentions)
        consistent += sum(mentions[name] > 1 and classes[name] == 1 for name in mentions)
    assert repeated > 1000
    assert 0.98 * repeated <= consistent < repeated  # a few namesakes are meant to be there


@pytest.mark.parametrize("split", ["dev", "test"])
def test_held_out_names_differ_from_training(corpus, split):
    train, held_out = classes_by_name(corpus["train"]), classes_by_name(corpus[split])
    unseen = short_names(held_out) - short_names(train)
    assert 0.25 <= len(unseen) / len(short_names(held_out)) <= 0.45
    ambiguous = {n for n in short_names(held_out) - unseen if len(train[n] + held_out[n]) > 1}
    usual = sum(held_out[name][train[name].most_common(1)[0][0]] for name in ambiguous)
    assert usual < 0.4 * sum(held_out[name].total() for name in ambiguous)


def test_gazetteer_is_partial_and_ambiguous(corpus):
    names = (ASSETS / "gazetteer-places.txt").read_text(encoding="utf8").splitlines()
    classes = classes_by_name([document for documents in corpus.values() for document in documents])
    places = {name for name in classes if "LOC" in classes[name] and not name.isupper()}
    assert names == sorted(set(names))
    assert 0.4 <= len(places & set(names)) / len(places) <= 0.8
    assert len([name for name in names if len(classes.get(name, ())) > 1]) >= 20
    assert len([name for name in names if name not in classes]) >= 15


def test_words_are_split_as_spacy_splits_them(corpus):
    tokenizer = spacy.blank("en").tokenizer
    for document in corpus["dev"]:
        for sentence in document:
            words = [word for word, _ in sentence]
            assert [token.text for token in tokenizer(" ".join(words))] == words
