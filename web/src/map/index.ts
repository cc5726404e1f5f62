// The disk map: plays, scrubs, and steps through the accesses of a trace.
import { Player } from "./player";
import { unpack } from "./unpack";

/** How far below the window a map may begin when it is fetched. */
const AHEAD = "300px";
const players = new WeakMap<HTMLElement, Promise<Player>>();

/** Takes the places below `root`: each becomes a player as soon as it is near the window. */
export function take(root: ParentNode): void {
  const places = root.querySelectorAll<HTMLElement>("[data-map]");
  if (places.length === 0) return;
  const near = new IntersectionObserver(
    (seen) => {
      for (const { isIntersecting, target } of seen) {
        if (!isIntersecting || !(target instanceof HTMLElement)) continue;
        near.unobserve(target);
        void playerOf(target);
      }
    },
    { rootMargin: AHEAD },
  );
  for (const place of places) near.observe(place);
  const follow = (): void => void goToLinked([...places]);
  window.addEventListener("hashchange", follow);
  follow();
}

/** The player of a place, made when it is asked for first. */
function playerOf(place: HTMLElement): Promise<Player> {
  const known = players.get(place);
  if (known !== undefined) return known;
  const player = made(place);
  players.set(place, player);
  player.catch((error: unknown) => {
    const words = document.createElement("p");
    words.className = "failed";
    words.setAttribute("role", "alert");
    words.textContent = `The disk map cannot be played: ${error instanceof Error ? error.message : String(error)}`;
    place.append(words);
  });
  return player;
}

async function made(place: HTMLElement): Promise<Player> {
  const map = await unpack(await packed(place.dataset["map"] ?? ""));
  const player = new Player(map, nameOf(place), (seconds) => `#map:${encodeURIComponent(place.dataset["arm"] ?? "")}/${place.dataset["block"] ?? ""}/${seconds}`);
  for (const still of place.querySelectorAll(".still")) still.setAttribute("hidden", "");
  place.append(player.parts.root);
  player.begin();
  return player;
}

function nameOf(place: HTMLElement): string {
  return `${place.dataset["arm"] ?? ""}, block ${Number(place.dataset["block"] ?? 0) + 1}`;
}

/** The bytes behind a mark: those of a script in this page, or at a path of this server. */
async function packed(where: string): Promise<Uint8Array<ArrayBuffer>> {
  if (where.startsWith("#")) {
    const text = document.getElementById(where.slice(1))?.textContent ?? "";
    const binary = atob(text.trim());
    const bytes = new Uint8Array(binary.length);
    for (let index = 0; index < binary.length; index++) bytes[index] = binary.charCodeAt(index);
    return bytes;
  }
  const answer = await fetch(where);
  if (!answer.ok) throw new Error((await answer.text()).slice(0, 500) || `the server answered ${answer.status}`);
  return new Uint8Array(await answer.arrayBuffer());
}

/** Goes to the moment that the address names: `#map:arm/block/seconds`. */
async function goToLinked(places: HTMLElement[]): Promise<void> {
  const [, arm, block, seconds] = /^#map:([^/]*)\/(\d+)\/(\d+(?:\.\d+)?)$/.exec(location.hash) ?? [];
  if (arm === undefined || block === undefined || seconds === undefined) return;
  const place = places.find((one) => encodeURIComponent(one.dataset["arm"] ?? "") === arm && one.dataset["block"] === block);
  if (place === undefined) return;
  for (let around = place.parentElement; around !== null; around = around.parentElement) {
    if (around instanceof HTMLDetailsElement) around.open = true;
  }
  const player = await playerOf(place);
  player.goTo(Number(seconds) * 1e9);
  player.parts.root.scrollIntoView({ block: "nearest" });
}
