from collections import Counter

import numpy as np
import pytest
import spacy
from spacy.strings import get_string_id
from spacy.tokens import Doc, Token
from spacy.vocab import Vocab

from spacy_nonlocal.features import attributes
from spacy_nonlocal.features.attributes import (
    OUR_ATTRS,
    SPACY_TOKEN_ATTRS,
    SPACY_WORD_ATTRS,
    AttributeReader,
)
from spacy_nonlocal.features.clusters import Clusters, lexeme_code
from spacy_nonlocal.features.gazetteers import Gazetteer
from spacy_nonlocal.features.words import short_shape, word_form

nlp = spacy.blank("en")

TEXT = (
    'Dr. Smith paid $1,000 (or "€900") to info@example.org,  see https://example.org/a?b=c . '
    "IBM's NASA-like iPhone didn't ship in May 1997; ninety-nine «others» did.\n\nÉlan 東京 ²!"
)
ANNOTATED = {
    "words": ["Anna", "Lee", "likes", "New", "York", ".", "She", "left"],
    "spaces": [True, True, True, True, False, True, True, False],
    "tags": ["NNP", "NNP", "VBZ", "NNP", "NNP", ".", "PRP", "VBD"],
    "pos": ["PROPN", "PROPN", "VERB", "PROPN", "PROPN", "PUNCT", "PRON", "VERB"],
    "lemmas": ["Anna", "Lee", "like", "New", "York", ".", "she", "leave"],
    "morphs": ["Number=Sing", "", "Tense=Pres|VerbForm=Fin", "", "", "", "Case=Nom", ""],
    "heads": [1, 2, 2, 4, 2, 2, 7, 7],
    "deps": ["compound", "nsubj", "ROOT", "compound", "dobj", "punct", "nsubj", "ROOT"],
    "ents": ["B-PERSON", "I-PERSON", "O", "B-GPE", "I-GPE", "O", "O", ""],
}
SENT_STARTS = {True: 1, False: -1, None: 0}

# How spaCy's own Token answers, where it is not by an attribute of the same name.
ANSWERS = {
    "length": len,
    "spacy": lambda token: bool(token.whitespace_),
    "morph": lambda token: token.morph.key,
    "head": lambda token: token.head.i - token.i,
    "sent_start": lambda token: SENT_STARTS[token.is_sent_start],
}


@pytest.fixture
def annotated():
    doc = Doc(nlp.vocab, **ANNOTATED)
    doc[1].norm_ = "leigh"
    doc[3].ent_kb_id_ = "Q60"
    doc[3].ent_id_ = "ny"
    return doc


@pytest.fixture
def plain():
    return nlp.make_doc(TEXT)


@pytest.fixture
def extension():
    Token.set_extension("value", default=None)
    yield "value"
    Token.remove_extension("value")


@pytest.fixture
def gazetteer(tmp_path):
    path = tmp_path / "places.txt"
    path.write_text("New York\nYork\n", encoding="utf8")
    gazetteer = Gazetteer(path)
    gazetteer.load()
    return gazetteer


def make_reader(*names, **kwargs):
    return AttributeReader(names, **{"gazetteers": {}, **kwargs})


def column(reader, doc, name):
    """An attribute of all tokens, wherever the reader keeps it."""
    encoded = reader.read(doc)
    values = np.hstack([reader.words.values[encoded.ids], encoded.tokens])
    return values[:, reader.columns[name]].tolist()


def modulo(values):
    return [int(value) % 2**64 for value in values]


@pytest.mark.parametrize("name", [*SPACY_WORD_ATTRS, *SPACY_TOKEN_ATTRS])
def test_what_spacy_says(name, plain, annotated):
    answer = ANSWERS.get(name, lambda token: getattr(token, name))
    for doc in (plain, annotated):
        want = modulo(answer(token) for token in doc)
        assert column(make_reader(name), doc, name) == want


