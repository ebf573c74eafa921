import { expect, it } from 'vitest';
import { times } from '../support/at-once.js';
import { invalidCode, rateLimited } from '../support/expected.js';
import { anAccount } from '../support/personas.js';
import { protect } from '../support/second-factor.js';
import { startService } from '../support/service.js';

const ADDRESSES = times(5, (index) => `198.51.100.${index + 1}`);

it('ten wrong codes from five addresses, for a challenge of each, are all that an account takes', async () => {
  const service = await startService({ env: { TRUST_PROXY: '127.0.0.1' } });
  const { account, app, recoveryCodes } = await protect(service, await anAccount(service, 'ada'));
  const begin = async (address: string) => {
    const client = service.anyone.with({ 'x-forwarded-for': address });
    const { email, password } = account;
    const first = await client.post<{ challenge: string }>('/api/auth/login', { email, password });
    expect(first.status).toBe(403);
    const { challenge } = first.body;
    return (code: string | undefined) => client.post('/api/auth/login/second-factor', { challenge, code });
  };

  const guessers = [];
  for (const address of ADDRESSES) guessers.push(await begin(address));
  for (const guess of [...guessers, ...guessers]) expect(await guess(app.wrong())).toMatchObject(invalidCode);

  for (const guess of guessers) expect(await guess(app.wrong())).toMatchObject(rateLimited);
  const owner = await begin('203.0.113.1');
  expect(await owner(app.next()), 'the right code, from an address that has guessed nothing').toMatchObject(
    rateLimited,
  );
  expect((await owner(recoveryCodes[0])).status).toBe(200);
  await service.stop();
});
