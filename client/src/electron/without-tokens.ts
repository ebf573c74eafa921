const OF_A_LOGIN = new Set(['token', 'refreshToken', 'expiresAt']);
/** An access or a refresh token, or most of one. */
const LIKE_A_TOKEN = /[\w.-]{32,}/g;
const DEEPEST_CAUSE = 5;

/** Returns a result that a message can carry: without the tokens of a login, and with texts for causes. */
export function withoutTokens(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutTokens);
  if (typeof value !== 'object' || value === null) return value;
  const given = Object.entries(value).filter(([name]) => !('token' in value && OF_A_LOGIN.has(name)));
  const isProblem = 'code' in value && 'detail' in value;
  return Object.fromEntries(
    given.map(([name, one]) => [
      name,
      isProblem && (name === 'cause' || name === 'text') ? textOf(one) : withoutTokens(one),
    ]),
  );
}

/** The messages of an error and its causes. An error, like the page of a proxy, may quote a request with its tokens. */
export function textOf(error: unknown, depth = 0): string {
  if (!(error instanceof Error)) return String(error).replaceAll(LIKE_A_TOKEN, '…');
  const { code, cause } = error as NodeJS.ErrnoException;
  const own = `${String(error)}${code === undefined ? '' : ` (${code})`}`.replaceAll(LIKE_A_TOKEN, '…');
  return cause === undefined || depth === DEEPEST_CAUSE ? own : `${own}: ${textOf(cause, depth + 1)}`;
}
