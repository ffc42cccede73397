"use strict";
(function () {
  // Words of marks follow the pointer, a finger or the arrow keys; a click on a legend shows one kind alone.
  const tip = document.body.appendChild(document.createElement("div"));
  tip.id = "tip";
  tip.setAttribute("role", "status");
  const all = (within, what) => Array.from(within.querySelectorAll(what));
  let lit = null;

  function light(mark) {
    if (lit) lit.classList.remove("on");
    lit = mark;
    if (mark) mark.classList.add("on");
    tip.textContent = mark ? mark.dataset.tells : "";
  }
  function place(x, y) {
    const box = tip.getBoundingClientRect();
    tip.style.left = Math.max(6, Math.min(x + 14, innerWidth - box.width - 6)) + "px";
    tip.style.top = (y + 20 + box.height > innerHeight ? Math.max(6, y - box.height - 12) : y + 18) + "px";
  }
  function colourOf(mark) {
    const own = ["stroke", "fill"].map((name) => mark.getAttribute(name));
    return (mark.hasAttribute("stroke-dasharray") ? own : own.reverse()).find((one) => /^#/.test(one || ""));
  }
  function isolate(figure, colour) {
    figure.dataset.shown = figure.dataset.shown === colour ? "" : colour || "";
    const shown = figure.dataset.shown;
    const keys = new Set(all(figure, "[data-key]").map((key) => key.dataset.key));
    all(figure, "svg [fill], svg [stroke]").forEach((mark) => {
      if (mark.closest("[data-key]") || mark.tagName === "svg") return;
      const own = ["fill", "stroke"].map((name) => mark.getAttribute(name)).filter((one) => keys.has(one));
      mark.classList.toggle("dim", shown !== "" && own.length > 0 && !own.includes(shown));
    });
    all(figure, "[data-key]").forEach((key) => key.classList.toggle("off", shown !== "" && key.dataset.key !== shown));
  }
  const rows = all(document, "tr[data-marks]");
  function rowOf(mark) {
    return rows.find((row) => mark.dataset.tells.startsWith(row.dataset.marks));
  }

  all(document, "figure").forEach((figure) => {
    const told = all(figure, ".wide title").map((title) => title.textContent);
    all(figure, ".wide, .narrow").forEach((side) => all(side, "title").forEach((title, at) => {
      title.parentNode.dataset.tells = title.textContent || told[at] || "";
      title.remove();
    }));
    all(figure, "[data-legend]").forEach((symbol) => {
      const entry = symbol.parentNode, drawn = symbol.querySelector("path, line");
      if (!drawn) return;
      entry.dataset.key = ["fill", "stroke"].map((name) => drawn.getAttribute(name)).find((one) => /^#/.test(one || "")) || "";
      entry.addEventListener("click", () => isolate(figure, entry.dataset.key));
    });
    all(figure, ".wide, .narrow").forEach((side) => {
      const marks = all(side, "[data-tells]"), picture = side.querySelector("svg");
      if (!marks.length || !picture) return;
      side.tabIndex = 0;
      side.setAttribute("role", "group");
      const plural = marks.length > 1 ? " marks; arrow keys read them, Enter shows their kind alone" : " mark; an arrow key reads it";
      side.setAttribute("aria-label", picture.getAttribute("aria-label") + ": " + marks.length + plural);
      const show = (event) => {
        const mark = event.target.closest("[data-tells]");
        if (!mark) return light(null);
        light(mark);
        place(event.clientX, event.clientY);
        const row = rowOf(mark);
        rows.forEach((one) => one.classList.toggle("lit", one === row));
      };
      side.addEventListener("pointermove", show);
      side.addEventListener("pointerdown", show);
      side.addEventListener("pointerleave", () => { light(null); rows.forEach((row) => row.classList.remove("lit")); });
      side.addEventListener("blur", () => light(null));
      side.addEventListener("keydown", (event) => {
        const now = marks.indexOf(lit);
        const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
        if (step) {
          const next = marks[now < 0 ? (step > 0 ? 0 : marks.length - 1) : (now + step + marks.length) % marks.length];
          light(next);
          const box = next.getBoundingClientRect();
          place(box.left + box.width / 2, box.top + box.height / 2);
        } else if ((event.key === "Enter" || event.key === " ") && lit) {
          const keys = new Set(all(figure, "[data-key]").map((key) => key.dataset.key)), colour = colourOf(lit);
          if (keys.has(colour)) isolate(figure, colour);
        } else if (event.key === "Escape") {
          light(null);
          if (figure.dataset.shown) isolate(figure, figure.dataset.shown);
        } else return;
        event.preventDefault();
      });
    });
  });
  rows.forEach((row) => {
    const marks = () => all(document, "figure [data-tells]").filter((mark) => mark.dataset.tells.startsWith(row.dataset.marks));
    row.addEventListener("pointerenter", () => marks().forEach((mark) => mark.classList.add("on")));
    row.addEventListener("pointerleave", () => marks().forEach((mark) => mark.classList.remove("on")));
  });

  // Tables are sorted by a click on a heading, and searched.
  all(document, "table").forEach((table) => {
    const heads = all(table, "thead th"), body = table.tBodies[0];
    heads.forEach((head, column) => {
      if (!("sort" in head.dataset)) return;
      const button = document.createElement("button");
      button.type = "button";
      button.append(...head.childNodes);
      head.append(button);
      button.addEventListener("click", () => {
        const up = head.getAttribute("aria-sort") !== "ascending";
        heads.forEach((other) => other.removeAttribute("aria-sort"));
        head.setAttribute("aria-sort", up ? "ascending" : "descending");
        const worth = (row) => { const own = row.cells[column].dataset.value; return own === undefined ? Infinity : Number(own); };
        Array.from(body.rows).sort((a, b) => (worth(a) === worth(b) ? 0 : (up ? 1 : -1) * (worth(a) - worth(b)))).forEach((row) => body.append(row));
      });
    });
    if (!("search" in table.dataset)) return;
    const label = document.createElement("label"), input = document.createElement("input"), told = document.createElement("span");
    label.className = "search";
    input.type = "search";
    label.append("Show rows with", input, " ", told);
    table.parentNode.classList.add("tall");
    table.parentNode.before(label);
    const count = () => {
      const wanted = input.value.toLowerCase().split(/\s+/).filter(Boolean);
      let shown = 0;
      Array.from(body.rows).forEach((row) => {
        row.hidden = !wanted.every((word) => row.textContent.toLowerCase().includes(word));
        shown += row.hidden ? 0 : 1;
      });
      told.textContent = shown + " of " + body.rows.length;
    };
    input.addEventListener("input", count);
    count();
  });

  // Commands are copied by a button.
  all(document, ".line").forEach((line) => {
    const code = line.querySelector("code"), button = document.createElement("button");
    button.type = "button";
    button.className = "copy";
    button.textContent = "Copy";
    button.setAttribute("aria-label", "Copy the command " + code.textContent.slice(0, 60));
    line.append(button);
    button.addEventListener("click", () => {
      const done = () => { button.textContent = "Copied"; setTimeout(() => { button.textContent = "Copy"; }, 1500); };
      const selected = () => { getSelection().selectAllChildren(code); if (document.execCommand("copy")) done(); };
      if (navigator.clipboard) navigator.clipboard.writeText(code.textContent).then(done, selected); else selected();
    });
  });
})();
