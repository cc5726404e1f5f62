// What each machine does, where several make a run together.
import { table } from "./figures";
import type { Now } from "./message";
import { latency, number } from "./words";

const HEAD = ["Host", "Role", "op/s", "Late, p99"];

/** Shows the machines of the run that goes on. The table stays, so that who reads it is not thrown out each second; only its cells change. */
export function showHosts(place: HTMLElement, now: Now | null): void {
  // Between two runs nothing moves.
  if (now === null) return;
  const hosts = now.hosts ?? [];
  place.hidden = hosts.length === 0;
  const rows = hosts.map((host) => [
    host.name,
    host.role,
    host.rate === null ? "–" : number(host.rate, 4),
    host.late_p99_ns === null ? "–" : latency(host.late_p99_ns),
  ]);
  const more = now.more_hosts ?? 0;
  const title = `What each host does${more > 0 ? ` (the first ${hosts.length} of ${hosts.length + more})` : ""}`;
  const cells = place.querySelectorAll("td");
  const words = rows.flat();
  if (cells.length !== words.length) {
    place.replaceChildren(table(title, HEAD, rows));
    return;
  }
  cells.forEach((cell, index) => {
    if (cell.textContent !== words[index]) cell.textContent = words[index] ?? "";
  });
}
