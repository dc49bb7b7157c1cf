import { part, type Sender } from "./sending.js";
import type { CallOptions, InCollection, Note, NoteOptions } from "./types.js";

/** The notes of a collection; a note of one's own may be changed and removed. */
export class Notes {
  readonly #sender: Sender;
  readonly #collection: string | undefined;

  constructor(sender: Sender, collection: string | undefined) {
    this.#sender = sender;
    this.#collection = collection;
  }

  /** Return the notes, the oldest first. */
  async all({ signal, collection = this.#collection }: InCollection = {}): Promise<Note[]> {
    const call = { method: "GET", path: "/v1/notes", query: { collection }, signal } as const;
    return (await this.#sender.json<{ notes: Note[] }>(call)).notes;
  }

  /** Write a note, and pin a stored answer, a `fact` of it, or the `quote` of that fact. */
  add(text = "", { signal, ...options }: NoteOptions = {}): Promise<Note> {
    const collection = options.collection ?? (options.answer ? undefined : this.#collection);
    return this.#sender.json({ method: "POST", path: "/v1/notes", body: { text, ...options, collection }, signal });
  }

  /** Write other words; a ServerError with status 409 if somebody changed the note meanwhile. */
  change({ id, version }: Pick<Note, "id" | "version">, text: string, { signal }: CallOptions = {}): Promise<Note> {
    return this.#sender.json({ method: "PUT", path: `/v1/notes/${part(id)}`, body: { text, version }, signal });
  }

  /** Cite what is written in a note over its collection. */
  cite(noteId: string, { signal }: CallOptions = {}): Promise<Note> {
    return this.#sender.json({ method: "POST", path: `/v1/notes/${part(noteId)}/cite`, signal });
  }

  /** Remove a note, and return it. */
  remove(noteId: string, { signal }: CallOptions = {}): Promise<Note> {
    return this.#sender.json({ method: "DELETE", path: `/v1/notes/${part(noteId)}`, signal });
  }

  /** Return the notes as one text with its references, in a format of answers such as `docx`. */
  async export(format = "markdown", { signal, collection = this.#collection }: InCollection = {}): Promise<Blob> {
    const call = { method: "GET", path: "/v1/notes/export", query: { format, collection }, signal } as const;
    return (await this.#sender.send(call)).blob();
  }
}
