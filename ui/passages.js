// Puts passages in their place; ui/render.py has escaped whatever a document says.
export default function ({ parentElement, data }) {
  parentElement.querySelector(".passages").innerHTML = data.html;
}
