import { expect } from 'vitest';
import { type Account, aCode, exchange } from './personas.js';
import type { Service } from './service.js';

const GENERATIONS = 6;

/**
 * A thief exchanges a code and keeps deriving sessions at one instance, as fast as it answers. Once there are
 * several, the code is reused at another instance, which revokes all of them.
 * @returns the positions of the thief's tokens that still work somewhere
 */
export async function survivorsOfReuse(
  account: Account,
  at: { thief: Service; owner: Service; checks: readonly Service[] },
  whenDerived: number,
): Promise<{ derived: number; survivors: number[] }> {
  const code = await aCode(account.at(at.owner));
  const tokens: string[] = [];
  const open = async (stolen: string): Promise<Account | undefined> => {
    const { status, body } = await exchange(at.thief, stolen);
    expect([200, 400]).toContain(status);
    if (status !== 200) return undefined;
    tokens.push(body.token);
    return account.as(body.token).at(at.thief);
  };

  const enough = Promise.withResolvers<void>();
  const derive = async (): Promise<void> => {
    let thief = await open(code);
    while (thief && tokens.length <= GENERATIONS) {
      if (tokens.length > whenDerived) enough.resolve();
      const issued = await thief.post<{ code: string }>('/api/auth/code');
      expect([201, 401]).toContain(issued.status);
      thief = issued.status === 201 ? await open(issued.body.code) : undefined;
    }
    enough.resolve();
  };
  const reuse = async (): Promise<void> => {
    await enough.promise;
    const { status } = await exchange(at.owner, code);
    expect(status).toBe(400);
  };
  await Promise.all([derive(), reuse()]);

  const survivors: number[] = [];
  for (const [place, token] of tokens.entries()) {
    for (const service of at.checks) {
      const { status } = await service.anyone.withToken(token).get('/api/me');
      if (status !== 401) survivors.push(place);
    }
  }
  return { derived: tokens.length - 1, survivors };
}
