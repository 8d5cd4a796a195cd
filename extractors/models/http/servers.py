"""Which kind of model server is behind a URL, the request format of that kind, and what it does not report.

Recognized by GET /info (only text-generation-inference answers with `router` and `max_total_tokens`), else by
`owned_by` in GET /v1/models. /generate is never probed: SGLang has it too. Whether a server follows schemas
and whether an adapter is active is tested, since both fail silently: a server that drops the schema answers
in prose now and then, and TGI answers for an adapter that it does not have with the base model.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import PurePath
from typing import Any, Final, Literal
from urllib.parse import urlsplit

from extractors.errors import ModelReplyError, ModelRequestRefused, ModelUnavailable
from extractors.models.chat import Message, Reply
from extractors.models.http.endpoint import AttemptFailed, Endpoint
from extractors.models.schemas import strict_form

OPENAI_HOSTS = frozenset(("api.openai.com",))


class ServerKind(StrEnum):
    """The servers that are known; OTHER is any that offers OpenAI's chat completions."""

    TGI = "text-generation-inference"
    VLLM = "vllm"
    SGLANG = "sglang"
    LLAMA_CPP = "llamacpp"
    OPENAI = "openai"
    OTHER = "other"


SchemaForm = Callable[[Mapping[str, Any]], dict[str, Any]]
"""Gives the `response_format` that asks for a schema."""


def tgi_form(schema: Mapping[str, Any]) -> dict[str, Any]:
    """The enum `GrammarType` of TGI's router, in the form of every version; the others refuse or drop it."""
    return {"type": "json", "value": dict(schema)}


def openai_form(schema: Mapping[str, Any]) -> dict[str, Any]:
    """OpenAI's form, which vLLM, SGLang and llama.cpp take too; TGI refuses it."""
    closed, strict = strict_form(schema)
    return {"type": "json_schema", "json_schema": {"name": "reply", "schema": closed, "strict": strict}}


def schema_forms(kind: ServerKind) -> tuple[SchemaForm, ...]:
    """Give the forms that a server of this kind may take, the likeliest first."""
    if kind is ServerKind.TGI:
        return (tgi_form,)
    # A server that does not say what it is may be a TGI behind a gateway.
    return (openai_form, tgi_form) if kind is ServerKind.OTHER else (openai_form,)


@dataclass(frozen=True)
class ModelServer:
    """What a server reports about itself.

    `models` begins with the base model if the server reports it. `concurrency` is the most
    requests that it takes at a time, the tokens are its limits for one request; None where it does not say.
    """

    kind: ServerKind
    models: tuple[str, ...]
    concurrency: int | None = None
    version: str | None = None
    base: str | None = None
    adapters: tuple[str, ...] = ()
    max_input_tokens: int | None = None
    max_total_tokens: int | None = None


async def recognize(endpoint: Endpoint) -> ModelServer:
    """Find out the kind of a server. Raises `AttemptFailed` when it cannot be reached."""
    if urlsplit(endpoint.root).hostname in OPENAI_HOSTS:
        return ModelServer(ServerKind.OPENAI, ())
    info = _object(await endpoint.get("/info"))
    entries = _objects(_object(await endpoint.get("/v1/models")).get("data"))
    names = tuple(str(entry["id"]) for entry in entries if "id" in entry)
    if "router" in info and "max_total_tokens" in info:
        base = _words(info, "model_id")
        return ModelServer(
            ServerKind.TGI,
            names or ((base,) if base else ()),
            concurrency=_count(info, "max_concurrent_requests"),
            version=_words(info, "version"),
            base=base,
            max_input_tokens=_count(info, "max_input_tokens"),
            max_total_tokens=_count(info, "max_total_tokens"),
        )
    owners = {str(entry.get("owned_by", "")).lower() for entry in entries}
    if ServerKind.LLAMA_CPP.value in owners:
        return await _llama_cpp(endpoint, names)
    kind = next((kind for kind in (ServerKind.VLLM, ServerKind.SGLANG) if kind.value in owners), None)
    if kind is None:
        return ModelServer(ServerKind.OTHER, names)
    # Both list a LoRA adapter as a model with a parent.
    adapters = tuple(str(entry.get("id")) for entry in entries if entry.get("parent"))
    return ModelServer(
        kind,
        names,
        version=_words(_object(await endpoint.get("/version")), "version"),
        base=next((name for name in names if name not in adapters), None),
        adapters=adapters,
        max_total_tokens=next((_count(entry, "max_model_len") for entry in entries), None),
    )


