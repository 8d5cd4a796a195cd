"""The settings: one table of names, defaults and help; `settings_loading` says where values come from."""

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Final, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field
from pyoxigraph import NamedNode

from extractors import MethodName
from server.http.access.clients import networks_of
from shapes.configuration import Generation, generation_of
from sparql.model.geometry import Tolerances
from sparql.storage.durability import Durability

# A name or an IPv4 address, or an IPv6 address with or without its brackets.
_HOST_NAME = re.compile(r"[^\s/@:*\[\]]+|\[?[0-9A-Fa-f.]*:[0-9A-Fa-f.]*:[0-9A-Fa-f:.]*\]?")
# Letters, digits and dots only where the content security policy names the host.
_TILES = re.compile(
    r"https?://[A-Za-z0-9.-]+(?::\d+)?/(?=\S*\{z\})(?=\S*\{x\})(?=\S*\{y\})[^\s\"'<>]*", re.ASCII
)
_ORIGIN = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://[^/@\s*]+")


def listed(value: str) -> list[str]:
    """The parts between commas."""
    return [part for piece in value.split(",") if (part := piece.strip())]


def _from_json(value: object) -> object:
    """A value of the environment, read as JSON; any other value as it is."""
    if not isinstance(value, str):
        return value
    try:
        return json.loads(value)
    except json.JSONDecodeError as error:
        raise ValueError(f'not JSON ({error}); write {{"http://example.org/District": 0.5}}') from error


def _networks(value: str) -> str:
    networks_of(value)
    return value


def _an_iri(value: str) -> str:
    NamedNode(value)
    return value


def _host_names(value: str) -> str:
    for name in listed(value):
        if name != "*" and not _HOST_NAME.fullmatch(name):
            raise ValueError(f"'{name}' is not a host name; write it without http:// and without a port")
    return value


def _tile_address(value: str) -> str:
    if value and not _TILES.fullmatch(value):
        raise ValueError(
            f"'{value}' is not an address of tiles; write https://tiles.example/{{z}}/{{x}}/{{y}}.png"
        )
    return value


def _origins(value: str) -> str:
    for origin in listed(value):
        if origin != "*" and not _ORIGIN.fullmatch(origin):
            raise ValueError(f"'{origin}' is not an origin; write https://app.example, without a path, or *")
    return value


_Iri = Annotated[str, AfterValidator(_an_iri)]
_Meters = Annotated[float, Field(ge=0, lt=100_000)]

MetersByClass = Annotated[dict[_Iri, _Meters], BeforeValidator(_from_json)]
Networks = Annotated[str, AfterValidator(_networks)]
HostNames = Annotated[str, AfterValidator(_host_names)]
Origins = Annotated[str, AfterValidator(_origins)]
TileAddress = Annotated[str, AfterValidator(_tile_address)]
GeneratedShapes = Annotated[Generation, BeforeValidator(generation_of)]

CONSTANTS: Final[Mapping[str, str]] = {
    "ask_samples": "3 plans",
    "duplicate_threshold": "0.75",
    "extraction_samples": "one reading",
    "geocode": "on",
    "geometry_slack_m": "500 m",
    "implied_kinds": "on",
    "job_attempts": "3",
    "job_concurrency": "that of model_concurrency",
    "max_header_bytes": "131072",
    "max_query_chars": "200000",
    "max_query_depth": "100",
    "max_query_operators": "2000",
    "model_first_token_timeout_s": "60 s",
    "model_token_timeout_s": "30 s",
    "remote_timeout_s": "20 s",
    "resolution_distance_m": "1000 m",
    "shacl_engine": "compiled",
    "slow_query_s": "1 s",
    "store_timeout_s": "60 s",
}
"""What was a setting once, with its value now."""


