// Against a real server: PROPCITE_ADDRESS, and PROPCITE_BROKEN, which hangs up inside an answer (tests/clients).
import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { env } from "node:process";
import { test } from "node:test";

import { AnswerStream, Client, segments, ServerError, type AnswerEvent } from "propcite";

const address = env["PROPCITE_ADDRESS"] ?? "http://127.0.0.1:8600";
const client = new Client(address, { collection: "harbour" });
const COST = "The barrier cost 410 million euros.";
const TEXT = `🌊🌊 Look at it.\u2028${COST} The museum opened in 1912.`;
const PASSAGES = [{ id: "cost", title: "Cost", text: `🌊 Rain. ${COST}` }, "The museum opened in 1987."];

test("a text is cited, and its offsets slice strings", async () => {
  const answer = await client.cite(TEXT, PASSAGES);
  assert.equal(answer.offsets, "utf-16");
  const cited = answer.sentences.filter((one) => one.citations.length);
  assert.deepEqual(cited.map((one) => TEXT.slice(one.start, one.end).trim()), [COST]);
  const [citation] = cited[0]!.citations;
  assert.equal(answer.passages.find((one) => one.id === "cost")!.text.slice(citation!.start, citation!.end), COST);
  assert.ok(answer.uncited.includes("The museum opened in 1912."));
  assert.equal((await client.cite(COST, [])).coverage, 0);
});

test("a text is cited as a stream, and the answer so far grows to the whole", async () => {
  const stream = client.citeStream(TEXT, PASSAGES);
  const events: AnswerEvent[] = [];
  const seen: string[] = [];
  for await (const event of stream) {
    events.push(event);
    if (event.type === "sentence") seen.push(segments(stream.soFar).map((one) => one.text).join(""));
  }
  assert.equal(events.map((one) => (one.type === "text" ? one.text : "")).join(""), TEXT);
  assert.equal(events.at(-1)!.type, "done");
  assert.ok(seen.length >= 3 && seen.every((one) => one === TEXT));
  const whole = await client.cite(TEXT, PASSAGES);
  assert.deepEqual(stream.soFar.sentences, whole.sentences);
  assert.deepEqual(stream.soFar.answer!.passages, whole.passages);
  assert.equal((await stream.answer()).id, whole.id);
});

