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
  // Where the panel scrolls by itself, the words that matter come into its view.
  panel.scrollTop = 0;
  const words = panel.querySelector(".cited");
  const below = words ? words.getBoundingClientRect().bottom - panel.getBoundingClientRect().bottom : 0;
  if (below > 0) panel.scrollTop = below + panel.clientHeight / 3;
}

// Words may belong to several facts, a marker to several too: a further click turns to the next.
function following(element, fact) {
  const several = numbers(element);
  return several[(several.indexOf(fact) + 1) % several.length];
}

function hover(root, element) {
  const several = element ? numbers(element) : [];
  for (const other of root.querySelectorAll(".fact")) {
    other.classList.toggle("hovered", numbers(other).some((n) => several.includes(n)));
  }
}

export default function ({ parentElement, data, setStateValue }) {
  const root = parentElement.querySelector(".propcite");
  const content = JSON.stringify([data.id, data.answer.length, data.evidence]);
  if (root.content !== content) {
    root.content = content;
    root.evidence = data.evidence;
    root.sent = [];
    root.querySelector(".answer").innerHTML = data.answer;
    show(root, data.selected);
  } else if (root.heard !== data.selected) {
    // What comes back may be the echo of an earlier click: a later one has already been shown.
    const echo = root.sent.indexOf(data.selected);
    if (echo >= 0) root.sent.splice(0, echo + 1);
    else show(root, data.selected);
  }
  root.heard = data.selected;

  const choose = (element) => {
    const fact = following(element, root.fact);
    if (fact === root.fact) return;
    show(root, fact);
    root.sent.push(fact);
    setStateValue("fact", fact);
    const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
    root.querySelector(".evidence").scrollIntoView({ block: "nearest", behavior: still ? "auto" : "smooth" });
  };
  const answer = root.querySelector(".answer");
  answer.onclick = (event) => {
    const element = event.target.closest("[data-facts]");
    if (element && getSelection().isCollapsed) choose(element);
  };
  answer.onkeydown = (event) => {
    const element = event.target.closest("span[data-facts]");
    if (element && (event.key === "Enter" || event.key === " ")) {
      event.preventDefault();
      choose(element);
    }
  };
  answer.onmouseover = (event) => hover(root, event.target.closest("[data-facts]"));
  answer.onmouseleave = () => hover(root, null);
}
