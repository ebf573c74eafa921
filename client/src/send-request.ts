import type { Budget } from './budget.ts';
import type { Delay, Route } from './operation.ts';
import { aborted, type InvalidAnswer, timedOut, type UnknownProblem, type Unreachable } from './problems.ts';

export interface HttpRequest {
  url: string;
  headers: Record<string, string>;
  body: string | undefined;
}

export type Data = Record<string, unknown>;

export interface Answered {
  ok: true;
  status: number;
  data: Data;
  headers: Headers;
  /** The session of the access token that the request had. */
  sessionId?: string | undefined;
}
export interface Failed {
  ok: false;
  /** The types of the operation narrow it. */
  problem: Delay & { code: string; status: number | null; detail: string };
}

const SHOWN_CHARACTERS = 200;

/** Sends one request and returns its response or a problem. Never rejects. */
export async function sendRequest(
  fetchFn: typeof fetch,
  route: Route,
  { url, headers, body }: HttpRequest,
  budget: Budget,
): Promise<Answered | Failed> {
  const { signal, leftMs } = budget;
  if (signal?.aborted) return { ok: false, problem: aborted };
  if (leftMs === 0) return { ok: false, problem: timedOut(budget.timeoutMs) };
  const controller = new AbortController();
  const abort = (): void => controller.abort();
  let isLate = false;
  const timer = setTimeout(() => {
    isLate = true;
    abort();
  }, leftMs);
  signal?.addEventListener('abort', abort);
  try {
    // Following a redirect would send passwords and tokens to another server.
    const response = await fetchFn(url, {
      method: route.method,
      headers,
      body: body ?? null,
      signal: controller.signal,
      redirect: 'manual',
      credentials: 'omit',
    });
    return readAnswer(route, response, await response.text());
  } catch (cause) {
    if (signal?.aborted) return { ok: false, problem: aborted };
    return { ok: false, problem: isLate ? timedOut(budget.timeoutMs) : unreachable(cause) };
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', abort);
  }
}

function unreachable(cause: unknown): Unreachable {
  return { code: 'unreachable', status: null, detail: 'Accounts cannot be reached.', cause };
}

function readAnswer(route: Route, { status, headers, ok }: Response, text: string): Answered | Failed {
  const body = parseJson(headers.get('content-type') ?? '', text);
  if (body === undefined) {
    const detail = `Another server than Accounts answered ${status}.`;
    const notJson = {
      code: 'not_json',
      status,
      detail,
      text: text.slice(0, SHOWN_CHARACTERS),
      ...retryAfterOf(headers),
    };
    return { ok: false, problem: notJson };
  }
  if (ok && isObject(body) && route.answer.every((name) => name in body)) {
    return { ok: true, status, data: body, headers };
  }
  if (ok || !isObject(body) || typeof body['code'] !== 'string') {
    const detail = `The ${status} response is not in a format of Accounts.`;
    const invalid: InvalidAnswer = { code: 'invalid_answer', status, detail, ...retryAfterOf(headers) };
    return { ok: false, problem: invalid };
  }
  const { code } = body;
  const named = {
    title: '',
    detail: code,
    requestId: headers.get('x-request-id') ?? '',
    ...body,
    status,
    ...retryAfterOf(headers),
  };
  if (route.codes.split(' ').includes(code)) return { ok: false, problem: { ...named, code } };
  const unknown: UnknownProblem = { ...named, code: 'unknown_code', receivedCode: code };
  return { ok: false, problem: unknown };
}

function parseJson(contentType: string, text: string): unknown {
  if (!/\bjson\b/i.test(contentType)) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isObject(value: unknown): value is Data {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function retryAfterOf(headers: Headers): { retryAfter?: number } {
  const text = headers.get('retry-after');
  if (text === null) return {};
  const seconds = /^\d+$/.test(text) ? Number(text) : (Date.parse(text) - Date.now()) / 1000;
  return Number.isFinite(seconds) ? { retryAfter: Math.max(0, Math.ceil(seconds)) } : {};
}