def test_every_attribute_of_spacy_is_tried_on_more_than_one_value(plain, annotated):
    reader = make_reader(*SPACY_WORD_ATTRS, *SPACY_TOKEN_ATTRS)
    for name in reader.columns:
        assert len({*column(reader, plain, name), *column(reader, annotated, name)}) > 1, name


def test_many_attributes_at_once_are_the_same_as_each_alone(annotated, gazetteer):
    names = [*SPACY_TOKEN_ATTRS[::-1], "gazetteer:x", *SPACY_WORD_ATTRS, "form", "suffix2"]
    together = make_reader(*names, gazetteers={"x": gazetteer})
    assert set(together.columns) == set(names)
    for name in names:
        alone = make_reader(name, gazetteers={"x": gazetteer})
        assert column(together, annotated, name) == column(alone, annotated, name), name


def test_our_own_attributes(plain):
    reader = make_reader("form", "shape_short", "prefix3", "suffix2", "prefix20")
    want = {
        "form": [word_form(token.text) for token in plain],
        "shape_short": [short_shape(token.text) for token in plain],
        "prefix3": [token.text[:3] if len(token) >= 3 else "" for token in plain],
        "suffix2": [token.text[-2:] if len(token) >= 2 else "" for token in plain],
        "prefix20": [token.text[:20] if len(token) >= 20 else "" for token in plain],
    }
    for name, texts in want.items():
        assert column(reader, plain, name) == [get_string_id(text) for text in texts]


def test_lower_lexicon():
    reader = make_reader("lower_lexicon")
    reader.lower_lexicon.learn([nlp.make_doc("the apple and the Apple, Rome")])
    doc = nlp.make_doc("The apple Rome unseen")
    assert column(reader, doc, "lower_lexicon") == [1, 0, 0, 0]


def test_which_attributes_belong_to_the_word():
    words = [*SPACY_WORD_ATTRS, *OUR_ATTRS, "prefix1", "suffix20", "cluster:4"]
    reader = make_reader(*SPACY_TOKEN_ATTRS, "_.x", *words)
    assert reader.word_attrs == words
    assert set(reader.token_attrs) == {*SPACY_TOKEN_ATTRS, "_.x"}
    assert all(reader.is_word_attr(name) == (name in words) for name in reader.columns)


def test_columns_are_numbered_without_gaps_or_gazetteer_values(gazetteer):
    reader = make_reader("tag", "orth", "gazetteer:x", "form", gazetteers={"x": gazetteer})
    assert reader.columns == {"orth": 0, "form": 1, "tag": 4, "gazetteer:x": 5}
    assert reader.words.n_columns == 4


# --- Names that mean nothing -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("lowr", "lower"),
        ("is_titel", "is_title"),
        ("tags", "tag"),
        ("short_shape", "shape"),
        ("prefix0", "prefix"),
        ("prefix21", "prefix"),
        ("suffix100", "suffix"),
        ("lower_lexikon", "lower_lexicon"),
    ],
)
def test_unknown_attribute_with_a_hint(name, hint):
    with pytest.raises(ValueError, match=f"NL104.*'{name}'. Did you mean '{hint}'"):
        make_reader("orth", name)


@pytest.mark.parametrize("name", ["xyzzy", "_", "cluster", "cluster:0", "cluster:100", "cluster:x"])
def test_unknown_attribute_without_a_hint(name):
    with pytest.raises(ValueError, match=f"NL104.*'{name}'. Known are: orth, .*, lower_lexicon, "):
        make_reader(name)


def test_unknown_gazetteer(gazetteer):
    with pytest.raises(ValueError, match=r"NL105.*gazetteer:x,.*\(configured: none\)"):
        make_reader("gazetteer:x")
    known = {"b": gazetteer, "a": gazetteer}
    with pytest.raises(ValueError, match=r"NL105.*gazetteer:A,.*\(configured: a, b\)"):
        make_reader("gazetteer:A", gazetteers=known)


# --- Gazetteers and clusters -------------------------------------------------------------------


