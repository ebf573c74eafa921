export interface Reply {
  status: number;
  code: string | undefined;
  /** The answer's JSON; an empty object when it has none. */
  body: Record<string, unknown>;
  retryAfter: string | null;
  etag: string | null;
}

export interface RequestOptions {
  token?: string | undefined;
  body?: unknown;
  /** in place of a body */
  form?: Record<string, string>;
  headers?: Record<string, string>;
  timeoutMs?: number;
}

/** One request to one instance; throws only when there is no answer. */
export type Send = (method: string, path: string, options?: RequestOptions) => Promise<Reply>;

export function clientOf(...baseUrls: string[]): Send {
  let turn = 0;
  return async (method, path, { token, body, form, headers = {}, timeoutMs = 10_000 } = {}) => {
    const baseUrl = baseUrls[turn++ % baseUrls.length] ?? '';
    const response = await fetch(`${baseUrl}${path}`, {
      method,
      headers: {
        ...headers,
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      ...(form && { body: new URLSearchParams(form) }),
      signal: AbortSignal.timeout(timeoutMs),
    });
    const json = asRecord(await response.json().catch(() => undefined));
    const code = json['code'];
    return {
      status: response.status,
      // An authorization code stands in a field of that name too: only a problem has an error code.
      code: response.status >= 400 && typeof code === 'string' ? code : undefined,
      body: json,
      retryAfter: response.headers.get('retry-after'),
      etag: response.headers.get('etag'),
    };
  };
}

export function asRecord(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value))
    : {};
}

export function asString(value: unknown): string {
  if (typeof value !== 'string') throw new Error(`a string was expected, not ${JSON.stringify(value)}`);
  return value;
}

export function asStrings(value: unknown): string[] {
  if (!Array.isArray(value)) throw new TypeError(`expected a list, not ${JSON.stringify(value)}`);
  return value.map(asString);
}

export function asRecords(value: unknown): Record<string, unknown>[] {
  return Array.isArray(value) ? value.map(asRecord) : [];
}
