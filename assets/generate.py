"""Write the news corpus: short documents whose names are clear only from the whole document.

Every document casts its roles from pools of names that overlap between the classes, introduces
each member once in a clear context, and repeats the short names in sentences that fit any class.
The same seed writes the same bytes.
"""

import argparse
import re
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import TypeVar

import names
import templates
from templates import Role, Topic

T = TypeVar("T")
Token = tuple[str, str]  # word, IOB2 label
Sentence = list[Token]

ACRONYM = "ACRONYM:"
LABELS = ("PER", "LOC", "ORG")
SPLITS = {"train": 9, "dev": 2, "test": 2}  # parts of the documents
LENGTHS = (60, 200)  # tokens per document, shortest and longest
TARGET_LENGTHS = tuple(range(65, 175, 5))

AMBIGUOUS_SHARE = 0.55  # names that other documents use in another class
USUAL_CLASS_SHARE = 0.4  # ambiguous names in the class usual for them in this split
NEUTRAL_SHARE = 0.3  # body sentences that do not tell the class
GROUP_SHARE = 0.2  # neutral sentences about several members of one class
STAR_SHARE = 0.8  # neutral sentences about the two members the document is most about
ASIDE_SHARE = 0.5  # neutral sentences that belong to the topic
GENERAL_HEADLINE_SHARE = 0.4
NO_HEADLINE_SHARE = 0.15
DATELINE_SHARE = 0.4
BYLINE_SHARE = 0.12
NEUTRAL_OPENING_SHARE = 0.15
LATE_INTRODUCTION_SHARE = 0.35
NAMESAKE_SHARE = 0.04  # documents in which two members of different classes share a name
GAZETTEER_SHARE = 0.6

SLOT = re.compile(r"\{(\w+)(?:\.(\w+))?\}")
CHOICE = re.compile(r"\[([^\]]*)\]")
# As spaCy's English tokenizer splits: numbers, clitics, words, single signs.
WORD = re.compile(r"\d+(?:[.,]\d+)*(?:st|nd|rd|th)?|'s\b|[A-Za-z]+|[^\sA-Za-z\d]")


class OutOfTemplates(Exception):
    """No sentence is left that fits the document."""


@dataclass(frozen=True)
class Member:
    """One of the cast: a label, and for each form its parts as (text, whether it is the name)."""

    label: str
    forms: dict[str, tuple[tuple[str, bool], ...]]

    @property
    def words(self) -> set[str]:
        named = [text for parts in self.forms.values() for text, is_name in parts if is_name]
        return set(" ".join(named).split())


@dataclass(frozen=True)
class Pools:
    """The names a split may use."""

    ambiguous: dict[str, tuple[str, ...]]  # label: names it may have
    usual: dict[str, tuple[str, ...]]  # label: ambiguous names that mostly have it in this split
    plain: dict[str, tuple[str, ...]]  # label: names with one class everywhere
    first: dict[str, tuple[str, ...]]  # "Mr", "Ms": first names
    bodies: dict[str, tuple[tuple[str, str], ...]]  # kind: full name, acronym


def happens(rng: Random, share: float) -> bool:
    return rng.random() < share


def shuffled(rng: Random, items: tuple[T, ...] | list[T]) -> list[T]:
    items = list(items)
    rng.shuffle(items)
    return items


# Names


