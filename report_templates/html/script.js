
"use strict";
// What a reader may do with the page. Without this script everything is still there to be read.

const statusLine = document.getElementById("status");
const words = (input) => input.value.toLowerCase().split(/\s+/).filter(Boolean);

function make(tag, properties, ...children) {
  const made = Object.assign(document.createElement(tag), properties);
  made.append(...children);
  return made;
}

// Tables: sorted by a press on a heading, filtered by words.
const FEWEST_SORTED = 3;
const FEWEST_FILTERED = 9;

function sortValue(cell) {
  if (cell === undefined) return { text: "", number: NaN };
  if (cell.dataset.sort !== undefined) return { text: "", number: Number(cell.dataset.sort) };
  const text = cell.textContent.trim();
  const found = /^[+-]?[\d,]*\.?\d+(?:e[+-]?\d+)?/i.exec(text);
  return { text, number: found ? Number(found[0].replaceAll(",", "")) : NaN };
}

function sortTable(table, column, direction) {
  const sign = direction === "ascending" ? 1 : -1;
  const rows = [...table.tBodies[0].rows].map((row, place) => ({ row, place, ...sortValue(row.cells[column]) }));
  const isNumeric = rows.filter((each) => !Number.isNaN(each.number)).length * 2 > rows.length;
  rows.sort((a, b) => {
    if (!isNumeric) return sign * a.text.localeCompare(b.text, "en", { numeric: true }) || a.place - b.place;
    // Values without a number come last in either order.
    if (Number.isNaN(a.number) || Number.isNaN(b.number)) return Number.isNaN(a.number) - Number.isNaN(b.number) || a.place - b.place;
    return sign * (a.number - b.number) || a.place - b.place;
  });
  table.tBodies[0].append(...rows.map((each) => each.row));
}

function makeSortable(table) {
  [...table.tHead.rows[0].cells].forEach((heading, column) => {
    const button = make("button", { type: "button" }, ...heading.childNodes);
    heading.append(button);
    button.addEventListener("click", () => {
      const direction = heading.getAttribute("aria-sort") === "descending" ? "ascending" : "descending";
      for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
      heading.setAttribute("aria-sort", direction);
      sortTable(table, column, direction);
      statusLine.textContent = `Sorted by ${button.textContent}, ${direction}.`;
    });
  });
}

// A row stays where it has every word, and of each choice the tag.
function makeFilterable(table, input, choices, count) {
  const filter = () => {
    const wanted = words(input);
    const tags = choices.map((choice) => choice.value).filter(Boolean);
    let shown = 0;
    for (const row of table.tBodies[0].rows) {
      const own = tags.length ? (row.dataset.tags ?? "").split(" ") : [];
      const text = wanted.length ? row.textContent.toLowerCase() : "";
      row.hidden = !(tags.every((tag) => own.includes(tag)) && wanted.every((word) => text.includes(word)));
      shown += row.hidden ? 0 : 1;
    }
    count.textContent = wanted.length || tags.length ? `${shown} of ${table.tBodies[0].rows.length} rows` : "";
    statusLine.textContent = count.textContent;
  };
  for (const control of [input, ...choices]) control.addEventListener("input", filter);
}

for (const table of document.querySelectorAll("main table:not(.beside)")) {
  if (!table.tHead || !table.tBodies.length) continue;
  const rows = table.tBodies[0].rows.length;
  if (rows >= FEWEST_SORTED) makeSortable(table);
  const bar = table.closest(".strip")?.querySelector(".filters");
  if (bar) {
    bar.hidden = false;
    makeFilterable(table, bar.querySelector("input"), [...bar.querySelectorAll("select")], bar.querySelector(".found"));
  } else if (rows >= FEWEST_FILTERED) {
    const input = make("input", { type: "search", placeholder: "words to find" });
    const count = make("span", {});
    table.parentElement.before(make("label", { className: "filter" }, "Filter rows", input, count));
    makeFilterable(table, input, [], count);
  }
}

// Links lead to what is folded away or filtered out, too.
function open(target) {
  target.hidden = false;
  for (let place = target; place; place = place.parentElement) if (place.tagName === "DETAILS") place.open = true;
  target.scrollIntoView({ block: "nearest" });
}

function linked(hash) {
  try {
    return hash.length > 1 ? document.getElementById(decodeURIComponent(hash.slice(1))) : null;
  } catch {
    return null;
  }
}

function reveal() {
  const target = linked(location.hash);
  if (!target) return;
  open(target);
  target.scrollIntoView();
}
addEventListener("hashchange", reveal);
reveal();

