// Elements that are dragged in time, in the drawing. The table of the stream does the same by keys.

// The instant at a place of the drawing: between two places whose instants are known, or beyond them.
function instantAt(x, known) {
  const after = known.findIndex(([place]) => place > x);
  const at = after < 0 ? known.length - 1 : Math.max(1, after);
  const [[x1, t1], [x2, t2]] = [known[at - 1], known[at]];
  return Math.round(t1 + ((x - x1) * (t2 - t1)) / (x2 - x1));
}

function knownPlaces(svg) {
  const ticks = [...svg.querySelectorAll("text.tick")]
    .filter((tick) => /^-?\d+$/.test(tick.textContent))
    .map((tick) => [Number(tick.getAttribute("x")), Number(tick.textContent)]);
  return ticks.sort((a, b) => a[0] - b[0]).filter(([x], n) => n === 0 || x > ticks[n - 1][0]);
}

// `elements` are those of the drawing, in its order; `onMove` is told when one was moved.
export function letDrag(svg, elements, onMove) {
  const shapes = svg.querySelectorAll("circle.element");
  const known = knownPlaces(svg);
  if (shapes.length !== elements.length || known.length < 2) return;
  const placeOf = (event) => {
    const point = new DOMPoint(event.clientX, event.clientY);
    return point.matrixTransform(svg.getScreenCTM().inverse()).x;
  };
  shapes.forEach((shape, number) => {
    const element = elements[number];
    shape.classList.add("movable");
    shape.addEventListener("pointerdown", (event) => {
      event.preventDefault();
      shape.setPointerCapture(event.pointerId);
      const title = shape.querySelector("title");
      const move = (moved) => {
        const instant = instantAt(placeOf(moved), known);
        shape.setAttribute("cx", placeOf(moved));
        title.textContent = `to ${instant}`;
        shape.dataset.to = instant;
      };
      shape.addEventListener("pointermove", move);
      shape.addEventListener(
        "pointerup",
        () => {
          shape.removeEventListener("pointermove", move);
          if (shape.dataset.to === undefined) return;
          const shift = Number(shape.dataset.to) - element.at;
          element.at += shift;
          if (element.end !== undefined) element.end += shift;
          onMove();
        },
        { once: true },
      );
    });
  });
}
