"""The child process that holds the embedded model: JSON lines in, JSON lines out.

A process of its own, because a crash of native code must not take the server along. Each request is one line:
the body of an OpenAI chat completion, or {"form": ...} with what `extractors.models.chat.BlankForm` holds
and "none", the answer that says that there is none; each reply is one line, the engine's answer. The first
line out is {"ready": true}. It ends when its input ends.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import secrets
import sys
from typing import Any, TextIO

# llama.cpp's OpenMP threads otherwise spin while they wait and starve all else on a small machine. Never
# to spin costs a third of the time: two threads meet hundreds of times for a token, and to sleep and be
# woken takes longer than what the other has left to do. So they spin for less than a tenth of a millisecond
# (a sentence: 3.9 s without, 2.7 s with it; beside two busy processes on two processors 9.5 s and 7.2 s).
# libgomp reads these once, when it is loaded.
_QUIET_THREADS = {"OMP_WAIT_POLICY": "PASSIVE", "GOMP_SPINCOUNT": "2000"}


def _start(arguments: argparse.Namespace) -> Any:
    os.environ.update(_QUIET_THREADS)
    import xllamacpp  # only now: see _QUIET_THREADS

    params = xllamacpp.CommonParams()
    params.model.path = arguments.weights
    params.lora_adapters = (
        [xllamacpp.CommonAdapterLoraInfo(arguments.adapter, 1.0)] if arguments.adapter else []
    )
    params.n_ctx = arguments.context
    params.n_parallel = 1
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = arguments.threads
    params.cache_prompt = True
    params.cache_ram_mib = 0
    params.verbosity = -1
    params.warmup = False
    params.ui = False
    # The engine always listens on a loopback port as well; this key is never passed on.
    params.api_keys = [secrets.token_hex(32)]
    return xllamacpp.Server(params)


_ALTERNATIVES = 12


def _complete(server: Any, prompt: str, tokens: int, grammar: str | None = None) -> Any:
    request = {
        "prompt": prompt,
        "n_predict": tokens,
        "temperature": 0,
        "n_probs": _ALTERNATIVES,
        "cache_prompt": True,
    }
    return server.handle_completions(request | ({"grammar": grammar} if grammar else {}))


def _fill(server: Any, form: Any) -> Any:
    """Answer the fields one after another; what they share is computed once and kept by the engine.

    Whether there is an answer is the probability of everything but "none" as its first token. Where that is
    enough the answer follows its grammar, which has no "none".
    """
    fields, read, written = [], 0, 0
    for field in form["fields"]:
        prompt = form["opening"] + field["heading"]
        body = _complete(server, prompt, 1)
        if "choices" not in body:
            return body
        first = _entries(body)
        read += body["timings"]["prompt_n"]
        if not first and body["choices"][0]["finish_reason"] == "length":
            # The first token is part of a character, which the engine leaves out with its alternatives.
            body = _complete(server, prompt, 1, _only(form["none"]))
            if "choices" not in body:
                return body
            first = [{"top_logprobs": _entries(body)}]
        presence = _presence(first[0]["top_logprobs"], form["none"]) if first else 0.0
        tokens: list[Any] = []
        if presence >= form["least_presence"]:
            body = _complete(server, prompt, form["maximum_tokens"], field["grammar"])
            if "choices" not in body:
                return body
            entries = _entries(body)
            whole = body["choices"][0]["finish_reason"] != "length"
            tokens = _pieces(entries if whole else _lines(entries))
            written += len(entries)
        fields.append([presence, tokens])
    return {"fields": fields, "prompt_tokens": read, "completion_tokens": written}


def _entries(body: Any) -> list[Any]:
    """The tokens of a completion; the engine leaves them out where the end came first."""
    return ((body["choices"][0].get("logprobs") or {}).get("content")) or []


def _only(words: str) -> str:
    """A grammar that allows these words only; their probabilities are still those without a grammar."""
    return f"root ::= {json.dumps(words)}\n"


def _presence(alternatives: list[Any], none: str) -> float:
    said = sum(math.exp(one["logprob"]) for one in alternatives if one["token"] == none)
    return min(1.0, max(0.0, 1.0 - said))


def _lines(entries: list[Any]) -> list[Any]:
    """Keep the whole lines of an answer that was cut off."""
    ends = [place for place, one in enumerate(entries) if "\n" in one["token"]]
    return entries[: ends[-1]] if ends else []


def _pieces(entries: list[Any]) -> list[Any]:
    return [{"bytes": one["bytes"], "logprob": one["logprob"]} for one in entries]


def _claim_output() -> TextIO:
    """Keep standard output for replies: what native code prints goes to standard error."""
    replies = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    return replies


def main() -> None:
    """Load the model, then answer requests until the input ends."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--weights", required=True)
    parser.add_argument("--adapter", default="")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--context", type=int, default=4096)
    replies = _claim_output()
    server = _start(parser.parse_args())

    def send(answer: Any) -> None:
        replies.write(json.dumps(answer, ensure_ascii=True) + "\n")
        replies.flush()

    send({"ready": True})
    for line in sys.stdin:
        try:
            request = json.loads(line)
            form = request.get("form")
            send(_fill(server, form) if form else server.handle_chat_completions(request))
        except ValueError as error:  # what llama.cpp cannot turn into a grammar
            send({"error": {"type": "invalid_request_error", "message": str(error)}})


if __name__ == "__main__":
    main()
