// Files and folders that are chosen or dropped: what can be read of them is handed to one of Streamlit's uploaders.
// Streamlit itself would list each file of another kind as an error, and forget the folders of what is dropped.

const size = (bytes) => (bytes < 2 ** 30 ? `${Math.ceil(bytes / 2 ** 20)} MB` : `${+(bytes / 2 ** 30).toFixed(1)} GB`);
const count = (number, word) => `${number.toLocaleString("en")} ${word}${number === 1 ? "" : "s"}`;
const pathOf = (file) => file.webkitRelativePath || file.name;
const LISTED = 4; // kinds that are left out, by their suffixes

// What can be read, and a line on what is left out.
function sift(files, rules) {
  const left = {};
  const leave = (why) => { left[why] = (left[why] ?? 0) + 1; };
  const kept = files.filter((file) => {
    const parts = pathOf(file).split("/");
    const name = parts.at(-1).toLowerCase();
    if (parts.some((part) => rules.hidden.some((start) => part.startsWith(start)))) return leave("hidden");
    const suffix = name.match(/.(\.[^.]{1,12})$/)?.[1] ?? "";
    if (!rules.suffixes.includes(suffix)) return leave(rules.refused[suffix] ?? (suffix || "without a suffix"));
    if (!file.size) return leave("empty");
    if (file.size > rules.most) return leave(`over ${size(rules.most)}`);
    return true;
  });
  const whys = Object.entries(left).sort(([, one], [, other]) => other - one);
  const named = whys.slice(0, LISTED).map(([why, number]) => `${number.toLocaleString("en")} ${why}`);
  const more = whys.length > LISTED ? ", …" : "";
  const line = whys.length ? `${count(files.length - kept.length, "file")} left out: ${named.join(", ")}${more}.` : "";
  return { kept, line };
}

// Hand over what can be read, all or nothing; the line says what is left out.
function handOver(input, files, rules) {
  const { kept, line } = sift(files, rules);
  input.value = ""; // so that the same choice counts again
  const bytes = kept.reduce((sum, file) => sum + file.size, 0);
  if (!files.length) return "There are no files in it: choose another folder.";
  if (!kept.length) return `Nothing of it can be read. ${line}`;
  if (kept.length > rules.mostFiles || bytes > rules.mostTogether)
    return `${count(kept.length, "file")} of ${size(bytes)} together are too many at once: choose up to `
      + `${count(rules.mostFiles, "file")} of ${size(rules.mostTogether)} together, one sub-folder after the other.`;
  const handed = new DataTransfer();
  for (const file of kept.sort((one, other) => pathOf(one).localeCompare(pathOf(other)))) handed.items.add(file);
  input.files = handed.files;
  const change = new Event("change", { bubbles: true });
  change.isSifted = true;
  input.dispatchEvent(change);
  return line;
}

// All files of what was dropped, with the folders they lie in.
async function filesOf(entries, rules, found = []) {
  for (const entry of entries) {
    if (found.length > 20 * rules.mostFiles) break; // more than anybody means to add
    if (entry.isFile) {
      const file = await new Promise((done, failed) => entry.file(done, failed)).catch(() => null);
      if (!file) continue; // it was moved meanwhile
      const path = entry.fullPath.replace(/^\//, "");
      if (path !== file.name) Object.defineProperty(file, "webkitRelativePath", { value: path });
      found.push(file);
    } else if (!rules.hidden.some((start) => entry.name.startsWith(start))) {
      const reader = entry.createReader();
      for (;;) {
        const some = await new Promise((done, failed) => reader.readEntries(done, failed)).catch(() => []);
        if (!some.length) break;
        await filesOf(some, rules, found);
      }
    }
  }
  return found;
}

const OTHERS = '.st-key-adding, [data-testid="stFileUploader"]'; // which take what is dropped on them themselves

export default function ({ parentElement, data: rules }) {
  const said = parentElement.querySelector(".said");
  const cue = parentElement.querySelector(".cue");
  said.stop?.abort();
  const stop = new AbortController();
  said.stop = stop;
  const options = { capture: true, signal: stop.signal };
  if (said.form !== rules.form) said.textContent = ""; // what it was said of has been sent
  said.form = rules.form;
  const within = (target) => target instanceof Element && target.closest(rules.within);
  const say = (line) => {
    said.textContent = line;
    if (line) said.scrollIntoView({ block: "center" });
  };
  const isOurs = (event) =>
    event.dataTransfer?.types.includes("Files")
    && (within(event.target) || (rules.anywhere && !(event.target instanceof Element && event.target.closest(OTHERS))));

  window.addEventListener("change", (event) => {
    const input = event.target;
    if (event.isSifted || !within(input) || input.type !== "file") return;
    event.stopImmediatePropagation();
    say(handOver(input, [...input.files], rules));
  }, options);
  window.addEventListener("dragover", (event) => {
    if (!isOurs(event)) return;
    event.preventDefault();
    cue.hidden = Boolean(document.querySelector('[data-testid="stChatInput"]')); // which shows it itself
  }, options);
  window.addEventListener("dragleave", (event) => { if (!event.relatedTarget) cue.hidden = true; }, options);
  window.addEventListener("drop", async (event) => {
    cue.hidden = true;
    if (!isOurs(event)) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    const entries = [...event.dataTransfer.items].map((item) => item.webkitGetAsEntry()).filter(Boolean);
    window.dispatchEvent(new DragEvent("drop")); // so that Streamlit hides where files can be dropped
    const place = document.querySelector(rules.within);
    place.querySelector("details:not([open]) > summary")?.click();
    const files = await filesOf(entries, rules);
    say(handOver(place.querySelector('input[type="file"]'), files, rules));
  }, options);
  return () => stop.abort();
}
