import { errorOf, reasonOf, secondsIn, ServerError } from "./errors.js";
import type { UploadFile } from "./types.js";

const BUSY = [429, 503]; // the server did nothing yet, so that even what changes something can be sent again
const LONGEST_WAIT_S = 60;
const FIRST_WAIT_S = 0.5;

export interface ClientOptions {
  /** A key of `propcite keys create`. */
  key?: string;
  /** The collection where a call names none. */
  collection?: string;
  /** How often a call is tried again while the server is busy, each time after as long as the server says. */
  retries?: number;
  /** The longest time for a response to begin, in milliseconds. */
  timeout?: number;
  /** The `fetch` to use in place of the global one. */
  fetch?: typeof fetch;
}

export interface Call {
  method: "GET" | "POST" | "PUT" | "DELETE";
  path: string;
  query?: Record<string, string | number | boolean | string[] | undefined>;
  body?: object | FormData;
  signal?: AbortSignal | undefined;
}

/** Sends calls, again while the server is busy. */
export class Sender {
  readonly #headers: Record<string, string>;
  readonly #retries: number;
  readonly #timeout: number;
  readonly #fetch: typeof fetch;

  constructor(
    readonly address: string,
    options: ClientOptions,
  ) {
    this.#headers = {
      "PropCite-Offsets": "utf-16",
      ...(options.key ? { Authorization: `Bearer ${options.key}` } : {}),
    };
    this.#retries = options.retries ?? 3;
    this.#timeout = options.timeout ?? 120_000;
    this.#fetch = options.fetch ?? ((...request) => globalThis.fetch(...request));
  }

  async json<T>(call: Call): Promise<T> {
    const response = await this.send(call);
    try {
      return (await response.json()) as T;
    } catch (error) {
      call.signal?.throwIfAborted();
      throw new ServerError(0, `the response cannot be read (${reasonOf(error)})`, [], undefined, { cause: error });
    }
  }

  /** Return the response of a call, whose body is not read yet. */
  async send(call: Call): Promise<Response> {
    for (let tried = 0; ; tried++) {
      const response = await this.#once(call);
      if (response.ok) return response;
      const wait = secondsIn(response.headers.get("Retry-After")) ?? FIRST_WAIT_S * 2 ** tried;
      if (!BUSY.includes(response.status) || tried >= this.#retries || wait > LONGEST_WAIT_S) {
        throw await errorOf(response);
      }
      await response.body?.cancel();
      await pause(wait * 1000, call.signal);
    }
  }

  async #once({ method, path, query = {}, body, signal }: Call): Promise<Response> {
    const parameters = new URLSearchParams();
    for (const [name, value] of Object.entries(query)) {
      for (const one of Array.isArray(value) ? value : value === undefined ? [] : [value]) {
        parameters.append(name, String(one));
      }
    }
    const isForm = body instanceof FormData;
    const late = new AbortController();
    const timer = setTimeout(() => late.abort(), this.#timeout);
    try {
      return await this.#fetch(`${this.address}${path}${parameters.size ? `?${parameters}` : ""}`, {
        method,
        headers: { ...this.#headers, ...(body && !isForm ? { "Content-Type": "application/json" } : {}) },
        body: isForm ? body : body ? JSON.stringify(body) : null,
        signal: signal ? AbortSignal.any([signal, late.signal]) : late.signal,
      });
    } catch (error) {
      signal?.throwIfAborted();
      const reason = late.signal.aborted ? `no response in ${this.#timeout / 1000} s` : reasonOf(error);
      const what = `${this.address} cannot be reached (${reason}): start \`propcite serve\`, or name another address`;
      throw new ServerError(0, what, [], undefined, { cause: error });
    } finally {
      clearTimeout(timer);
    }
  }
}

/** Return a name as one part of a path. */
export function part(name: string): string {
  return encodeURIComponent(name);
}

/** Return files as a form, all under one field. */
export function fileForm(field: string, files: UploadFile[]): FormData {
  const form = new FormData();
  for (const file of files) {
    if (file instanceof File) form.append(field, file, file.name);
    else form.append(field, new Blob([file.content]), file.name);
  }
  return form;
}

function pause(milliseconds: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", stop);
      resolve();
    }, milliseconds);
    if (signal?.aborted) stop();
    signal?.addEventListener("abort", stop, { once: true });
  });
}
