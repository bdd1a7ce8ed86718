// Keys, citing by a press, and drafts of labels; every page works without it.
"use strict";

const $ = (selector) => document.querySelector(selector);
const $$ = (selector) => [...document.querySelectorAll(selector)];
const form = $(".label form");
const say = (words) => { $("#status").textContent = words; };

// The key has become a cookie: it need not stand in the address.
const address = new URL(location.href);
if (address.searchParams.has("token")) {
  address.searchParams.delete("token");
  history.replaceState(null, "", address);
}
for (const link of $$(".top nav a")) {
  if (link.pathname === location.pathname) link.setAttribute("aria-current", "page");
}
for (const select of $$("select[data-submit]")) {
  select.addEventListener("change", () => select.form.requestSubmit());
  select.form.querySelector("button").hidden = true;
}

// Kinds of events that are not shown stay so from one transcript to the next.
for (const box of $$("[data-kind]")) {
  box.checked = localStorage.getItem(`hides ${box.dataset.kind}`) === null;
  box.addEventListener("change", () => {
    if (box.checked) localStorage.removeItem(`hides ${box.dataset.kind}`);
    else localStorage.setItem(`hides ${box.dataset.kind}`, "1");
  });
}
// Rows without the words are hidden.
$("[data-narrow]")?.addEventListener("input", (typed) => {
  const words = typed.target.value.toLowerCase();
  for (const row of $$(".scroll.tall [data-row]")) row.hidden = !row.textContent.toLowerCase().includes(words);
});
// Paper has nothing to press.
addEventListener("beforeprint", () => { for (const each of $$("main details:not(.label)")) each.open = true; });

// A draft outlives the pages of a transcript, and is gone once it is saved.
const key = form && `draft ${form.dataset.task}`;
const fields = form ? [...form.elements].filter((each) => each.name && each.name !== "rollout" && each.type !== "hidden") : [];
const keep = () => {
  sessionStorage.setItem(key, JSON.stringify(fields.map((each) => [each.name, each.value])));
};
if (form && document.body.contains($("[data-cite]"))) {
  for (const [name, value] of JSON.parse(sessionStorage.getItem(key) ?? "[]")) {
    form.elements[name].value = value;
  }
  form.addEventListener("input", keep);
  form.addEventListener("submit", () => {
    sessionStorage.removeItem(key);
    localStorage.setItem("by", form.elements.by.value);
  });
  form.elements.by.value ||= localStorage.getItem("by") ?? "";
}

// A mode is of one rollout, which needs a mode or a cause; a task needs a cause.
const { rollout: of, mode, cause } = form?.elements ?? {};
function fit() {
  mode.disabled = !of.value;
  mode.required = !cause.value;
  cause.required = !of.value;
}
if (of) {
  form.addEventListener("change", fit);
  fit();
}

function cite(event) {
  const box = form?.elements.evidence;
  if (!event || !box) return;
  const cited = event.dataset.cite;
  const lines = box.value.split("\n").filter(Boolean);
  const kept = lines.includes(cited) ? lines.filter((line) => line !== cited) : [...lines, cited];
  box.value = kept.join("\n");
  keep();
  mark();
  say(kept.includes(cited) ? `${cited} is evidence` : `${cited} is no evidence any more`);
}
function mark() {
  const lines = form?.elements.evidence.value.split("\n") ?? [];
  for (const button of $$("[data-cite] > summary button")) {
    const is = lines.includes(button.closest("[data-cite]").dataset.cite);
    button.textContent = is ? "cited" : "cite";
    button.setAttribute("aria-pressed", is);
  }
}
if (form) {
  for (const event of $$("[data-cite]")) {
    const button = document.createElement("button");
    button.type = "button";
    button.addEventListener("click", (press) => {
      press.preventDefault();
      cite(event);
    });
    event.firstElementChild.append(button);
  }
  form.elements.evidence.addEventListener("input", mark);
  mark();
}

// Where the keys are: an event or a row.
let at = $(".event.cited") ?? null;
function go(next) {
  if (!next) return;
  at?.classList.remove("at");
  at = next;
  at.classList.add("at");
  const target = at.querySelector("summary, a");
  target?.focus({ preventScroll: true });
  at.scrollIntoView({ block: "nearest" });
}
function step(by) {
  const all = $$("[data-seq], [data-row]").filter((each) => each.offsetParent);
  const place = all.indexOf(at);
  go(all[place < 0 ? (by > 0 ? 0 : all.length - 1) : place + by]);
}
function error(by) {
  const links = $$("[data-error]");
  const here = Number(at?.dataset.seq ?? 0);
  const numbers = links.map((each) => Number(each.dataset.error));
  const place = by > 0 ? numbers.findIndex((seq) => seq > here) : numbers.findLastIndex((seq) => seq < here);
  if (place < 0) return say("no more errors");
  const event = document.getElementById(`e${numbers[place]}`);
  if (!event) return location.assign(links[place].href);
  event.open = true;
  go(event);
}
function attempt(by) {
  const links = $$(".attempts a.end");
  const place = links.findIndex((each) => each.hasAttribute("aria-current"));
  links[place + by]?.click();
}
const KEYS = {
  "/": () => $("[data-search]")?.focus(),
  j: () => step(1),
  k: () => step(-1),
  n: () => error(1),
  p: () => error(-1),
  o: () => { if (at?.matches("details")) at.open = !at.open; },
  O: () => { const all = $$("[data-seq]"); const open = all.some((each) => !each.open); for (const each of all) each.open = open; },
  e: () => cite(at?.matches("[data-cite]") ? at : null),
  l: () => { form?.closest("details")?.setAttribute("open", ""); (mode ?? cause)?.focus(); },
  "[": () => $("a[rel=prev]")?.click(),
  "]": () => $("a[rel=next]")?.click(),
  "{": () => attempt(-1),
  "}": () => attempt(1),
  h: () => $(".top nav a").click(),
  "?": () => $("#keys").showModal(),
};
document.addEventListener("keydown", (press) => {
  const typing = press.target.closest("input, textarea, select, dialog");
  if (press.key === "Enter" && press.ctrlKey && press.target.form) return press.target.form.requestSubmit();
  if (press.key === "Enter" && press.target === document.body) return at?.querySelector("summary, a")?.click();
  if (press.key === "Escape" && typing) return press.target.blur();
  if (typing || press.ctrlKey || press.metaKey || press.altKey || !Object.hasOwn(KEYS, press.key)) return;
  press.preventDefault();
  KEYS[press.key]();
});
const button = $("#keys-button");
button.hidden = false;
button.addEventListener("click", KEYS["?"]);
const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
if (target?.matches("details")) {
  target.open = true;
  go(target);
}
