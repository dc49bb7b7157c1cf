import { ServerError, type AnswerSoFar, type Client } from "propcite";
import { useEffect, useRef, useState, type FormEvent } from "react";

import { CitedText } from "./CitedText.js";

/** A question, and its answer while it is written. */
export function Chat({ client }: { client: Client }) {
  const [soFar, setSoFar] = useState<AnswerSoFar | null>(null);
  const [problem, setProblem] = useState("");
  const running = useRef<AbortController | null>(null);
  useEffect(() => () => running.current?.abort(), []);

  async function ask(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    const question = String(new FormData(event.currentTarget).get("question"));
    running.current?.abort();
    const { signal } = (running.current = new AbortController());
    setSoFar(null);
    setProblem("");
    const stream = client.askStream(question, { signal });
    try {
      for await (const _ of stream) setSoFar(stream.soFar);
    } catch (error) {
      if (!signal.aborted) setProblem(error instanceof ServerError ? error.detail : String(error));
    }
  }

  return (
    <section>
      <form onSubmit={ask}>
        <input name="question" aria-label="Question" required />
        <button>Ask</button>
      </form>
      {soFar && <CitedText soFar={soFar} />}
      {soFar?.answer?.notes.map((note) => (
        <p key={note} role="status">
          {note}
        </p>
      ))}
      {problem && <p role="alert">{problem}</p>}
    </section>
  );
}
