/** The first character that an e-mail can have, and the one that follows the last. */
const FIRST = '!';
const END = '\u007f';

/** Returns bounds, the second one excluded: one on each side of the e-mail, since with more SQLite takes another index. */
export function emailRange(prefix: string, after: string | undefined): [from: string, end: string] {
  return [after === undefined || after < prefix ? prefix : after + FIRST, prefix + END];
}
