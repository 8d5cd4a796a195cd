"""What extraction costs, stage by stage: a sentence of thirty words through the whole pipeline.

    python benchmarks/extraction.py [--methods fast zero_shot thorough] [--rounds 5] [--model-url URL]

Each method reads the same sentences; the reading's stages, the statements, the gate and the commit are told
apart, and each method's whole is compared with the first one's. The embedded model is used unless a server is
named.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import sys
import time
from collections import defaultdict
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from extractors.candidates import Extraction
from extractors.readers.costs import costs
from server.evaluating import empty_graph
from server.services import Services
from server.settings import load_settings

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


async def measure(services: Services, method: str, rounds: int) -> dict[str, list[float]]:
    """Read every sentence so often; the seconds of each stage, one value a reading."""
    seconds: dict[str, list[float]] = defaultdict(list)
    for _ in range(rounds):
        for sentence in SENTENCES:
            begin = time.perf_counter()
            outcome = await services.intake.extract(sentence, commit=True, method=method)
            whole = time.perf_counter() - begin
            assert outcome.extraction is not None
            for stage, spent in stages(outcome.extraction).items():
                seconds[stage].append(spent)
            seconds["gate and commit"].append(max(0.0, whole - outcome.extraction.seconds))
            seconds["whole"].append(whole)
    return seconds


async def run(methods: list[str], rounds: int, url: str | None) -> None:
    settings = load_settings({"model_url": url} if url else {}, file=None).settings
    base: float | None = None
    for method in methods:
        async with empty_graph(settings) as services:
            await services.intake.extract(SENTENCES[0], commit=False, method="fast")  # loads the model
            found = await measure(services, method, rounds)
        whole = statistics.median(found["whole"])
        base = base or whole
        print(f"{method}: median {whole:.2f} s a sentence, {whole / base:.2f} times {methods[0]}")
        for stage, values in found.items():
            if stage != "whole":
                print(f"  {stage:<28}{statistics.median(values):8.3f} s   worst {max(values):.3f} s")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--methods", nargs="+", default=METHODS)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--model-url")
    arguments = parser.parse_args()
    asyncio.run(run(arguments.methods, arguments.rounds, arguments.model_url))


if __name__ == "__main__":
    main()
