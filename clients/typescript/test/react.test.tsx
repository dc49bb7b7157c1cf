import assert from "node:assert/strict";
import { env } from "node:process";
import { test } from "node:test";

import { Client } from "propcite";
import { renderToStaticMarkup } from "react-dom/server";

import { Chat } from "../examples/react/Chat.js";
import { CitedText } from "../examples/react/CitedText.js";

const COST = "The barrier cost 410 million euros.";
const client = new Client(env["PROPCITE_ADDRESS"]);

test("an answer is shown while it streams, with markers that hold the quote", async () => {
  const stream = client.citeStream(`${COST} It is red.`, [{ title: "Audit", text: COST }]);
  const shown: string[] = [];
  for await (const _ of stream) shown.push(renderToStaticMarkup(<CitedText soFar={stream.soFar} />));
  assert.equal(shown[0], `<p class="cited-text">${COST} It is red.</p>`);
  assert.match(shown.at(-1)!, /<button[^>]*aria-label="Source 1: Audit">\[1\]<\/button>/);
  assert.match(shown.at(-1)!, new RegExp(`popover="auto" role="note"><q>${COST}</q> <cite>Audit</cite>`));
});

test("the chat begins with its form", () => {
  assert.match(renderToStaticMarkup(<Chat client={client} />), /<form><input aria-label="Question" required=""/);
});
