// Puts passages in their place; ui/render.py has escaped whatever a document says.
export default function ({ parentElement, data }) {
  const root = parentElement.querySelector(".passages");
  if (root.content === data.html) return;
  root.content = data.html;
  root.innerHTML = data.html;
  // Where a passage scrolls by itself, the words that matter come into its view.
  for (const passage of root.querySelectorAll(".group .passage")) {
    const words = passage.querySelector(".cited");
    if (words) passage.scrollTop = words.offsetTop - passage.clientHeight / 4;
  }
}
