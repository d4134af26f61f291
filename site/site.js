// Wide tables scroll in a box of the theme; by keys they can be scrolled if the box has the focus.
addEventListener("load", () => {
  for (const box of document.querySelectorAll(".md-typeset__scrollwrap")) box.tabIndex = 0;
});
