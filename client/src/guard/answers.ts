import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Refusal } from '../service/refusal.ts';

/** What the sidecar sends. `problem` makes the body a problem (RFC 9457). */
export interface Answer {
  status: number;
  headers?: Record<string, string>;
  body: object | string;
}

const TITLES: Readonly<Record<number, string>> = {
  400: 'Bad Request',
  404: 'Not Found',
  405: 'Method Not Allowed',
  408: 'Request Timeout',
  413: 'Content Too Large',
  415: 'Unsupported Media Type',
  431: 'Request Header Fields Too Large',
  500: 'Internal Server Error',
  503: 'Service Unavailable',
};
const LONGEST_BODY = 4_096;

export function problem(
  status: number,
  code: string,
  detail: string,
  headers: Record<string, string> = {},
): Answer {
  return {
    status,
    headers: { 'Content-Type': 'application/problem+json', ...headers },
    body: { type: 'about:blank', title: TITLES[status], status, code, detail },
  };
}

export const refused = ({ status, headers, problem: body }: Refusal): Answer => ({ status, headers, body });

export const ok = (body: object): Answer => ({ status: 200, body });

/** Sends the answer, and closes the connection after it if `isLast`. */
export function send(response: ServerResponse, { status, headers, body }: Answer, isLast: boolean): void {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  response.writeHead(status, {
    'Content-Type': 'application/json',
    'Cache-Control': 'no-store',
    'Content-Length': Buffer.byteLength(text),
    ...headers,
    ...(isLast && { Connection: 'close' }),
  });
  response.end(text);
}

/** Reads an object of JSON with exactly these members, which are texts. Returns the problem to send if it is none. */
export async function readTexts<Name extends string>(
  request: IncomingMessage,
  names: readonly Name[],
): Promise<Record<Name, string> | Answer> {
  if (!/^application\/json *(?:;|$)/i.test(request.headers['content-type'] ?? ''))
    return problem(415, 'unsupported_media_type', 'The body must be application/json.');
  const parts: Buffer[] = [];
  let length = 0;
  for await (const part of request as AsyncIterable<Buffer>) {
    length += part.length;
    if (length > LONGEST_BODY) return problem(413, 'body_too_large', 'The body is larger than 4 KiB.');
    parts.push(part);
  }
  const read = parsed(Buffer.concat(parts).toString());
  const wrong = names.find((name) => typeof read?.[name] !== 'string' || read[name] === '');
  if (wrong !== undefined) return invalid(`${wrong} must be a text.`);
  const unknown = Object.keys(read!).length > names.length;
  return unknown
    ? invalid(`The body has more members than ${names.join(' and ')}.`)
    : (read as Record<Name, string>);
}

export const invalid = (detail: string): Answer => problem(400, 'validation_failed', detail);

function parsed(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : undefined;
  } catch {
    return undefined;
  }
}
