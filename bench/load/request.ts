export interface RequestParts {
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  path: string;
  token?: string;
  idempotencyKey?: string;
  body?: object;
}

/** The text of an HTTP/1.1 request; bodies must be ASCII. */
export function requestText({ method, path, token, idempotencyKey, body }: RequestParts): string {
  const authorization = token === undefined ? '' : `Authorization: Bearer ${token}\r\n`;
  const key = idempotencyKey === undefined ? '' : `Idempotency-Key: ${idempotencyKey}\r\n`;
  const json = body === undefined ? '' : JSON.stringify(body);
  const entity =
    body === undefined ? '' : `Content-Type: application/json\r\nContent-Length: ${json.length}\r\n`;
  return `${method} ${path} HTTP/1.1\r\nHost: localhost\r\n${authorization}${key}${entity}\r\n${json}`;
}
