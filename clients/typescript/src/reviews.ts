import { fileForm, part, type Sender } from "./sending.js";
import type { CallOptions, DecisionOptions, FactFilter, InCollection, Review, ReviewFact, UploadFile } from "./types.js";

/** Drafts that are cited as a whole and decided on fact by fact. */
export class Reviews {
  readonly #sender: Sender;
  readonly #collection: string | undefined;

  constructor(sender: Sender, collection: string | undefined) {
    this.#sender = sender;
    this.#collection = collection;
  }

  /** Send a draft; it is cited in the background: `get` says how far it is. */
  begin(file: UploadFile, { signal, collection = this.#collection }: InCollection = {}): Promise<Review> {
    const body = fileForm("file", [file]);
    return this.#sender.json({ method: "POST", path: "/v1/reviews", query: { collection }, body, signal });
  }

  /** Return the drafts, the newest first. */
  async all({ signal, collection = this.#collection }: InCollection = {}): Promise<Review[]> {
    const call = { method: "GET", path: "/v1/reviews", query: { collection }, signal } as const;
    return (await this.#sender.json<{ reviews: Review[] }>(call)).reviews;
  }

  /** Return how far a draft is cited, and how many of its facts are decided on. */
  get(reviewId: string, { signal }: CallOptions = {}): Promise<Review> {
    return this.#sender.json({ method: "GET", path: at(reviewId), signal });
  }

  /** Stop the citing; what was cited until then is kept. */
  cancel(reviewId: string, { signal }: CallOptions = {}): Promise<Review> {
    return this.#sender.json({ method: "POST", path: at(reviewId, "cancel"), signal });
  }

  /** Cite a draft again; decisions on facts that stay the same are kept. */
  restart(reviewId: string, { signal }: CallOptions = {}): Promise<Review> {
    return this.#sender.json({ method: "POST", path: at(reviewId, "restart"), signal });
  }

  /** Remove a draft with its citations and the decisions on it. */
  async remove(reviewId: string, { signal }: CallOptions = {}): Promise<void> {
    await this.#sender.send({ method: "DELETE", path: at(reviewId), signal });
  }

  /** Return the facts of a draft with their verdicts, quotes and decisions. */
  async listFacts(
    reviewId: string,
    { signal, verdicts, choices }: CallOptions & FactFilter = {},
  ): Promise<ReviewFact[]> {
    const query = { verdict: verdicts, choice: choices };
    const call = { method: "GET", path: at(reviewId, "facts"), query, signal } as const;
    return (await this.#sender.json<{ facts: ReviewFact[] }>(call)).facts;
  }

  /** Accept, change or reject a fact, or open it again; `words` are those of a changed fact. */
  decide(
    reviewId: string,
    fact: string | number,
    choice: ReviewFact["choice"],
    { signal, ...options }: DecisionOptions = {},
  ): Promise<ReviewFact> {
    const body = { fact, choice, ...options };
    return this.#sender.json({ method: "POST", path: at(reviewId, "decisions"), body, signal });
  }

  /** Return the draft with a comment (docx) or a footnote (markdown) at each fact. */
  async export(
    reviewId: string,
    format: "docx" | "markdown" = "docx",
    { signal, verdicts }: CallOptions & Pick<FactFilter, "verdicts"> = {},
  ): Promise<Blob> {
    const query = { format, verdict: verdicts };
    return (await this.#sender.send({ method: "GET", path: at(reviewId, "document"), query, signal })).blob();
  }
}

function at(reviewId: string, ...further: string[]): string {
  return ["/v1/reviews", part(reviewId), ...further].join("/");
}