def test_gazetteer_tags(annotated, gazetteer):
    reader = make_reader("gazetteer:x", gazetteers={"x": gazetteer})
    assert column(reader, annotated, "gazetteer:x") == [0, 0, 0, 1, 2, 0, 0, 0]


def test_gazetteers_with_and_without_case(tmp_path):
    path = tmp_path / "places.txt"
    path.write_text("new york\nRome\n", encoding="utf8")
    gazetteers = {"exact": Gazetteer(path), "lower": Gazetteer(path, lower=True)}
    reader = make_reader("gazetteer:lower", "gazetteer:exact", gazetteers=gazetteers)
    reader.load()
    doc = nlp.make_doc("New York ROME Rome new york")
    assert column(reader, doc, "gazetteer:exact") == [0, 0, 0, 1, 1, 2]
    assert column(reader, doc, "gazetteer:lower") == [1, 2, 1, 1, 1, 2]


def test_gazetteer_before_it_is_loaded(tmp_path):
    reader = make_reader("gazetteer:x", gazetteers={"x": Gazetteer(tmp_path / "x.txt")})
    with pytest.raises(ValueError, match="NL125.*x.txt"):
        reader.read(nlp.make_doc("Rome"))


def test_clusters_of_a_file(tmp_path):
    path = tmp_path / "clusters.txt"
    path.write_text("0110\tRome\n0111\tParis\n1\tthe\n", encoding="utf8")
    reader = make_reader("cluster:3", "cluster:20", clusters=Clusters(path))
    reader.load()
    doc = nlp.make_doc("Rome Paris the rome")
    assert column(reader, doc, "cluster:3") == [0b1011, 0b1011, 0b11, 0]
    assert column(reader, doc, "cluster:20") == [0b10110, 0b10111, 0b11, 0]


def test_clusters_of_the_vocabulary():
    own = spacy.blank("en")
    table = {"Rome": 0b0110, "Paris": 0b1110, "the": 0b1001}
    own.vocab.lookups.add_table("lexeme_cluster", table)
    doc = own.make_doc("Rome Paris the rome")
    assert [token.cluster for token in doc] == [0b0110, 0b1110, 0b1001, 0]
    reader = make_reader("cluster:3", "cluster:4")
    for bits in (3, 4):
        want = [lexeme_code(token.cluster, bits) for token in doc]
        assert column(reader, doc, f"cluster:{bits}") == want
    coarse, fine = column(reader, doc, "cluster:3"), column(reader, doc, "cluster:4")
    assert coarse[0] == coarse[1] != coarse[2]
    assert len({*fine}) == 4
    assert coarse[3] == fine[3] == 0


def test_vocabulary_without_clusters():
    assert column(make_reader("cluster:4"), nlp.make_doc("the cat"), "cluster:4") == [0, 0]


# --- Extension attributes ----------------------------------------------------------------------


def number_of(value):
    doc = nlp.make_doc("a b")
    doc[1]._.value = value
    return column(make_reader("_.value"), doc, "_.value")[1]


@pytest.mark.parametrize(
    ("value", "number"),
    [
        ("B-NP", get_string_id("B-NP")),
        (np.str_("B-NP"), get_string_id("B-NP")),
        ("", 0),
        (None, 0),
        (True, 1),
        (False, 0),
        (7, 7),
        (-7, 2**64 - 7),
        (2**63, 2**63),
        (np.int8(7), 7),
        (np.uint64(2**64 - 1), 2**64 - 1),
        (0.5, get_string_id("0.5")),
        (float("nan"), get_string_id("nan")),
    ],
)
@pytest.mark.usefixtures("extension")
def test_values_of_an_extension(value, number):
    assert number_of(value) == number


@pytest.mark.usefixtures("extension")
def test_different_values_have_different_numbers():
    values = ["a", "b", "1", "1.0", "None", 1, 2, -1, 0, 0.5, -0.5, 1e300, float("inf")]
    assert len({number_of(value) for value in values}) == len(values)


