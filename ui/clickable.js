// An answer and its evidence.  A click shows at once; the server hears of it afterwards and keeps it.
// All HTML comes from ui/render.py, which has escaped whatever a person or a document wrote.

const numbers = (element) => element.dataset.facts.split(" ").map(Number);

function show(root, fact) {
  root.fact = fact;
  for (const element of root.querySelectorAll("[data-facts]")) {
    const chosen = numbers(element).includes(fact);
    element.classList.toggle("selected", chosen);
    element.setAttribute("aria-pressed", String(chosen));
  }
  const panel = root.querySelector(".evidence");
  panel.innerHTML = root.evidence[fact] ?? "";
  panel.hidden = !(fact in root.evidence);
  for (const original of panel.querySelectorAll("details.original")) {
    original.ontoggle = () => fetchShown(root, original);
    fetchShown(root, original);
  }
  // Where the panel scrolls by itself, the words that matter come into its view.
  panel.scrollTop = 0;
  const words = panel.querySelector(".cited");
  const below = words ? words.getBoundingClientRect().bottom - panel.getBoundingClientRect().bottom : 0;
  if (below > 0) panel.scrollTop = below + panel.clientHeight / 3;
}

// What the page itself turned to comes into view: its words in the answer with those of its source beside them, or its
// source where that stands below.
function reveal(root) {
  const panel = root.querySelector(".evidence");
  if (getComputedStyle(panel).position === "sticky") {
    panel.querySelector(".cited")?.scrollIntoView({ block: "nearest" });
    root.querySelector(".answer .selected")?.scrollIntoView({ block: "nearest" });
  } else {
    panel.scrollIntoView();
  }
}

// What is unfolded is fetched, and scrolled to the cited lines.
function fetchShown(root, original) {
  if (!original.open) return;
  const ground = getComputedStyle(root).getPropertyValue("--st-background-color");
  for (const frame of original.querySelectorAll("iframe[data-src]")) {
    const [place, hash] = frame.dataset.src.split("#");
    frame.src = `${place}&theme=${isDark(ground) ? "dark" : "light"}#${hash}`;
    frame.removeAttribute("data-src");
  }
  for (const image of original.querySelectorAll("img[data-src]")) {
    const figure = image.closest("figure");
    image.onload = () => {
      const line = figure.querySelector(".cited-line");
      if (!line) return;
      figure.scrollTop = line.offsetTop - figure.clientHeight / 3;
      figure.scrollLeft = line.offsetLeft - 12;
    };
    image.onerror = () => { figure.textContent = "The page cannot be shown: its file may be gone."; };
    image.src = image.dataset.src;
    image.removeAttribute("data-src");
  }
}

function isDark(colour) {
  const numbers = colour.trim().startsWith("#")
    ? [1, 3, 5].map((i) => parseInt(colour.trim().slice(i, i + 2), 16))
    : (colour.match(/[\d.]+/g) ?? [255, 255, 255]).slice(0, 3).map(Number);
  return numbers.reduce((sum, n) => sum + n, 0) < 384;
}

async function copy(button) {
  const words = button.dataset.copy;
  try {
    await navigator.clipboard.writeText(words);
  } catch {
    // A page that is not served by https has no clipboard: the old way asks for a selection.
    const area = document.createElement("textarea");
    area.value = words;
    document.body.append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
  }
  const before = button.textContent;
  button.textContent = "Copied";
  setTimeout(() => { button.textContent = before; }, 1500);
}

// Words may belong to several facts, a marker to several too: a further click turns to the next.
function following(element, fact) {
  const several = numbers(element);
  return several[(several.indexOf(fact) + 1) % several.length];
}

// Over a marker: its verdict and its quote, without leaving the answer.
function showCard(root, marker) {
  if (root.card?.marker === marker) return;
  hideCard(root);
  const source = document.createElement("template");
  source.innerHTML = root.evidence[numbers(marker)[0]] ?? "";
  const cited = [...source.content.querySelectorAll(".source")].find(
    (one) => one.querySelector(".number")?.textContent === marker.textContent);
  if (!cited) return;
  const card = document.createElement("div");
  card.className = "card";
  card.id = "marker-card";
  card.setAttribute("role", "tooltip");
  const quote = document.createElement("q");
  quote.textContent = [...cited.querySelectorAll(".cited")].map((one) => one.textContent).join(" … ");
  const title = document.createElement("p");
  title.textContent = cited.querySelector("h3").textContent;
  card.append(source.content.querySelector(".badge").cloneNode(true), title, quote);
  root.append(card);
  marker.setAttribute("aria-describedby", card.id);
  const [at, around] = [marker.getBoundingClientRect(), root.getBoundingClientRect()];
  card.style.left = `${Math.max(0, Math.min(at.left - around.left - 16, around.width - card.offsetWidth))}px`;
  const above = at.top - around.top - card.offsetHeight - 6;
  card.style.top = `${at.top - card.offsetHeight > 70 ? above : at.bottom - around.top + 6}px`;
  root.card = { marker, card };
}

