"""Documents of a collection: sent, listed, removed; reading them is a job in the background."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Annotated

from fastapi import APIRouter, File, Form, Query, Response, UploadFile

from propcite.app.errors import NotFoundError
from propcite.app.ingest.readers import SUFFIXES
from propcite.app.ingest.uploads import Job, Uploads, safe_name
from propcite.app.library.narrowing import documents_within
from propcite.app.library.store import Change, CollectionInfo, DocumentInfo
from propcite.app.server.access import Access, Reader, Writer
from propcite.app.server.errors import RequestError
from propcite.app.server.routes.shared import PROBLEMS
from propcite.app.server.shapes import DescribeRequest, Documents, Failures, JobShape, Name, Removed, Text, cleaned_all
from propcite.attribution.formats.addresses import is_address

router = APIRouter(tags=["documents"])

MOST_FILES = 100  # and addresses, of one request
MOST_ADDRESS = 4000
PIECE = 1 << 20
WAITED_S = 600.0
Collection = Annotated[Name | None, Query(description="none: the server's own, PROPCITE_COLLECTION")]


@router.get("/v1/documents", responses=PROBLEMS)
def documents(
    access: Reader,
    collection: Collection = None,
    where: Annotated[
        list[Text] | None, Query(max_length=20, description="only those of which each holds: kind=pdf and pages>9")
    ] = None,
) -> Documents:
    """The documents of a collection."""
    info, library = _info(access, collection), access.service.parts.library
    ids = documents_within(library, info, (), where) if where else None
    return Documents(collection=info.name, documents=library.documents(info, ids))


@router.get("/v1/failures", responses=PROBLEMS)
def failures(access: Reader, collection: Collection = None) -> Failures:
    """What could not be read when it was tried last, and why."""
    info = _info(access, collection)
    return Failures(collection=info.name, failures=access.service.parts.library.failures(info))


@router.patch("/v1/documents/{document_id}", responses=PROBLEMS)
def describe(access: Writer, document_id: str, said: DescribeRequest, collection: Collection = None) -> DocumentInfo:
    """Say what a document is, above what its file says; a field that is null is taken back.

    What is said stays when a new version of the file comes.
    """
    info, library = _info(access, collection), access.service.parts.library
    if not library.documents(info, [document_id]):
        raise _no_document(document_id, info)
    library.describe([document_id], Change(cleaned_all(said.fields), said.tags, said.without))
    return library.documents(info, [document_id])[0]


@router.post("/v1/documents", responses=PROBLEMS, status_code=202)
async def add(
    access: Writer,
    response: Response,
    files: Annotated[list[UploadFile] | None, File(description=f"files of these kinds: {', '.join(SUFFIXES)}")] = None,
    addresses: Annotated[
        list[Text] | None, Form(description="pages and files of the web, fetched from there: https://…")
    ] = None,
    collection: Collection = None,
    wait: Annotated[bool, Query(description="answer when all are read, with 200")] = False,
) -> JobShape:
    """Send documents, or say where on the web they are.

    They are kept at once and read in the background: the answer is a job to ask about.
    """
    access.service.needed()
    name = access.name(collection)
    sent, named = files or [], addresses or []
    names = [safe_name(file.filename) for file in sent]
    _check(names, named)
    job = await _accepted(access.service.uploads, name, sent, names, named)
    if wait:
        await asyncio.to_thread(job.ended.wait, WAITED_S)
        response.status_code = 200 if job.ended.is_set() else 202
    response.headers["Location"] = f"/v1/jobs/{job.id}"
    return _shape(job)


@router.get("/v1/jobs/{job_id}", responses=PROBLEMS)
def job(access: Reader, job_id: str) -> JobShape:
    """How far the reading of some documents has come."""
    found = access.service.uploads.job(job_id)
    if found is None or (access.key and not access.key.opens(found.collection)):
        raise NotFoundError(f"no job {job_id[:40]!r}: POST /v1/documents makes one")
    return _shape(found)


@router.delete("/v1/documents/{document_id}", responses=PROBLEMS)
def remove(access: Writer, document_id: str, collection: Collection = None) -> Removed:
    """Remove a document, by its id; from then on no search finds it.  Answers that cite it keep their quotes."""
    service = access.service
    info = _info(access, collection)
    if not service.parts.library.documents(info, [document_id]):
        raise _no_document(document_id, info)
    cited = service.parts.library.answers_citing(document_id)
    service.parts.ingester(info).remove(document_id)
    return Removed(id=document_id, answers_citing=cited)


def _no_document(document_id: str, info: CollectionInfo) -> NotFoundError:
    return NotFoundError(f"no document {document_id[:40]!r} in {info.name!r}: GET /v1/documents lists them")


def _info(access: Access, collection: str | None) -> CollectionInfo:
    return access.service.pipeline(access.name(collection)).collection


def _check(names: Sequence[str], addresses: Sequence[str]) -> None:
    if not names and not addresses:
        raise RequestError(422, "no document: send files as files=@report.pdf, or say addresses=https://…")
    if (total := len(names) + len(addresses)) > MOST_FILES:
        raise RequestError(413, f"{total} documents are more than {MOST_FILES}: send them in several requests")
    wrong = [name for name in names if not name.lower().endswith(SUFFIXES)]
    if wrong:
        raise RequestError(415, f"{wrong[0]} is not of a kind that can be read: send one of {', '.join(SUFFIXES)}")
    # What is no address would be read as the path of a file of this machine.
    if wrong := [one for one in addresses if not is_address(one) or not one.isprintable() or len(one) > MOST_ADDRESS]:
        raise RequestError(422, f"{wrong[0][:100]!r} is no web address: begin it with https:// or http://")


async def _accepted(
    uploads: Uploads, collection: str, files: Sequence[UploadFile], names: Sequence[str], addresses: Sequence[str]
) -> Job:
    """The files' bytes in the data directory under names of ours; nothing is left of a request that breaks off."""
    job_id = uploads.new_id()
    try:
        for number, file in enumerate(files):
            place = await asyncio.to_thread(uploads.place, job_id, number)
            with open(place, "wb") as kept:
                while piece := await file.read(PIECE):
                    await asyncio.to_thread(kept.write, piece)
        return await asyncio.to_thread(uploads.accept, job_id, collection, names, addresses)
    except BaseException:
        uploads.drop(job_id)
        raise


def _shape(job: Job) -> JobShape:
    outcomes, progress = list(job.outcomes), job.progress
    return JobShape(
        id=job.id,
        collection=job.collection,
        state=job.state,
        done=len(outcomes),
        total=job.total,
        passages_per_second=round(progress.passages_per_second, 1) if progress else None,
        seconds_left=progress.seconds_left if progress else None,
        outcomes=outcomes,
        reason=job.reason,
    )
