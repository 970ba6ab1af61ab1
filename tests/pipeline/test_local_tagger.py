"""What the component learns, and how it labels."""

import numpy as np
import pytest
import spacy
from spacy.tokens import Doc, Span, Token
from spacy.training import Example

from spacy_nonlocal.features import attributes
from spacy_nonlocal.models import trainer

from .util import (
    ENTS,
    LEARNERS,
    NAME,
    TAGS,
    features,
    iob,
    label,
    learner,
    make_doc,
    make_examples,
    make_nlp,
    tags,
    trained,
    update,
)

SCHEMES = ("BIO", "BILUO", "IO")
BARE = "Anna Smith lives in Paris ."


def given(nlp, data=ENTS):
    return [iob(label(nlp, text)) for text, _ in data]


def right(data=ENTS):
    return [labels for _, labels in data]


# --- labels --------------------------------------------------------------------------------------


def test_no_config_at_all():
    nlp = spacy.blank("en")
    nlp.add_pipe("local_tagger")
    examples = make_examples(nlp)
    nlp.initialize(lambda: examples)
    update(nlp, examples)
    assert given(nlp) == right()


def test_no_label():
    nlp = make_nlp()
    with pytest.raises(ValueError, match=r"\[NL410\].*'local_tagger'"):
        nlp.initialize()


@pytest.mark.parametrize("bad", ["", None, 9])
def test_label_types(bad):
    tagger = make_nlp().get_pipe(NAME)
    with pytest.raises(ValueError, match=r"\[NL415\].*'local_tagger'"):
        tagger.add_label(bad)


def test_added_labels():
    nlp = make_nlp()
    tagger = nlp.get_pipe(NAME)
    assert tagger.labels == ()
    assert tagger.add_label("PER") == 1
    assert tagger.add_label("LOC") == 1
    assert tagger.add_label("PER") == 0
    assert tagger.labels == ("LOC", "PER")
    nlp.initialize()
    assert iob(label(nlp, BARE)) == "O O O O O O"


def test_labels_cannot_be_added_later():
    tagger = trained(passes=1).get_pipe(NAME)
    assert tagger.add_label("PER") == 0
    with pytest.raises(ValueError, match=r"\[NL409\].*'local_tagger'.*'DATE'"):
        tagger.add_label("DATE")


def test_implicit_labels():
    nlp = make_nlp()
    examples = make_examples(nlp)
    nlp.initialize(lambda: examples)
    tagger = nlp.get_pipe(NAME)
    assert tagger.labels == tagger.label_data == ("LOC", "PER")
    assert "PER" in nlp.vocab.strings


def test_given_labels():
    nlp = make_nlp()
    examples = make_examples(nlp)
    tagger = nlp.get_pipe(NAME)
    tagger.initialize(lambda: examples, nlp=nlp, labels=["PER", "ORG", "LOC"])
    assert tagger.labels == ("LOC", "ORG", "PER")
    update(nlp, examples)
    assert given(nlp) == right()


def test_labels_are_not_looked_for_if_given():
    nlp = make_nlp()
    examples = make_examples(nlp)
    tagger = nlp.get_pipe(NAME)
    tagger.initialize(lambda: examples, labels=["PER"])
    assert tagger.labels == ("PER",)
    with pytest.raises(ValueError, match=r"\[NL403\].*'LOC' of 'Paris'"):
        tagger.update(examples)


def test_initialize_examples():
    nlp = make_nlp()
    examples = make_examples(nlp)
    nlp.initialize(lambda: examples)
    with pytest.raises(TypeError):
        nlp.initialize(lambda: None)
    with pytest.raises(TypeError):
        nlp.initialize(lambda: examples[0])
    with pytest.raises(TypeError):
        nlp.initialize(examples)


def test_examples_may_come_from_a_generator():
    nlp = make_nlp()
    nlp.initialize(lambda: iter(make_examples(nlp)))
    update(nlp, make_examples(nlp))
    assert given(nlp) == right()


