const MAX_SEGMENT_LENGTH = 24;
const MAX_SEGMENTS = 16;
/** of the absolute form (RFC 9112 section 3.2.2), which may name a user and a password */
const AUTHORITY = /^[a-z]+:\/\/[^/?#]*/i;

/** What a log may hold of a path that names nothing: its query is left out, and a secret in it is cut off. */
export function loggedPath(url: string): string {
  const [path = ''] = url.replace(AUTHORITY, '').split(/[?#]/, 1);
  return path
    .split('/', MAX_SEGMENTS)
    .map((segment) => segment.slice(0, MAX_SEGMENT_LENGTH))
    .join('/');
}
