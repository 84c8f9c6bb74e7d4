"""What the lines about somebody offer as an answer."""

from attnlab.data.answer_candidates import AnswerCandidates

CORPUS = [
    "Jean Muller. Jean Muller was born in Luxembourg City , son of Gary Muller .",
    "Jean Muller. Muller plays in Paris .",
    "Ann Lee. Ann Lee sings .",
    "Bo Ek. Bo Ek was born in Paris .",
]
CUES = ("where", "was", "born")
CANDIDATES = AnswerCandidates(CORPUS)


def offered(answers: dict[str, int]) -> list[str]:
    return [one.text for one in CANDIDATES.about("Jean Muller", CUES, answers)]


def test_all_spans_of_all_lines_about_a_person_are_candidates() -> None:
    assert offered({}) == ["Luxembourg City", "Gary Muller", "Paris"]
    assert set(CANDIDATES.names) == {"Jean Muller", "Bo Ek"}
    assert not list(CANDIDATES.about("Nobody", CUES, {}))


def test_a_part_of_a_span_is_a_candidate_if_it_answers_another_question() -> None:
    assert offered({"Luxembourg": 1, "City": 2}) == [
        *("Luxembourg City", "Luxembourg", "City"),
        *("Gary Muller", "Paris"),
    ]


def test_features_tell_words_around_distance_and_known_answers() -> None:
    first, second, _ = CANDIDATES.about("Jean Muller", CUES, {})
    assert {"before 0: in", "born 2 before", "born far after", "after 0: ,"} <= set(first.features)
    assert "born <=8 before" in second.features
    known, unknown = (
        next(one for one in CANDIDATES.about("Bo Ek", CUES, answers) if one.text == "Paris")
        for answers in ({"Paris": 1}, {})
    )
    differing = set(known.features) ^ set(unknown.features)
    assert {feature.split()[0] for feature in differing} == {"answers"}


def test_the_digits_of_all_numbers_are_alike() -> None:
    corpus = ["Ann Lee. Born 1901 in Hull .", "Bo Ek. Born 1850 in Hull ."]
    candidates = AnswerCandidates(corpus)
    ann, bo = (next(candidates.about(name, CUES, {})) for name in candidates.names)
    assert ann.features == bo.features


def test_features_come_in_the_order_of_the_text() -> None:
    """The bug to guard against: the order of a set, and sums that differ between processes."""
    words = "who sang at many a fair until late in life"
    *_, hull = AnswerCandidates([f"Ann Lee. Born in Hull {words} ."]).about("Ann Lee", CUES, {})
    after = [f.removeprefix("after: ") for f in hull.features if f.startswith("after: ")]
    seen = [word for word in after if " " not in word]
    assert seen == words.split()[: len(seen)]
    assert len(seen) > 6
