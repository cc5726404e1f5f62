// An experiment while it runs, and a list that keeps itself up to date.

/** Takes the places below `root`. */
export function take(_root: ParentNode): void {}