def test_requires_labels():
    nlp = make_nlp(target="tag")
    examples = make_examples(nlp)
    with pytest.raises(ValueError, match=r"\[NL410\].*tag annotation"):
        nlp.initialize(lambda: examples)


def test_initialize_again_starts_from_zero():
    nlp = trained()
    examples = make_examples(nlp)
    nlp.initialize(lambda: examples)
    assert given(nlp) == ["O " * (len(text.split()) - 1) + "O" for text, _ in ENTS]


# --- learning ------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", LEARNERS)
@pytest.mark.parametrize("scheme", SCHEMES)
def test_every_learner_learns_every_scheme(name, scheme):
    assert given(trained(scheme=scheme, **learner(name))) == right()


@pytest.mark.parametrize("name", ["MarginPerceptron", "PassiveAggressive"])
def test_learners_without_averaging(name):
    assert given(trained(**learner(name, average=False))) == right()


def test_loss_is_the_number_of_wrong_tokens():
    nlp = make_nlp(**learner("Perceptron"))
    examples = make_examples(nlp, ENTS[:1])
    nlp.initialize(lambda: examples)
    tagger = nlp.get_pipe(NAME)
    losses = {}
    # With all weights zero everything is outside: three of six tokens are wrong.
    assert tagger.update(examples, losses=losses) is losses
    assert losses == {NAME: 3.0}
    assert update(nlp, examples) == 0.0


def test_losses_exist_after_an_update_without_examples():
    tagger = trained(passes=1).get_pipe(NAME)
    assert tagger.update([]) == {NAME: 0.0}


def test_losses_add_up():
    tagger = trained(passes=1).get_pipe(NAME)
    assert tagger.update([], losses={NAME: 2.0, "other": 1.0}) == {NAME: 2.0, "other": 1.0}


def test_sgd_and_drop_have_no_effect():
    plain, other = trained(passes=0), trained(passes=0)
    optimizer = other.create_optimizer()
    plain.update(make_examples(plain))
    other.update(make_examples(other), sgd=optimizer, drop=0.9)
    tagger, other_tagger = plain.get_pipe(NAME), other.get_pipe(NAME)
    assert tagger.to_bytes(exclude=["vocab"]) == other_tagger.to_bytes(exclude=["vocab"])


def test_learns_example_by_example():
    one, other = trained(passes=0), trained(passes=0)
    one.update(make_examples(one))
    for eg in make_examples(other):
        other.update([eg])
    tagger, other_tagger = one.get_pipe(NAME), other.get_pipe(NAME)
    assert tagger.to_bytes(exclude=["vocab"]) == other_tagger.to_bytes(exclude=["vocab"])


@pytest.mark.parametrize("target", ["tag", "pos"])
def test_tags(target):
    data = TAGS
    if target == "pos":
        data = (("the dog runs", "DET NOUN VERB"), ("a cat sees dogs", "DET NOUN VERB NOUN"))
    attr = "tags" if target == "tag" else "pos"
    nlp = trained(data, attr, target=target)
    for text, labels in data:
        doc = label(nlp, text)
        assert [getattr(token, f"{target}_") for token in doc] == labels.split()
        assert doc.ents == ()


def span_examples(nlp):
    examples = make_examples(nlp)
    for eg in examples:
        eg.reference.spans["names"] = list(eg.reference.ents)
        eg.reference.set_ents([], default="missing")
    return examples


@pytest.mark.parametrize("scheme", SCHEMES)
def test_span_groups(scheme):
    nlp = make_nlp(target="spans:names", scheme=scheme)
    examples = span_examples(nlp)
    nlp.initialize(lambda: examples)
    update(nlp, examples)
    for eg in examples:
        doc = nlp(eg.predicted.copy())
        expected = [(span.start, span.end, span.label_) for span in eg.reference.spans["names"]]
        assert [(s.start, s.end, s.label_) for s in doc.spans["names"]] == expected
        assert doc.ents == ()


