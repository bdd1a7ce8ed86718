"""Damaged files of a format: with any damage, every line of it has an end."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from random import Random

from pipeline.artifact import Artifact, ListedFile
from pipeline.ingest import formats
from pipeline.ingest.load import foreign
from tests.results import Content, write


def mutated(content: bytes, random: Random) -> bytes:
    """A file cut off, with a piece gone, doubled or overwritten, or with values of other types."""
    start = random.randrange(len(content))
    end = min(len(content), start + random.randrange(1, 3000))
    match random.randrange(5):
        case 0:
            return content[:start]
        case 1:
            return content[:start] + content[end:]
        case 2:
            return content[:end] + content[start:]
        case 3:
            return content[:start] + random.randbytes(end - start) + content[end:]
    odd = (b"null", b"-1", b'"x"', b"[]", b"{}", b"1e400", b"[[{}]]", b"NaN")
    values = re.split(rb'(?<=[:\[,])( ?(?:"[^"\\]*"|[0-9.]+|true|null))', content)
    places = random.sample(range(len(values)), k=min(len(values), 1 + len(values) // 100))
    for place in places:
        values[place] = random.choice(odd) if place % 2 else values[place]
    return b"".join(values)


def is_accounted_for(claim: formats.Claim, name: str) -> bool:
    """Whether reading a file raises nothing, and its lines are rows, rejects or blank."""
    into = foreign.Converted()
    artifact = Artifact(claim.file.path, name, claim.kind, format=claim.format, beside=claim.beside)
    batches = foreign.batches(artifact, 0, into, max_line_bytes=1 << 24)
    ids = [number for batch in batches for number in batch["record_id"].to_pylist()]
    return len(set(ids)) == len(ids) == into.tally.n_lines - into.tally.n_blank


def check_mutations(folder: Path, files: Mapping[str, Content], n_mutations: int = 200) -> None:
    """Each mutation damages one file of a folder, which is recognised and read again as a whole."""
    random = Random(20)
    write(folder, files)
    listed = [ListedFile(folder / name, name) for name in sorted(files)]
    whole = {file.name: file.path.read_bytes() for file in listed}
    undamaged = [claim for claim in formats.claims(listed).values() if claim.format]
    assert undamaged
    for number in range(n_mutations):
        file = listed[number % len(listed)]
        file.path.write_bytes(mutated(whole[file.name], random))
        again = [claim for claim in formats.claims(listed).values() if claim.format]
        # What is no longer recognised is read as well, as if it had been damaged meanwhile.
        assert all(is_accounted_for(claim, claim.file.name) for claim in (*again, *undamaged))
        file.path.write_bytes(whole[file.name])
