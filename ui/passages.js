// Puts passages in their place; ui/render.py has escaped whatever a document says.
export default function ({ parentElement, data }) {
  const root = parentElement.querySelector(".passages");
  if (root.content === data.html) return;
  root.content = data.html;
  root.innerHTML = data.html;
  // Where a passage scrolls by itself, the words that matter come into its view once it is unfolded.
  for (const card of root.querySelectorAll(".nearby")) {
    card.ontoggle = () => {
      const passage = card.querySelector(".passage");
      const words = passage.querySelector(".cited");
      if (card.open && words) passage.scrollTop = words.offsetTop - passage.clientHeight / 4;
    };
  }
  // The list is walked by arrow keys; Enter unfolds, as in any summary.
  root.onkeydown = (event) => {
    const at = event.target.closest(".nearby > summary");
    if (!at) return;
    const all = [...root.querySelectorAll(".nearby > summary")];
    const place = all.indexOf(at);
    const to = { ArrowDown: place + 1, ArrowUp: place - 1, Home: 0, End: all.length - 1 }[event.key];
    if (to === undefined || !all[to]) return;
    event.preventDefault();
    all[to].focus();
  };
  const first = root.querySelector(".nearby");
  if (first) first.open = true;
}