@pytest.mark.parametrize("target", ["ents", "tag", "pos", "spans:names"])
def test_scores_are_those_of_the_target(target):
    data = {"tag": TAGS, "pos": (("the dog runs", "DET NOUN VERB"),)}.get(target, ENTS)
    attr = {"tag": "tags", "pos": "pos"}.get(target, "ents")
    nlp = make_nlp(target=target)
    examples = span_examples(nlp) if ":" in target else make_examples(nlp, data, attr)
    nlp.initialize(lambda: examples)
    update(nlp, examples)
    scores = nlp.evaluate(examples)
    key = {"ents": "ents_f", "tag": "tag_acc", "pos": "pos_acc"}.get(target, "spans_names_f")
    assert scores[key] == 1.0


def test_illegal_sequences_are_never_predicted():
    # "b" is always inside, so its own weights say I; but nothing has begun before it.
    data = (("a b", "B-X I-X"), ("a b b", "B-X I-X I-X"))
    nlp = trained(data, **features("orth[0]"))
    assert iob(label(nlp, "c b b")) in ("O O O", "O B-X I-X", "B-X I-X I-X")
    assert iob(label(nlp, "a b")) == "B-X I-X"


@pytest.mark.parametrize("scheme", SCHEMES)
def test_incomplete_data(scheme):
    # Each document knows only some of its tokens, but together they know all.
    data = (
        ("Anna Smith lives in Paris .", "B-PER I-PER ? ? ? ?"),
        ("Anna Smith lives in Paris .", "? ? O O B-LOC O"),
        ("Bob flew to Rome .", "B-PER ? O ? ?"),
        ("Bob flew to Rome .", "? O ? B-LOC O"),
    )
    nlp = trained(data, scheme=scheme)
    assert iob(label(nlp, data[0][0])) == "B-PER I-PER O O B-LOC O"
    assert iob(label(nlp, data[2][0])) == "B-PER O O B-LOC O"


def test_incomplete_tags():
    data = (("the dog sees a cat", "DT ? VBZ DT ?"), ("dog cat", "NN NN"))
    nlp = trained(data, "tags", target="tag", **features("orth[0]"))
    assert tags(label(nlp, "the dog sees a cat")) == "DT NN VBZ DT NN"


def test_documents_without_annotation_are_passed_over():
    nlp = make_nlp()
    examples = make_examples(nlp)
    empty = Example(make_doc(nlp, "nothing known here"), make_doc(nlp, "nothing known here"))
    nlp.initialize(lambda: [*examples, empty])
    tagger = nlp.get_pipe(NAME)
    before = tagger.to_bytes(exclude=["training"])
    assert tagger.update([empty]) == {NAME: 0.0}
    assert tagger.to_bytes(exclude=["training"]) == before
    update(nlp, [*examples, empty])
    assert given(nlp) == right()


def test_known_tokens_are_learned_as_they_are():
    # What is unknown is free: here it is learned from elsewhere that "x" is an X.
    data = (("x", "B-X"), ("x y", "? O"), ("y y x", "O O ?"))
    nlp = trained(data, **features("orth[0]"))
    assert iob(label(nlp, "y x y")) == "O B-X O"


def test_learns_from_text_with_other_tokens():
    nlp = make_nlp()
    text = "Anna lives in New York."
    reference = Doc(
        nlp.vocab,
        words=["Anna", "lives", "in", "New", "York."],
        spaces=[True, True, True, True, False],
        ents=["B-PER", "O", "O", "O", "O"],
    )
    examples = [Example(nlp.make_doc(text), reference)]
    nlp.initialize(lambda: examples)
    update(nlp, examples)
    assert iob(nlp(text)) == "B-PER O O O O O"


# --- units ---------------------------------------------------------------------------------------


def sentence_examples(nlp, ents="O B-LOC I-LOC B-PER O O"):
    words = ["Visit", "New", "York", "Anna", "said", "."]
    starts = [True, False, False, True, False, False]
    reference = Doc(nlp.vocab, words=words, sent_starts=starts, ents=ents.split())
    return [Example(Doc(nlp.vocab, words=words, sent_starts=starts), reference)]


