/** A rule refuses what an operator asked for; the message says what the rule is. */
export class RefusedError extends Error {}
