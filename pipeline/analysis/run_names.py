"""Short names of runs: what distinguishes the runs of a benchmark from one another."""

from __future__ import annotations

import os.path
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import count, groupby
from operator import itemgetter

import pyarrow as pa

# The most characters of an alias, and of one with two parts: a model and a time, or a name and the
# benchmark.
LONGEST = 28
LONGEST_OF_TWO_WORDS = 46
# As many characters of a benchmark, and of each of its words, are left.
LEAST_OF_BENCHMARK = 8
LEAST_OF_WORD = 3
WORD_GAP = re.compile(r"([_./ -]+)")
# The characters that are shown of a hash.
HASH = 8
BORDERS = tuple("_./ -")
# What names begin with, up to a word that does not begin with a digit: step_100 is not cut to 100.
BEGINNING = re.compile(r".*[_./ -](?=[^_./ 0-9-])")
# A time as files of logs have it: its date, hours and minutes, seconds, and the zone.
TIME = re.compile(r"(\d{4}-)(\d\d-\d\d[T_]\d\d[-:]\d\d)([-:]\d\d)([-+]\d\d[-:]?\d\d|Z)?(?!\d)")
# Ways to write a time: the first with which all names fit and differ.
TIMES = (r"\g<0>", r"\1\2\3", r"\1\2", r"\2", r"\2\3")
DATE = re.compile(r"^\d{4}-\d\d-\d\d[-_]")
# What names end with, from the gap before a word on; neither a version nor a date is cut.
ENDING = re.compile(r"(?:_|[./ -](?![0-9])).*")
# What is between the words of a name; a version, a time or a denial (`no-tools`) is one word.
GAP = re.compile(r"([_/ ]+|(?<![_/ -]no)(?<![_/ -]non)(?<![_/ -]not)-+(?!\d{1,3}(?!\d)))")
# Words that distinguish runs least: times, numbers, hashes.
NUMBER_LIKE = re.compile(r"-?\d[\dT:.+-]*Z?|(?=.*\d)(?=.*[a-zA-Z])[0-9a-zA-Z.]{16,}")
# Words between words, which are left out first.
FILLERS = frozenset({"a", "and", "of", "the", "with"})
# The name of a model is one word: its gaps stand for themselves until names are chosen.
GAPS = "_/ -"
PLACEHOLDERS = "\ue000\ue001\ue002\ue003"
HIDDEN_GAPS = str.maketrans(GAPS, PLACEHOLDERS)
SHOWN_GAPS = str.maketrans(PLACEHOLDERS, GAPS)


def aliases(runs: pa.Table) -> pa.Table:
    """The runs, by benchmark, each with a short name that no other run has."""
    names: list[str] = runs["run_id"].to_pylist()
    models: list[str | None] = runs["model"].to_pylist()
    shown: list[str] = []
    benchmarks = runs["benchmark"].to_pylist()
    for _, own in groupby(zip(benchmarks, names, models, strict=True), itemgetter(0)):
        _, own_names, own_models = zip(*own, strict=True)
        shown += worded(own_names, distinguished(own_names, own_models), own_models)
    # Names that are alike in several benchmarks say which, if the runs do; else they differ as all
    # runs do.
    uses = Counter(map(str.lower, shown))
    brief = _brief_benchmarks(
        [each for each, alias in zip(benchmarks, shown, strict=True) if uses[alias.lower()] > 1]
    )
    shown = [
        _of_benchmark(name, alias, benchmark, brief) if uses[alias.lower()] > 1 else alias
        for name, alias, benchmark in zip(names, shown, benchmarks, strict=True)
    ]
    uses = Counter(map(str.lower, shown))
    of_all = worded(names, distinguished(names, models), models)
    wanted = [
        other if uses[alias.lower()] > 1 or len(alias) > LONGEST_OF_TWO_WORDS else alias
        for alias, other in zip(shown, of_all, strict=True)
    ]
    taken = {name.lower() for name in names if len(name) <= LONGEST}
    chosen: list[str] = []
    uses = Counter()
    for name, alias in zip(names, wanted, strict=True):
        uses[shortened(alias, "")] += 1
        numbers = count(uses[shortened(alias, "")])
        numbered = (shortened(alias, f"~{number}" if number > 1 else "") for number in numbers)
        free = (each for each in numbered if each.lower() not in taken)
        chosen.append(name if len(name) <= LONGEST else next(free))
        taken.add(chosen[-1].lower())
    return runs.append_column("alias", pa.array(chosen, pa.string()))


def _brief_benchmarks(benchmarks: Iterable[str]) -> dict[str, str]:
    """What distinguishes long names of benchmarks from one another."""
    names = sorted(set(benchmarks))
    if len(names) < 2:
        return {}
    unknown = [None] * len(names)
    return dict(zip(names, worded(names, distinguished(names, unknown), unknown), strict=True))


