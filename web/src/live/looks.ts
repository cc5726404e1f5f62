// Looks of the page's style sheet, for canvases.

/** A colour variable as it stands now. */
export function colour(place: Element, name: string): string {
  return getComputedStyle(place).getPropertyValue(name).trim() || "currentColor";
}

/** How an arm is drawn: as everywhere on the page, so that its mark and its dashes tell it as well as its colour. */
export interface Look {
  colour: string;
  /** Lengths of dashes and gaps. */
  dash: number[];
  /** Outline of the mark around (15, 7), as a path's data. */
  mark: string;
}

/** The arms' looks, as the grid of runs has them. */
export class ArmLooks {
  private known: Look[] = [];

  constructor(private readonly place: HTMLElement) {}

  /** Of the arm with this index. */
  of(arm: number): Look {
    if (this.known.length === 0) {
      const swatches = this.place.querySelectorAll("table.run-grid .swatch");
      this.known = [...swatches].map((swatch) => {
        const line = swatch.querySelector(".line");
        const dash = line === null ? "" : getComputedStyle(line).strokeDasharray;
        return {
          colour: colour(swatch, "--c"),
          dash: dash.split(",").map(parseFloat).filter(Number.isFinite),
          mark: swatch.querySelector(".mark")?.getAttribute("d") ?? "",
        };
      });
    }
    return this.known[arm] ?? { colour: colour(this.place, "--cx"), dash: [], mark: "" };
  }

  /** Looks again, after light became dark. */
  forget(): void {
    this.known = [];
  }
}
