import { segments, type AnswerSoFar, type Citation } from "propcite";
import { Fragment, useId } from "react";

/** Shows an answer, whole or so far: each cited sentence ends with markers that open the words of the source. */
export function CitedText({ soFar }: { soFar: Pick<AnswerSoFar, "text" | "sentences"> }) {
  return (
    <p className="cited-text">
      {segments(soFar).map(({ text, citations, facts }, place) => (
        <Fragment key={place}>
          {facts.some(({ verdict }) => verdict?.label === "contradicted") ? <mark>{text}</mark> : text}
          {citations.map((citation) => (
            <Marker key={citation.id} citation={citation} />
          ))}
        </Fragment>
      ))}
    </p>
  );
}

function Marker({ citation: { number, title, quote, pages, link } }: { citation: Citation }) {
  const id = useId();
  const where = [title, ...pages.slice(0, 1).map((page) => `page ${page}`)].filter(Boolean).join(", ");
  return (
    <>
      <button type="button" className="marker" popoverTarget={id} aria-label={`Source ${number}: ${where}`}>
        [{number}]
      </button>
      <span id={id} popover="auto" role="note">
        <q>{quote}</q> {link ? <a href={link}>{where}</a> : <cite>{where}</cite>}
      </span>
    </>
  );
}