def make_pools(rng: Random) -> dict[str, Pools]:
    """Divide the names among the splits.

    Training leaves out every third name; dev and test use all of them. There the usual class of
    an ambiguous name is the one after its usual class in training.
    """
    legal = (
        dict.fromkeys(names.ANY_CLASS, LABELS)
        | dict.fromkeys(names.PLACE_OR_ORGANISATION, ("LOC", "ORG"))
        | dict.fromkeys(names.PERSON_OR_ORGANISATION, ("PER", "ORG"))
    )
    lists = {
        "ambiguous": shuffled(rng, list(legal)),
        "PER": shuffled(rng, names.PLAIN_LAST_NAMES),
        "LOC": shuffled(rng, names.PLAIN_PLACES),
        "ORG": shuffled(rng, names.PLAIN_ORGANISATIONS),
        "Ms": shuffled(rng, names.FEMALE_FIRST_NAMES),
        "Mr": shuffled(rng, names.MALE_FIRST_NAMES),
    }
    bodies = {kind: shuffled(rng, pairs) for kind, pairs in names.ACRONYM_BODIES.items()}
    pools = {}
    for split in SPLITS:
        held_out = split != "train"
        use = {key: available(items, held_out) for key, items in lists.items()}
        # By position in the full list, which is the same for all splits.
        usual = {
            name: legal[name][(i // 3 + held_out) % len(legal[name])]
            for i, name in enumerate(lists["ambiguous"])
        }
        pools[split] = Pools(
            ambiguous={c: tuple(n for n in use["ambiguous"] if c in legal[n]) for c in LABELS},
            usual={c: tuple(n for n in use["ambiguous"] if usual[n] == c) for c in LABELS},
            plain={label: use[label] for label in LABELS},
            first={title: use[title] for title in ("Ms", "Mr")},
            bodies={kind: available(pairs, held_out) for kind, pairs in bodies.items()},
        )
    return pools


def available(items: list[T], held_out: bool) -> tuple[T, ...]:
    return tuple(item for i, item in enumerate(items) if held_out or i % 3)


def choose_name(rng: Random, pools: Pools, label: str) -> str:
    if not happens(rng, AMBIGUOUS_SHARE):
        return rng.choice(pools.plain[label])
    usual = happens(rng, USUAL_CLASS_SHARE)
    return rng.choice((pools.usual if usual else pools.ambiguous)[label])


# The cast


def make_member(rng: Random, pools: Pools, role: Role, name: str | None) -> Member:
    marker = rng.choice(role.markers.split("|"))
    if marker.startswith(ACRONYM):
        return make_body(*rng.choice(pools.bodies[marker.removeprefix(ACRONYM)]))
    name = name or choose_name(rng, pools, role.label)
    if role.label == "PER":
        return make_person(rng, pools, marker, name)
    if role.label == "LOC":
        return make_place(marker, name)
    return make_organisation(name, f"{name} {marker}")


def make_person(rng: Random, pools: Pools, title: str, last_name: str) -> Member:
    mr = rng.choice(("Ms", "Mr"))
    full = (f"{rng.choice(pools.first[mr])} {last_name}", True)
    forms = {
        "short": ((last_name, True),),
        "full": (full,),
        "clear": ((title, False), full),
        "titled": ((mr, False), (last_name, True)),
    }
    return Member("PER", forms)


def make_place(description: str, name: str) -> Member:
    forms = {
        "short": ((name, True),),
        "full": ((name, True),),
        "clear": ((description, False), (name, True)),
        "caps": ((name.upper(), True),),
    }
    return Member("LOC", forms)


def make_organisation(short: str, full: str) -> Member:
    forms = {"short": ((short, True),), "full": ((full, True),), "clear": ((full, True),)}
    return Member("ORG", forms)


def make_body(full: str, acronym: str) -> Member:
    introduced = ((full, True), ("(", False), (acronym, True), (")", False))
    return Member("ORG", make_organisation(acronym, full).forms | {"clear": introduced})


def make_cast(rng: Random, pools: Pools, topic: Topic) -> dict[str, Member]:
    """Members for the roles of a topic; no two share a word, except rare namesakes."""
    cast: dict[str, Member] = {}
    namesake = happens(rng, NAMESAKE_SHARE)
    for role_name, role in topic.roles.items():
        if not happens(rng, role.chance):
            continue
        name = namesake_of(cast, role, pools) if namesake else None
        member = make_member(rng, pools, role, name)
        while name is None and any(member.words & other.words for other in cast.values()):
            member = make_member(rng, pools, role, None)
        namesake = namesake and name is None
        cast[role_name] = member
    return cast


def namesake_of(cast: dict[str, Member], role: Role, pools: Pools) -> str | None:
    """The short name of a member of another class that this role could have as well."""
    if role.markers.startswith(ACRONYM):
        return None
    for member in cast.values():
        name = member.forms["short"][0][0]
        if member.label != role.label and name in pools.ambiguous[role.label]:
            return name
    return None


# Sentences


def make_facts(rng: Random) -> dict[str, str]:
    """Values that stay the same throughout a document."""
    day, later = shuffled(rng, templates.DAYS)[:2]
    month = rng.choice(range(12))
    lost = rng.choice(range(3))
    return {
        "day": day,
        "later": later,
        "before": templates.MONTHS[(month - rng.choice((1, 2, 3, 4))) % 12],
        "month": templates.MONTHS[month],
        "after": templates.MONTHS[(month + rng.choice((1, 2, 3, 4))) % 12],
        "amount": rng.choice(templates.VALUES["number"]),
        "won": str(lost + rng.choice((1, 2, 3))),
        "lost": str(lost),
    }


def slots(template: str) -> list[tuple[str, str]]:
    return SLOT.findall(template)


def literal_words(template: str) -> set[str]:
    return set(WORD.findall(SLOT.sub(" ", template)))


class Writer:
    """Renders templates for one document and remembers what was used."""

    def __init__(self, rng: Random, cast: dict[str, Member]) -> None:
        self.rng = rng
        self.cast = cast
        self.facts = make_facts(rng)
        self.used: set[str] = set()
        self.introduced: set[str] = set()
        self.name_words = set().union(*(member.words for member in cast.values()))

    def usable(self, template: str) -> bool:
        """Whether all roles are cast, and no name of the cast is a common word here."""
        known = self.cast.keys() | templates.VALUES.keys() | self.facts.keys() | {"x", "y", "z"}
        return (
            template not in self.used
            and all(slot in known for slot, _ in slots(template))
            and not self.name_words & literal_words(template)
        )

    def choose(self, pool: tuple[str, ...]) -> str:
        """A usable template; no template is used twice."""
        usable = [template for template in pool if self.usable(template)]
        if not usable:
            raise OutOfTemplates
        template = self.rng.choice(usable)
        self.used.add(template)
        return template

    def render(self, template: str, **roles: str) -> Sentence:
        """Fill in a template; roles say who is x, y and z."""
        template = CHOICE.sub(lambda match: self.rng.choice(match[1].split("|")), template)
        sentence: Sentence = []
        end = 0
        for match in SLOT.finditer(template):
            sentence += outside(template[end : match.start()])
            sentence += self.fill(roles.get(match[1], match[1]), match[2] or "short")
            end = match.end()
        sentence += outside(template[end:])
        return tidy(sentence)

    def fill(self, slot: str, form: str) -> Sentence:
        if slot in self.facts:
            return outside(self.facts[slot])
        if slot in templates.VALUES:
            return outside(self.rng.choice(templates.VALUES[slot]))
        if form in ("clear", "full"):
            self.introduced.add(slot)
        member = self.cast[slot]
        tokens: Sentence = []
        for text, named in member.forms[form]:
            tokens += inside(text, member.label) if named else outside(text)
        return tokens


def outside(text: str) -> Sentence:
    return [(word, "O") for word in WORD.findall(text)]


def inside(name: str, label: str) -> Sentence:
    return [(word, f"{'I' if i else 'B'}-{label}") for i, word in enumerate(name.split())]


def tidy(sentence: Sentence) -> Sentence:
    """Capitalise the first letter; let the stop of "Corp." end the sentence as well."""
    if len(sentence) > 1 and sentence[-1][0] == "." and sentence[-2][0].endswith("."):
        sentence = sentence[:-1]
    start = 1 if sentence[0][0] == '"' else 0
    word, label = sentence[start]
    return [*sentence[:start], (word[0].upper() + word[1:], label), *sentence[start + 1 :]]


# Documents


def make_document(rng: Random, pools: Pools, topic: Topic) -> list[Sentence]:
    """A document of legal length."""
    while True:
        try:
            document = draft_document(rng, pools, topic)
        except OutOfTemplates:
            continue
        if LENGTHS[0] <= sum(map(len, document)) <= LENGTHS[1]:
            return document


def draft_document(rng: Random, pools: Pools, topic: Topic) -> list[Sentence]:
    writer = Writer(rng, make_cast(rng, pools, topic))
    stars = shuffled(rng, list(writer.cast))[:2]
    opening = write_opening(writer, topic, stars)
    if happens(rng, BYLINE_SHARE):
        opening.insert(0, write_byline(rng, pools))
    introductions = [
        writer.render(writer.choose(topic.roles[role].introductions))
        for role in writer.cast
        if role not in writer.introduced
    ]
    length = rng.choice(TARGET_LENGTHS) - sum(map(len, opening + introductions))
    body = write_body(writer, topic, stars, length)
    for introduction in introductions:
        late = happens(rng, LATE_INTRODUCTION_SHARE)
        last = len(body) if late else len(body) // 3
        body.insert(rng.choice(range(last + 1)), introduction)
    return opening + body


def write_byline(rng: Random, pools: Pools) -> Sentence:
    first = rng.choice(pools.first[rng.choice(("Ms", "Mr"))])
    return outside("By") + inside(f"{first} {rng.choice(pools.plain['PER'])}", "PER")


def write_opening(writer: Writer, topic: Topic, stars: list[str]) -> list[Sentence]:
    """Headline, perhaps a neutral sentence, and the first sentence of the story."""
    rng = writer.rng
    headline, lead = writer.choose(topic.stories).split(" // ")
    sentences = []
    if happens(rng, GENERAL_HEADLINE_SHARE):
        headline = writer.choose(topic.neutral.headlines)
    if not happens(rng, NO_HEADLINE_SHARE):
        sentences.append(writer.render(headline, x=rng.choice(stars)))
    if happens(rng, NEUTRAL_OPENING_SHARE):
        sentences.append(write_neutral(writer, topic, stars))
    first = writer.render(lead)
    if happens(rng, DATELINE_SHARE):
        first = write_dateline(writer) + first
    return [*sentences, first]


def write_dateline(writer: Writer) -> Sentence:
    places = [role for role, member in writer.cast.items() if member.label == "LOC"]
    if not places:
        return []
    date = writer.rng.choice(templates.DATES)
    return writer.render(f"{{x.caps}}, {{month}} {date} -", x=places[0])


def write_body(writer: Writer, topic: Topic, stars: list[str], length: int) -> list[Sentence]:
    """Sentences on the topic and neutral ones until there are enough tokens."""
    sentences: list[Sentence] = []
    while sum(map(len, sentences)) < length:
        if happens(writer.rng, NEUTRAL_SHARE):
            sentences.append(write_neutral(writer, topic, stars))
        else:
            sentences.append(writer.render(writer.choose(topic.body)))
    return sentences


def write_neutral(writer: Writer, topic: Topic, stars: list[str]) -> Sentence:
    rng, neutral = writer.rng, topic.neutral
    role = rng.choice(stars if happens(rng, STAR_SHARE) else list(writer.cast))
    label = writer.cast[role].label
    group = [role, *(r for r, m in writer.cast.items() if m.label == label and r != role)][:3]
    if len(group) > 1 and happens(rng, GROUP_SHARE):
        group = shuffled(rng, group)
        pool = neutral.pairs if len(group) == 2 else neutral.triples
        return writer.render(writer.choose(pool), **dict(zip("xyz", group, strict=False)))
    if happens(rng, ASIDE_SHARE):
        return writer.render(writer.choose(topic.asides), x=role)
    pool = tuple(t for labels, ts in neutral.single.items() if label in labels for t in ts)
    return writer.render(writer.choose(pool), x=role)


# Files


def make_corpus(seed: int, documents: int) -> dict[str, list[list[Sentence]]]:
    """The documents of each split, topics in equal parts and random order."""
    rng = Random(seed)
    pools = make_pools(rng)
    corpus = {}
    for split, part in SPLITS.items():
        size = documents * part // sum(SPLITS.values())
        topics = shuffled(rng, [templates.TOPICS[i % len(templates.TOPICS)] for i in range(size)])
        corpus[split] = [make_document(rng, pools[split], topic) for topic in topics]
    return corpus


def make_gazetteer(seed: int) -> list[str]:
    """A part of the places that documents may mention, and some that they never do."""
    rng = Random(seed)
    places = (*names.ANY_CLASS, *names.PLACE_OR_ORGANISATION, *names.PLAIN_PLACES)
    listed = [place for place in places if happens(rng, GAZETTEER_SHARE)]
    return sorted([*listed, *names.SPARE_PLACES])


def format_document(document: list[Sentence]) -> str:
    blocks = ["-DOCSTART-\tO", *("\n".join(map("\t".join, sentence)) for sentence in document)]
    return "".join(f"{block}\n\n" for block in blocks)


def write(path: Path, text: str) -> None:
    path.write_bytes(text.encode("utf8"))


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=2007)
    parser.add_argument("--documents", type=int, default=520, help="in all three files together")
    parser.add_argument("--output", type=Path, default=Path(__file__).parent)
    options = parser.parse_args(arguments)
    options.output.mkdir(parents=True, exist_ok=True)
    for split, documents in make_corpus(options.seed, options.documents).items():
        write(options.output / f"news-{split}.txt", "".join(map(format_document, documents)))
    gazetteer = make_gazetteer(options.seed)
    write(options.output / "gazetteer-places.txt", "".join(f"{name}\n" for name in gazetteer))


if __name__ == "__main__":
    main()
