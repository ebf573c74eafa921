import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import type { Env } from '../../config/env.js';
import { CleanUpJobs } from '../../clean-up/clean-up-jobs.js';
import type { AuthorizationCodesRepository } from './authorization-codes.repository.js';
import type { EndedSession, EndedSessionsRepository } from './ended-sessions.repository.js';
import type { SessionDeletion } from './sessions-of-user.js';
import type { EndedSessions } from './sessions-clean-up.js';

let Subject: typeof EndedSessions;

// Loaded again, because another spec may have loaded it with the real pauses.
beforeAll(async () => {
  vi.doMock('node:timers/promises', () => ({
    setTimeout: () => Promise.resolve(),
    setImmediate: () => Promise.resolve(),
  }));
  vi.resetModules();
  ({ EndedSessions: Subject } = await import('./sessions-clean-up.js'));
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
}));

/** How often sessions are looked for, where each search but the fifth finds many. */
async function searchesIf(removed: number): Promise<number> {
  let searches = 0;
  const findEnded = async (): Promise<EndedSession[]> => {
    searches += 1;
    return searches < 5 ? ended : [];
  };
  const sessions = new Subject(
    { findEnded } as unknown as EndedSessionsRepository,
    { delete: async () => {}, deleteIssuedBy: async () => {} } as unknown as AuthorizationCodesRepository,
    { deleteUnnamed: async () => removed } as unknown as SessionDeletion,
    new CleanUpJobs(),
    {} as Env,
  );
  sessions.deleteSoon('somebody');
  await sessions.onApplicationShutdown();
  return searches;
}

it('goes on while ended sessions are left', async () => {
  expect(await searchesIf(1)).toBe(5);
});

it('leaves the rest to the clean-up when live sessions name all that have ended', async () => {
  expect(await searchesIf(0)).toBe(1);
});
