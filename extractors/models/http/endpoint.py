"""One model server's connection: sends requests, reads streams, retries, and maps failures to errors.

Plain HTTP and not a vendor's package: `openai` would read an answer that is not a stream as an empty one,
knows neither TGI's `/generate` nor its errors inside of a stream, and takes keys, addresses and proxies from
the environment unless each is switched off.
"""

from __future__ import annotations

import asyncio
import base64
import re
import time
from collections import OrderedDict, deque
from collections.abc import AsyncIterator, Callable, Hashable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from ipaddress import ip_address
from random import Random
from typing import Any, Final
from urllib.parse import unquote, urlsplit

import httpx

from extractors.errors import ModelError, ModelReplyError, ModelRequestRefused, ModelTimeout, ModelUnavailable
from extractors.models.http.replies import Transcript, events, inner_error, parsed

# Overloaded or starting: worth another attempt. None is a broken connection.
_PASSING = (429, 503, None)


@dataclass(frozen=True)
class RetryPolicy:
    """Back-off with jitter: 429, 503 and broken connections several times, 424 once, nothing else.

    Seconds double with each attempt from `first_seconds` up to `longest_seconds`, spread by half either way
    so that clients that failed together do not come back together. A pause that the server asks for is
    waited out, up to `longest_asked_seconds`, and spread upwards only.
    """

    attempts: int = 5
    first_seconds: float = 0.5
    longest_seconds: float = 20.0
    longest_asked_seconds: float = 60.0
    random: Random = field(default_factory=Random)

    def wait(self, status: int | None, attempt: int, asked_seconds: float | None = None) -> float | None:
        """Give the seconds to wait after the failed `attempt` (counted from 1), or None to give up."""
        most = self.attempts if status in _PASSING else 2 if status == _GENERATION_FAILED else 1
        if attempt >= most:
            return None
        seconds = min(self.first_seconds * 2.0 ** (attempt - 1), self.longest_seconds)
        seconds *= self.random.uniform(0.5, 1.5)
        if asked_seconds is not None:
            asked = min(asked_seconds, self.longest_asked_seconds)
            seconds = max(seconds, asked * self.random.uniform(1.0, 1.25))
        return seconds


def pause_of(retry_after: str | None, now: datetime | None = None) -> float | None:
    """Read the header Retry-After (RFC 9110, 10.2.3), seconds or a date; None for what is neither."""
    try:
        return max(0.0, float(retry_after or ""))
    except ValueError:
        pass
    try:
        seconds = (parsedate_to_datetime(retry_after or "") - (now or datetime.now(UTC))).total_seconds()
    except (ValueError, TypeError):
        return None
    return max(0.0, seconds)


