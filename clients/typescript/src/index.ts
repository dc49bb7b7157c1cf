export { Client } from "./client.js";
export { ServerError } from "./errors.js";
export { Notes } from "./notes.js";
export { Reviews } from "./reviews.js";
export { segments, type Segment } from "./segments.js";
export { type ClientOptions } from "./sending.js";
export { AnswerStream, type AnswerEvent, type AnswerSoFar } from "./stream.js";
export type { components, operations, paths } from "./openapi.js";
export type * from "./types.js";
