import { expect } from 'vitest';

export interface Answer<Body = unknown> {
  status: number;
  headers: Headers;
  /** parsed JSON; undefined when the answer holds none */
  body: Body;
  text: string;
}

const INSIDES =
  /node_modules|\.[cm]?[jt]s:\d+|\n\s+at |\b(?:SELECT|INSERT|UPDATE|DELETE) .*\b(?:FROM|INTO|SET|WHERE)\b|SQLITE_|\bER_[A-Z_]+|QueryFailed|TypeError|FST_|typeorm|fastify/i;

/** What holds for every answer of the API, whatever the request was. */
export function checkAnswer(request: string, answer: Answer, cacheable: boolean): void {
  const { status, headers } = answer;
  expect(headers.get('x-content-type-options'), `X-Content-Type-Options of ${request}`).toBe('nosniff');
  expect(headers.get('content-security-policy'), `Content-Security-Policy of ${request}`).toContain(
    "frame-ancestors 'none'",
  );
  expect(headers.get('server'), `Server of ${request}`).toBeNull();
  expect(headers.get('x-powered-by'), `X-Powered-By of ${request}`).toBeNull();
  if (!cacheable) expect(headers.get('cache-control'), `Cache-Control of ${request}`).toContain('no-store');
  if (status >= 400) checkProblem(request, answer);
}

/** The shape of RFC 9457 problem details that every error has, the framework's own included. */
function checkProblem(request: string, answer: Answer): void {
  const what = `${answer.status} for ${request}: ${answer.text}`;
  expect(answer.headers.get('content-type') ?? '', what).toMatch(/^application\/problem\+json(;|$)/);
  if (answer.text === '') return;
  expect(answer.body, what).toMatchObject({
    type: expect.stringMatching(/^(about:blank$|https?:|\/)/),
    title: expect.stringMatching(/./),
    status: answer.status,
    detail: expect.stringMatching(/./),
    code: expect.stringMatching(/^[a-z]+(_[a-z]+)*$/),
    requestId: expect.stringMatching(/./),
  });
  expect(answer.text, what).not.toMatch(INSIDES);
}

export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