test("a question is answered, followed, explained and judged by people", async () => {
  const answer = await client.ask("What did the barrier cost?");
  assert.equal(answer.sentences[0]!.citations[0]!.quote, COST);
  assert.match(answer.sentences[0]!.citations[0]!.link!, /^https:\/\/propcite\.example\/reading\//);
  const streamed = client.askStream("What did the barrier cost?");
  assert.ok(streamed instanceof AnswerStream);
  assert.equal((await streamed.answer()).text, answer.text);
  assert.equal((await client.getAnswer(answer.id)).text, answer.text);
  assert.equal((await client.listAnswers("barrier")).total, 1);
  assert.ok((await client.explain(answer.id)).fact);
  assert.equal((await client.giveFeedback(answer.id, 1, "right", { by: "Ana" })).by, "Ana");
  assert.equal((await client.removeAnswer(answer.id)).removed, 1);
});

test("claims are judged, and hits have their passages", async () => {
  const verdicts = await client.judge([
    { claim: COST, evidence: [COST] },
    { claim: "The barrier cost 400 million euros.", evidence: [COST] },
  ]);
  assert.deepEqual(verdicts.map((one) => one.label), ["supported", "contradicted"]);
  const { hits, passages } = await client.search("cost", { granularity: "sentence", k: 1, passages: true });
  const [start, end] = hits[0]!.spans[0]!;
  assert.equal(passages![0]!.text.slice(start, end), hits[0]!.text);
});

test("the markers of a text are checked, dropped and added", async () => {
  const text = `🌊 Look. The museum opened in 1987 [1]. ${COST.slice(0, -1)} [1][7].`;
  const repaired = await client.repair(text, PASSAGES);
  assert.equal(repaired.text, `🌊 Look. The museum opened in 1987 [2]. ${COST.slice(0, -1)} [1].`);
  assert.ok(repaired.changed);
  const states = repaired.checks.map((one) => [one.number, one.state]);
  assert.deepEqual(states, [[1, "dropped"], [2, "added"], [1, "kept"], [7, "no such passage"]]);
  const kept = repaired.checks[2]!;
  assert.equal(text.slice(...kept.marker!), "[1]");
  assert.equal(repaired.answer.text.slice(...kept.sentence).trim(), COST);
  const { passages } = repaired.answer;
  assert.equal(passages.find((one) => one.id === "cost")!.text.slice(kept.evidence!.start, kept.evidence!.end), COST);
  assert.equal((await client.repair(COST, ["It rained."], { collection: "harbour" })).answer.coverage, 1);
  await assert.rejects(client.repair(COST, []), { status: 422 });
});

test("notes are pinned, written, cited, exported and removed", async () => {
  const answer = await client.ask("What did the barrier cost?");
  const pinned = await client.notes.add("", { answer: answer.id, fact: 1, quote: true });
  assert.ok(pinned.pinned);
  const written = await client.notes.change(await client.notes.add("Ask again."), COST);
  assert.ok((await client.notes.cite(written.id)).cited);
  assert.deepEqual((await client.notes.all()).map((note) => note.id), [pinned.id, written.id]);
  assert.match(await (await client.notes.export()).text(), /410 million/);
  await assert.rejects(client.notes.change({ ...written, version: 1 }, "late"), { status: 409 });
  for (const note of await client.notes.all()) assert.equal((await client.notes.remove(note.id)).id, note.id);
  assert.match(await client.getRecord(answer.id), /<html/);
  assert.ok(Array.isArray(await client.suggestFollowUps(answer.id)));
  assert.ok(Array.isArray(await client.suggestQuestions()));
  await client.removeAnswer(answer.id);
});

test("a draft is sent, watched, decided on and taken along", async () => {
  const begun = await client.reviews.begin({ name: "draft.md", content: "The barrier cost 400 million euros. It is of gold." });
  let review = begun;
  while (review.state === "citing") {
    await new Promise((resolve) => setTimeout(resolve, 50));
    review = await client.reviews.get(begun.id);
  }
  assert.deepEqual([review.state, review.num_facts], ["done", 2]);
  const [wrong] = await client.reviews.listFacts(begun.id, { verdicts: ["contradicted"] });
  assert.equal(wrong!.quotes[0]!.quote, COST);
  assert.equal((await client.reviews.decide(begun.id, wrong!.number, "changed", { words: COST })).choice, "changed");
  assert.match(await (await client.reviews.export(begun.id, "markdown")).text(), /fact-1/);
  assert.deepEqual((await client.reviews.all()).map((one) => one.id), [begun.id]);
  await client.reviews.remove(begun.id);
  await assert.rejects(client.reviews.get(begun.id), { status: 404 });
});

test("two documents are compared", async () => {
  const content = (days: number) => `Receipts must be handed in within ${days} days.`;
  await client.createCollection("policies");
  const files = [30, 14].map((days) => ({ name: `after-${days}.txt`, content: content(days) }));
  await client.addDocuments({ files, wait: true, collection: "policies" });
  const question = "When must receipts be handed in?";
  const compared = await client.compare(question, ["after-30.txt"], ["after-14.txt"], { collection: "policies" });
  assert.deepEqual(compared.facts.map((row) => row.relation), ["differs"]);
  assert.equal(compared.facts[0]!.left!.evidence[0]!.quote, content(14));
  const whole = await client.compareDocuments(["after-30.txt"], ["after-14.txt"], { collection: "policies" });
  const pair = whole.pairs[0]!;
  const words = (side: typeof pair.left) => side!.changed.map(([from, to]) => content(30).slice(from, to));
  assert.deepEqual([pair.relation, pair.copy, words(pair.left)], ["differs", false, ["30"]]);
  await client.removeCollection("policies");
});

test("documents are added, listed, shown and removed", async () => {
  await client.createCollection("ferries");
  const collection = "ferries";
  const files = [new File(["The ferry runs every hour."], "ferry.txt"), { name: "bus.md", content: "# Bus\n\nIt is late." }];
  const job = await client.addDocuments({ files, collection, wait: true });
  assert.deepEqual([job.state, job.outcomes.map((one) => one.state)], ["done", ["added", "added"]]);
  assert.equal((await client.getJob(job.id)).done, 2);
  assert.deepEqual((await client.listJobs({ collection, limit: 1 })).jobs.map(({ id }) => id), [job.id]);
  assert.equal((await client.cancelJob(job.id)).state, "done"); // it has ended
  await assert.rejects(client.cancelJob("nothing"), { status: 404 });
  const [bus, ferry] = await client.listDocuments({ collection });
  assert.deepEqual([bus!.source, ferry!.source], ["bus.md", "ferry.txt"]);
  assert.match(await client.readDocument(ferry!.id, { collection, cited: [4, 9] }), /id="?cited/);
  assert.equal((await client.removeDocument(bus!.id, { collection })).id, bus!.id);
  assert.ok((await client.listCollections()).some((one) => one.name === "ferries" && one.num_documents === 1));
  assert.equal((await client.removeCollection("ferries")).name, "ferries");
});

test("what the server refuses is a ServerError", async () => {
  await assert.rejects(client.ask("What?", { collection: "nowhere" }), (error) => {
    assert.ok(error instanceof ServerError);
    assert.equal(error.status, 404);
    assert.match(error.message, /no collection 'nowhere'/);
    return true;
  });
  await assert.rejects(client.ask("  "), (error) => error instanceof ServerError && error.errors[0]!["field"] === "question");
  await assert.rejects(client.askStream("What?", { collection: "nowhere" }).answer(), { status: 404 });
  await assert.rejects(new Client("http://127.0.0.1:9").listCollections(), { name: "ServerError", status: 0 });
});

test("a stream that breaks off is one error, and keeps what has come", async () => {
  const stream = new Client(env["PROPCITE_BROKEN"]!).citeStream(TEXT, PASSAGES);
  await assert.rejects(stream.answer(), (error) => error instanceof ServerError && /broke off/.test(error.message));
  assert.equal(stream.soFar.text, TEXT);
  assert.equal(stream.soFar.answer, null);
});

test("a signal ends a call and a stream, with its own reason", async () => {
  const stopped = new Error("stopped");
  await assert.rejects(client.ask("What?", { signal: AbortSignal.abort(stopped) }), stopped);
  const controller = new AbortController();
  const stream = client.citeStream(TEXT.repeat(20), PASSAGES, { signal: controller.signal });
  await assert.rejects(async () => {
    for await (const _ of stream) controller.abort(stopped);
  }, stopped);
});

test("leaving a stream early leaves nothing open", async () => {
  for await (const event of client.citeStream(TEXT.repeat(20), PASSAGES)) {
    assert.equal(event.type, "text");
    break;
  }
  assert.ok((await client.listCollections()).length);
});

test("a busy server is tried again after as long as it says", async () => {
  const times: number[] = [];
  const busyTwice = createServer((_, response) => {
    times.push(performance.now());
    const status = [503, 429][times.length - 1] ?? 200;
    response.writeHead(status, { "Retry-After": "1" }).end(status === 200 ? '{"collections": []}' : '{"detail": "busy"}');
  }).listen(0, "127.0.0.1");
  await once(busyTwice, "listening");
  const at = `http://127.0.0.1:${(busyTwice.address() as AddressInfo).port}`;
  try {
    await assert.rejects(new Client(at, { retries: 0 }).listCollections(), { status: 503, detail: "busy", retryAfter: 1 });
    times.length = 0;
    assert.deepEqual(await new Client(at).listCollections(), []);
    assert.ok(times[2]! - times[0]! > 1900);
  } finally {
    busyTwice.close();
  }
});
