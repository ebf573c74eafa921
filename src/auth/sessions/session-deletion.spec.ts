import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { parseEnv } from '../../config/env.js';
import type { AuthorizationCodesRepository } from './authorization-codes.repository.js';
import type { PendingRevocationsRepository } from './pending-revocations.repository.js';
import type { SessionDeletion } from './session-deletion.js';
import type { EndedSession, UserSessionsRepository } from './sessions.of-user.js';

let Subject: typeof SessionDeletion;

// Loaded again, because another spec may have loaded it with the real pauses.
beforeAll(async () => {
  vi.doMock('node:timers/promises', () => ({
    setTimeout: () => Promise.resolve(),
    setImmediate: () => Promise.resolve(),
  }));
  vi.resetModules();
  ({ SessionDeletion: Subject } = await import('./session-deletion.js'));
});
afterAll(() => {
  vi.doUnmock('node:timers/promises');
  vi.resetModules();
});

const MANY = 600;
const ended: EndedSession[] = Array.from({ length: MANY }, (_, i) => ({
  id: `${i}`,
  loginId: null,
  branchId: null,
  codeHash: null,
  expiresAt: 0,
}));

/** How often ended sessions are looked for, where each search but the fifth finds many. */
async function searchesIf({ isNamed }: { isNamed: boolean }): Promise<number> {
  let searches = 0;
  const findEnded = async (): Promise<EndedSession[]> => {
    searches += 1;
    return searches < 5 ? ended : [];
  };
  const findNamed = async (ids: string[]): Promise<string[]> => (isNamed ? ids : []);
  const sessions = new Subject(
    { findEnded, findNamed, delete: async () => {} } as unknown as UserSessionsRepository,
    { delete: async () => {}, deleteIssuedBy: async () => {} } as unknown as AuthorizationCodesRepository,
    {} as PendingRevocationsRepository,
    parseEnv({}),
  );
  sessions.deleteSoon('somebody');
  await sessions.onApplicationShutdown();
  return searches;
}

it('continues while ended sessions are left', async () => {
  expect(await searchesIf({ isNamed: false })).toBe(5);
});

it('leaves the rest to the clean-up when live sessions name all that have ended', async () => {
  expect(await searchesIf({ isNamed: true })).toBe(1);
});
