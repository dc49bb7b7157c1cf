import { Notes } from "./notes.js";
import { Reviews } from "./reviews.js";
import { fileForm, part, Sender, type ClientOptions } from "./sending.js";
import { AnswerStream } from "./stream.js";
import type {
  AnswerList,
  AskOptions,
  CallOptions,
  Case,
  CiteOptions,
  CitedAnswer,
  Collection,
  DocumentInfo,
  Comparison,
  TextComparison,
  DocumentOverview,
  Explanation,
  Feedback,
  FeedbackOptions,
  InCollection,
  JobList,
  Opinion,
  PassageInput,
  ReadingJob,
  RemovedAnswers,
  RemovedDocument,
  Repaired,
  RepairOptions,
  SearchOptions,
  SearchResult,
  Selection,
  SuggestedQuestion,
  UploadOptions,
  Verdict,
  Verdicts,
} from "./types.js";

/** Calls a PropCite server. Every error is a ServerError; offsets count UTF-16 code units, so that `slice` cuts right. */
export class Client {
  readonly notes: Notes;
  readonly reviews: Reviews;
  readonly #sender: Sender;
  readonly #collection: string | undefined;

  constructor(address = "http://127.0.0.1:8600", options: ClientOptions = {}) {
    this.#sender = new Sender(address.replace(/\/+$/, ""), options);
    this.#collection = options.collection;
    this.notes = new Notes(this.#sender, options.collection);
    this.reviews = new Reviews(this.#sender, options.collection);
  }

  /** Answer a question. */
  ask(question: string, { signal, ...options }: AskOptions = {}): Promise<CitedAnswer> {
    return this.#post("/v1/ask", this.#within({ question, ...options }), signal);
  }

  /** Answer a question while the answer is written. */
  askStream(question: string, { signal, ...options }: AskOptions = {}): AnswerStream {
    return this.#stream("/v1/ask", this.#within({ question, ...options }), signal);
  }

  /**
   * Cite a text over passages, over a collection, or over both.
   *
   * Without passages the client's collection is searched; an empty list says that nothing was shown.
   */
  cite(answer: string, passages?: PassageInput[], { signal, ...options }: CiteOptions = {}): Promise<CitedAnswer> {
    return this.#post("/v1/cite", this.#cited(answer, passages, options), signal);
  }

  /** Cite a text, sentence by sentence; a long text shows its first citations at once. */
  citeStream(answer: string, passages?: PassageInput[], { signal, ...options }: CiteOptions = {}): AnswerStream {
    return this.#stream("/v1/cite", this.#cited(answer, passages, options), signal);
  }

  /**
   * Check a text's own markers `[n]`, which number the passages from 1: which are right, dropped or missing.
   *
   * What no passage supports is looked for in a collection that the call names.
   */
  repair(answer: string, passages: PassageInput[], { signal, ...options }: RepairOptions = {}): Promise<Repaired> {
    return this.#post("/v1/repair", { answer, passages, ...options }, signal);
  }

  /** Return one verdict per claim with its evidence. */
  async judge(cases: Case[], { signal }: CallOptions = {}): Promise<Verdict[]> {
    return (await this.#post<Verdicts>("/v1/judge", { cases }, signal)).verdicts;
  }

  /** Rank passages, sentences or propositions; the best hit first. */
  search(query: string, { signal, ...options }: SearchOptions = {}): Promise<SearchResult> {
    return this.#post("/v1/search", this.#within({ query, ...options }), signal);
  }

  async listDocuments({ signal, where, collection }: Omit<Selection, "documents"> = {}): Promise<DocumentInfo[]> {
    const query = this.#within({ where, collection });
    const { documents } = await this.#get<{ documents: DocumentInfo[] }>("/v1/documents", query, signal);
    return documents;
  }

  /** Upload files, or name web addresses; with `wait` return when all are read. */
  addDocuments(options: UploadOptions): Promise<ReadingJob> {
    const { files = [], addresses = [], collection, wait = false, signal } = options;
    const form = fileForm("files", files);
    for (const address of addresses) form.append("addresses", address);
    const query = this.#within({ wait, collection });
    return this.#sender.json({ method: "POST", path: "/v1/documents", query, body: form, signal });
  }

  removeDocument(documentId: string, { signal, collection }: InCollection = {}): Promise<RemovedDocument> {
    return this.#delete(`/v1/documents/${part(documentId)}`, this.#within({ collection }), signal);
  }

  /** Return a document as HTML; `cited` marks characters, as `[document_start, document_end]` of evidence. */
  async readDocument(
    documentId: string,
    { signal, cited, collection }: InCollection & { cited?: [number, number] } = {},
  ): Promise<string> {
    const query = this.#within({ cited: cited?.join("-"), collection });
    const path = `/v1/documents/${part(documentId)}/reading`;
    return (await this.#sender.send({ method: "GET", path, query, signal })).text();
  }

  /** Return the jobs of the collection that read documents, the newest first, without their outcomes. */
  listJobs({ signal, ...options }: InCollection & { first?: number; limit?: number } = {}): Promise<JobList> {
    return this.#get("/v1/jobs", this.#within({ ...options }), signal);
  }

  /** Return the state of a job that reads documents. */
  getJob(jobId: string, { signal }: CallOptions = {}): Promise<ReadingJob> {
    return this.#get(`/v1/jobs/${part(jobId)}`, {}, signal);
  }

  /** End a job after the document in work; what was read stays. */
  cancelJob(jobId: string, { signal }: CallOptions = {}): Promise<ReadingJob> {
    return this.#post(`/v1/jobs/${part(jobId)}/cancel`, {}, signal);
  }

  async listCollections({ signal }: CallOptions = {}): Promise<Collection[]> {
    return (await this.#get<{ collections: Collection[] }>("/v1/collections", {}, signal)).collections;
  }

  createCollection(name: string, { signal }: CallOptions = {}): Promise<Collection> {
    return this.#post("/v1/collections", { name }, signal);
  }

  removeCollection(name: string, { signal }: CallOptions = {}): Promise<Collection> {
    return this.#delete(`/v1/collections/${part(name)}`, {}, signal);
  }

  /** List stored answers, the newest first; `search` are words in the question or answer. */
  listAnswers(
    search = "",
    { signal, ...options }: InCollection & { first?: number; limit?: number } = {},
  ): Promise<AnswerList> {
    return this.#get("/v1/answers", this.#within({ search, ...options }), signal);
  }

  getAnswer(answerId: string, { signal }: CallOptions = {}): Promise<CitedAnswer> {
    return this.#get(`/v1/answers/${part(answerId)}`, {}, signal);
  }

  removeAnswer(answerId: string, { signal }: CallOptions = {}): Promise<RemovedAnswers> {
    return this.#delete(`/v1/answers/${part(answerId)}`, {}, signal);
  }

  /** Return the record of a stored answer as HTML to print: sources, models, versions, who asked and when. */
  async getRecord(answerId: string, { signal }: CallOptions = {}): Promise<string> {
    return (await this.#sender.send({ method: "GET", path: `/v1/answers/${part(answerId)}/record`, signal })).text();
  }

  /** Return a document in short: its most telling sentences and its headings, each with its place. */
  getOverview(documentId: string, { signal, collection }: InCollection = {}): Promise<DocumentOverview> {
    return this.#get(`/v1/documents/${part(documentId)}/overview`, this.#within({ collection }), signal);
  }

  /** Return questions that the collection answers, each with the sentence that does. */
  async suggestQuestions({ signal, collection }: InCollection = {}): Promise<SuggestedQuestion[]> {
    const query = this.#within({ collection });
    return (await this.#get<{ questions: SuggestedQuestion[] }>("/v1/suggestions", query, signal)).questions;
  }

  /** Return questions on what stands near a stored answer; ask them with `after`. */
  async suggestFollowUps(answerId: string, { signal }: CallOptions = {}): Promise<SuggestedQuestion[]> {
    const path = `/v1/answers/${part(answerId)}/follow-ups`;
    return (await this.#get<{ questions: SuggestedQuestion[] }>(path, {}, signal)).questions;
  }

  /** Ask two documents, or two versions of one, the same: what both say, where they differ, what only one says. */
  compare(
    question: string,
    left: string[],
    right: string[],
    { signal, collection }: InCollection = {},
  ): Promise<Comparison> {
    return this.#post("/v1/compare", { question, left, right, ...this.#within({ collection }) }, signal);
  }

  /** Compare two documents whole, sentence by sentence: what is the same, what changed, what only one says. */
  compareDocuments(
    left: string[],
    right: string[],
    { signal, collection }: InCollection = {},
  ): Promise<TextComparison> {
    return this.#post("/v1/compare", { left, right, ...this.#within({ collection }) }, signal);
  }

  /** Return which words of a stored answer's fact matched which words of its source. */
  explain(
    answerId: string,
    fact: string | number = 1,
    { signal, citation }: CallOptions & { citation?: string | number } = {},
  ): Promise<Explanation> {
    return this.#get(`/v1/answers/${part(answerId)}/explain`, { fact, citation }, signal);
  }

  /** Say whether a citation of a stored answer is right. */
  giveFeedback(
    answerId: string,
    fact: string | number,
    opinion: Opinion,
    { signal, ...options }: FeedbackOptions = {},
  ): Promise<Feedback> {
    return this.#post(`/v1/answers/${part(answerId)}/feedback`, { fact, opinion, ...options }, signal);
  }

  #within<T extends { collection?: string | undefined }>(values: T): T {
    return { ...values, collection: values.collection ?? this.#collection };
  }

  #cited(answer: string, passages: PassageInput[] | undefined, options: Omit<CiteOptions, "signal">): object {
    return passages ? { answer, passages, ...options } : this.#within({ answer, ...options });
  }

  #get<T>(path: string, query: NonNullable<Parameters<Sender["send"]>[0]["query"]>, signal?: AbortSignal): Promise<T> {
    return this.#sender.json({ method: "GET", path, query, signal });
  }

  #post<T>(path: string, body: object, signal?: AbortSignal): Promise<T> {
    return this.#sender.json({ method: "POST", path, body, signal });
  }

  #delete<T>(path: string, query: { collection?: string | undefined }, signal?: AbortSignal): Promise<T> {
    return this.#sender.json({ method: "DELETE", path, query, signal });
  }

  #stream(path: string, body: object, signal?: AbortSignal): AnswerStream {
    const call = { method: "POST", path, body: { ...body, stream: true }, signal } as const;
    return new AnswerStream(() => this.#sender.send(call), signal);
  }
}
