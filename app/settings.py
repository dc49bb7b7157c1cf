"""Settings: arguments > PROPCITE_ environment > secrets > propcite.toml > defaults that run on a laptop."""

from __future__ import annotations

import os
import re
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated, Any, Literal

from platformdirs import user_data_path
from pydantic import AfterValidator, BeforeValidator, Field, ValidationError
from pydantic_settings import (
    BaseSettings,
    NoDecode,
    PydanticBaseSettingsSource,
    SecretsSettingsSource,
    SettingsConfigDict,
    SettingsError,
    TomlConfigSettingsSource,
)
from sqlalchemy import URL

from propcite.app.errors import AppError
from propcite.app.ingest.ocr.choosing import Choice as OcrChoice
from propcite.app.setting_values import (
    alignment_name,
    at_home,
    holds_key,
    host_name,
    json_fields,
    network,
    number,
    sendable_fields,
    site_address,
    texts,
)
from propcite.retrieval.alignment import FORMS, NEAREST

DATABASE_FILE = "propcite.sqlite"  # in the data directory
NOT_SETTINGS = {"PROPCITE_TRACEBACK", "PROPCITE_LONG_TESTS", "PROPCITE_ATTACK_EXAMPLES"}  # read elsewhere
_WITH_PASSWORD = re.compile(r"://[^/?#\s]*@")  # an address that names its user
SIGN_IN_NEEDS = {  # settings without which nobody could sign in
    "openid": ("page_address", "page_openid", "page_client", "page_secret"),
    "header": ("page_proxies",),
}


def secret_folders() -> list[Path]:
    """Return the folders in which systemd and containers hand over secrets; empty where there are none."""
    named = os.environ.get("CREDENTIALS_DIRECTORY", ""), "/run/secrets"
    return [Path(name) for name in named if name and Path(name).is_dir()]