// Something lies over the lower edge of the page, and so over words of a source that is read beside the text.
function isCovered(root) {
  const style = getComputedStyle(root.querySelector(".evidence"));
  return style.position === "sticky" && Boolean(style.getPropertyValue("--below").trim());
}

function hideCard(root) {
  root.card?.card.remove();
  root.card?.marker.removeAttribute("aria-describedby");
  root.card = null;
}

function hover(root, element) {
  const several = element ? numbers(element) : [];
  for (const other of root.querySelectorAll(".fact")) {
    other.classList.toggle("hovered", numbers(other).some((n) => several.includes(n)));
  }
}

export default function ({ parentElement, data, setStateValue }) {
  const root = parentElement.querySelector(".propcite");
  const content = JSON.stringify([data.answer, data.evidence]);
  const first = Number(Object.keys(data.evidence)[0]);
  const isTurned = root.answer ? root.answer !== data.answer || root.heard !== data.selected : data.selected !== first;
  if (root.content !== content) {
    root.content = content;
    root.answer = data.answer;
    root.evidence = data.evidence;
    root.sent = [];
    hideCard(root);
    root.querySelector(".answer").innerHTML = data.answer;
    show(root, data.selected);
    if (isTurned || isCovered(root)) reveal(root);
  } else if (root.heard !== data.selected) {
    // What comes back may be the echo of an earlier click: a later one has already been shown.
    const echo = root.sent.indexOf(data.selected);
    if (echo >= 0) root.sent.splice(0, echo + 1);
    else {
      show(root, data.selected);
      reveal(root);
    }
  }
  root.heard = data.selected;

  const turnTo = (fact) => {
    if (fact === root.fact) return;
    show(root, fact);
    root.sent.push(fact);
    setStateValue("fact", fact);
    const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
    root.querySelector(".evidence").scrollIntoView({ block: "nearest", behavior: still ? "auto" : "smooth" });
  };
  const choose = (element) => turnTo(following(element, root.fact));
  const step = (by) => {
    const known = Object.keys(root.evidence).map(Number).sort((a, b) => a - b);
    const place = known.indexOf(root.fact);
    if (known.length) turnTo(known[(place + by + known.length) % known.length]);
  };
  const panel = root.querySelector(".evidence");
  panel.onclick = (event) => {
    const button = event.target.closest("button");
    if (!button) return;
    if (button.dataset.copy) copy(button);
    if (button.dataset.step) {
      const by = button.dataset.step;
      step(Number(by));
      panel.querySelector(`[data-step="${by}"]`)?.focus();
    }
  };
  // From anywhere on the page, unless somebody is writing.  This runs for every change of the data: one ear is enough.
  document.removeEventListener("keydown", root.onKey);
  root.onKey = (event) => {
    const at = event.composedPath()[0];
    if (event.ctrlKey || event.metaKey || event.altKey || !["j", "k"].includes(event.key)) return;
    if (at instanceof Element && at.closest("input, textarea, select, [contenteditable]")) return;
    step(event.key === "j" ? 1 : -1);
  };
  document.addEventListener("keydown", root.onKey);
  const answer = root.querySelector(".answer");
  answer.onclick = (event) => {
    const button = event.target.closest("[data-copy]");
    if (button) copy(button);
    const element = event.target.closest("[data-facts]");
    if (element && getSelection().isCollapsed) choose(element);
  };
  answer.onkeydown = (event) => {
    if (event.key === "Escape") hideCard(root);
    const element = event.target.closest("span[data-facts]");
    if (element && (event.key === "Enter" || event.key === " ")) {
      event.preventDefault();
      choose(element);
    }
  };
  const overMarker = (event) => {
    const marker = event.target.closest(".marker");
    if (marker) showCard(root, marker);
    else hideCard(root);
  };
  answer.onmouseover = (event) => { hover(root, event.target.closest("[data-facts]")); overMarker(event); };
  answer.onmouseleave = () => { hover(root, null); hideCard(root); };
  answer.removeEventListener("focusin", root.onFocus);  // one ear here too
  root.onFocus = overMarker;
  answer.addEventListener("focusin", root.onFocus);
  answer.removeEventListener("focusout", root.onBlur);
  root.onBlur = () => hideCard(root);
  answer.addEventListener("focusout", root.onBlur);
  return () => document.removeEventListener("keydown", root.onKey);
}
