"""What extraction costs, stage by stage: a sentence of thirty words through the whole pipeline.

    python -m benchmarks.extraction [--methods fast zero_shot thorough] [--rounds 5] [--model-url URL]
                                    [--price-in 0.2 --price-out 0.6]

Each method reads the same sentences; the reading's stages, the statements, the gate and the commit are timed
apart, and each method's whole is compared with the first one's. At the end stands what a thousand sentences
take by each method, and a thousand relations of two geometries: seconds one after another, tokens, and money
where prices of a million tokens are given. The embedded model is used unless a server is named.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import time
from collections import defaultdict

from shapely import Point
from shapely.affinity import translate

from extractors.candidates import Extraction
from extractors.completion.pair import Pair, Place
from extractors.models.accounting import Prices
from extractors.readers.reading import Cost, costs, total
from research.empty_graph import empty_graph
from research.methods import any_method_named
from server.services import Services
from server.settings_loading import load_settings

SENTENCES = (
    "The Varga Museum, a private art museum in Szeged that was designed by Ilona Barta and opened in 1931 on "
    "the left bank of the Tisza, has a collection of 4,000 paintings today.",
    "Completed in 1968 after a fire had destroyed the first one, the Lunde Bridge is 640 metres long, "
    "crosses the river Glomma and connects the old town of Fredrikstad with the island of Kraka.",
    "Kovalenko University, founded in 1874 by Petro Kovalenko as a school of mines, is a public university "
    "in Kryvyi Rih with about 21,000 students, and its main building was designed by Olha Marchuk.",
)
METHODS = ("fast", "zero_shot", "without_refinement", "thorough")


def stages(extraction: Extraction) -> dict[str, float]:
    """Seconds of the model by stage, and of what the pipeline does around it."""
    found = {f"model: {stage}": cost.seconds for stage, cost in costs(extraction.windows).items()}
    found["statements"] = max(0.0, extraction.seconds - sum(found.values()))
    return found


async def measure(services: Services, method: str, rounds: int) -> tuple[dict[str, list[float]], Cost]:
    """Read every sentence so often; the seconds of each stage, one value a reading, and what all cost."""
    seconds: dict[str, list[float]] = defaultdict(list)
    paid = Cost()
    for _ in range(rounds):
        for sentence in SENTENCES:
            begin = time.perf_counter()
            outcome = await services.intake.extract(sentence, commit=True, method=any_method_named(method))
            whole = time.perf_counter() - begin
            assert outcome.extraction is not None
            for stage, spent in stages(outcome.extraction).items():
                seconds[stage].append(spent)
            seconds["gate and commit"].append(max(0.0, whole - outcome.extraction.seconds))
            seconds["whole"].append(whole)
            paid += total(costs(outcome.extraction.windows).values())
    return seconds, paid


def relations(rounds: int) -> float:
    """The seconds of the relation of two polygons of 400 points that cross, computed, on average."""
    disc, count = Point(0, 0).buffer(1, quad_segs=100), 50 * rounds
    pair = Pair(Place("A", geometry=disc), Place("B", geometry=translate(disc, 0.5)))
    begin = time.perf_counter()
    for _ in range(count):
        assert pair.computed is not None
    return (time.perf_counter() - begin) / count


def thousand(name: str, seconds: float, cost: Cost, tasks: int, prices: Prices) -> str:
    """A line of what a thousand tasks take."""
    tokens = [1000 * count // tasks for count in (cost.prompt_tokens, cost.completion_tokens)]
    money = prices.cost(*tokens)
    priced = "" if money is None else f", {money:.2f} {prices.currency}"
    return f"1,000 {name}: {1000 * seconds:,.1f} s, {tokens[0]:,} tokens in, {tokens[1]:,} out{priced}"


async def run(methods: list[str], rounds: int, url: str | None, prices: Prices) -> None:
    settings = load_settings({"model_url": url} if url else {}, file=None).settings
    base: float | None = None
    thousands = []
    for method in methods:
        async with empty_graph(settings) as services:
            await services.intake.extract(SENTENCES[0], commit=False, method="fast")  # loads the model
            found, cost = await measure(services, method, rounds)
        whole = statistics.median(found["whole"])
        base = base or whole
        print(f"{method}: median {whole:.2f} s a sentence, {whole / base:.2f} times {methods[0]}")
        for stage, values in found.items():
            if stage != "whole":
                print(f"  {stage:<28}{statistics.median(values):8.3f} s   worst {max(values):.3f} s")
        tasks = len(found["whole"])
        thousands.append(thousand(f"sentences, {method}", sum(found["whole"]) / tasks, cost, tasks, prices))
    thousands.append(thousand("relations, computed", relations(rounds), Cost(), 1, prices))
    print(*thousands, sep="\n")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--methods", nargs="+", default=METHODS)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--model-url")
    parser.add_argument("--price-in", type=float)
    parser.add_argument("--price-out", type=float)
    arguments = parser.parse_args()
    prices = Prices(arguments.price_in, arguments.price_out)
    asyncio.run(run(arguments.methods, arguments.rounds, arguments.model_url, prices))


if __name__ == "__main__":
    main()
