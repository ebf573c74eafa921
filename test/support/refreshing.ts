import { expect } from 'vitest';
import { hangTimeoutMs, waitFor } from '../../tooling/wait.js';
import type { Answer } from './answer.js';
import type { Account } from './personas.js';
import type { Service } from './service.js';

export interface Tokens {
  token: string;
  expiresAt: string;
  refreshToken: string;
}

export async function aRefreshableLogin(
  service: Pick<Service, 'anyone'>,
  { email, password }: Pick<Account, 'email' | 'password'>,
): Promise<Tokens> {
  const login = { email, password, refresh: true };
  const { status, body, text } = await service.anyone.post<Tokens>('/api/auth/login', login);
  expect(status, text).toBe(200);
  return body;
}

export function refresh(service: Service, refreshToken: string): Promise<Answer<Tokens>> {
  return service.anyone.post<Tokens>('/api/auth/refresh', { refreshToken });
}

export async function refreshed(service: Service, refreshToken: string): Promise<Tokens> {
  const { status, body, text } = await refresh(service, refreshToken);
  expect(status, text).toBe(200);
  return body;
}

/** Uses the access token, and waits until the database knows. */
export async function use(service: Service, { token, refreshToken }: Tokens): Promise<void> {
  const { status, text } = await service.anyone.withToken(token).get('/api/me');
  expect(status, text).toBe(200);
  await untilUsed(service, refreshToken);
}

export async function untilUsed({ db }: Pick<Service, 'db'>, refreshToken: string): Promise<void> {
  const { sessionId, generation } = partsOf(refreshToken);
  const sql = 'SELECT seen_generation FROM sessions WHERE id = ?';
  await waitFor('the first use is noted', hangTimeoutMs(), async () => {
    const [row] = await db.query(sql, [sessionId]);
    return Number(row!['seen_generation']) >= generation;
  });
}

export function partsOf(refreshToken: string): { sessionId: string; generation: number; mac: string } {
  const [sessionId = '', generation, mac = ''] = refreshToken.split('.');
  return { sessionId, generation: Number(generation), mac };
}
