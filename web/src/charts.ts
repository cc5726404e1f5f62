// Charts that tell their exact values, with one cursor over all that share their seconds.

/** Takes the places below `root`. */
export function take(_root: ParentNode): void {}
