"""Whether an adapter says the same embedded and behind a model server.

    python -m benchmarks.served_adapter [--limit N]

Twenty short texts go through the whole pipeline and the gate, over an empty graph, with the shipped adapter:
as the embedded model runs it (computed into weights of 8 bits), and behind a llama.cpp server of these
weights, and of the packaged weights of 4 bits with the adapter beside them. It prints how many texts have the
same accepted statements as with the embedded model, and the statements that differ.
"""

from __future__ import annotations

import argparse
import asyncio
import secrets
from collections.abc import Mapping
from pathlib import Path

from extractors.models.local.weights import ADAPTER_PATH, cache_folder, find_weights, merged_weights
from research.empty_graph import empty_graph, gated
from server.settings import Settings
from server.settings_loading import load_settings
from tests.support.llama_server import llama_server

TEXTS = (
    "The Varga Museum in Szeged was designed by Ilona Barta and opened in 1931.",
    "The Lunde Bridge crosses the river Glomma and was completed in 1968.",
    "Kovalenko University was founded in 1874 by Petro Kovalenko.",
    "The Orchard Library stands in the Mill District of Tampere.",
    "Harbor Station opened in 1902 and is located in Gothenburg.",
    "The Ferrand Theater in Lyon was built in 1887.",
    "Anna Keller designed the Slate Arena, a stadium in Leipzig.",
    "The village of Brask lies on the shore of Lake Ulven.",
    "The Copper Market is a market hall in Riga that was restored in 2011.",
    "St. Elin's Church was designed by Tomas Ek and was completed in 1790.",
    "Birch Hospital in Oulu was founded in 1921 and has 340 beds.",
    "The Vale Gallery is part of the Northgate Museum in Ghent.",
    "The A9 road connects Salzach with Obertal.",
    "Mayor Lena Holm said that the old mill would be repaired next year.",
    "The Crown Baths in Graz were owned by the Steiner family until 1955.",
    "Linden Park, established in 1868, covers 24 hectares in the north of Basel.",
    "It rained on most days of the festival.",
    "The Signal Tower is 112 metres high and was designed by Jonas Bech.",
    "Quay Street leads from the castle to the harbor of Porto Velho.",
    "The Union Mill in Bergen was designed by Astrid Dahl, and it opened in 1931.",
)

Said = list[frozenset[str]]


async def accepted(settings: Settings, texts: tuple[str, ...]) -> Said:
    """The statements of each text that the gate accepts."""
    found = []
    async with empty_graph(settings) as services:
        extract = gated(services)
        for text in texts:
            outcome = await extract(text)
            found.append(frozenset(_words(str(triple)) for triple in outcome.accepted or ()))
    return found


def _words(triple: str) -> str:
    return " ".join(part.rpartition("/")[2] for part in triple.split())


def compare(limit: int | None) -> Mapping[str, tuple[Said, Said]]:
    """What the embedded model gets accepted, beside each way of serving the same adapter."""
    texts = TEXTS[:limit]
    cache = cache_folder() or Path(".cache")
    merged = merged_weights(find_weights(), ADAPTER_PATH, cache)
    assert merged is not None, f"the weights cannot be merged into {cache}"
    settings = load_settings({}).settings
    embedded = asyncio.run(accepted(settings, texts))
    found = {}
    key = secrets.token_hex(16)
    for name, weights, adapter in (
        ("llama.cpp, the same merged weights", merged, None),
        ("llama.cpp, 4-bit weights with the adapter beside", find_weights(), ADAPTER_PATH),
    ):
        with llama_server(key, weights, adapter) as url:
            at_server = {"model_url": url, "model_api_key": key, "model_prompts": "compact"}
            served = settings.model_copy(update=at_server)
            found[name] = (embedded, asyncio.run(accepted(served, texts)))
    return found


def main() -> None:
    """Compare, and print what differs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--limit", type=int)
    for name, (embedded, served) in compare(parser.parse_args().limit).items():
        same = sum(one == other for one, other in zip(embedded, served, strict=True))
        count, other = sum(map(len, embedded)), sum(map(len, served))
        print(f"{name}: the same on {same} of {len(embedded)} texts ({count} and {other} statements)")
        for text, one, another in zip(TEXTS, embedded, served, strict=False):
            for mark, only in (("embedded", one - another), ("served", another - one)):
                for statement in sorted(only):
                    print(f"  only {mark}: {statement}   [{text}]")


if __name__ == "__main__":
    main()
