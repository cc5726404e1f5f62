// What a page is without this script is all there; what follows makes it answer.
//
// Each part looks for its own marks in the page and does nothing where there are none. Nothing is drawn here that the page has drawn already.
import * as charts from "./charts";
import * as fold from "./fold";
import * as list from "./list";
import * as live from "./live";
import * as map from "./map";

const parts = [charts, fold, list, live, map];

/** Lets each part take its places below `root`; called again for what a live page has replaced. */
export function take(root: ParentNode): void {
  for (const part of parts) part.take(root);
}

take(document);
