// The list of experiments: filtered as one types, two arms chosen for comparing, and kept up to date while somebody looks.

/** Milliseconds between two looks at what has changed. */
const LOOK_MS = 5_000;

/** Takes the places below `root`. */
export function take(root: ParentNode): void {
  for (const table of root.querySelectorAll<HTMLTableElement>("table[data-filter]")) filtered(table);
  for (const form of root.querySelectorAll<HTMLFormElement>("form[data-choice]")) choosing(form);
  const list = root.querySelector<HTMLElement>("main.list");
  if (list) keepUpToDate(list);
}

/** The rows of a table. */
function rows(table: HTMLTableElement): HTMLTableRowElement[] {
  return [...(table.tBodies[0]?.rows ?? [])];
}

/** Shows the rows that the form asks for. Where the page does not hold all of them, the form asks the server instead. */
function filtered(table: HTMLTableElement): void {
  const form = document.getElementById(table.dataset["filter"] ?? "");
  if (!(form instanceof HTMLFormElement) || table.dataset["whole"] === undefined) return;
  const show = (): void => filter(table, form);
  form.addEventListener("input", show);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    show();
  });
  // A browser that goes back has filled the form in again.
  show();
}

function filter(table: HTMLTableElement, form: HTMLFormElement): void {
  const asked = new FormData(form);
  const words = String(asked.get("text") ?? "")
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== "");
  const state = String(asked.get("state") ?? "");
  const all = rows(table);
  let shown = 0;
  for (const row of all) {
    const text = row.dataset["text"] ?? "";
    const fits = (state === "" || row.dataset["state"] === state) && words.every((word) => text.includes(word));
    row.hidden = !fits;
    if (fits) shown += 1;
  }
  const count = document.querySelector("[data-count]");
  if (count) {
    const noun = all.length === 1 ? "experiment" : "experiments";
    const told = shown === all.length ? `${all.length} ${noun}` : `${shown} of ${all.length} ${noun}`;
    if (count.textContent !== told) count.textContent = told;
  }
  const address = new URL(location.href);
  for (const [name, value] of [
    ["text", words.join(" ")],
    ["state", state],
  ] as const) {
    if (value === "") address.searchParams.delete(name);
    else address.searchParams.set(name, value);
  }
  if (address.href !== location.href) history.replaceState(null, "", address);
}

/** Says which arms are ticked, and lets two of them be compared. Arms of two experiments are compared in the order in which they were ticked, as
 * `plimsoll compare A B` does; which of two arms of one experiment is the baseline says its file, which the server reads. */
function choosing(form: HTMLFormElement): void {
  const told = form.querySelector<HTMLElement>("[data-chosen]");
  const bar = form.querySelector<HTMLElement>("[data-bar]");
  const button = form.querySelector<HTMLButtonElement>("button[type=submit]");
  if (!told || !button) return;
  const asked = told.textContent;
  let ticked: HTMLInputElement[] = [];
  const tell = (): void => {
    const checked = [...form.querySelectorAll<HTMLInputElement>("input[name=arm]:checked")];
    ticked = [...ticked.filter((box) => checked.includes(box)), ...checked.filter((box) => !ticked.includes(box))];
    button.disabled = ticked.length !== 2;
    bar?.classList.toggle("chosen", ticked.length > 0);
    const names = ticked.map(spelled);
    if (ticked.length === 0) told.textContent = asked;
    else if (ticked.length === 1) told.textContent = `${names[0]}. Tick another one to compare it with.`;
    else if (ticked.length === 2 && ofOneExperiment(ticked)) told.textContent = `${names[0]} and ${names[1]}`;
    else if (ticked.length === 2) told.textContent = `${names[1]} against ${names[0]}`;
    else told.textContent = `${ticked.length} arms are ticked. A comparison is of two: untick ${ticked.length - 2}.`;
  };
  form.addEventListener("change", tell);
  form.addEventListener("formdata", ({ formData }) => {
    const [first, second] = ticked;
    if (ticked.length !== 2 || !first || !second) return;
    formData.delete("arm");
    if (ofOneExperiment(ticked)) {
      for (const box of ticked) formData.append("arm", box.value);
    } else {
      formData.set("first", first.value);
      formData.set("second", second.value);
    }
  });
  tell();
}

function ofOneExperiment(ticked: readonly HTMLInputElement[]): boolean {
  return new Set(ticked.map((box) => box.closest("tr"))).size === 1;
}

/** `arm (experiment)`. */
function spelled(box: HTMLInputElement): string {
  const arm = box.parentElement?.textContent?.trim() ?? "";
  const name = box.closest("tr")?.querySelector("th a")?.textContent ?? "";
  return `${arm} (${name})`;
}

/** Looks for what has changed as long as the page is visible. */
function keepUpToDate(list: HTMLElement): void {
  const look = async (): Promise<void> => {
    if (document.visibilityState !== "visible") return;
    try {
      const answer = await fetch(location.href, { headers: { accept: "text/html" } });
      if (!answer.ok) return;
      renew(list, new DOMParser().parseFromString(await answer.text(), "text/html"));
    } catch {
      // The server is gone for now. What is shown stays, and it is asked again.
    }
  };
  window.setInterval(() => void look(), LOOK_MS);
}

function renew(list: HTMLElement, page: Document): void {
  const old = list.querySelector<HTMLTableElement>("table[data-filter]");
  const now = page.querySelector<HTMLTableElement>("table[data-filter]");
  if (!old || !now) {
    // From an empty list to one that is not, or back.
    if (old !== now && !list.querySelector("input:checked")) location.reload();
    return;
  }
  const body = old.tBodies[0];
  if (!body) return;
  const known = new Map(rows(old).map((row) => [key(row), row]));
  let before: Element | null = body.firstElementChild;
  let changed = false;
  for (const fresh of rows(now)) {
    const row = known.get(key(fresh));
    if (row) {
      known.delete(key(fresh));
      // Only what can change, so that ticks and the focus stay.
      const state = row.querySelector(".standing");
      const renewed = fresh.querySelector(".standing");
      if (state && renewed && state.innerHTML !== renewed.innerHTML) {
        state.replaceWith(document.importNode(renewed, true));
        row.dataset["state"] = fresh.dataset["state"] ?? "";
        changed = true;
      }
      before = row.nextElementSibling;
    } else {
      body.insertBefore(document.importNode(fresh, true), before);
      changed = true;
    }
  }
  for (const gone of known.values()) {
    // One that is hidden by the filter may just not be among those that were sent.
    if (old.dataset["whole"] !== undefined && now.dataset["whole"] !== undefined) gone.remove();
  }
  const form = document.getElementById(old.dataset["filter"] ?? "");
  if (changed && form instanceof HTMLFormElement && old.dataset["whole"] !== undefined) filter(old, form);
}

function key(row: HTMLTableRowElement): string {
  return row.querySelector("th a")?.getAttribute("href") ?? "";
}
