import type { Problem } from "./types.js";

/** The server refused a request, failed, could not be reached, or broke off its answer. */
export class ServerError extends Error {
  override readonly name = "ServerError";

  constructor(
    /** The status of HTTP; 0 if there was no response. */
    readonly status: number,
    /** The server's own line. */
    readonly detail: string,
    /** The fields of the request that are wrong. */
    readonly errors: NonNullable<Problem["errors"]> = [],
    /** In how many seconds a new try makes sense, if the server says so. */
    readonly retryAfter?: number,
    options?: ErrorOptions,
  ) {
    super(status ? `${detail} (${status})` : detail, options);
  }
}

/** Return the error that a response is: problem details, or whatever a proxy sent. */
export async function errorOf(response: Response): Promise<ServerError> {
  let problem: Partial<Problem> = {};
  try {
    problem = ((await response.json()) ?? {}) as Partial<Problem>;
  } catch {
    // not JSON: the status has to do
  }
  const detail = problem.detail || response.statusText || "the server refused";
  return new ServerError(response.status, detail, problem.errors ?? [], secondsIn(response.headers.get("Retry-After")));
}

/** Return the seconds of a header Retry-After, which may be a date. */
export function secondsIn(retryAfter: string | null): number | undefined {
  if (retryAfter === null) return undefined;
  if (/^\d+$/.test(retryAfter.trim())) return Number(retryAfter);
  const moment = Date.parse(retryAfter);
  return Number.isNaN(moment) ? undefined : Math.max(0, (moment - Date.now()) / 1000);
}

export function broken(reason: string, cause?: unknown): ServerError {
  return new ServerError(0, `the answer broke off (${reason}): ask again`, [], undefined, { cause });
}

/** Return what fetch says of a connection that fails: undici hides it in the cause. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error && error.cause.message ? error.cause.message : error.message;
}
