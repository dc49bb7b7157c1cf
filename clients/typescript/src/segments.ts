import type { Citation, CitedProposition, CitedSentence } from "./types.js";

/** A piece of an answer: a cited sentence with its citations and facts, or text that is not cited (yet). */
export interface Segment {
  text: string;
  citations: readonly Citation[];
  /** What the sentence claims, each with its verdict; empty for text without a sentence. */
  facts: readonly CitedProposition[];
}

/** Divide an answer, whole or so far, for showing: the texts joined are its text. */
export function segments({ text, sentences }: { text: string; sentences: readonly CitedSentence[] }): Segment[] {
  const pieces: Segment[] = [];
  let end = 0;
  const plain = (from: number, to: number) => {
    if (to > from) pieces.push({ text: text.slice(from, to), citations: [], facts: [] });
  };
  for (const sentence of sentences) {
    plain(end, sentence.start);
    const facts = sentence.propositions.filter((one) => one.check_worthy);
    pieces.push({ text: text.slice(sentence.start, sentence.end), citations: sentence.citations, facts });
    end = sentence.end;
  }
  plain(end, text.length);
  return pieces;
}