def _of_benchmark(name: str, alias: str, benchmark: str, brief: Mapping[str, str]) -> str:
    """An alias with the benchmark that the name has and the alias has not, without a date.

    Of a long benchmark it has the words that distinguish it, or the beginnings of its words.
    """
    word = re.compile(rf"(?<![A-Za-z0-9]){re.escape(benchmark)}(?![A-Za-z0-9])")
    if not word.search(name) or word.search(alias):
        return alias
    undated = DATE.sub("", alias)
    room = max(LONGEST_OF_TWO_WORDS - len(undated) - 1, LEAST_OF_BENCHMARK)
    shown = benchmark if len(benchmark) <= room else brief.get(benchmark, benchmark)
    return f"{undated}_{_abbreviated(shown, room)}"


def _abbreviated(name: str, room: int) -> str:
    """A name that fits, with as much of each of its words as there is room for."""
    for length in range(len(name), LEAST_OF_WORD - 1, -1):
        brief = "".join(part[:length] for part in WORD_GAP.split(name))
        if len(brief) <= room:
            return brief
    return name[:room]


def distinguished(names: Sequence[str], models: Sequence[str | None]) -> list[str]:
    """Long names without the words that all of them begin or end with."""
    if len(names) == 1:
        return [_from_model(name, model) for name, model in zip(names, models, strict=True)]
    alike = _alike(names)
    # A name that ends there would keep nothing, and one that goes on with a digit only a number.
    is_border = alike.endswith(BORDERS) and all(name[len(alike) :][:1].isalpha() for name in names)
    beginning = BEGINNING.match(alike)
    start = len(alike) if is_border else beginning.end() if beginning else 0
    # The name of a model is not cut.
    cut_models = [_model_place(*each) for each in zip(names, models, strict=True)]
    start = min([start, *(first for first, last in cut_models if first < start < last)])
    rests = [name[start:] for name in names]
    ending = ENDING.search(_alike([rest[::-1] for rest in rests])[::-1])
    n_cut = len(ending[0]) if ending else 0
    shown = [
        name if len(name) <= LONGEST else rest[: len(rest) - n_cut] or name
        for name, rest in zip(names, rests, strict=True)
    ]
    for form in TIMES:
        brief = [each if len(each) <= LONGEST else TIME.sub(form, each) for each in shown]
        if (
            len({*map(str.lower, brief)}) == len(brief)
            and max(map(len, brief), default=0) <= LONGEST
        ):
            return brief
    return shown


def _from_model(name: str, model: str | None) -> str:
    """A long name from its model on: what is before it is often the name of the benchmark."""
    first, last = _model_place(name, model)
    return name[first:] if len(name) > LONGEST and last else name


def _model_place(name: str, model: str | None) -> tuple[int, int]:
    """Where a name has the name of its model, without the maker's."""
    own = (model or "").rpartition("/")[2].lower()
    first = name.lower().find(own) if own else -1
    return (0, 0) if first < 0 else (first, first + len(own))


def _with_whole_model(name: str, model: str | None) -> str:
    """A name in which that of its model is one word."""
    first, last = _model_place(name, model)
    return name[:first] + name[first:last].translate(HIDDEN_GAPS) + name[last:]


def worded(names: Sequence[str], shown: Sequence[str], models: Sequence[str | None]) -> list[str]:
    """The shown names; those that are too long as the words that distinguish them, if any do."""
    too_long = [name for name, alias in zip(names, shown, strict=True) if len(alias) > LONGEST]
    if len(too_long) < 2:
        return list(shown)
    # Beside these, names that fit once they are cut would keep words that all have.
    too_long = [
        name
        for name, alias in zip(names, shown, strict=True)
        if len(alias) > LONGEST or len(alias) < len(name)
    ]
    pairs = zip(names, models, strict=True)
    whole = {name: f"_{_with_whole_model(name, model)}" for name, model in pairs}
    # Of each name a gap, a word, a gap, a word and so on.
    parts = {
        name: GAP.split(re.sub(f"[-_ ]*{TIME.pattern}", r"_\2", marked))[1:]
        for name, marked in whole.items()
    }
    # The words of all names, not of the long ones only: these may share what the others lack.
    shared = set.intersection(*(set(own[1::2]) for own in parts.values()))
    common = Counter(word for own in parts.values() for word in {*own[1::2]})
    brief = {name: _brief(parts[name], common, shared) for name in too_long}
    # Names that are still alike differ in what did not fit, or in times.
    alike: dict[str, list[str]] = {}
    for name, alias in brief.items():
        alike.setdefault(alias.lower(), []).append(name)
    for group in alike.values():
        if len(group) > 1:
            same = set.intersection(*(set(parts[name][1::2]) for name in group))
            brief |= {name: _brief(parts[name], common, shared, same) for name in group}
    brief = {
        name: _with_first_word(alias, parts[name]).translate(SHOWN_GAPS)
        for name, alias in _evened(brief, parts).items()
    }
    uses = Counter(brief.get(name, alias).lower() for name, alias in zip(names, shown, strict=True))
    wanted = [brief.get(name) or alias for name, alias in zip(names, shown, strict=True)]
    # A name that has all its words in another one looks like that run without something.
    words = [set(GAP.split(f"_{alias}")[2::2]) for alias in wanted]
    wanted = [
        name
        if len(cut) > LONGEST
        and len(name) <= LONGEST_OF_TWO_WORDS
        and any(own < other for other in words)
        else alias
        for name, cut, alias, own in zip(names, shown, wanted, words, strict=True)
    ]
    return [
        own if uses[own.lower()] == 1 else alias for own, alias in zip(wanted, shown, strict=True)
    ]