// Evidence opens below what cites it, and goes back to its place when it is closed.
document.addEventListener("click", (event) => {
  const link = event.target.closest("a.cite");
  const target = link && linked(link.hash);
  const card = target?.closest(".evidence");
  if (!card) return;
  event.preventDefault();
  const block = link.closest(".scroll, p, li, summary") ?? link;
  if (!card.classList.contains("placed")) {
    const home = document.createComment("");
    card.before(home);
    card.classList.add("placed");
    const back = () => {
      if (card.open) return;
      home.replaceWith(card);
      card.classList.remove("placed");
      card.removeEventListener("toggle", back);
    };
    card.addEventListener("toggle", back);
  }
  if (block.tagName === "LI") block.append(card);
  else block.after(card);
  open(target);
  history.replaceState(null, "", link.hash);
});

// Where a figure comes from, as a query that can be asked again.
const query = make("code", {});
const copy = make("button", { type: "button" }, "Copy query");
const where = make("aside", { id: "where", hidden: true, ariaLabel: "Where this figure comes from" }, query, copy);
document.body.append(where);
let asked = null;
let waiting = 0;

function question(source) {
  const [place, column] = source.split("#");
  const [relation, pairs] = place.split("?");
  // A query of its own may stand for a relation and its key.
  if (relation === "sql") return decodeURIComponent(pairs);
  const wheres = [...new URLSearchParams(pairs.replaceAll("+", "%2B"))].map(([name, value]) =>
    value === "None" ? `${name} is null` : `${name} = '${value.replaceAll("'", "''")}'`,
  );
  return `select ${column} from ${relation} where ${wheres.join(" and ")}`;
}

function show(figure) {
  clearTimeout(waiting);
  if (asked === figure && !where.hidden) return;
  asked = figure;
  query.textContent = question(figure.dataset.figure);
  copy.textContent = "Copy query";
  where.hidden = false;
  place();
}

// Below the figure where there is room, also after the page was scrolled to it.
function place() {
  if (!asked) return;
  const at = asked.getBoundingClientRect();
  const size = where.getBoundingClientRect();
  const isAbove = at.bottom + size.height + 8 > innerHeight;
  where.style.left = `${Math.max(8, Math.min(at.left, innerWidth - size.width - 8))}px`;
  where.style.top = `${isAbove ? Math.max(8, at.top - size.height - 4) : at.bottom + 4}px`;
}

function hide() {
  clearTimeout(waiting);
  where.hidden = true;
  asked = null;
}

const isOf = (event) => event.target.closest?.("[data-figure]");
document.addEventListener("pointerover", (event) => {
  clearTimeout(waiting);
  const figure = isOf(event);
  if (figure) waiting = setTimeout(show, 250, figure);
  else if (!where.hidden && !where.contains(event.target)) waiting = setTimeout(hide, 400);
});
document.addEventListener("focusin", (event) => {
  if (isOf(event)) show(isOf(event));
  else if (!where.contains(event.target)) hide();
});
document.addEventListener("click", (event) => {
  if (isOf(event) && !event.target.closest("a, button")) show(isOf(event));
  else if (!where.contains(event.target)) hide();
});
addEventListener("scroll", place, { passive: true, capture: true });
copy.addEventListener("click", async () => {
  try {
    await navigator.clipboard.writeText(query.textContent);
  } catch {
    getSelection().selectAllChildren(query);
    document.execCommand("copy");
  }
  copy.textContent = statusLine.textContent = "Copied";
});

// Of the figures of a block one is a stop of the keyboard; arrows lead to the others, Enter to the query.
const stops = new Set();
for (const figure of document.querySelectorAll("[data-figure]")) {
  const block = figure.closest("table, p, li, figure, dl");
  figure.tabIndex = stops.has(block) ? -1 : 0;
  stops.add(block);
}
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape") hide();
  const figure = isOf(event);
  if (!figure) return;
  const near = [...figure.closest("table, p, li, figure, dl").querySelectorAll("[data-figure]")];
  const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
  if (step) near[near.indexOf(figure) + step]?.focus();
  if (event.key === "Enter") copy.focus();
  if (step || event.key === "Enter") event.preventDefault();
});

// Buttons of the head.
const actions = {
  theme() {
    const root = document.documentElement;
    const isDark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    root.dataset.theme = isDark ? "light" : "dark";
  },
  unfold(button) {
    const folds = [...document.querySelectorAll("details")];
    const isOpen = folds.some((fold) => !fold.open);
    for (const fold of folds) fold.open = isOpen;
    button.textContent = isOpen ? "Fold all" : "Unfold all";
  },
};
for (const button of document.querySelectorAll("[data-do]")) {
  button.addEventListener("click", () => actions[button.dataset.do](button));
  button.parentElement.hidden = false;
}

// Where the reader is, in the list of sections.
const links = new Map([...document.querySelectorAll(".contents a")].map((link) => [link.hash.slice(1), link]));
const seen = new IntersectionObserver(
  (entries) => {
    for (const entry of entries) {
      if (!entry.isIntersecting) continue;
      for (const link of links.values()) link.removeAttribute("aria-current");
      links.get(entry.target.id)?.setAttribute("aria-current", "true");
    }
  },
  { rootMargin: "0px 0px -75% 0px" },
);
for (const section of document.querySelectorAll(".section")) seen.observe(section);