class Settings(BaseModel):
    """Everything that can be set. The description of each field is its help in the documentation."""

    model_config = ConfigDict(frozen=True, extra="forbid", protected_namespaces=())

    data: Path = Field(Path("data"), description="Folder of the graph; made when it does not exist.")
    store_url: str | None = Field(
        None,
        pattern=r"^https?://",
        description="SPARQL 1.1 endpoint (queries) of a store at another host that holds the graph; `data` "
        "is then the folder beside it. Not set: the graph is in `data`.",
    )
    store_update_url: str | None = Field(
        None, pattern=r"^https?://", description="Where that store accepts updates; `store_url` when not set."
    )
    store_graph_url: str | None = Field(
        None,
        pattern=r"^https?://",
        description="Where that store accepts graphs (Graph Store HTTP Protocol), for faster large writes.",
    )
    store_default_graph: str | None = Field(
        None,
        description="IRI of the named graph that is the default graph in that store; needed where the "
        "store's own is the union of all graphs (Virtuoso, GraphDB).",
    )
    store_user: str | None = Field(None, description="User name for that store.")
    store_password: str | None = Field(
        None, description="Password for that store.", json_schema_extra={"secret": True}
    )
    store_token: str | None = Field(
        None, description="Bearer token for that store.", json_schema_extra={"secret": True}
    )
    store_auth: Literal["basic", "digest"] = Field(
        "basic", description="How the user name and password are sent: `basic`, or `digest` (Virtuoso)."
    )
    host: str = Field("127.0.0.1", description="Address to listen on.")
    port: int = Field(8000, ge=0, le=65535, description="Port to listen on; 0 takes a free one.")
    public_url: str | None = Field(
        None, description="Address by which clients know the server; http://host:port when not set."
    )
    allowed_hosts: HostNames = Field(
        "",
        description="More names that the server answers to, with commas between, beside `host`, that of "
        "`public_url` and the machine's own; `*`: all. Requests to other names get 421.",
    )
    cors_origins: Origins = Field(
        "",
        description="Origins whose web pages may read `/sparql`, `/query` and VoID, with commas between "
        "(`https://app.example`); `*`: all. Empty: none.",
    )
    tile_address: TileAddress = Field(
        "",
        description="Address of map tiles that the page draws beneath the graph's areas "
        "(`https://tiles.example/{z}/{x}/{y}.png`); its content security policy then allows that origin's "
        "pictures. Empty: the graph's own areas only.",
    )
    tile_credit: str = Field("", description="Whose tiles they are, as the map says it.")
    ontology: Path | None = Field(None, description="Folder of OWL files; the shipped ones when not set.")
    shapes: Path | None = Field(None, description="Folder of SHACL files; the shipped ones when not set.")
    message_languages: str = Field(
        "en",
        description="Languages of shapes' messages, as codes with commas between, the preferred first. Of a "
        "shape with messages in several languages, one is reported; the `Accept-Language` of a request "
        "goes before.",
    )
    generate_shapes: GeneratedShapes = Field(
        "contradictions",
        description="Which shapes are also made from the ontology's axioms, where none is written by hand: "
        "those that refuse what contradicts an axiom (`contradictions`), or also what is not known to "
        "satisfy one (`closed`). `true` is read as `closed`, `false` as `off`.",
    )
    reasoner: Literal["none", "hermit", "pellet"] = Field(
        "hermit",
        description="Reasoner that checks the ontology in the background after an edit is in force "
        "(consistency, impossible classes); `pellet` also explains. Needs the extra `reasoning`.",
    )
    watch_files_s: float = Field(
        1, ge=0, description="Seconds between looks at the files of ontology and shapes; 0: never."
    )
    base_iri: str = Field(
        "https://w3id.org/urbankg/id/",
        pattern=r"^[a-z][a-z0-9+.-]*:[^\s<>\"{}|\\^`]+[/#]$",
        description="IRI under which new entities are named; ends in / or #.",
    )
    model_url: str | None = Field(
        None, description="A TGI-compatible server; the embedded model when not set."
    )
    model_name: str | None = Field(
        None,
        description="The base model: its name at that server; for the embedded model a GGUF file, the "
        "packaged one when not set.",
    )
    model_adapter: str | None = Field(
        None,
        description="The LoRA adapter: the folder of a training run, a GGUF file for the embedded model, or "
        "its name at that server. Its `adapter.json` says what it may be asked. When not set: the shipped "
        "one on the packaged weights, else none.",
    )
    model_api_key: str | None = Field(
        None, description="Key for that server.", json_schema_extra={"secret": True}
    )
    model_prompts: Literal["full", "compact"] | None = Field(
        None,
        description="Which prompts the model gets: `compact`, the form that the shipped adapter was trained "
        "on, or `full`, dialogs. When not set: what the adapter was trained on, `full` where that is not "
        "known.",
    )
    model_timeout_s: float = Field(
        120, gt=0, description="Seconds one reply of the model may take, with retries and their pauses."
    )
    model_concurrency: int = Field(
        8,
        ge=1,
        description="Requests sent to that server at a time, and documents of jobs in work; fewer if it says "
        "that it takes fewer.",
    )
    model_price_input: float | None = Field(
        None, ge=0, description="Price of a million tokens sent to the model, in `model_currency`."
    )
    model_price_output: float | None = Field(
        None, ge=0, description="Price of a million tokens that the model writes."
    )
    trace_message_chars: int = Field(
        20_000,
        ge=0,
        description="Most characters of each message to the model, and of each reply, that the trace of an "
        "extraction keeps; the middle is left out. 0: no trace is kept.",
    )
    model_currency: str = Field("USD", description="The currency of these prices, as its ISO 4217 code.")
    calibration: Path | None = Field(
        None,
        description="JSON file that converts the model's scores to probabilities "
        "(`extractors/checks/calibration.py`); "
        "for the embedded model the one beside its adapter, where there is one, when not set.",
    )
    extraction_method: MethodName = Field(
        "fast",
        description="How texts are read: `fast` asks one question; `thorough` takes three views with chain "
        "of thought, refinement and tools. The others are in docs/models.md.",
    )
    extraction_timeout: float = Field(
        120.0,
        gt=0,
        description="Seconds that the extraction from one text may take. Then what was read so far is "
        "judged, and the answer says where it stopped (`incomplete`).",
    )
    extraction_confidence: float = Field(
        0.5,
        ge=0,
        le=1,
        description="A statement that is less probable waits in review. Models without probabilities are "
        "not affected.",
    )
    ask_queries: bool = Field(
        False,
        description="That model may write SPARQL where it makes no plan either. The query only reads, has "
        "terms of the graph alone and uses every word, or is repaired or refused.",
    )
    prompts: Path | None = Field(
        None, description="Folder of prompt files that replace the shipped ones of the same name."
    )
    language: str = Field(
        "en", description="Languages of texts, as codes with commas between; empty accepts any."
    )
    max_text_chars: int = Field(200_000, gt=0, description="Longest text of one extraction, in characters.")
    max_body_bytes: int = Field(
        1_500_000, gt=0, description="Largest body of a request other than a graph store's, in bytes."
    )
    max_job_bytes: int = Field(
        1_000_000_000, gt=0, description="Largest body of documents for a job, in bytes, unpacked."
    )
    job_cluster: str | None = Field(
        None,
        pattern=r"^[a-z]+://",
        description="Scheduler of a Dask cluster, tcp://host:port, whose workers extract for jobs; the "
        "server's own model when not set.",
    )
    readers: int = Field(
        2,
        ge=1,
        description="Most processes that answer queries of one client; there is one more than that.",
    )
    query_timeout_s: float = Field(30, gt=0, description="Seconds a query may take unless it asks for less.")
    query_timeout_max_s: float = Field(
        300, gt=0, description="Most seconds that the `timeout` parameter may ask for."
    )
    query_memory_mb: int = Field(2048, ge=64, description="Memory one query may take, in MB.")
    shapes_timeout_s: float | None = Field(
        None,
        gt=0,
        description="Seconds that judging one change by the shapes may take, and trying edited rules on the "
        "graph; `query_timeout_s` when not set.",
    )
    tolerance_m: float = Field(
        0, ge=0, description="How far borders may be off when features are related, in meters; 0 is exact."
    )
    layer_tolerance_m: MetersByClass = Field(
        {},
        description="The same for the features of some classes, by the IRI of the class: a table in TOML, a "
        "JSON object in the environment. Of two features the larger tolerance counts.",
    )
    extent: str = Field(
        "",
        description="The area that every geometry must lie in, as WKT (CRS84, or with the IRI of its "
        "reference system before it): POLYGON ((-74.3 40.45, ...)). When not set, the ukg:extent of the "
        "ontology, else anywhere on earth.",
    )
    link_threshold: float = Field(
        0.9,
        ge=0,
        description="Least similarity at which something new in a text is linked to a known entity of the "
        "same words (up to order, plural and ways to spell them) and a fitting class: 0.9 for the words, "
        "more where both are near each other; above 1: never.",
    )
    gazetteers: str = Field(
        "", description="Gazetteer files (CSV, GeoJSON) with commas between; see docs/loading.md."
    )
    encyclopedia: Path | None = Field(
        None,
        description="Folder of texts (`.txt`, `.md`) and JSON lines (`title`, `text`, `source`), or one such "
        "file, in which gaps of questions are looked up beside the graph's documents.",
    )
    record_gaps: bool = Field(
        True, description="Whether questions that miss are kept, with what is missing, for `/gaps`."
    )
    geometry_conflict: Literal["refuse", "warn", "ignore"] = Field(
        "refuse",
        description="What happens to a text's statement about where something is that the geometries "
        "contradict; `ukg:onGeometryConflict` on a property, in the ontology or the shapes, overrides this "
        "for it.",
    )
    geometry_conflict_writes: Literal["refuse", "warn", "ignore"] = Field(
        "ignore",
        description="The same for what clients write themselves (updates, graph store, RDF files "
        "through the gate); `ukg:onGeometryConflict` with a `ukg:source` overrides this for a property and "
        "a source.",
    )
    inference: Literal["none", "materialised", "rules"] = Field(
        "none",
        description="`materialised` stores in the graph what follows by subclasses, subproperties, inverse, "
        "transitive and symmetric properties, chains, restrictions, equivalents and equality; `rules` also "
        "what the rules of the shapes (`sh:rule`) conclude; `none` costs writes nothing.",
    )
    inference_max: int = Field(
        100_000,
        gt=0,
        description="Most conclusions that are drawn from one change where inference is materialized; a "
        "change that needs more is refused.",
    )
    invalid_geometry: Literal["repair", "refuse"] = Field(
        "repair",
        description="What happens to a geometry that breaks the simple-feature rules: `repair` repairs it "
        "where it is used, keeps the literal and gives a warning; `refuse` refuses it.",
    )
    durability: Durability = Field(
        Durability.NONE,
        description="What an acknowledged write survives: `none` a crash of the server; `commit` (each is "
        "synced) and `group` (writers share a sync) power loss too.",
    )
    change_log_mb: int = Field(
        256, ge=1, description="Size of the log of changes, in MB; the oldest entries are deleted first."
    )
    open_reads: bool = Field(
        True, description="Whether reads need no key once keys exist; off: they need the scope `read`."
    )
    api_key: str | None = Field(
        None,
        description="Key that commands send to the server which holds the folder.",
        json_schema_extra={"secret": True},
    )
    remote_hosts: str = Field(
        "",
        description="Hosts that SERVICE and LOAD may reach, with commas between; `host:port` for other "
        "ports than 80 and 443. Empty: none.",
    )
    remote_max_bytes: int = Field(
        20_000_000, gt=0, description="Largest answer or document that SERVICE or LOAD takes, in bytes."
    )
    max_update_chars: int = Field(
        20_000_000,
        gt=0,
        description="Longest SPARQL update, in characters; bodies of the graph store may have four bytes for "
        "each, unpacked (load larger files by `urbankg load`).",
    )
    client_timeout_s: float = Field(
        30,
        gt=0,
        description="Seconds a client may take for its headers, between pieces of its body, or without "
        "taking any more of its answer.",
    )
    requests_per_second: float = Field(
        0,
        ge=0,
        description="Requests a client (a key, else an address) may send per second, lasting; 0: no limit.",
    )
    trusted_proxies: Networks = Field(
        "",
        description="Addresses and networks of proxies, with commas between, whose `Forwarded` and "
        "`X-Forwarded-For` give the client's address. Empty: none.",
    )
    log_level: Literal["debug", "info", "warning", "error"] = Field(
        "info", description="Lowest level of the log, which is written as JSON lines."
    )

    @property
    def infers(self) -> bool:
        """Whether what follows by the ontology's axioms is kept in the graph."""
        return self.inference != "none"

    @property
    def follows_rules(self) -> bool:
        """Whether what the rules of the shapes conclude is kept in the graph too."""
        return self.inference == "rules"

    @property
    def judging_timeout_s(self) -> float:
        """Seconds that one judgment by the shapes may take."""
        return self.shapes_timeout_s or self.query_timeout_s

    @property
    def query_memory_bytes(self) -> int:
        """Memory one query may take."""
        return self.query_memory_mb * 2**20

    @property
    def tolerances(self) -> Tolerances:
        """How far borders may be off when features are related."""
        layers = {NamedNode(iri): meters for iri, meters in self.layer_tolerance_m.items()}
        return Tolerances(self.tolerance_m, layers)

    @property
    def base_url(self) -> str:
        """The server's own address, without a slash at the end."""
        return (self.public_url or self.own_url).rstrip("/")

    @property
    def own_url(self) -> str:
        """Where programs on this machine reach the server, also when others know it by `public_url`."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"http://{host}:{self.port}"

    @property
    def allowed_host_names(self) -> tuple[str, ...]:
        """The names of `allowed_hosts`, in lower case."""
        return tuple(name.strip("[]") for name in listed(self.allowed_hosts.lower()))

    @property
    def page_origins(self) -> tuple[str, ...]:
        """The origins of `cors_origins`, as browsers write them."""
        return tuple(listed(self.cors_origins.lower()))