class Circuit:
    """Opens after `failures` calls in a row that found the server down, failing or silent.

    While it is open calls are refused at once. After `rest_seconds` one call is let through: its success
    closes the circuit, its failure opens it for as long again. An overloaded server (429) is alive, and an
    unusable reply is no failure of the server.
    """

    def __init__(
        self, *, failures: int = 3, rest_seconds: float = 15.0, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._most = failures
        self._rest = rest_seconds
        self._clock = clock
        self._failed = 0
        self._opened: float | None = None
        self._trying = False
        self._last = ""

    @property
    def state(self) -> str:
        """`closed` (asked as usual), `open`, or `half-open` (the next call is the trial)."""
        if self._opened is None:
            return "closed"
        return "half-open" if self._resting() <= 0 else "open"

    def check(self) -> None:
        """Raise `ModelUnavailable` while calls are refused."""
        if self._opened is None:
            return
        resting = self._resting()
        if resting > 0 or self._trying:
            when = f"in {resting:.0f} s" if resting > 0 else "just now"
            raise ModelUnavailable(
                f"the model server failed {self._failed} times in a row and is tried again {when}; "
                f"the last time: {self._last}"
            )

    @contextmanager
    def call(self) -> Iterator[None]:
        """Run a call under the circuit. Raises `ModelUnavailable` while calls are refused."""
        self.check()
        trial = self._opened is not None
        self._trying = self._trying or trial
        try:
            yield
        except ModelError as error:
            overloaded = isinstance(error, ModelUnavailable) and error.overloaded
            down = isinstance(error, ModelUnavailable | ModelTimeout) and not overloaded
            self._note(error if down else None)
            raise
        else:
            self._note(None)
        finally:
            if trial:
                self._trying = False

    def _resting(self) -> float:
        return 0.0 if self._opened is None else self._opened + self._rest - self._clock()

    def _note(self, failure: ModelError | None) -> None:
        """Count a failure, or close the circuit after a sign of life."""
        if failure is None:
            self._failed, self._opened = 0, None
            return
        self._failed, self._last = self._failed + 1, str(failure)
        if self._failed >= self._most:
            self._opened = self._clock()


class Slots:
    """Admits so many callers (`places`) at a time; waiting parties take turns, in order within a party.

    So a job with a thousand texts does not keep one person's text waiting for all of them. `taken` is how
    many are in. For one event loop.
    """

    def __init__(self, places: int) -> None:
        self.places = places
        self.taken = 0
        self._queues: OrderedDict[Hashable, deque[asyncio.Future[None]]] = OrderedDict()

    @property
    def waiting(self) -> int:
        """How many wait."""
        return sum(not place.done() for queue in self._queues.values() for place in queue)

    def resize(self, places: int) -> None:
        """Change the number of slots; running calls stay."""
        self.places = max(1, places)
        self._admit()

    @asynccontextmanager
    async def turn(self, party: Hashable = None) -> AsyncIterator[None]:
        """Wait for a place and keep it for the length of the block."""
        place = asyncio.get_running_loop().create_future()
        self._queues.setdefault(party, deque()).append(place)
        self._admit()
        try:
            await place
            yield
        finally:
            # A caller may leave as its place comes.
            if not place.cancelled():
                self.taken -= 1
                self._admit()

    def _admit(self) -> None:
        while self.taken < self.places and self._queues:
            party, queue = self._queues.popitem(last=False)
            place = queue.popleft()
            if queue:
                self._queues[party] = queue
            if not place.done():
                self.taken += 1
                place.set_result(None)


_DONE: Final = "[DONE]"
_GENERATION_FAILED: Final = 424
_TOO_LARGE: Final = 413
_TOO_LONG: Final = re.compile(
    r"`inputs` (?:tokens|must have less)|maximum (?:context|model)|context (?:size|length)|too many tokens",
    re.I,
)
"""How TGI, vLLM, SGLang and llama.cpp report that a prompt and its answer do not fit."""
_MOST_QUOTED: Final = 500
_HINTS: Final = {
    401: "set the API key (URBANKG_MODEL_API_KEY)",
    403: "check the API key's rights",
    404: "check that the URL is that of an OpenAI-compatible server and that the model exists",
    413: "shorten the text",
}


@dataclass(frozen=True)
class Timeouts:
    """Seconds that the parts of a call may take.

    `whole` is for a call with its retries and pauses, from when it got its place; `queue` for the wait
    before that.
    """

    whole: float = 120.0
    connect: float = 10.0
    first_token: float = 60.0
    between_tokens: float = 30.0
    queue: float = 600.0


class AttemptFailed(Exception):
    """One attempt failed; `error` is what the caller gets unless another attempt succeeds.

    `status` is the HTTP status, None for a broken connection, 0 for silence; `asked_seconds` the pause that
    the server named.
    """

    def __init__(
        self,
        error: ModelError,
        status: int | None,
        *,
        asked_seconds: float | None = None,
    ) -> None:
        super().__init__(str(error))
        self.error = error
        self.status = status
        self.asked_seconds = asked_seconds


class _Silence:
    """How long the server may stay silent: until its first token, then between tokens."""

    def __init__(self, deadline: asyncio.Timeout, seconds: float, between_tokens: float) -> None:
        self._deadline = deadline
        self._between_tokens = between_tokens
        self.seconds = seconds
        self.begun = False

    def token_came(self) -> None:
        self.begun, self.seconds = True, self._between_tokens
        self._deadline.reschedule(asyncio.get_running_loop().time() + self.seconds)


class Endpoint:
    """The connection to the server at a URL: its root, with or without /v1, or the whole endpoint.

    The URL may hold a user name and password, which are sent and not shown. Raises `ModelUnavailable` for
    what is not a URL, and for one with a query.
    """

    def __init__(self, url: str, *, api_key: str | None, timeouts: Timeouts) -> None:
        try:
            found = urlsplit(url.strip())
        except ValueError:
            raise ModelUnavailable("model_url is not a URL: write http://HOST:PORT") from None
        path = found.path.rstrip("/").removesuffix("/chat/completions").removesuffix("/v1").rstrip("/")
        self.root = f"{found.scheme}://{found.netloc.rpartition('@')[2]}{path}"
        if found.query:
            raise ModelUnavailable(
                f"the URL of the model server {self.root} has a query, which is not sent: a key belongs into "
                "URBANKG_MODEL_API_KEY"
            )
        self.timeouts = timeouts
        user, password = unquote(found.username or ""), unquote(found.password or "")
        basic = base64.b64encode(f"{user}:{password}".encode()).decode() if password else None
        self._secrets = [secret for secret in (api_key, found.password, password, basic) if secret]
        self._http = httpx.AsyncClient(
            headers={"Authorization": f"Bearer {api_key}"} if api_key else {},
            # Not in the URL of requests, which httpx logs.
            auth=(user, password) if user else None,
            timeout=httpx.Timeout(timeouts.whole, connect=timeouts.connect, pool=None),
            limits=httpx.Limits(max_connections=None, max_keepalive_connections=20),
            trust_env=not is_local(self.root),
        )

    async def get(self, path: str) -> Any:
        """Get JSON; anything else (404, a web page) gives None.

        Raises `AttemptFailed` when the server cannot be reached, is starting or is silent.
        """
        try:
            async with self._exchange("GET", path) as (response, _):
                return parsed(await response.aread())
        except ValueError:
            return None
        except AttemptFailed as failed:
            if failed.status in (429, 503, 0, None):
                raise
            return None

    async def post(self, path: str, request: Mapping[str, Any]) -> Mapping[str, Any]:
        """Post a request whose answer is not streamed. Raises `AttemptFailed`."""
        async with self._exchange("POST", path, request) as (response, _):
            return self._body((await response.aread()).decode("utf-8", "replace"))

    async def chat(self, request: Mapping[str, Any]) -> Transcript:
        """Post a chat completion and read the answer, streamed or not.

        A reply that goes on with white space is left, and the request closed. Raises `AttemptFailed`; its
        error is a `ModelReplyError` with what was said when the stream broke off.
        """
        transcript = Transcript()
        async with self._exchange("POST", "/v1/chat/completions", request) as (response, silence):
            if not response.headers.get("content-type", "").startswith("text/event-stream"):
                transcript.take(self._body((await response.aread()).decode("utf-8", "replace")))
                return transcript
            async for data in events(response.aiter_bytes()):
                if data == _DONE:
                    continue  # what is read to its end leaves the connection to the next request
                try:
                    chunk = parsed(data)
                except ValueError:
                    raise self._unusable("stream holds what is no JSON", data, transcript.text) from None
                self._check_inner(chunk, transcript.text)
                transcript.take(chunk)
                silence.token_came()
                if transcript.goes_on_with_white_space:
                    break
        if transcript.is_empty and request.get("stream"):
            # TGI before 3.0 leaves errors out of its streams: without one it says what is wrong.
            rest = {name: value for name, value in request.items() if name != "stream_options"}
            return await self.chat({**rest, "stream": False})
        return transcript

    @asynccontextmanager
    async def _exchange(
        self, method: str, path: str, request: Mapping[str, Any] | None = None
    ) -> AsyncIterator[tuple[httpx.Response, _Silence]]:
        """Send a request and give the response once its head is there; failures become `AttemptFailed`.

        A chat completion that is not streamed comes after its last token: it has the time of the whole call.
        """
        whole = request is not None and request.get("stream") is False
        limit = self.timeouts.whole if whole else self.timeouts.first_token
        silence = None
        try:
            async with (
                asyncio.timeout(limit) as deadline,
                self._http.stream(method, self.root + path, json=request) as response,
            ):
                if not response.is_success:
                    await response.aread()
                    raise self._refusal(response)
                silence = _Silence(deadline, limit, self.timeouts.between_tokens)
                yield response, silence
        except httpx.ConnectTimeout as error:
            raise self._down(error) from None
        except (TimeoutError, httpx.TimeoutException):
            raise self._silent(silence.seconds if silence else limit, silence) from None
        except (httpx.RequestError, httpx.InvalidURL, httpx.StreamError) as error:
            raise self._down(error) from None

    async def close(self) -> None:
        """Close the connections."""
        await self._http.aclose()

    def _body(self, text: str) -> Mapping[str, Any]:
        try:
            body = parsed(text)
        except ValueError:
            body = None
        if not isinstance(body, dict):
            raise self._unusable("answer is not JSON", text, text[:_MOST_QUOTED])
        self._check_inner(body, text)
        return body

    def _check_inner(self, body: Any, said: str) -> None:
        found = inner_error(body)
        if found is not None:
            status, words = found
            if status is None or status == 200:
                raise self._unusable("answer reports an error", words, said)
            raise AttemptFailed(self._failure(status, words), status)
        if not isinstance(body, dict):
            raise self._unusable("stream holds what is no JSON object", str(body), said)

    def _unusable(self, what: str, words: str, said: str) -> AttemptFailed:
        shown = self.redacted(words)[:_MOST_QUOTED]
        return AttemptFailed(ModelReplyError(f"the model server's {what}: {shown}", self.redacted(said)), 200)

    def _refusal(self, response: httpx.Response) -> AttemptFailed:
        status, words = response.status_code, response.text.strip()
        try:
            found = inner_error(parsed(words))
        except ValueError:
            found = None
        return AttemptFailed(
            self._failure(status, found[1] if found else words),
            status,
            asked_seconds=pause_of(response.headers.get("retry-after")),
        )

    def _failure(self, status: int, words: str) -> ModelError:
        said = self.redacted(words)[:_MOST_QUOTED]
        server = f"the model server at {self.root}"
        if status == 429:
            return ModelUnavailable(f"{server} is overloaded (429): try later. {said}", overloaded=True)
        if status == _GENERATION_FAILED:
            return ModelReplyError(f"{server} failed while generating (424), twice: see its log. {said}", "")
        if status >= 500:
            return ModelUnavailable(f"{server} failed ({status}): see its log. {said}")
        hint = _HINTS.get(status, "shorten the text, or check that the model fits the prompt")
        too_long = status == _TOO_LARGE or _TOO_LONG.search(words) is not None
        refusal = f"the model server refused the request ({status}): {hint}. {said}"
        return ModelRequestRefused(refusal, status, too_long=too_long)

    def _down(self, error: Exception) -> AttemptFailed:
        reason = self.redacted(str(error)) or type(error).__name__
        return AttemptFailed(
            ModelUnavailable(
                f"the model server at {self.root} cannot be reached ({reason}): start it, or correct the "
                "URL, or unset URBANKG_MODEL_URL to use the embedded model"
            ),
            None,
        )

    def _silent(self, seconds: float, silence: _Silence | None) -> AttemptFailed:
        what = "did not answer within"
        if silence is not None and silence.begun:
            what = "stopped in the middle of its reply for"
        return AttemptFailed(
            ModelTimeout(
                f"the model server at {self.root} {what} {seconds:g} s: see whether it is "
                "overloaded or still loads the model"
            ),
            0,
        )

    def redacted(self, words: str) -> str:
        """Return the words without the key and the password, which some servers quote."""
        for secret in self._secrets:
            words = words.replace(secret, "***")
        return words


def is_local(url: str) -> bool:
    """Whether the URL is on this machine, so that no proxy is used."""
    host = urlsplit(url).hostname or ""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False
