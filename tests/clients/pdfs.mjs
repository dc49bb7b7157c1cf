// Ask a server about a PDF by the npm clients of Anthropic's API; print each client's citations, one JSON line per call.
//   node --input-type=module -e "$(cat pdfs.mjs)" '{"address": "http://…", "pdf": "base64", "question": "…"}'
import { createAnthropic } from "@ai-sdk/anthropic";
import Anthropic from "@anthropic-ai/sdk";
import { generateText, streamText } from "ai";

globalThis.AI_SDK_LOG_WARNINGS = false; // they would be lines of the output
const { address, pdf, question } = JSON.parse(process.argv.at(-1));
const anthropic = new Anthropic({ apiKey: "any", baseURL: address, maxRetries: 0 });
const model = createAnthropic({ apiKey: "any", baseURL: `${address}/v1` })("m");

const document = {
  type: "document",
  title: "Audit",
  source: { type: "base64", media_type: "application/pdf", data: pdf },
  citations: { enabled: true },
};
const message = { model: "m", max_tokens: 99, messages: [{ role: "user", content: [document, { type: "text", text: question }] }] };
const providerOptions = { anthropic: { citations: { enabled: true }, title: "Audit" } };
const file = { type: "file", data: Buffer.from(pdf, "base64"), mediaType: "application/pdf", filename: "audit.pdf", providerOptions };
const request = { model, maxRetries: 0, messages: [{ role: "user", content: [file, { type: "text", text: question }] }] };

function ofMessage({ content }) {
  const citations = content.flatMap((block) => block.citations ?? []);
  return citations.map((one) => [one.type, one.document_title, one.start_page_number, one.end_page_number, one.cited_text]);
}

function ofSources(sources) {
  return sources.map(({ title, providerMetadata: { anthropic: at } }) => [
    "page_location", title, at.startPageNumber, at.endPageNumber, at.citedText,
  ]);
}

const clients = {
  "@anthropic-ai/sdk": async () => ofMessage(await anthropic.messages.create(message)),
  "@anthropic-ai/sdk, stream": async () => ofMessage(await anthropic.messages.stream(message).finalMessage()),
  "AI SDK, anthropic()": async () => ofSources((await generateText(request)).sources),
  "AI SDK, anthropic(), stream": async () => {
    const result = streamText({ ...request, onError() {} });
    for await (const part of result.fullStream) if (part.type === "error") throw part.error;
    return ofSources(await result.sources);
  },
};

for (const [client, ask] of Object.entries(clients)) {
  try {
    console.log(JSON.stringify({ client, citations: await ask() }));
  } catch (error) {
    console.log(JSON.stringify({ client, error: String(error.message ?? error) }));
  }
}