def _with_first_word(alias: str, parts: Sequence[str]) -> str:
    """A short name; one that begins with a time or a number comes after the first word of all."""
    begins = GAP.split(f"_{alias}")[2]
    is_number = NUMBER_LIKE.fullmatch(begins) and not NUMBER_LIKE.fullmatch(parts[1])
    whole = f"{parts[1]}_{alias}"
    return whole if is_number and len(whole) <= LONGEST else alias


def _evened(brief: dict[str, str], parts: dict[str, list[str]]) -> dict[str, str]:
    """Short names with words that others have, too, but lack in short, if they fit in all names.

    Else without them, unless they are needed: what fits in one name and not in the next would look
    like a difference between the two.
    """
    words = {name: set(GAP.split(f"_{alias}")[2::2]) for name, alias in brief.items()}
    uneven = {
        word
        for name, shown in words.items()
        for word in set(parts[name][1::2]) - shown
        if any(word in others for others in words.values())
    }
    n_names = len({*map(str.lower, brief.values())})

    def joined(own_words: Mapping[str, set[str]]) -> dict[str, str]:
        """The names with these words of theirs."""
        even = {}
        for name in brief:
            pairs = list(zip(parts[name][::2], parts[name][1::2], strict=True))
            places = [n for n, (_, word) in enumerate(pairs) if word in own_words[name]]
            even[name] = _joined(pairs, places)
        return even

    own_words = {name: shown - uneven for name, shown in words.items()}
    for word in _between(parts, own_words, uneven):
        for removed in (frozenset[str](), FILLERS):
            more = {name: (shown | {word}) - removed for name, shown in own_words.items()}
            if max(map(len, joined(more).values())) <= LONGEST_OF_TWO_WORDS:
                own_words = more
                break
    even = joined(own_words)
    is_distinct = all(even.values()) and len({*map(str.lower, even.values())}) == n_names
    return even if is_distinct else brief


def _between(
    parts: Mapping[str, Sequence[str]], own_words: Mapping[str, set[str]], words: set[str]
) -> list[str]:
    """The words that come before one that a name has already, first ones first; no numbers."""
    places: dict[str, int] = {}
    for name, shown in own_words.items():
        own = parts[name][1::2]
        telling = [n for n, word in enumerate(own) if word in shown and not is_number(word)]
        for n, word in enumerate(own[: max(telling, default=0)]):
            if word in words and not is_number(word):
                places[word] = min(n, places.get(word, n))
    return sorted(places, key=lambda word: (places[word], word))


def is_number(word: str) -> bool:
    """Whether a word is a number, a time or a hash, which distinguish runs least."""
    return NUMBER_LIKE.fullmatch(word) is not None


def _brief(
    parts: Sequence[str], common: Counter[str], shared: set[str], same: set[str] | None = None
) -> str:
    """The words of a name that not all share, as many as fit: the rarest first.

    Names that are alike without them have times and numbers that are not the `same` before others,
    then the model.
    """
    pairs = list(zip(parts[::2], parts[1::2], strict=True))

    def rank(place: int) -> tuple[bool, bool, bool, int, int]:
        word = pairs[place][1]
        is_model = same is not None and not set(PLACEHOLDERS).isdisjoint(word)
        return (
            same is None or word in same,
            not is_telling(word),
            not is_model,
            common[word],
            place,
        )

    def is_telling(word: str) -> bool:
        return NUMBER_LIKE.fullmatch(word) is None

    own = [
        place
        for place, (_, word) in enumerate(pairs)
        if word not in shared and (is_telling(word) or (same is not None and word not in same))
    ]
    room = LONGEST if same is None else LONGEST_OF_TWO_WORDS
    chosen: list[int] = []
    n_numbers = 0
    for place in sorted(own, key=rank):
        # One number is enough to distinguish a name.
        n_numbers += not is_telling(pairs[place][1])
        several = sorted([*chosen, place])
        if len(_joined(pairs, several)) <= room and (is_telling(pairs[place][1]) or n_numbers == 1):
            chosen = several
    return _joined(pairs, chosen)


def _joined(pairs: Sequence[tuple[str, str]], places: Sequence[int]) -> str:
    """These words with what is before each; of a hash its beginning."""
    shown = (
        (gap, word[:HASH] if len(word) > 2 * HASH and NUMBER_LIKE.fullmatch(word) else word)
        for gap, word in (pairs[place] for place in places)
    )
    return "".join(gap + word for gap, word in shown)[1:].lstrip("_/ -")


def shortened(name: str, number: str) -> str:
    """At most so many characters with the number: of a longer name both ends."""
    room = LONGEST_OF_TWO_WORDS - len(number)
    end = (LONGEST - len(number) - 2) // 2
    return (name if len(name) <= room else f"{name[:end]}..{name[-end:]}") + number


def _alike(names: Sequence[str]) -> str:
    return os.path.commonprefix(names)  # noqa: RUF071  no paths
