import { expect } from 'vitest';

export interface Answer<Body = unknown> {
  status: number;
  headers: Headers;
  /** parsed JSON; undefined when the answer holds none */
  body: Body;
  text: string;
}

/** The body of an answer that must have this status. */
export async function bodyOf<Body>(sent: Promise<Answer<Body>>, expected = 200): Promise<Body> {
  const { status, body, text } = await sent;
  expect(status, text).toBe(expected);
  return body;
}

/** Of answers to requests at once one has this status, and each other one is this refusal. */
export function theOneOf<Body>(answers: Answer<Body>[], status: number, refusal: object): Answer<Body> {
  const [one, ...more] = answers.filter((answer) => answer.status === status);
  expect(more).toEqual([]);
  for (const answer of answers) if (answer !== one) expect(answer).toMatchObject(refusal);
  return one!;
}

/** In capitals only, because a random challenge can contain `er_`. */
const DRIVER_CODE = /\bER_[A-Z]+_[A-Z_]+/;
const INSIDES =
  /node_modules|\.[cm]?[jt]s:\d+|\n\s+at |\b(?:SELECT|INSERT|UPDATE|DELETE) .*\b(?:FROM|INTO|SET|WHERE)\b|SQLITE_|QueryFailed|TypeError|FST_|typeorm|fastify/i;

const CACHEABLE = /^\/(docs|openapi\.json)|\/\.well-known\/|^\/api\/auth\/config(\?|$)/;
const API_POLICY = "default-src 'none'; frame-ancestors 'none'";
/** The page of the documentation loads its own scripts and styles, and nothing from elsewhere. */
const PAGE_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; " +
  "font-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

export function checkAnswer(request: string, answer: Answer, path: string): void {
  const { status, headers } = answer;
  // Every answer has six headers to compare, so `expect` only explains what differs.
  const expectHeader = (name: string, ...allowed: (string | null)[]): void => {
    const value = headers.get(name);
    if (!allowed.includes(value)) expect(value, `${name} of ${request}`).toBeOneOf(allowed);
  };
  expectHeader('X-Content-Type-Options', 'nosniff');
  expectHeader('Referrer-Policy', 'no-referrer');
  expectHeader('Content-Security-Policy', API_POLICY, ...(path.startsWith('/docs') ? [PAGE_POLICY] : []));
  if (status >= 400 || !CACHEABLE.test(path)) expectHeader('Cache-Control', 'no-store');
  expectHeader('Server', null);
  expectHeader('X-Powered-By', null);
  if (status >= 400) checkProblem(request, answer);
}

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
  expect(answer.text, what).not.toMatch(DRIVER_CODE);
}

export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