@pytest.mark.usefixtures("extension")
def test_a_number_of_numpy_is_the_same_number():
    assert number_of(np.float64(0.5)) == number_of(0.5)


@pytest.mark.parametrize(("value", "same"), [(np.True_, True), (np.float32(0.5), 0.5)])
@pytest.mark.usefixtures("extension")
def test_truth_values_and_short_floats_of_numpy(value, same):
    assert number_of(value) == number_of(same)


@pytest.mark.parametrize("value", [["x"], ("x",), {"x": 1}, {"x"}, b"x", object(), 1j])
@pytest.mark.usefixtures("extension")
def test_value_that_is_no_feature(value):
    pattern = rf"NL107.*_\.value of token 1 \('b'\) is .* of type {type(value).__name__}\."
    with pytest.raises(ValueError, match=pattern):
        number_of(value)


def test_extension_that_is_not_registered():
    reader = make_reader("_.unheard_of")
    with pytest.raises(ValueError, match=r"NL106.*_\.unheard_of"):
        reader.read(nlp.make_doc("a"))


def test_extension_with_a_getter():
    Token.set_extension("vowels", getter=lambda token: sum(c in "aeiou" for c in token.text))
    try:
        doc = nlp.make_doc("an audio tape")
        assert column(make_reader("_.vowels"), doc, "_.vowels") == [1, 4, 2]
    finally:
        Token.remove_extension("vowels")


@pytest.mark.usefixtures("extension")
def test_extensions_are_read_each_time():
    doc, reader = nlp.make_doc("a a"), make_reader("_.value", "orth")
    assert column(reader, doc, "_.value") == [0, 0]
    doc[1]._.value = 3
    assert column(reader, doc, "_.value") == [0, 3]


# --- The table of words ------------------------------------------------------------------------


def test_one_row_for_each_word(plain):
    reader = make_reader("orth")
    encoded = reader.read(plain)
    assert len(reader.words) == len({token.orth for token in plain})
    assert reader.words.values[encoded.ids, 0].tolist() == [token.orth for token in plain]
    assert encoded.orths.tolist() == [token.orth for token in plain]
    assert encoded.ids.dtype == np.int32


def test_words_are_computed_once(monkeypatch, gazetteer):
    calls = Counter()

    def counted(name, function):
        def wrapper(text, *args, **kwargs):
            calls[name, text] += 1
            return function(text, *args, **kwargs)

        return wrapper

    for name in ("word_form", "short_shape", "affix", "word_values"):
        monkeypatch.setattr(attributes, name, counted(name, getattr(attributes, name)))
    reader = make_reader("form", "shape_short", "suffix2", gazetteers={"x": gazetteer})
    docs = [nlp.make_doc("the cat the dog"), nlp.make_doc("The cat sat"), nlp.make_doc("cat cat")]
    for _ in range(3):
        for doc in docs:
            reader.read(doc)
    words = {"the", "cat", "dog", "The", "sat"}
    names = {"word_form", "short_shape", "affix", "word_values"}
    assert calls == Counter({(name, word): 1 for name in names for word in words})


def test_old_rows_stay_when_words_are_added():
    reader = make_reader("orth", "form")
    first = nlp.make_doc("the cat")
    encoded = reader.read(first)
    before = reader.words.values[encoded.ids].copy()
    # More words than the table has room for at first.
    words = [f"w{i}" for i in range(3000)]
    doc = Doc(nlp.vocab, words=words)
    assert column(reader, doc, "orth") == [get_string_id(word) for word in words]
    assert np.array_equal(reader.words.values[encoded.ids], before)
    assert np.array_equal(reader.read(first).ids, encoded.ids)


