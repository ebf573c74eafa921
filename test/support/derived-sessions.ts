import { expect } from 'vitest';
import { invalidToken } from './expected.js';
import { type Account, aCode } from './personas.js';
import type { Service } from './service.js';

/** The same user in a service, which exchanged a code for a session of its own. */
export async function passedOn(service: Service, from: Account): Promise<Account> {
  const { status, body, text } = await service.anyone.post<{ token: string }>('/api/auth/code/exchange', {
    code: await aCode(from),
  });
  expect(status, text).toBe(200);
  return from.as(body.token);
}

export async function isAlive(who: Account): Promise<boolean> {
  const answer = await who.get('/api/me');
  if (answer.status !== 200) expect(answer).toMatchObject(invalidToken);
  return answer.status === 200;
}
