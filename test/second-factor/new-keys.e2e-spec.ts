import { readFile, writeFile } from 'node:fs/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { KeyRing, keySetText, newJwk, parseKeySet, readKeySet } from '../../src/auth/tokens/signing-keys.js';
import { anAccount, aPassword } from '../support/personas.js';
import { challengeFor, type Protected, protect, secondStep } from '../support/second-factor.js';
import { type Service, startService } from '../support/service.js';

let service: Service;

beforeAll(async () => {
  service = await startService({ env: { RATE_LIMIT_LOGIN: 'off', RATE_LIMIT_REGISTER: 'off' } });
});
afterAll(() => service.stop());

const USES: [string, (one: Protected, challenge: string) => Promise<{ status: number }>][] = [
  ['a login', ({ app }, challenge) => secondStep(service, challenge, app.next())],
  [
    'a change of the password',
    ({ account, app }) =>
      account.put('/api/me/password', {
        currentPassword: account.password,
        newPassword: aPassword(),
        code: app.next(),
      }),
  ],
];

// Another instance reads a new key up to a second earlier, and seals with it.
it.each(USES)('opens for %s what was sealed with a key that it has not read yet', async (_what, use) => {
  const account = await anAccount(service);
  const file = service.installation.env['JWT_KEYS_FILE']!;
  const before = await readFile(file, 'utf8');
  await writeFile(file, keySetText([newJwk(), ...parseKeySet(before)]));
  const one = await protect(service, account);
  const known = new KeyRing(readKeySet(before));

  expect((await use(one, await challengeFor(service, account.id, { keys: known }))).status).toBe(200);
});