@pytest.mark.parametrize("scheme", SCHEMES)
def test_sentences_are_sequences_of_their_own(scheme):
    config = {**features("orth[0]", "orth[-1]"), **learner("MarginPerceptron")}
    nlp = make_nlp(unit="sent", scheme=scheme, **config)
    examples = sentence_examples(nlp)
    nlp.initialize(lambda: examples)
    update(nlp, examples)
    assert iob(nlp(examples[0].predicted.copy())) == "O B-LOC I-LOC B-PER O O"
    # "Anna" begins a sentence in training; after "York" in one sentence it is a new sight.
    first = nlp.get_pipe(NAME).model.predict([examples[0].predicted[3:6].as_doc()])[0].node
    whole = nlp.get_pipe(NAME).model.predict([examples[0].predicted])[0].node
    assert not np.array_equal(first[0], whole[3])
    assert np.array_equal(first[1:], whole[4:])


def test_sentences_without_boundaries():
    nlp = make_nlp(unit="sent")
    examples = sentence_examples(nlp)
    nlp.initialize(lambda: examples)
    with pytest.raises(ValueError, match=r"\[NL406\].*'local_tagger'.*'Visit New York'"):
        label(nlp, "Visit New York")
    assert iob(label(nlp, "Visit")) == "O"


@pytest.mark.parametrize("scheme", SCHEMES)
def test_spans_across_sentences_count_as_unknown(scheme):
    nlp = make_nlp(unit="sent", scheme=scheme, **features("orth[0]"))
    examples = sentence_examples(nlp, "O O B-PER I-PER O O")
    nlp.initialize(lambda: examples)
    with pytest.warns(UserWarning, match=r"\[NL455\].*'local_tagger'") as caught:
        update(nlp, examples, passes=3)
    assert all("(tokens 2 to 4) in the document" in str(each.message) for each in caught)
    # Nothing was learned about either half.
    assert iob(nlp(examples[0].predicted.copy())) == "O O O O O O"


def test_unit_sent_with_a_sentencizer_that_annotates_in_training():
    nlp = spacy.blank("en")
    nlp.add_pipe("sentencizer")
    nlp.add_pipe(NAME, config={"unit": "sent"})
    examples = make_examples(nlp)
    nlp.initialize(lambda: examples)
    for _ in range(40):
        nlp.update(
            [Example(eg.predicted.copy(), eg.reference) for eg in examples],
            annotates=["sentencizer"],
        )
    assert given(nlp) == right()


# --- what an earlier component has set -----------------------------------------------------------


@pytest.mark.parametrize("scheme", SCHEMES)
def test_entities_that_are_there_stay(scheme):
    nlp = trained(scheme=scheme)
    doc = make_doc(nlp, BARE)
    doc.set_ents([Span(doc, 1, 3, label="LOC", kb_id="Q7", span_id="rule")], default="missing")
    doc = nlp(doc)
    # "Anna" can no longer be the beginning of "Anna Smith".
    assert iob(doc).split()[1:] == ["B-LOC", "I-LOC", "O", "B-LOC", "O"]
    kept = next(ent for ent in doc.ents if ent.start == 1)
    assert (kept.kb_id_, kept.ent_id_) == ("Q7", "rule")


@pytest.mark.parametrize("scheme", SCHEMES)
def test_entities_of_a_foreign_class_stay(scheme):
    nlp = trained(scheme=scheme)
    doc = make_doc(nlp, BARE)
    doc.set_ents([Span(doc, 3, 5, label="DATE")], default="missing")
    assert iob(nlp(doc)) == "B-PER I-PER O B-DATE I-DATE O"


@pytest.mark.parametrize("scheme", SCHEMES)
def test_blocked_tokens_stay_blocked(scheme):
    nlp = trained(scheme=scheme)
    doc = make_doc(nlp, BARE)
    doc.set_ents([], blocked=[doc[4:5]], default="missing")
    doc = nlp(doc)
    assert [(ent.text, ent.label_) for ent in doc.ents] == [("Anna Smith", "PER")]
    assert (doc[4].ent_iob_, doc[4].ent_type_) == ("B", "")