async def _llama_cpp(endpoint: Endpoint, names: tuple[str, ...]) -> ModelServer:
    """Its slots are how many requests it works on at a time; others wait in it without a sign of life."""
    props = _object(await endpoint.get("/props"))
    loaded = _objects(await endpoint.get("/lora-adapters")) if props else ()
    return ModelServer(
        ServerKind.LLAMA_CPP,
        names,
        concurrency=_count(props, "total_slots"),
        version=_words(props, "build_info"),
        base=names[0] if names else None,
        adapters=tuple(
            PurePath(str(entry.get("path"))).stem for entry in loaded if float(entry.get("scale") or 0) > 0
        ),
        max_total_tokens=_count(_object(props.get("default_generation_settings")), "n_ctx"),
    )


def _object(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _objects(value: Any) -> tuple[Mapping[str, Any], ...]:
    return tuple(entry for entry in value if isinstance(entry, Mapping)) if isinstance(value, list) else ()


def _count(body: Mapping[str, Any], key: str) -> int | None:
    value = body.get(key)
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else None


def _words(body: Mapping[str, Any], key: str) -> str | None:
    value = body.get(key)
    return value if isinstance(value, str) and value else None


_log = logging.getLogger("urbankg.model")
_REFUSES: Final = (400, 415, 422)

# Keys and values that no model would come upon by itself, and no word of them in the question.
CANARY_SCHEMA: Final[dict[str, Any]] = {
    "type": "object",
    "properties": {
        "qx_brindle": {"type": "string", "enum": ["ochre-7", "teal-4"]},
        "vorpal_tally": {"type": "string", "enum": ["nine-k", "two-k"]},
    },
    "required": ["qx_brindle", "vorpal_tally"],
    "additionalProperties": False,
}
SCHEMA_MESSAGES: Final = (Message("user", "Which month comes after May?"),)
_CANARY_TOKENS: Final = 96

_SAMPLE_MESSAGES: Final = (
    Message("system", "Extract facts from the text."),
    Message(
        "user",
        "Relations: is a; located in; opened\nText: Alder Hall is a museum in Porto. It opened in 1931.",
    ),
)
_SAMPLE_TOKENS: Final = 24
_SAME_LOGPROB: Final = 1e-3
_NOBODY: Final = "urbankg-no-such-adapter"


SchemaState = Literal["honoured", "dropped", "refused", "unknown"]
"""What the canary showed."""
AdapterState = Literal["none", "listed", "in force", "unsure", "missing"]
"""What is known of the configured adapter.

`listed`: the server names it. `in force`: it answers otherwise than the base model. `unsure`: its answers
vary.
"""


@dataclass(frozen=True)
class ProbedServer:
    """The result of a probe; `model` is what requests name, `at` is the time of the probe.

    `form` is how requests ask for a schema. Where it is None the server ignores or refuses schemas: prompts
    spell the format out, and the reply is searched for it.
    """

    server: ModelServer
    form: SchemaForm | None
    schema: SchemaState
    adapter: AdapterState
    model: str | None
    wanted: str | None
    at: float

    @property
    def name(self) -> str | None:
        """The model or adapter, as it is shown."""
        name = self.wanted or self.model
        return _shown(name) if name else None

    @property
    def base(self) -> str | None:
        """The base model's name, if the server reports it."""
        return _shown(self.server.base) if self.server.base else None

    @property
    def adapter_name(self) -> str | None:
        """The LoRA adapter in force."""
        if self.adapter == "none":
            return None
        return self.wanted or "+".join(self.server.adapters) or None


def chat_request(
    server: ModelServer,
    model: str | None,
    messages: Sequence[Message],
    max_tokens: int,
    temperature: float,
    *,
    stream: bool = True,
) -> dict[str, Any]:
    """The body of a chat completion as this kind of server takes it."""
    request: dict[str, Any] = {
        "model": model or "default",
        "messages": [asdict(message) for message in messages],
        "max_completion_tokens" if server.kind is ServerKind.OPENAI else "max_tokens": max_tokens,
        "temperature": temperature,
        "stream": stream,
    }
    if stream:
        request["stream_options"] = {"include_usage": True}
    if server.kind is not ServerKind.OTHER:  # an unknown one may refuse it
        request["logprobs"] = True
    if server.kind is ServerKind.LLAMA_CPP:
        request["top_logprobs"] = 1  # else it sends twenty with each token
    return request


async def probe_server(
    endpoint: Endpoint, server: ModelServer, wanted: str | None, at: float
) -> ProbedServer:
    """Test what a server does not report, and log warnings.

    Raises `ModelUnavailable` when it does not serve the model or adapter that is `wanted`, and
    `AttemptFailed` when it could not be asked.
    """
    model = wanted or server.base or next(iter(server.models), None)
    if wanted and server.kind is ServerKind.SGLANG and wanted not in server.models[:1] and ":" not in wanted:
        model = f"{server.base}:{wanted}"  # it ignores a bare name
    adapter = await _adapter_state(endpoint, server, wanted, model)
    form, schema = await _schema_state(endpoint, server, model)
    if adapter == "unsure":
        _log.warning("the model server's answers do not show whether it has the adapter %r", wanted)
    if form is None:
        _log.warning(
            "the model server at %s %s JSON schemas: prompts spell the format out, and replies are checked "
            "here; expect more unusable replies",
            endpoint.root,
            "ignores" if schema == "dropped" else "refuses",
        )
    return ProbedServer(server, form, schema, adapter, model, wanted, at)


async def _schema_state(
    endpoint: Endpoint, server: ModelServer, model: str | None
) -> tuple[SchemaForm | None, SchemaState]:
    tried = schema_forms(server.kind)
    for form in tried:
        request = chat_request(server, model, SCHEMA_MESSAGES, _CANARY_TOKENS, 0.0)
        request["response_format"] = form(CANARY_SCHEMA)
        try:
            said = (await endpoint.chat(request)).text
        except AttemptFailed as failed:
            if failed.status in _REFUSES:
                continue
            if isinstance(failed.error, ModelReplyError):
                return tried[0], "unknown"
            raise
        if follows_canary(said):
            return form, "honoured"
        # A model that thinks before it speaks may not have come to its answer.
        return (None, "dropped") if said else (form, "unknown")
    return None, "refused"


def follows_canary(text: str) -> bool:
    """Return whether a reply to the canary follows its schema."""
    try:
        found = json.loads(text)
    except ValueError:
        return False
    properties = CANARY_SCHEMA["properties"]
    return (
        isinstance(found, dict)
        and found.keys() == properties.keys()
        and all(found[name] in properties[name]["enum"] for name in properties)
    )


async def _adapter_state(
    endpoint: Endpoint, server: ModelServer, wanted: str | None, model: str | None
) -> AdapterState:
    if wanted is None:
        # The adapters of llama.cpp work on every request, whatever model that names.
        always = server.kind is ServerKind.LLAMA_CPP and server.adapters
        return "listed" if always else "none"
    if wanted in server.adapters:
        return "listed"
    if wanted in server.models or (server.base is not None and wanted == _shown(server.base)):
        return "none"
    if server.kind in (ServerKind.TGI, ServerKind.SGLANG) and server.base is not None and model:
        found = await _compared(endpoint, server, server.base, model)
        if found != "missing":
            return found
    elif not server.models:
        return "none"
    offered = ", ".join(map(_shown, dict.fromkeys((*server.models, *server.adapters))))
    raise ModelUnavailable(
        f"the model server at {endpoint.root} does not offer {wanted!r}; it offers {offered}: configure one "
        "of these (model_name), or load the adapter there"
    )


async def _compared(endpoint: Endpoint, server: ModelServer, base: str, adapter: str) -> AdapterState:
    """Find out from its answers whether a server has an adapter: for a missing one it answers with the base.

    A name that nobody has is the measure: what it gets twice must be the same before a difference counts.
    """

    async def sample(model: str) -> Reply:
        said = await endpoint.chat(chat_request(server, model, _SAMPLE_MESSAGES, _SAMPLE_TOKENS, 0.0))
        said.finish_reason = "stop"  # cut off on purpose
        return said.reply(model=model, adapter=None)

    # SGLang refuses a name that nobody has.
    nobody = _NOBODY if server.kind is ServerKind.TGI else base
    try:
        adapter_said, base_said, nobody_said = [await sample(name) for name in (adapter, base, nobody)]
    except ModelReplyError:
        return "unsure"
    except AttemptFailed as failed:
        if isinstance(failed.error, ModelRequestRefused):
            return "missing"
        raise
    if _same(adapter_said, base_said) or _same(adapter_said, nobody_said):
        return "missing"
    return "in force" if _same(base_said, nobody_said) else "unsure"


def _same(one: Reply, other: Reply) -> bool:
    if one.text != other.text:
        return False
    pairs = zip(one.tokens, other.tokens, strict=False)
    return all(abs(a.logprob - b.logprob) <= _SAME_LOGPROB for a, b in pairs)


def _shown(model: str) -> str:
    """Return a model's name; llama.cpp reports the file's path, of which the folder is not shown."""
    return PurePath(model).name if model.startswith("/") else model
