
"use strict";
// What a reader may do with the page. Without this script everything is still there to be read.

const said = document.getElementById("status");

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
    // What has no number stands last, whichever way.
    if (Number.isNaN(a.number) || Number.isNaN(b.number)) return Number.isNaN(a.number) - Number.isNaN(b.number) || a.place - b.place;
    return sign * (a.number - b.number) || a.place - b.place;
  });
  table.tBodies[0].append(...rows.map((each) => each.row));
}

function makeSortable(table) {
  [...table.tHead.rows[0].cells].forEach((heading, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...heading.childNodes);
    heading.append(button);
    button.addEventListener("click", () => {
      const direction = heading.getAttribute("aria-sort") === "descending" ? "ascending" : "descending";
      for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
      heading.setAttribute("aria-sort", direction);
      sortTable(table, column, direction);
      said.textContent = `Sorted by ${button.textContent}, ${direction}.`;
    });
  });
}

function makeFilterable(table) {
  const label = document.createElement("label");
  const input = document.createElement("input");
  const count = document.createElement("span");
  label.className = "filter";
  input.type = "search";
  input.placeholder = "words to find";
  label.append("Filter rows", input, count);
  table.parentElement.before(label);
  input.addEventListener("input", () => {
    const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    for (const row of table.tBodies[0].rows) {
      const text = row.textContent.toLowerCase();
      row.hidden = !words.every((word) => text.includes(word));
      shown += row.hidden ? 0 : 1;
    }
    count.textContent = words.length ? `${shown} of ${table.tBodies[0].rows.length} rows` : "";
    said.textContent = count.textContent;
  });
}

for (const table of document.querySelectorAll("main table")) {
  if (!table.tHead || !table.tBodies.length) continue;
  const rows = table.tBodies[0].rows.length;
  if (rows >= FEWEST_SORTED) makeSortable(table);
  if (rows >= FEWEST_FILTERED) makeFilterable(table);
}

// Links lead to what is folded away or filtered out, too.
function reveal() {
  let name;
  try {
    name = decodeURIComponent(location.hash.slice(1));
  } catch {
    return;
  }
  const target = name && document.getElementById(name);
  if (!target) return;
  target.hidden = false;
  for (let place = target; place; place = place.parentElement) if (place.tagName === "DETAILS") place.open = true;
  target.scrollIntoView();
}
addEventListener("hashchange", reveal);
reveal();

// Where a figure comes from, as a question that can be asked again.
const where = document.createElement("aside");
where.id = "where";
where.hidden = true;
where.setAttribute("aria-label", "Where a figure comes from");
document.body.append(where);

function question(source) {
  const [place, column] = source.split("#");
  const [relation, pairs] = place.split("?");
  const wheres = [...new URLSearchParams(pairs)].map(([name, value]) => `${name} = '${value.replaceAll("'", "''")}'`);
  return `select ${column} from ${relation} where ${wheres.join(" and ")}`;
}

document.addEventListener("click", (event) => {
  const figure = event.target.closest("[data-figure]");
  where.hidden = !figure || Boolean(event.target.closest("a, button"));
  if (where.hidden) return;
  const told = document.createElement("p");
  const query = document.createElement("code");
  told.textContent = `${figure.textContent.trim()} is the answer to`;
  query.textContent = question(figure.dataset.figure);
  where.replaceChildren(told, query);
});
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape") where.hidden = true;
});

// Buttons of the head.
const actions = {
  theme() {
    const root = document.documentElement;
    const isDark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    root.dataset.theme = isDark ? "light" : "dark";
  },
  unfold(button) {
    const cards = [...document.querySelectorAll("details")];
    const isOpen = cards.some((card) => !card.open);
    for (const card of cards) card.open = isOpen;
    button.textContent = isOpen ? "Close all evidence" : "Open all evidence";
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