@pytest.mark.parametrize("scheme", SCHEMES)
def test_adjacent_entities_do_not_grow_or_merge(scheme):
    nlp = trained(scheme=scheme)
    doc = make_doc(nlp, "Anna Smith Anna Smith lives")
    doc.set_ents([Span(doc, 0, 1, label="PER"), Span(doc, 2, 3, label="PER")], default="missing")
    doc = nlp(doc)
    assert [(ent.start, ent.end) for ent in doc.ents if ent.start in (0, 2)] == [(0, 1), (2, 3)]
    doc = make_doc(nlp, "Anna Smith lives")
    doc.set_ents([Span(doc, 0, 1, label="PER"), Span(doc, 1, 2, label="PER")], default="missing")
    assert iob(nlp(doc)) == "B-PER B-PER O"


@pytest.mark.parametrize("scheme", SCHEMES)
def test_entities_that_cross_sentences_stay(scheme):
    nlp = make_nlp(unit="sent", scheme=scheme)
    examples = sentence_examples(nlp)
    nlp.initialize(lambda: examples)
    update(nlp, examples)
    doc = examples[0].predicted.copy()
    doc.set_ents([Span(doc, 2, 4, label="LOC")], default="missing")
    assert iob(nlp(doc)).split()[2:] == ["B-LOC", "I-LOC", "O", "O"]


def test_fully_preset_documents_stay_as_they_are():
    nlp = trained()
    ents = ["B-LOC", "I-LOC", "B-DATE", "B-PER", "B-PER", "I-PER"]
    assert iob(label(nlp, BARE, ents=ents)).split() == ents


def test_tags_that_are_there_stay_and_are_decoded_around():
    # A verb follows a noun, and nothing else tells them apart.
    data = (("x", "NN"), ("x x", "NN VB"), ("x x x", "NN VB NN"), ("x x x x", "NN VB NN VB"))
    nlp = trained(data, "tags", target="tag", **features("bias"))
    assert tags(label(nlp, "x x x", tags=["", "NN", ""])).split()[1:] == ["NN", "VB"]
    assert tags(label(nlp, "x x x", tags=["", "FOREIGN", ""])).split()[1] == "FOREIGN"


def test_predict_changes_nothing():
    nlp = trained()
    doc = make_doc(nlp, BARE)
    before = doc.to_bytes()
    (labelling,) = nlp.get_pipe(NAME).predict([doc])
    assert doc.to_bytes() == before
    assert labelling.labels.dtype == np.int32
    nlp.get_pipe(NAME).set_annotations([doc], [labelling])
    assert iob(doc) == right()[0]


# --- unusual documents ---------------------------------------------------------------------------


@pytest.mark.parametrize("target", ["ents", "tag", "spans:names"])
@pytest.mark.parametrize("unit", ["doc", "sent"])
def test_empty_doc(target, unit):
    nlp = make_nlp(target=target, unit=unit)
    nlp.get_pipe(NAME).add_label("X")
    nlp.add_pipe("sentencizer", first=True)
    nlp.initialize(lambda: [Example(nlp.make_doc("x"), nlp.make_doc("x"))])
    doc = nlp("")
    assert len(doc) == 0
    assert [len(each) for each in nlp.pipe(["", "a b", ""])] == [0, 2, 0]
    nlp.update([Example(nlp.make_doc(""), nlp.make_doc(""))])


def test_empty_doc_in_training():
    nlp = make_nlp()
    examples = [*make_examples(nlp), Example(nlp.make_doc(""), nlp.make_doc(""))]
    nlp.initialize(lambda: examples)
    update(nlp, examples)
    assert given(nlp) == right()


def test_one_token_doc():
    data = (("Rome", "B-LOC"), ("Anna", "B-PER"), ("so", "O"))
    for scheme in SCHEMES:
        assert given(trained(data, scheme=scheme), data) == right(data)


def test_whitespace_doc():
    nlp = trained()
    assert nlp(" \n\t ").ents == ()
    assert all(token.ent_iob_ == "O" for token in nlp("\n \n"))


