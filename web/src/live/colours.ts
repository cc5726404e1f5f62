// Colours of the page's style sheet, for canvases.

/** A colour variable as it stands now. */
export function colour(place: Element, name: string): string {
  return getComputedStyle(place).getPropertyValue(name).trim() || "currentColor";
}

/** The arms' colours, as the grid of runs has them. */
export class ArmColours {
  private known: string[] = [];

  constructor(private readonly place: HTMLElement) {}

  /** Of the arm with this index. */
  of(arm: number): string {
    if (this.known.length === 0) {
      const marks = this.place.querySelectorAll("table.run-grid .swatch");
      this.known = [...marks].map((mark) => colour(mark, "--c"));
    }
    return this.known[arm] ?? colour(this.place, "--cx");
  }

  /** Looks anew, after light became dark. */
  forget(): void {
    this.known = [];
  }
}
