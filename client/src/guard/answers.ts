import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Refusal } from '../service/refusal.ts';

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
};
const LONGEST_BODY = 4_096;

/** Thrown for a request that gets this answer. */
export class Refused extends Error {
  readonly answer: Answer;

  constructor(answer: Answer) {
    super();
    this.answer = answer;
  }
}

export const ok = (body: object): Answer => ({ status: 200, body });

export const refusal = ({ status, headers, problem: body }: Refusal): Answer => ({ status, headers, body });

/** An answer of problem details (RFC 9457). */
export function problem(
  status: number,
  code: string,
  detail: string,
  headers?: Record<string, string>,
): Answer {
  return {
    status,
    headers: { 'Content-Type': 'application/problem+json', ...headers },
    body: { type: 'about:blank', title: TITLES[status], status, code, detail },
  };
}

export const invalid = (detail: string): Refused => new Refused(problem(400, 'validation_failed', detail));

/** @param isLast closes the connection after the answer */
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

/**
 * Reads a JSON object with exactly these members, which are texts.
 *
 * @throws Refused
 */
export async function readTexts<Name extends string, Optional extends string = never>(
  request: IncomingMessage,
  names: Name[],
  optional: Optional[] = [],
): Promise<Record<Name, string> & Partial<Record<Optional, string>>> {
  if (!/^application\/json *(?:;|$)/i.test(request.headers['content-type'] ?? ''))
    throw new Refused(problem(415, 'unsupported_media_type', 'The body must be application/json.'));
  const body = parsed(await readBody(request));
  const known: string[] = [...names, ...optional];
  const sent = [...names, ...optional.filter((name) => name in body)];
  const wrong = sent.find((name) => typeof body[name] !== 'string' || body[name] === '');
  if (wrong !== undefined) throw invalid(`${wrong} must be a text.`);
  if (Object.keys(body).length > sent.length)
    throw invalid(`The body must only have ${known.join(' and ')}.`);
  return body as Record<Name, string> & Partial<Record<Optional, string>>;
}

async function readBody(request: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  let length = 0;
  // By default, leaving the loop would close the connection before the answer.
  for await (const part of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    length += part.length;
    if (length > LONGEST_BODY)
      throw new Refused(problem(413, 'body_too_large', 'The body is larger than 4 KiB.'));
    parts.push(part);
  }
  return Buffer.concat(parts).toString();
}

function parsed(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null) return value as Record<string, unknown>;
  } catch {
    // Neither is the object that is needed.
  }
  throw invalid('The body must be a JSON object.');
}