@pytest.mark.parametrize("scheme", ["BIO", "BILUO"])
def test_long_doc(scheme):
    nlp = trained(scheme=scheme)
    nlp.max_length = 10**7
    text, labels = ENTS[1]
    times = 100_000 // len(text.split())
    doc = make_doc(nlp, " ".join([text] * times))
    nlp(doc)
    assert len(doc) == 100_000
    assert iob(doc) == " ".join([labels] * times)


def test_words_never_seen_in_training():
    nlp = trained()
    doc = label(nlp, "Qwxyz zzz 77 !! ünïcödé 東京 🎉")
    assert doc.has_annotation("ENT_IOB")


# --- features ------------------------------------------------------------------------------------


def test_edge_features_look_at_the_text():
    # The label pair alone cannot tell; the pair and the second word can. Each word is seen with each label.
    data = (
        ("s x", "A A"),
        ("s y", "A B"),
        ("t x", "B B"),
        ("t y", "B A"),
    )
    plain = trained(data, "tags", target="tag", **features("orth[0]"))
    assert [tags(label(plain, text)) for text, _ in data] != right(data)
    nlp = trained(data, "tags", target="tag", **features("orth[0]", edges=["bias", "orth[0]"]))
    assert [tags(label(nlp, text)) for text, _ in data] == right(data)


def test_edge_features_without_the_label_pair():
    nlp = trained(**features("orth[0]", "orth[-1]", edges=["orth[0]|orth[-1]"]))
    assert given(nlp) == right()


def test_no_edge_features():
    nlp = trained(**features("orth[-2..2]", edges=[]), **learner("MarginPerceptron"))
    assert given(nlp) == right()


def test_min_count_drops_rare_features():
    data = (("often often rare", "B-A B-A B-B"), ("often", "B-A"))
    nlp = trained(data, **features("orth[0]", min_count=2))
    table = nlp.get_pipe(NAME).model.shims[0].trainer.node.features.table
    assert len(table) == 1
    nlp = trained(data, **features("orth[0]", min_count=1))
    assert len(nlp.get_pipe(NAME).model.shims[0].trainer.node.features.table) == 2


def test_all_presets_learn():
    for preset in ("ner", "segment", "kazama", "chunk", "tag"):
        config = {"model": {"features": {"preset": preset}}}
        assert given(trained(**config)) == right(), preset


def test_gazetteer_from_a_file(tmp_path):
    path = tmp_path / "places.txt"
    path.write_text("Oslo\nNew York\nSan Juan Capistrano\n", encoding="utf8")
    gazetteer = {"@misc": "spacy-nonlocal.Gazetteer.v1", "path": str(path)}
    config = features("gazetteer:places[0]", gazetteers={"places": gazetteer})
    config |= learner("MarginPerceptron")
    nlp = trained((("in Oslo now", "O B-LOC O"), ("New York", "B-LOC I-LOC")), **config)
    unseen = "we saw San Juan Capistrano"
    assert iob(label(nlp, unseen)) == "O O B-LOC I-LOC I-LOC"
    nlp.to_disk(tmp_path / "nlp")
    path.unlink()  # the saved pipeline brings it along
    assert iob(label(spacy.load(tmp_path / "nlp"), unseen)) == "O O B-LOC I-LOC I-LOC"


def test_clusters_from_a_file(tmp_path):
    path = tmp_path / "clusters.txt"
    path.write_text("0101\tOslo\n0100\tBergen\n0111\tLima\n10\tgo\n", encoding="utf8")
    clusters = {"@misc": "spacy-nonlocal.Clusters.v1", "path": str(path)}
    config = features("cluster:2[0]", clusters=clusters)
    nlp = trained((("go Oslo go", "O B-LOC O"), ("Bergen go", "B-LOC O")), **config)
    assert iob(label(nlp, "go Lima else")) == "O B-LOC O"
    nlp.to_disk(tmp_path / "nlp")
    path.unlink()
    assert iob(label(spacy.load(tmp_path / "nlp"), "go Lima else")) == "O B-LOC O"


@pytest.fixture
def _shade():
    Token.set_extension("shade", default=None)
    yield
    Token.remove_extension("shade")