def test_table_is_bounded(monkeypatch):
    monkeypatch.setattr(attributes, "MAX_WORDS", 5)
    small, large = make_reader("orth", "form", "tag"), make_reader("orth", "form", "tag")
    generation = small.words.generation
    for i in range(20):
        doc = nlp.make_doc(f"a w{i} b v{i}")
        assert column(small, doc, "form") == column(large, doc, "form")
        assert column(small, doc, "orth") == [token.orth for token in doc]
        # Emptied before a document is read, never within.
        assert len(small.words) <= 5 + len(doc)
    assert small.words.generation > generation


def test_a_document_may_have_more_words_than_the_table(monkeypatch):
    monkeypatch.setattr(attributes, "MAX_WORDS", 2)
    reader, doc = make_reader("orth"), nlp.make_doc("one two three four five two")
    for _ in range(2):
        assert column(reader, doc, "orth") == [token.orth for token in doc]


def test_clearing_gives_a_new_generation(plain):
    reader = make_reader("orth")
    reader.read(plain)
    generation = reader.words.generation
    reader.words.clear()
    assert len(reader.words) == 0
    assert reader.words.generation != generation
    assert column(reader, plain, "orth") == [token.orth for token in plain]


def test_memory_zone():
    own = spacy.blank("en")
    names = ["orth", "lower", "form", "suffix3", "cluster:4", "norm"]
    reader = make_reader(*names)
    text = "Zqx Transient Words in a Zone"
    with own.memory_zone():
        inside = {name: column(reader, own.make_doc(text), name) for name in names}
    # The strings are gone; what is known of the words is not, and is still true.
    with own.memory_zone():
        assert own.make_doc("another zone of words") is not None
        assert {name: column(reader, own.make_doc(text), name) for name in names} == inside
    doc = own.make_doc(text)
    assert {name: column(reader, doc, name) for name in names} == inside
    fresh = make_reader(*names)
    assert {name: column(fresh, doc, name) for name in names} == inside


def test_words_are_the_same_in_every_vocabulary(plain):
    names = [*SPACY_WORD_ATTRS, "form", "prefix2"]
    reader, fresh = make_reader(*names), make_reader(*names)
    reader.read(plain)
    other = spacy.blank("en")
    # Other words first: numbers within the vocabularies differ.
    other.make_doc("some thing else entirely")
    doc = other.make_doc(TEXT)
    rows = len(reader.words)
    for name in names:
        assert column(reader, doc, name) == column(fresh, doc, name)
    assert len(reader.words) == rows


def test_empty_vocabulary():
    doc = Doc(Vocab(), words=["Rome", "is"], spaces=[True, False])
    assert column(make_reader("orth", "is_alpha"), doc, "orth") == [token.orth for token in doc]


# --- Shapes, parts, texts ----------------------------------------------------------------------


@pytest.mark.parametrize("words", [[], ["one"], ["one", "two"]])
@pytest.mark.usefixtures("extension")
def test_lengths(words, gazetteer):
    reader = make_reader(
        "orth", "tag", "pos", "_.value", "gazetteer:x", gazetteers={"x": gazetteer}
    )
    encoded = reader.read(Doc(nlp.vocab, words=words))
    n = len(words)
    assert len(encoded) == n
    assert (encoded.orths.shape, encoded.ids.shape, encoded.tokens.shape) == ((n,), (n,), (n, 4))
    assert encoded.tokens.dtype == encoded.orths.dtype == np.uint64


def test_words_alone_need_no_token_values():
    assert make_reader("orth").read(nlp.make_doc("a b")).tokens.shape == (2, 0)


def test_tokens_alone_need_no_word_values():
    reader = make_reader("tag")
    assert reader.read(nlp.make_doc("a b")).tokens.shape == (2, 1)
    assert reader.words.values.shape == (2, 0)


def test_part(annotated):
    encoded = make_reader("orth", "tag").read(annotated)
    part = encoded.part(2, 5)
    assert len(part) == 3
    assert part.orths.tolist() == encoded.orths[2:5].tolist()
    assert part.ids.tolist() == encoded.ids[2:5].tolist()
    assert part.tokens.tolist() == encoded.tokens[2:5].tolist()
    assert len(encoded.part(0, 0)) == 0


