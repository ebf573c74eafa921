import { createPublicKey, verify } from 'node:crypto';
import { chmod, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { engine } from '../support/engine.js';
import { invalidToken } from '../support/expected.js';
import { anInstallation } from '../support/installation.js';
import { anAccount } from '../support/personas.js';
import { startService } from '../support/service.js';
import { aSigningKey, decodeToken } from '../support/signing-keys.js';

interface PublishedKeys {
  keys: Record<string, string>[];
}

describe('the signing keys', () => {
  it('are published without their private halves, and verify a token elsewhere', async () => {
    const service = await startService();
    const ada = await anAccount(service, 'ada');

    const answer = await service.anyone.get<PublishedKeys>('/.well-known/jwks.json');

    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-type')).toMatch(/^application\/(jwk-set\+)?json/);
    const { kty, crv, x, y, kid } = service.installation.keys[0]!.jwk;
    expect(answer.body).toEqual({ keys: [{ kty, crv, x, y, kid, alg: 'ES256', use: 'sig' }] });
    const [head, body, signature] = ada.token.split('.') as [string, string, string];
    const key = createPublicKey({ key: answer.body.keys[0]!, format: 'jwk' });
    const genuine = verify(
      'sha256',
      Buffer.from(`${head}.${body}`),
      { key, dsaEncoding: 'ieee-p1363' },
      Buffer.from(signature, 'base64url'),
    );
    expect(genuine).toBe(true);
    await service.stop();
  });

  it('rotate: the first signs, all verify, and a removed key ends its tokens', async () => {
    const installation = await anInstallation();
    const [oldKey] = installation.keys as [ReturnType<typeof aSigningKey>];
    const newKey = aSigningKey();

    const before = await startService({ installation });
    const ada = await anAccount(before, 'ada');
    expect(decodeToken(ada.token).header['kid']).toBe(oldKey.kid);
    await before.stop();

    await installation.writeKeys([newKey, oldKey]);
    const during = await startService({ installation });
    const published = await during.anyone.get<PublishedKeys>('/.well-known/jwks.json');
    expect(published.body.keys.map(({ kid }) => kid)).toEqual([newKey.kid, oldKey.kid]);
    expect((await ada.at(during).get('/api/me')).status).toBe(200);
    const eve = await anAccount(during, 'eve');
    expect(decodeToken(eve.token).header['kid']).toBe(newKey.kid);
    await during.stop();

    await installation.writeKeys([newKey]);
    const after = await startService({ installation });
    expect(await ada.at(after).get('/api/me')).toMatchObject(invalidToken);
    expect((await eve.at(after).get('/api/me')).status).toBe(200);
    await after.stop();
    await installation.remove();
  });

  // Made and looked at before a database is opened.
  it.runIf(engine === 'sqlite')(
    'are created at the first start, readable only by their owner, and kept',
    async () => {
      const installation = await anInstallation();
      const file = join(installation.directory, 'fresh', 'jwks.json');
      const env = { JWT_KEYS_FILE: file };

      const first = await startService({ installation, env });
      const ada = await anAccount(first, 'ada');
      await first.stop();
      expect((await stat(file)).mode & 0o777).toBe(0o600);
      const kept = await readFile(file, 'utf8');

      const second = await startService({ installation, env });
      expect(await readFile(file, 'utf8')).toBe(kept);
      expect((await ada.at(second).get('/api/me')).status).toBe(200);
      await second.stop();
      await installation.remove();
    },
  );

  it.runIf(engine === 'sqlite').each([
    ['644', 1],
    ['640', 1],
    ['600', 0],
  ])('cause a warning at start when others can read them: mode %s', async (mode, warnings) => {
    const installation = await anInstallation();
    await chmod(installation.env['JWT_KEYS_FILE']!, mode);

    const service = await startService({ installation });

    expect(service.logs.filter((line) => line.includes('holds private keys'))).toHaveLength(warnings);
    await service.stop();
    await installation.remove();
  });
});