@pytest.mark.usefixtures("_shade")
def test_extension_attributes():
    nlp = make_nlp(**features("_.shade[0]"))
    examples = make_examples(nlp, (("a b c", "B-X O B-X"),))
    examples[0].predicted[0]._.shade = examples[0].predicted[2]._.shade = "dark"
    nlp.initialize(lambda: examples)
    update(nlp, examples)
    doc = make_doc(nlp, "u v")
    doc[1]._.shade = "dark"
    assert iob(nlp(doc)) == "O B-X"


@pytest.mark.usefixtures("_shade")
def test_extension_attribute_of_a_useless_type():
    nlp = trained(**features("orth[0]", "_.shade[0]"))
    doc = make_doc(nlp, "u v")
    doc[1]._.shade = ["dark"]
    with pytest.raises(ValueError, match=r"\[NL107\].*_\.shade.*'v'.*list"):
        nlp(doc)


def test_extension_attribute_that_is_not_registered():
    with pytest.raises(ValueError, match=r"\[NL106\].*_\.no_such"):
        trained(**features("_.no_such[0]"))


def test_bpm_runs_start_from_the_mean_of_several_runs():
    nlp = make_nlp(**learner("AveragedPerceptron"))
    examples = make_examples(nlp)
    tagger = nlp.get_pipe(NAME)
    tagger.initialize(lambda: examples, bpm_runs=5, bpm_seed=3)
    assert tagger.model.shims[0].trainer.clock == 0
    assert "PER" in " ".join(given(nlp))  # it has learned something already
    weights = tagger.model.shims[0].trainer.node.w
    assert np.any(weights != np.round(weights))  # a mean, not one run
    again = make_nlp(**learner("AveragedPerceptron"))
    again.get_pipe(NAME).initialize(lambda: examples, bpm_runs=5, bpm_seed=3)
    other = make_nlp(**learner("AveragedPerceptron"))
    other.get_pipe(NAME).initialize(lambda: examples, bpm_runs=5, bpm_seed=4)
    model = tagger.model.shims[0].model_bytes(NAME)
    assert again.get_pipe(NAME).model.shims[0].model_bytes(NAME) == model
    assert other.get_pipe(NAME).model.shims[0].model_bytes(NAME) != model


def test_one_bpm_run_is_one_pass():
    data = ENTS[:1]
    nlp, other = make_nlp(**learner("Perceptron")), trained(data, passes=1, **learner("Perceptron"))
    examples = make_examples(nlp, data)
    nlp.get_pipe(NAME).initialize(lambda: examples, bpm_runs=1)
    bytes_ = nlp.get_pipe(NAME).model.shims[0].model_bytes(NAME)
    assert bytes_ == other.get_pipe(NAME).model.shims[0].model_bytes(NAME)


def test_small_caches_change_nothing(monkeypatch):
    """The tables of words and of features of documents may be emptied at any time."""
    config = {**learner("MarginPerceptron"), "model": {"features": {"preset": "ner"}}}

    def run():
        nlp = make_nlp(**config)
        examples = make_examples(nlp)
        nlp.get_pipe(NAME).initialize(lambda: examples, bpm_runs=2)
        update(nlp, examples, passes=4)
        return given(nlp), nlp.get_pipe(NAME).to_bytes(exclude=["vocab"])

    expected = run()
    monkeypatch.setattr(attributes, "MAX_WORDS", 3)
    assert run() == expected
    monkeypatch.setattr(trainer, "MAX_KEPT_BYTES", 0)
    assert run() == expected


def test_one_document_many_times_gives_one_answer():
    nlp = trained()
    docs = list(nlp.pipe(["Anna Smith lives in Paris ."] * 50, batch_size=7))
    assert {iob(doc) for doc in docs} == {right()[0]}


def test_prediction_uses_the_weights_of_the_last_update():
    nlp = make_nlp()
    examples = make_examples(nlp)
    nlp.initialize(lambda: examples)
    assert given(nlp) != right()
    update(nlp, examples)
    assert given(nlp) == right()
