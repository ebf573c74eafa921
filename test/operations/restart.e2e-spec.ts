import { createPublicKey, verify } from 'node:crypto';
import { chmod, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { times } from '../support/at-once.js';
import { engine } from '../support/engine.js';
import { invalidToken } from '../support/expected.js';
import { anInstallation, type Installation } from '../support/installation.js';
import { aCode, anAccount, anEmail, anOrg, logIn } from '../support/personas.js';
import { startOwnService } from '../support/service.js';
import { exitCode, spawnService } from '../support/service-process.js';
import { aSigningKey, decodeToken } from '../support/signing-keys.js';

describe('a start', () => {
  let installation: Installation;

  beforeEach(async () => {
    installation = await anInstallation();
  });
  afterEach(() => installation.remove());

  it('after a kill finds all that was acknowledged, and each rotation of the keys does what it should', async () => {
    const [oldKey] = installation.keys;
    const newKey = aSigningKey();
    const before = await startOwnService({ installation, env: { RATE_LIMIT_REGISTER: 'off' } });
    const { org, owner, admin } = await anOrg(before);
    expect(decodeToken(owner.token).header['kid']).toBe(oldKey!.kid);
    const detail = await owner.get(`/api/orgs/${org.id}`);
    const code = await aCode(owner);
    const password = 'harbor lantern quiet';
    const registered = times(20, () => ({ email: anEmail('kept'), password }));
    for (const credentials of registered)
      expect((await before.anyone.post('/api/auth/register', credentials)).status).toBe(201);
    await before.kill();

    await installation.writeKeys([newKey, oldKey!]);
    const env = { MIGRATIONS: 'check', RATE_LIMIT_LOGIN: 'off' };
    const during = await startOwnService({ installation, env });
    expect((await during.anyone.get('/health/ready')).status).toBe(200);
    for (const one of [...registered, owner]) expect((await logIn(during, one)).status).toBe(200);
    expect((await owner.at(during).get(`/api/orgs/${org.id}`)).body).toEqual(detail.body);
    expect((await admin.at(during).get('/api/me')).body).toMatchObject({ orgs: [org] });
    expect((await during.anyone.post('/api/auth/code/exchange', { code })).status).toBe(200);
    const published = await during.anyone.get<{ keys: Record<string, string>[] }>('/.well-known/jwks.json');
    // Without their private halves.
    const halves = [newKey, oldKey!].map(({ jwk: { kty, crv, x, y, kid } }) => ({ kty, crv, x, y, kid }));
    expect(published.body.keys).toEqual(
      halves.map((key) => Object.assign(key, { alg: 'ES256', use: 'sig' })),
    );
    expect(published.headers.get('content-type')).toMatch(/^application\/(jwk-set\+)?json/);
    const eve = await anAccount(during, 'eve');
    expect(decodeToken(eve.token).header['kid']).toBe(newKey.kid);
    const [head, body, signature] = eve.token.split('.') as [string, string, string];
    const key = createPublicKey({ key: published.body.keys[0]!, format: 'jwk' });
    const bytes = Buffer.from(signature, 'base64url');
    const signed = Buffer.from(`${head}.${body}`);
    expect(verify('sha256', signed, { key, dsaEncoding: 'ieee-p1363' }, bytes)).toBe(true);
    await during.stop();

    await installation.writeKeys([newKey]);
    const after = await startOwnService({ installation });
    expect(await owner.at(after).get('/api/me')).toMatchObject(invalidToken);
    expect((await eve.at(after).get('/api/me')).status).toBe(200);
    await after.stop();
  });

  it('with MIGRATIONS=check requires an up-to-date schema', async () => {
    const tooEarly = spawnService(installation.directory, { ...installation.env, MIGRATIONS: 'check' });
    expect(await exitCode(tooEarly)).toBe(1);
    expect(tooEarly.stderr.join('\n')).toMatch(/MIGRATIONS/);
  });

  // The keys are made and looked at before a database is opened.
  it.runIf(engine === 'sqlite')(
    'creates keys that only their owner can read, keeps them, and warns when others can',
    async () => {
      const file = join(installation.directory, 'fresh', 'jwks.json');
      const env = { JWT_KEYS_FILE: file };
      const warnings = (logs: string[]) => logs.filter((line) => line.includes('holds private keys'));
      const first = await startOwnService({ installation, env });
      const ada = await anAccount(first, 'ada');
      expect((await stat(file)).mode & 0o777).toBe(0o600);
      expect(warnings(first.logs)).toEqual([]);
      const kept = await readFile(file, 'utf8');

      // Nor does it share the file of the database with a process that runs.
      const second = spawnService(installation.directory, { ...installation.env, ...env });
      expect(await exitCode(second)).toBe(1);
      expect(second.stderr.join('\n')).toMatch(/DATABASE_URL/);
      expect(second.stderr.join('\n')).not.toMatch(/\n\s+at |node_modules/);
      expect((await ada.get('/api/me')).status).toBe(200);
      await first.stop();

      await chmod(file, '640');
      const third = await startOwnService({ installation, env });
      expect(await readFile(file, 'utf8')).toBe(kept);
      expect((await ada.at(third).get('/api/me')).status).toBe(200);
      expect(warnings(third.logs)).toHaveLength(1);
      await third.stop();
    },
  );
});