@pytest.mark.usefixtures("extension")
def test_texts_for_people(annotated, gazetteer):
    names = ["orth", "lower", "is_title", "length", "tag", "pos", "lemma", "dep", "ent_iob", "norm"]
    names += ["form", "shape_short", "prefix2", "suffix9", "_.value", "gazetteer:x", "cluster:4"]
    annotated[4]._.value = "NP"
    reader = make_reader(*names, gazetteers={"x": gazetteer})
    want = ["York", "york", "1", "4", "NNP", "PROPN", "York", "dobj", "I", "york"]
    want += ["initial-capital", "Aa", "Yo", "", "NP", "I", "0"]
    assert [reader.text(annotated[4], name) for name in names] == want
    assert [reader.text(token, "gazetteer:x") for token in annotated[2:6]] == ["O", "B", "I", "O"]


@pytest.mark.parametrize(
    ("name", "i", "text"),
    [("morph", 2, "Tense=Pres|VerbForm=Fin"), ("head", 5, "-3"), ("sent_start", 2, "-1")],
)
def test_texts_of_morphs_and_negative_numbers(annotated, name, i, text):
    assert make_reader(name).text(annotated[i], name) == text


# --- State -------------------------------------------------------------------------------------


def test_state_round_trip(tmp_path, gazetteer, annotated):
    path = tmp_path / "clusters.txt"
    path.write_text("0110\tNew\n", encoding="utf8")
    names = ["gazetteer:x", "cluster:3", "lower_lexicon", "orth"]
    reader = make_reader(*names, gazetteers={"x": gazetteer}, clusters=Clusters(path))
    reader.load()
    reader.lower_lexicon.learn([annotated])
    other = make_reader(
        *names, gazetteers={"x": Gazetteer("nowhere")}, clusters=Clusters("nowhere")
    )
    other.set_state(reader.state())
    for name in names:
        assert column(other, annotated, name) == column(reader, annotated, name)
    again = other.state()
    assert {name: array.tolist() for name, array in again.items()} == {
        name: array.tolist() for name, array in reader.state().items()
    }


def test_new_state_is_seen_by_words_read_before(annotated):
    reader, learned = make_reader("lower_lexicon"), make_reader("lower_lexicon")
    assert column(reader, annotated, "lower_lexicon") == [0] * 8
    learned.lower_lexicon.learn([annotated])
    reader.set_state(learned.state())
    assert column(reader, annotated, "lower_lexicon") == [0, 0, 1, 0, 0, 1, 0, 1]


def test_loading_is_seen_by_words_read_before(tmp_path):
    path = tmp_path / "clusters.txt"
    path.write_text("0110\tRome\n", encoding="utf8")
    reader, doc = make_reader("cluster:4", clusters=Clusters(path)), nlp.make_doc("Rome")
    reader.load()
    assert column(reader, doc, "cluster:4") == [0b10110]
    path.write_text("1001\tRome\n", encoding="utf8")
    reader.load()
    assert column(reader, doc, "cluster:4") == [0b11001]


def test_names_that_begin_alike_do_not_share_a_state(tmp_path):
    a, b = tmp_path / "a.txt", tmp_path / "b.txt"
    a.write_text("Rome\n", encoding="utf8")
    b.write_text("Paris\n", encoding="utf8")
    reader = make_reader(
        "gazetteer:x", "gazetteer:x.y", gazetteers={"x": Gazetteer(a), "x.y": Gazetteer(b)}
    )
    reader.load()
    other = make_reader(
        "gazetteer:x", "gazetteer:x.y", gazetteers={"x": Gazetteer(""), "x.y": Gazetteer("")}
    )
    other.set_state(reader.state())
    doc = nlp.make_doc("Rome Paris")
    assert column(other, doc, "gazetteer:x") == [1, 0]
    assert column(other, doc, "gazetteer:x.y") == [0, 1]
