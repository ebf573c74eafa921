const MAX_SEGMENT_LENGTH = 24;
const MAX_SEGMENTS = 16;
/** part of the absolute form (RFC 9112 section 3.2.2), which may name a user and a password */
const AUTHORITY = /^[a-z]+:\/\/[^/?#]*/i;

/** Reduces an unknown path to what a log may hold: leaves out the query, and cuts off a secret in a segment. */
export function loggedPath(url: string): string {
  const [path = ''] = url.replace(AUTHORITY, '').split(/[?#]/, 1);
  return path
    .split('/', MAX_SEGMENTS)
    .map((segment) => segment.slice(0, MAX_SEGMENT_LENGTH))
    .join('/');
}
