import { broken, reasonOf, ServerError } from "./errors.js";
import type { CitedAnswer, CitedSentence, Passage, Problem } from "./types.js";

const SILENCE_MS = 60_000; // the server sends a sign of life every 15 seconds

/** The next characters of the answer; a sentence with its citations, after all of its text; the whole answer. */
export type AnswerEvent =
  | { type: "text"; text: string }
  | { type: "sentence"; sentence: CitedSentence }
  | { type: "done"; answer: CitedAnswer };

/** What has come of an answer: `answer` is the whole, once it is there. */
export interface AnswerSoFar {
  readonly text: string;
  readonly sentences: readonly CitedSentence[];
  readonly passages: readonly Passage[];
  readonly answer: CitedAnswer | null;
}

/** An answer while it is written. Iterate over its events, once; leaving the loop stops the server too. */
export class AnswerStream implements AsyncIterable<AnswerEvent> {
  /** The answer with the text and the citations that have come, also after an error; a new object with each event. */
  soFar: AnswerSoFar = { text: "", sentences: [], passages: [], answer: null };
  readonly #open: () => Promise<Response>;
  readonly #signal: AbortSignal | undefined;
  #isRead = false;

  constructor(open: () => Promise<Response>, signal?: AbortSignal) {
    this.#open = open;
    this.#signal = signal;
  }

  /** Read the events that remain, and return the whole answer. */
  async answer(): Promise<CitedAnswer> {
    for await (const _ of this);
    if (!this.soFar.answer) throw broken("its events were not read to the end");
    return this.soFar.answer;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<AnswerEvent, void, undefined> {
    if (this.#isRead) {
      if (this.soFar.answer) return;
      throw broken("its events were read before");
    }
    this.#isRead = true;
    const response = await this.#open();
    if (!response.body) throw broken("the response has no body");
    for await (const { name, data } of serverEvents(response.body, this.#signal)) {
      const event = this.#event(name, data);
      if (event) yield event;
    }
    if (!this.soFar.answer) throw broken("the connection ended before the whole answer had come");
  }

  #event(name: string, data: string): AnswerEvent | null {
    const value: unknown = JSON.parse(data);
    switch (name) {
      case "answer.delta": {
        const { text } = value as { text: string };
        this.soFar = { ...this.soFar, text: this.soFar.text + text };
        return { type: "text", text };
      }
      case "sentence": {
        const { passages, ...sentence } = value as CitedSentence & { passages: Passage[] };
        const { soFar } = this;
        this.soFar = {
          ...soFar,
          sentences: [...soFar.sentences, sentence],
          passages: [...soFar.passages, ...passages],
        };
        return { type: "sentence", sentence };
      }
      case "result": {
        const answer = value as CitedAnswer;
        this.soFar = { text: answer.text, sentences: answer.sentences, passages: answer.passages, answer };
        return { type: "done", answer };
      }
      case "error": {
        const { status, detail, errors } = value as Problem;
        throw new ServerError(status, detail, errors);
      }
      default:
        return null; // citation.added repeats what its sentence has
    }
  }
}

async function* serverEvents(body: ReadableStream<Uint8Array>, signal?: AbortSignal) {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let rest = "";
  let name = "";
  let data: string[] = [];
  try {
    for (;;) {
      const { done, value } = await read(reader, signal);
      if (done) return;
      const lines = (rest + decoder.decode(value, { stream: true })).split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines.map((one) => one.replace(/\r$/, ""))) {
        if (line.startsWith("event:")) name = line.slice(6).trim();
        else if (line.startsWith("data:")) data.push(line.slice(5).replace(/^ /, ""));
        else if (line === "" && data.length) {
          yield { name, data: data.join("\n") };
          name = "";
          data = [];
        }
      }
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}

async function read(reader: ReadableStreamDefaultReader<Uint8Array>, signal?: AbortSignal) {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const silent = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(broken(`nothing came for ${SILENCE_MS / 1000} s`)), SILENCE_MS);
  });
  try {
    return await Promise.race([reader.read(), silent]);
  } catch (error) {
    signal?.throwIfAborted();
    throw error instanceof ServerError ? error : broken(reasonOf(error), error);
  } finally {
    clearTimeout(timer);
  }
}
