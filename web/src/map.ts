// The disk map: plays, scrubs, and steps through the accesses of a trace.

/** Takes the places below `root`. */
export function take(_root: ParentNode): void {}
