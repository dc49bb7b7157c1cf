// Call a server by the npm clients and print what each shows, as one JSON line per call.
//   node --input-type=module -e "$(cat clients.mjs)" '{"address": "http://…", "collection": "harbour", "questions": {"plain": "…", …}}'
import { createAnthropic } from "@ai-sdk/anthropic";
import { createOpenAI } from "@ai-sdk/openai";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import Anthropic from "@anthropic-ai/sdk";
import { generateText, streamText, tool } from "ai";
import OpenAI from "openai";
import { z } from "zod";

globalThis.AI_SDK_LOG_WARNINGS = false; // they would be lines of the output
const { address, collection, questions, headers, only } = JSON.parse(process.argv.at(-1));
const base = `${address}/v1/collections/${collection}`;
const options = { apiKey: "any", baseURL: base, maxRetries: 0, defaultHeaders: headers };
const openai = new OpenAI(options);
const anthropic = new Anthropic(options);
const provided = { apiKey: "any", baseURL: base, headers };
const parameters = { type: "object", properties: {} };

// Each client has: ask(question, {n, tools}) and stream(question, {n, tools}); both return
// {texts: [{text, citations: [{title, words?, quote?}]}], calls: [name], raw: whether the citations are in the response}.
const clients = {
  "openai npm, chat": {
    async ask(question, { n, tools } = {}) {
      const request = { model: "m", messages: [{ role: "user", content: question }] };
      return ofChat(await openai.chat.completions.create({ ...request, n, tools: tools ? [chatTool] : undefined }));
    },
    async stream(question, { n, tools } = {}) {
      const request = { model: "m", messages: [{ role: "user", content: question }], n, tools: tools ? [chatTool] : undefined };
      return ofChat(await openai.chat.completions.stream(request).finalChatCompletion());
    },
  },
  "openai npm, chat, chunks": {
    async stream(question, { n } = {}) {
      const request = { model: "m", messages: [{ role: "user", content: question }], n, stream: true };
      const choices = [];
      for await (const chunk of await openai.chat.completions.create(request)) {
        for (const { index, delta } of chunk.choices) {
          const message = ((choices[index] ??= { message: { content: "", annotations: [] } })).message;
          message.content += delta.content ?? "";
          message.annotations.push(...(delta.annotations ?? []));
        }
      }
      return ofChat({ choices });
    },
  },
  "openai npm, responses": {
    async ask(question, { tools } = {}) {
      const request = { model: "m", input: question, tools: tools ? [responsesTool] : undefined };
      return ofResponse(await openai.responses.create(request));
    },
    async stream(question, { tools } = {}) {
      const stream = openai.responses.stream({ model: "m", input: question, tools: tools ? [responsesTool] : undefined });
      const response = await stream.finalResponse();
      if (response.status === "failed") throw new Error(response.error.message);
      return ofResponse(response);
    },
  },
  "@anthropic-ai/sdk": {
    ask: async (question, { tools } = {}) => ofMessage(await anthropic.messages.create(messages(question, tools))),
    stream: async (question, { tools } = {}) =>
      ofMessage(await anthropic.messages.stream(messages(question, tools)).finalMessage()),
  },
  "AI SDK, openai()": aiSdk(createOpenAI(provided)("m")),
  "AI SDK, openai.chat()": aiSdk(createOpenAI(provided).chat("m")),
  "AI SDK, anthropic()": aiSdk(createAnthropic(provided)("m")),
  "AI SDK, openai-compatible": aiSdk(createOpenAICompatible({ ...provided, name: "propcite" })("m")),
};

const chatTool = { type: "function", function: { name: "cost", parameters } };
const responsesTool = { type: "function", name: "cost", parameters, strict: false };

function messages(question, tools) {
  const asked = { model: "m", max_tokens: 99, messages: [{ role: "user", content: question }] };
  return { ...asked, ...(tools && { tools: [{ name: "cost", input_schema: parameters }] }) };
}

function ofChat({ choices }) {
  const texts = choices.map(({ message }) => ({
    text: message.content,
    citations: (message.annotations ?? []).map(({ url_citation: c }) => ({
      title: c.title,
      words: message.content.slice(c.start_index, c.end_index),
    })),
  }));
  const calls = choices.flatMap(({ message }) => message.tool_calls ?? []).map((call) => call.function.name);
  return { texts, calls };
}

function ofResponse({ output }) {
  const parts = output.filter((item) => item.type === "message").flatMap((item) => item.content);
  const texts = parts.map(({ text, annotations }) => ({
    text,
    citations: annotations.map((a) => ({ title: a.title, words: text.slice(a.start_index, a.end_index) })),
  }));
  return { texts, calls: output.filter((item) => item.type === "function_call").map((item) => item.name) };
}

function ofMessage({ content }) {
  const blocks = content.filter((block) => block.type === "text");
  const citations = blocks.flatMap(({ text, citations }) =>
    (citations ?? []).map((c) => ({ title: c.title ?? c.document_title, words: text, quote: c.cited_text })),
  );
  const calls = content.filter((block) => block.type === "tool_use").map((block) => block.name);
  return { texts: [{ text: blocks.map((block) => block.text).join(""), citations }], calls };
}

function aiSdk(model) {
  const request = (question, tools) => ({
    model,
    prompt: question,
    maxRetries: 0,
    ...(tools && { tools: { cost: tool({ inputSchema: z.object({}) }) } }),
  });
  const shown = (text, sources, toolCalls, raw) => ({
    texts: [{ text, citations: sources.map((s) => ({ title: s.title })) }],
    calls: toolCalls.map((call) => call.toolName),
    raw,
  });
  return {
    async ask(question, { tools } = {}) {
      const result = await generateText(request(question, tools));
      const raw = /"(annotations|citations)":\[\{/.test(JSON.stringify(result.response.body));
      return shown(result.text, result.sources, result.toolCalls, raw);
    },
    async stream(question, { tools } = {}) {
      const result = streamText({ ...request(question, tools), includeRawChunks: true, onError() {} });
      let raw = false;
      for await (const part of result.fullStream) {
        if (part.type === "error") throw part.error instanceof Error ? part.error : new Error(JSON.stringify(part.error));
        raw ||= part.type === "raw" && /"annotations?":[[{]|citations_delta/.test(JSON.stringify(part.rawValue));
      }
      return shown(await result.text, await result.sources, await result.toolCalls, raw);
    },
  };
}

async function call(client, way, scene, run) {
  try {
    return { client, way, scene, ...(await run()) };
  } catch (error) {
    return { client, way, scene, error: String(error.message ?? error) };
  }
}

for (const [client, ways] of Object.entries(clients)) {
  if (only && !only.includes(client)) continue;
  for (const [way, ask] of Object.entries(ways)) {
    for (const [scene, question] of Object.entries(questions)) {
      const asked = { n: scene === "two" ? 2 : undefined, tools: scene === "tools" };
      console.log(JSON.stringify(await call(client, way, scene, () => ask(question, asked))));
    }
  }
}
