import type { components } from "./openapi.js";

type Schemas = components["schemas"];

export type Verdict = Schemas["VerdictJson"];
export type Evidence = Schemas["EvidenceJson"];
export type Citation = Schemas["CitationJson"];
export type CitedProposition = Schemas["PropositionJson"];
export type CitedSentence = Schemas["SentenceJson"];
export type Passage = Schemas["PassageJson"];
export type QuestionPart = Schemas["PartJson"];
/** A cited answer. Its offsets count UTF-16 code units, as the strings of JavaScript do, except those named `document_…`. */
export type CitedAnswer = Omit<Schemas["AnswerJson"], "schema"> & { schema: string; offsets?: "utf-16" };

export type MarkerCheck = Schemas["CheckJson"];
/** A text whose markers are right, what happened to each, and the text without markers as a cited answer. */
export type Repaired = Omit<Schemas["RepairJson"], "schema" | "answer"> & { schema: string; answer: CitedAnswer };

export type Hit = Schemas["HitJson"];
export type SearchResult = Schemas["SearchResponse"];
export type Verdicts = Schemas["Verdicts"];
export type Explanation = Schemas["ExplanationJson"];
export type Collection = Schemas["Collection"];
export type DocumentInfo = Schemas["DocumentInfo"];
export type JobList = Schemas["JobList"];
export type ReadingJob = Schemas["ReadingJob"];
export type RemovedDocument = Schemas["RemovedDocument"];
export type RemovedAnswers = Schemas["RemovedAnswers"];
export type AnswerList = Schemas["AnswerList"];
export type Feedback = Schemas["Feedback"];
export type DocumentOverview = Schemas["DocumentOverview"];
export type Comparison = Schemas["ComparisonJson"];
export type TextComparison = Schemas["TextComparisonJson"];
export type SuggestedQuestion = Schemas["SuggestedQuestion"];
export type Note = Schemas["StoredNote"];
export type Review = Schemas["Review"];
export type ReviewFact = Schemas["ReviewFact"];

export type Granularity = Schemas["Granularity"];
export type Opinion = Schemas["Opinion"];
/** A passage to cite from: a text, or a text with an id, a title and the id of its document. */
export type PassageInput = string | Schemas["PassageInput"];
export type Case = Schemas["JudgeCase"];
export type Problem = Schemas["Problem"];

/** Ends a call early; it then fails with the signal's reason. */
export interface CallOptions {
  signal?: AbortSignal;
}

/** Names the collection of a call, in place of the client's. */
export interface InCollection extends CallOptions {
  collection?: string;
}

export interface Selection extends InCollection {
  /** Only these documents, by id, source or file name. */
  documents?: string[];
  /** Only documents that meet all these conditions, such as `kind=pdf`. */
  where?: string[];
}

export interface AskOptions extends Selection {
  /** The id of the answer that the question follows. */
  after?: string;
}

export interface CiteOptions extends InCollection {
  question?: string;
  /** Store the answer in the collection. */
  keep?: boolean;
}

export interface RepairOptions extends InCollection {
  question?: string;
}

export interface SearchOptions extends Selection {
  granularity?: Granularity;
  k?: number;
  /** Return the passages of the hits too. */
  passages?: boolean;
}

/** A file, or a content with a name. */
export type UploadFile = File | { name: string; content: Blob | string | Uint8Array<ArrayBuffer> };

export interface UploadOptions extends InCollection {
  files?: UploadFile[];
  /** Web addresses to fetch. */
  addresses?: string[];
  /** Return when all are read. */
  wait?: boolean;
}

export interface FeedbackOptions extends CallOptions {
  /** The citation's id or marker, if the fact has several. */
  citation?: string | number;
  /** Words of a source that support the fact better, with the opinion `better`. */
  words?: string;
  note?: string;
  by?: string;
}

export interface NoteOptions extends InCollection {
  /** The stored answer to pin; the note goes to its collection. */
  answer?: string;
  /** Pin only this fact of the answer, by number or id. */
  fact?: string | number;
  /** Pin only the quote of the fact. */
  quote?: boolean;
  /** The citation's id or marker, if the fact has several. */
  citation?: string | number;
}

/** Chooses facts of a draft. */
export interface FactFilter {
  verdicts?: ReviewFact["verdict"][];
  choices?: ReviewFact["choice"][];
}

export interface DecisionOptions extends CallOptions {
  /** The words that a changed fact is to have. */
  words?: string;
  note?: string;
  by?: string;
}
