// The list of experiments, filtered as one types.

/** Takes the places below `root`. */
export function take(_root: ParentNode): void {}
