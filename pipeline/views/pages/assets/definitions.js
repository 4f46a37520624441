// A metric's definition next to its name, on hover and on focus; Escape hides it.
function showDefinitions() {
  const shown = document.getElementById("definition");
  let of = null;
  let leaving = 0;

  function show(term) {
    clearTimeout(leaving);
    const entry = document.getElementById(decodeURIComponent(term.hash.slice(1)));
    if (!entry) return;
    of?.removeAttribute("aria-describedby");
    of = term;
    shown.replaceChildren(...[...entry.children].map((part) => part.cloneNode(true)));
    shown.hidden = false;
    term.setAttribute("aria-describedby", shown.id);
    const place = term.getBoundingClientRect();
    const left = Math.min(place.left, document.documentElement.clientWidth - shown.offsetWidth - 8);
    const below = place.bottom + 6 + shown.offsetHeight < window.innerHeight;
    const top = below ? place.bottom + 6 : Math.max(0, place.top - shown.offsetHeight - 6);
    shown.style.left = `${Math.max(8, left) + window.scrollX}px`;
    shown.style.top = `${top + window.scrollY}px`;
  }

  function hide() {
    shown.hidden = true;
    of?.removeAttribute("aria-describedby");
    of = null;
  }

  // Time to move the pointer from the name onto its definition.
  const leave = () => { leaving = setTimeout(hide, 250); };
  const termOf = (event) => event.target.closest?.(".term");
  document.addEventListener("pointerover", (event) => {
    const term = termOf(event);
    if (term) show(term);
    else if (shown.contains(event.target)) clearTimeout(leaving);
  });
  document.addEventListener("pointerout", (event) => {
    if (termOf(event) || shown.contains(event.target)) leave();
  });
  document.addEventListener("focusin", (event) => { if (termOf(event)) show(termOf(event)); });
  document.addEventListener("focusout", (event) => { if (termOf(event)) hide(); });
  document.addEventListener("keydown", (event) => { if (event.key === "Escape") hide(); });
}

// A link into a closed group of definitions opens it.
function openTarget() {
  const entry = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  const group = entry?.closest("details");
  if (group && !group.open) {
    group.open = true;
    entry.scrollIntoView();
  }
}