class Settings(BaseSettings):
    """All settings.  A name here is PROPCITE_NAME in the environment and `name` in propcite.toml."""

    model_config = SettingsConfigDict(
        env_prefix="PROPCITE_", env_ignore_empty=True, toml_file="propcite.toml", extra="forbid"
    )

    data_dir: Annotated[Path, AfterValidator(at_home)] = Field(
        default_factory=lambda: user_data_path("propcite", appauthor=False),
        description="the folder of the database and the indexes",
    )
    storage: str = Field(
        "",
        description="where indexes and kept files are, for several machines: s3://bucket/folder, gs://…, file:///…; "
        "empty: in the data directory alone",
    )
    database: str = Field("", description="a SQLAlchemy URL; empty: SQLite in the data directory", repr=False)
    collection: str = Field("default", description="the collection used when none is named", min_length=1)

    encoder: str = Field("", description="a folder or hub name; empty: what is bundled, propcite-minilm")
    device: str = Field("", description="cpu, cuda, …; empty: the best there is")
    precision: Literal["auto", "float32", "bfloat16", "float16", "int8"] = Field(
        "auto", description="of the networks; auto: the fastest that keeps rankings on this machine"
    )
    batch_size: int = Field(0, ge=0, le=4096, description="texts read at once; 0: as many as the device reads fastest")

    passage_words: int = Field(100, ge=10, le=2000, description="the length of passages added from now on")
    max_file_mb: int = Field(64, ge=1, description="the largest file that is read")
    originals: Literal["sent", "all", "none"] = Field(
        "sent", description="files that are kept: what has no file here (uploads, archives, the web), all, or none"
    )
    follow_links: bool = Field(False, description="links that lead out of a named folder are read too")
    fetch_inside: bool = Field(
        False, description="the page and the server fetch from this network too, not from the public web alone"
    )
    readers: int = Field(0, ge=0, le=64, description="processes that read documents; 0: by the number of cores")
    read_seconds: float = Field(300.0, gt=0, description="time for reading one document, or a part of a long one")
    read_memory_mb: int = Field(4096, ge=256, description="memory that reading one document may take")

    ocr: OcrChoice = Field(
        "auto", description="what recognises text in scans; auto: RapidOCR (the extra ocr), else Tesseract if installed"
    )

    index: Literal["auto", "exact", "tokens", "faiss"] = Field(
        "auto", description="how candidates are found: every token read, centroids first, FAISS; auto: by size"
    )
    index_bits: Annotated[Literal[16, 8, 4, 2, 1], BeforeValidator(number)] = Field(
        8, description="bits a number of a token's vector, of what is added"
    )
    exact_up_to: int = Field(100_000, ge=0, description="tokens up to which auto reads every one")
    cluster: str = Field(
        "",
        description="a Ray cluster that searches indexes in shards: its address, auto, local; empty: this process",
    )
    cluster_replicas: int = Field(1, ge=1, le=16, description="processes of the cluster that hold each shard")
    cluster_wait: float = Field(60.0, gt=0, description="seconds in which each shard of a cluster must answer")
    cluster_missing: Literal["refuse", "name"] = Field(
        "refuse",
        description="while a shard is away: refuse to answer, or name the shard and leave facts unchecked",
    )

    alignment: Annotated[str, AfterValidator(alignment_name)] = Field(
        "", description=f"which tokens are compared, like {FORMS}; empty: the collection's own, else {NEAREST}"
    )
    search_way: Literal["both", "vectors", "words"] = Field(
        "both", description="what ranks: vectors with exact words beside them, vectors alone, or exact words alone"
    )
    searched_share: float = Field(
        1.0, gt=0, le=1, description="of each passage's tokens, by which candidates are looked for in a large index"
    )
    stored_share: float = Field(1.0, gt=0, le=1, description="of each passage's tokens that an index stores at all")
    pruning: Literal["sentences", "coverage", "salience"] = Field(
        "sentences",
        description="which tokens stored_share keeps: those that stand for each sentence or for the passage together, "
        "or say most by themselves",
    )
    asking_share: float = Field(
        1.0, gt=0, le=1, description="of a query's tokens, the weightiest, that look for candidates"
    )

    generator: Literal["extractive", "local", "openai", "vllm"] = Field("extractive", description="what writes answers")
    generator_model: str = Field(
        "",
        description="openai: a model's name at llm_url; vllm, local: a folder or hub name; local, empty: SmolLM2-135M",
    )
    num_passages: int = Field(8, ge=1, le=100, description="passages that an answer is made from")
    prompt: str = Field(
        "auto",
        description="auto: short for small models, else answer; or short, answer, cite, or a file in the form of "
        "propcite prompts answer",
    )
    follow_up_prompt: str = Field(
        "standalone", description="standalone, or a file in the form of propcite prompts standalone"
    )
    max_tokens: int = Field(1024, ge=1, description="the longest answer, with the model's thoughts")
    temperature: float = Field(0.0, ge=0, le=2, description="how freely words are chosen; 0: always the likeliest")
    seed: int = Field(0, ge=0, description="the same seed repeats the same choices, where the server can")
    stop: Annotated[list[Annotated[str, Field(min_length=1)]], NoDecode, BeforeValidator(texts)] = Field(
        [], description="texts at which an answer ends"
    )
    top_p: float | None = Field(
        None, gt=0, le=1, description="words are chosen among the likeliest of this share; empty: the model's own"
    )
    frequency_penalty: float | None = Field(
        None, ge=-2, le=2, description="against words that came often; empty: the model's own"
    )
    presence_penalty: float | None = Field(
        None, ge=-2, le=2, description="against words that came at all; empty: the model's own"
    )
    repetition_penalty: float | None = Field(
        None, gt=0, le=10, description="above 1 against repetition; empty: the model's own"
    )
    extra_body: Annotated[dict[str, Any], NoDecode, BeforeValidator(json_fields), AfterValidator(sendable_fields)] = (
        Field({}, description="further fields of each request, which the server knows")
    )
    vllm_context: int = Field(0, ge=0, description="the longest prompt with its answer in tokens; 0: the model's own")
    vllm_dtype: Literal["auto", "float32", "bfloat16", "float16"] = Field("auto", description="vLLM's precision")
    vllm_parallel: int = Field(
        1024, ge=1, description="questions given to vLLM at once, which makes its batches of them"
    )
    vllm_tensor_parallel: int = Field(1, ge=1, description="GPUs that share the model")
    vllm_gpu_share: float = Field(0.8, gt=0, le=1, description="of each GPU's memory")
    vllm_prefix_caching: bool = Field(True, description="the beginning that prompts share is read once")
    vllm_eager: bool = Field(False, description="begins sooner and writes slower")

    question_model: str = Field("", description="what reads questions: a file of propcite train questions, empty: ours")

    splitter: Literal["learned", "rules", "seq2seq", "llm"] = Field("learned", description="what names facts")
    splitter_model: str = Field("", description="seq2seq: a SegmenT5 or Propositionizer checkpoint; llm: a name")
    llm_url: str = Field("", description="an OpenAI-compatible server, up to /v1")
    llm_key: str = Field("none", description="the key of the server at llm_url", repr=False)
    llm_timeout: float = Field(60.0, gt=0, description="seconds that the server at llm_url may say nothing")
    llm_parallel: int = Field(8, ge=1, le=1024, description="requests to llm_url at once, of a batch")
    judge: Literal[
        "reader", "embedded", "true", "minicheck", "nli", "factcg", "hhem", "lettucedetect", "llm", "none"
    ] = Field("reader", description="what says whether evidence supports a claim")
    judge_model: str = Field(
        "", description="a folder or hub name, empty: the shipped reader or the published network; llm: a model's name"
    )
    judge_labels: str = Field(
        "", description="nli: what the model's labels mean, in their order: contradiction,entailment,neutral"
    )
    judge_checks: bool = Field(False, description="plain words may refuse what a published judge or llm accepts")
    supported_from: float = Field(0.5, ge=0, le=1, description="probability from which evidence is cited")
    method: Literal["propositions", "vectors", "paper", "alone", "sentence", "sentence-2", "postcite", "bm25"] = Field(
        "propositions", description="how evidence is looked for: PropCite's own way, or one that it is measured against"
    )
    min_margin: float = Field(0.0, ge=0, description="by which a fact's best passage must lead the next to be cited")
    min_score: float = Field(0.5, ge=-1, le=1, description="similarity from which evidence is cited without a judge")
    most_citations: int = Field(3, ge=1, description="markers a sentence shows at most")

    proxy_retrieve: bool = Field(True, description="a chat that names a collection has its passages shown to the model")
    proxy_translate: Literal["auto", "always", "never"] = Field(
        "auto",
        description="requests to /v1/responses and /v1/messages become chat completions: where the model server does "
        "not have these routes, or always, or never",
    )
    proxy_sources: Literal["annotations", "text"] = Field(
        "annotations", description="text: a chat's answers have markers and a list of their sources in the text"
    )

    serve_body_mb: int = Field(4, ge=1, le=1024, description="the largest request, documents apart")
    serve_threads: int = Field(2, ge=1, le=256, description="searches and batches of citing at once")
    serve_characters: int = Field(
        400_000, ge=1000, description="the longest answer that is cited, its passages included; more is refused"
    )
    serve_sentences: int = Field(2000, ge=1, description="of an answer that is cited; more are refused")
    serve_seconds: float = Field(120.0, gt=0, description="that searching or citing for one request may take")
    serve_wait_seconds: float = Field(
        20.0,
        gt=0,
        description="that a request may wait by estimate; what would wait longer is refused",
    )
    serve_streams: int = Field(8, ge=1, le=1024, description="answers being written at once")
    serve_stream_seconds: float = Field(600.0, gt=0, description="that writing one answer may take")
    serve_connections: int = Field(512, ge=1, description="connections at once")
    serve_idle_seconds: float = Field(
        30.0, gt=0, description="that a request's head may take, and its body beside a second for each 32 KB"
    )
    serve_reads: bool = Field(
        True, description="the server and the page read what was uploaded; false leaves that to propcite worker"
    )
    serve_rate: int = Field(0, ge=0, description="requests a minute of each key; 0: no limit")
    serve_origins: list[str] = Field([], description="web pages that may call, as https://chat.example; none: no page")
    log_format: Literal["text", "json"] = Field("text", description="of the server's log: lines, or JSON objects")
    hosts: Annotated[list[Annotated[str, AfterValidator(host_name)]], NoDecode, BeforeValidator(texts)] = Field(
        [],
        description="names by which a proxy reaches the server and the page, as propcite.example; localhost needs none",
    )
    public_address: Annotated[str, AfterValidator(site_address)] = Field(
        "",
        description="where browsers reach `propcite serve` and the page; sources then have links that open them at "
        "their words, and answers links to share",
    )
    link_days: float = Field(30.0, gt=0, le=36500, description="after which such a link ends, where keys are required")
    link_secret: str = Field("", description="what signs these links; empty: a secret in the database", repr=False)
    page_folders: Annotated[list[Annotated[Path, AfterValidator(at_home)]], NoDecode, BeforeValidator(texts)] = Field(
        [], description="below which the page may read files of this machine to measure them; none: uploads alone"
    )

    page_sign_in: Literal["none", "openid", "header"] = Field(
        "none", description="who may use the page: anyone who reaches it, people of an OpenID provider or of a proxy"
    )
    page_address: Annotated[str, AfterValidator(site_address)] = Field(
        "",
        description="where browsers reach the page if that is elsewhere; openid needs it, as https://propcite.example",
    )
    page_openid: str = Field("", description="the provider's address, up to /.well-known/openid-configuration")
    page_client: str = Field("", description="openid: the name by which the provider knows the page")
    page_secret: str = Field("", description="openid: its secret", repr=False)
    page_claim: str = Field("email", min_length=1, description="openid: the claim that names a person, or sub")
    page_user_header: str = Field(
        "Remote-User", pattern=r"^[A-Za-z0-9-]+$", description="header: the one in which the proxy names the person"
    )
    page_proxies: Annotated[list[Annotated[str, AfterValidator(network)]], NoDecode, BeforeValidator(texts)] = Field(
        [], description="header: addresses or networks of the proxy; the header of all others is ignored"
    )
    page_idle_minutes: float = Field(60.0, gt=0, description="without use after which a sign-in ends")
    page_sign_in_hours: float = Field(12.0, gt=0, description="after which a sign-in ends in any case")
    audit_days: int = Field(90, ge=0, le=36500, description="that the audit log keeps an entry; 0: it records nothing")

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,  # noqa: ARG003 - the base class names it
        file_secret_settings: PydanticBaseSettingsSource,  # noqa: ARG003
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        secrets = SecretsSettingsSource(settings_cls, secrets_dir=secret_folders())
        return init_settings, env_settings, secrets, TomlConfigSettingsSource(settings_cls)

    @property
    def public_page(self) -> str:
        """Where browsers reach the page; empty where only this machine does."""
        return self.page_address or self.public_address

    @property
    def database_url(self) -> str:
        if self.database:
            return self.database
        file = str(self.data_dir / DATABASE_FILE)
        return URL.create("sqlite", database=file).render_as_string()  # a folder's name may hold ? or %


