import { type IncomingMessage, request, type RequestOptions } from 'node:http';
import { text } from 'node:stream/consumers';
import type { FakeAccounts } from './fake-accounts.ts';
import { LIMIT_MS } from './process.ts';
import type { Asked } from './script.ts';

export interface Answered {
  /** The status, and the code of a problem or the role. */
  text: string;
  headers: Record<string, string | string[] | undefined>;
}
/** Sends one check to the guard. Never rejects. */
export async function ask(fake: FakeAccounts, port: number, asked: Asked): Promise<Answered> {
  const given = Object.entries(asked.headers ?? {}).map(([name, values]) => [
    name,
    Array.isArray(values) ? values.map((one) => fill(fake, one, asked)) : fill(fake, values, asked),
  ]);
  const isNamed = [asked.session, asked.key, asked.service].some((one) => one !== undefined);
  const headers = {
    ...(isNamed && { Authorization: `Bearer ${fake.tokens.of(asked)}` }),
    ...(asked.ahead !== undefined && { 'Accounts-Revision': fake.revisionOf(asked.org!, asked.ahead) }),
    ...Object.fromEntries(given),
  } as Record<string, string | string[]>;
  const path = fill(fake, asked.target ?? targetOf(asked), asked);
  const to = { host: '127.0.0.1', port, method: asked.method ?? 'GET', path, headers };
  try {
    const response = await responseTo({ ...to, agent: false, timeout: LIMIT_MS });
    const body = await text(response);
    const { statusCode, headers: received } = response;
    const role = received['x-accounts-role'];
    const word = statusCode === 200 ? role : codeOf(body || String(received['x-accounts-problem']));
    return { text: [statusCode, word].filter(Boolean).join(' '), headers: received };
  } catch (error) {
    return { text: `no answer (${(error as Error).message})`, headers: {} };
  }
}

function responseTo(options: RequestOptions): Promise<IncomingMessage> {
  return new Promise((done, failed) => {
    const sent = request(options, done);
    sent.on('timeout', () => sent.destroy(new Error(`not within ${LIMIT_MS / 1000} s`)));
    sent.on('error', failed);
    sent.end();
  });
}

function fill(fake: FakeAccounts, value: string, asked: Asked): string {
  return fake.world.expand(value.replaceAll('$token', () => fake.tokens.of(asked)));
}

function targetOf({ keys, org, role, maxAge, amr, via }: Asked): string {
  const named = { org: org && `$${org}`, role, maxAge, amr, via };
  const parts = Object.entries(named).filter(([, value]) => value !== undefined);
  return `/check${keys ? '-keys' : ''}${parts.length > 0 ? '?' : ''}${parts.map(([name, value]) => `${name}=${value}`).join('&')}`;
}

function codeOf(body: string): string | undefined {
  try {
    const { code } = JSON.parse(body) as { code?: unknown };
    return typeof code === 'string' ? code : undefined;
  } catch {
    return undefined;
  }
}
