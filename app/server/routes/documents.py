"""Documents of a collection: upload, list, describe, remove; uploads are read by a job in the background."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from typing import Annotated

from fastapi import APIRouter, File, Form, Query, Request, Response, UploadFile

from propcite.app.errors import NotFoundError
from propcite.app.ingest.names import safe_path
from propcite.app.ingest.outcomes import Outcome
from propcite.app.ingest.readers import SUFFIXES
from propcite.app.ingest.uploads import Job, Uploads
from propcite.app.library.selection import selected_documents
from propcite.app.library.store import Action, CollectionInfo, DetailsChange, DocumentInfo
from propcite.app.server.access import Access, CheckedRoute, ReadAccess, WriteAccess
from propcite.app.server.errors import RequestError
from propcite.app.server.results import JobList, ReadingJob, RemovedDocument
from propcite.app.server.routes.shared import MAX_FIRST, PROBLEMS, cancel_on_disconnect
from propcite.app.server.schemas import (
    DescribeRequest,
    DocumentList,
    FailureList,
    Name,
    Text,
    clean_all,
)
from propcite.attribution.formats.text import is_address

router = APIRouter(tags=["documents"], route_class=CheckedRoute)

MAX_DOCUMENTS = 100  # files and addresses in one request
MAX_ADDRESS_LENGTH = 4000
MAX_WAIT_S, LOOK_S, MAX_LOOK_S = 600.0, 0.05, 1.0
Collection = Annotated[Name | None, Query(description="default: the server's own, PROPCITE_COLLECTION")]


@router.get("/v1/documents", responses=PROBLEMS)
def list_documents(
    access: ReadAccess,
    collection: Collection = None,
    where: Annotated[
        list[Text] | None,
        Query(max_length=20, description="only documents that meet all these conditions: kind=pdf and pages>9"),
    ] = None,
) -> DocumentList:
    """List the documents of a collection."""
    info, library = _info(access, collection), access.service.parts.library
    ids = selected_documents(library, info, (), where) if where else None
    return DocumentList(collection=info.name, documents=library.documents(info, ids))


@router.get("/v1/failures", responses=PROBLEMS)
def list_failures(access: ReadAccess, collection: Collection = None) -> FailureList:
    """List the sources that could not be read at the last attempt, and why."""
    info = _info(access, collection)
    return FailureList(collection=info.name, failures=access.service.parts.library.failures(info))


@router.patch("/v1/documents/{document_id}", responses=PROBLEMS)
def describe_document(
    access: WriteAccess, document_id: str, body: DescribeRequest, collection: Collection = None
) -> DocumentInfo:
    """Set details of a document that override those of its file; null removes one.

    They stay when a new version of the file comes.
    """
    info, library = _info(access, collection), access.service.parts.library
    if not library.documents(info, [document_id]):
        raise _no_document(document_id, info)
    library.describe([document_id], DetailsChange(clean_all(body.fields), body.tags, body.without))
    access.record(Action.CHANGED_DOCUMENT, info.name, document_id)
    return library.documents(info, [document_id])[0]


@router.post("/v1/documents", responses=PROBLEMS, status_code=202)
async def add_documents(
    request: Request,
    access: WriteAccess,
    response: Response,
    files: Annotated[list[UploadFile] | None, File(description=f"files of these kinds: {', '.join(SUFFIXES)}")] = None,
    addresses: Annotated[list[Text] | None, Form(description="web pages and files to fetch: https://…")] = None,
    collection: Collection = None,
    wait: Annotated[bool, Query(description="respond when all are read, with 200")] = False,
) -> ReadingJob:
    """Upload documents, or give their web addresses.

    They are stored at once and read in the background; the response is a job whose state can be requested.
    """
    access.service.require_models()
    name = access.collection_name(collection)
    await asyncio.to_thread(access.service.uploads.check, access.speaker())
    uploads, web = files or [], addresses or []
    names = [safe_path(file.filename) for file in uploads]
    _check(names, web)
    job = await _accept(access, name, uploads, names, web)
    await asyncio.to_thread(access.record, Action.ADDED_DOCUMENTS, name, job.id)
    if wait:
        job = await cancel_on_disconnect(request, _ended(access.service.uploads, job))
        response.status_code = 200 if job.has_ended else 202
    response.headers["Location"] = f"/v1/jobs/{job.id}"
    return await asyncio.to_thread(_json, access, job)


@router.get("/v1/jobs", responses=PROBLEMS)
def list_jobs(
    access: ReadAccess,
    collection: Collection = None,
    first: Annotated[int, Query(ge=0, le=MAX_FIRST, description="how many newer jobs to skip")] = 0,
    limit: Annotated[int, Query(ge=1, le=1000)] = 100,
) -> JobList:
    """List the newest jobs of a collection with their state; ended ones are kept for a week.

    Outcomes are left out: a job that is asked for by its id has them.
    """
    page = access.service.parts.jobs.listed(_info(access, collection), first, limit)
    return JobList(jobs=[_job_result(job, ()) for job in page.items], total=page.total)


@router.get("/v1/jobs/{job_id}", responses=PROBLEMS)
def get_job(access: ReadAccess, job_id: str) -> ReadingJob:
    """Show the state of a job that reads documents."""
    return _json(access, _find_job(access, job_id))


@router.post("/v1/jobs/{job_id}/cancel", responses=PROBLEMS)
def cancel_job(access: WriteAccess, job_id: str) -> ReadingJob:
    """End a job after the document in work, and one that waits at once; what was read stays.

    Its state then is failed, with the reason.  A job that has ended stays as it is.
    """
    job = _find_job(access, job_id)
    access.service.uploads.cancel(job.id)
    return _json(access, _find_job(access, job_id))


@router.delete("/v1/documents/{document_id}", responses=PROBLEMS)
def remove_document(access: WriteAccess, document_id: str, collection: Collection = None) -> RemovedDocument:
    """Remove a document by its id; no search finds it any more, and answers that cite it keep their quotes."""
    service = access.service
    info = _info(access, collection)
    if not service.parts.library.documents(info, [document_id]):
        raise _no_document(document_id, info)
    num_citing = service.parts.library.count_answers_citing(info, document_id)
    service.parts.ingester(info).remove(document_id)
    access.record(Action.REMOVED_DOCUMENT, info.name, document_id)
    return RemovedDocument(id=document_id, answers_citing=num_citing)


def _find_job(access: Access, job_id: str) -> Job:
    """Return a job of a collection that the key opens."""
    job = access.service.uploads.job(job_id)
    if job is None or not access.opens(job.collection):
        raise NotFoundError(f"no job {job_id[:40]!r}: POST /v1/documents starts one")
    return job


def _no_document(document_id: str, info: CollectionInfo) -> NotFoundError:
    return NotFoundError(f"no document {document_id[:40]!r} in {info.name!r}: GET /v1/documents lists the documents")


def _info(access: Access, collection: str | None) -> CollectionInfo:
    return access.service.pipeline(access.collection_name(collection)).collection


def _check(names: Sequence[str], addresses: Sequence[str]) -> None:
    if not names and not addresses:
        raise RequestError(422, "no document: send files as files=@report.pdf, or addresses=https://…")
    if (total := len(names) + len(addresses)) > MAX_DOCUMENTS:
        raise RequestError(413, f"{total} documents exceed the limit of {MAX_DOCUMENTS}: send several requests")
    wrong = [name for name in names if not name.lower().endswith(SUFFIXES)]
    if wrong:
        raise RequestError(415, f"cannot read files of the kind of {wrong[0]}: send one of {', '.join(SUFFIXES)}")
    # Anything that is not an address would be read as the path of a file on this machine.
    wrong = [a for a in addresses if not is_address(a) or not a.isprintable() or len(a) > MAX_ADDRESS_LENGTH]
    if wrong:
        raise RequestError(422, f"{wrong[0][:100]!r} is not a web address: begin it with https:// or http://")


async def _accept(
    access: Access, collection: str, files: Sequence[UploadFile], names: Sequence[str], addresses: Sequence[str]
) -> Job:
    """Store the files under generated names and start a job; a request that breaks off leaves nothing."""
    uploads = access.service.uploads
    job_id = uploads.new_id()
    try:
        for number, file in enumerate(files):
            await asyncio.to_thread(uploads.write, job_id, number, file.file)
        by = access.speaker()
        return await asyncio.to_thread(partial(uploads.accept, job_id, collection, names, addresses, by=by))
    except BaseException:
        uploads.discard(job_id)
        raise


async def _ended(uploads: Uploads, job: Job) -> Job:
    """Wait for the end of a job for a while, without a thread: many may wait, and other requests need the threads."""
    pause = LOOK_S
    with suppress(TimeoutError):
        async with asyncio.timeout(MAX_WAIT_S):
            while not job.has_ended:
                await asyncio.sleep(pause)
                pause = min(MAX_LOOK_S, 1.2 * pause)
                if (found := await asyncio.to_thread(uploads.job, job.id)) is None:
                    break
                job = found
    return job


def _json(access: Access, job: Job) -> ReadingJob:
    return _job_result(job, access.service.uploads.outcomes(job.id))


def _job_result(job: Job, outcomes: Sequence[Outcome]) -> ReadingJob:
    progress = job.progress
    return ReadingJob(
        id=job.id,
        collection=job.collection,
        state=job.state,
        done=max(job.done, len(outcomes)),
        total=job.total,
        passages_per_second=round(progress.passages_per_second, 1) if progress else None,
        seconds_left=progress.seconds_left if progress else None,
        outcomes=list(outcomes),
        reason=job.reason,
    )