def hides(name: str, value: object) -> bool:
    """Return whether a setting's value is shown to nobody: a key, an address with a password, fields that hold a key.

    >>> hides("llm_key", "x"), hides("llm_url", "https://me:x@host/v1"), hides("llm_url", "https://host/v1")
    (True, True, False)
    >>> hides("extra_body", {"api_key": "x"}), hides("extra_body", '{"token": "x"}'), hides("extra_body", {"top_k": 3})
    (True, True, False)
    """
    field = Settings.model_fields.get(name)
    is_key = field is not None and not field.repr
    return is_key or bool(_WITH_PASSWORD.search(str(value))) or holds_key(value)


def _check_environment() -> None:
    """Raise AppError for a PROPCITE_ name that is no setting: it may be misspelt, and would be without effect."""
    known = {f"PROPCITE_{name.upper()}" for name in Settings.model_fields} | NOT_SETTINGS
    for name in sorted(os.environ):
        if name.upper().startswith("PROPCITE_") and name.upper() not in known:
            near = get_close_matches(name.upper(), known, n=1)
            step = f"did you mean {near[0]}?" if near else "remove it, docs/settings.md lists the settings"
            raise AppError(f"there is no setting {name}: {step}")


def load_settings(**arguments: Any) -> Settings:
    """Load the settings; arguments override them, except those that are None.

    AppError for a name or a value that is none, in the environment too.
    """
    _check_environment()
    try:
        return Settings(**{name: value for name, value in arguments.items() if value is not None})
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        name = str(first["loc"][0])
        if first["type"] == "extra_forbidden":
            known = ", ".join(sorted(Settings.model_fields))
            raise AppError(f"there is no setting {name!r} (propcite.toml): it is one of {known}") from error
        why = first["msg"].removeprefix("Value error, ")
        given = "used" if hides(name, first["input"]) else repr(first["input"])
        raise AppError(f"the setting {name} (PROPCITE_{name.upper()}) cannot be {given}: {why}") from None
    except SettingsError as error:
        raise AppError(f"a setting cannot be read ({error}): write a list as JSON") from error
    except OSError as error:
        raise AppError(f"a setting's file cannot be read: {error}") from error
    except ValueError as error:  # propcite.toml is not TOML
        raise AppError(f"propcite.toml cannot be read: {error}") from error


def check_sign_in(settings: Settings) -> None:
    """Raise AppError if people are to sign in on the page and a setting for it is missing."""
    for name in SIGN_IN_NEEDS.get(settings.page_sign_in, ()):
        if not getattr(settings, name):
            raise AppError(
                f"PROPCITE_PAGE_SIGN_IN={settings.page_sign_in} needs PROPCITE_{name.upper()} too: set it "
                "(docs/deploying.md, People)"
            )
