"""Questions run beside the event loop, so many of one client at a time, and end with the server."""

import asyncio
import threading
import time
from statistics import median

import pytest

from server.runtime.asking import AskingThread, at_home
from sparql.ask.budget import Budget, current_budget
from sparql.ask.errors import QuestionsRefused
from sparql.workers.fair_queue import CLIENT


async def compute() -> None:
    with current_budget().computing():
        while True:
            current_budget().tick()


async def test_what_computes_does_not_keep_the_loop_waiting_and_ends_when_it_is_cancelled():
    thread = AskingThread()
    asked = asyncio.create_task(thread.run(compute, Budget(computing_s=30)))
    waited = []
    for _ in range(40):
        started = time.perf_counter()
        await asyncio.sleep(0.005)
        waited.append(time.perf_counter() - started)
    assert median(waited) < 0.2
    asked.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asked

    async def quick() -> str:
        return threading.current_thread().name

    async with asyncio.timeout(10):
        assert await thread.run(quick, Budget()) == "asking"
    thread.close()


async def test_what_a_question_waits_for_runs_on_the_loop_of_its_caller():
    thread, loop = AskingThread(), asyncio.get_running_loop()

    async def here() -> bool:
        return asyncio.get_running_loop() is loop

    async def question() -> bool:
        return await at_home(here())

    assert await thread.run(question, Budget())
    thread.close()


async def test_one_client_asks_so_many_questions_at_a_time_and_another_is_still_answered():
    thread = AskingThread()

    async def wait() -> None:
        await asyncio.sleep(60)

    async def none() -> int:
        return 1

    CLIENT.set("eager")
    asked = [asyncio.create_task(thread.run(wait, Budget())) for _ in range(16)]
    await asyncio.sleep(0.05)
    with pytest.raises(QuestionsRefused, match="Too many questions"):
        await thread.run(none, Budget())
    CLIENT.set("other")
    assert await thread.run(none, Budget()) == 1
    for one in asked:
        one.cancel()
    await asyncio.gather(*asked, return_exceptions=True)
    thread.close()


async def test_the_end_of_the_server_ends_its_questions_in_words():
    thread = AskingThread()
    computing = asyncio.create_task(thread.run(compute, Budget(computing_s=30)))
    await asyncio.sleep(0.1)
    thread.close()
    async with asyncio.timeout(2):
        with pytest.raises(QuestionsRefused, match="shutting down"):
            await computing
    with pytest.raises(QuestionsRefused, match="shutting down"):
        await thread.run(compute, Budget())
