import { createHash, randomBytes } from 'node:crypto';
import { afterAll, describe, expect, it } from 'vitest';
import { invalidCode, invalidFields, invalidToken } from '../support/expected.js';
import { aBoundCode, aCode, anAccount } from '../support/personas.js';
import { startService } from '../support/service.js';

const service = await startService();
const ada = await anAccount(service, 'ada');
afterAll(() => service.stop());

describe('a code with a proof key (RFC 7636)', () => {
  const exchange = (code: string, codeVerifier?: unknown) =>
    service.anyone.post<{ token: string }>('/api/auth/code/exchange', { code, codeVerifier });

  it('is exchanged with the verifier', async () => {
    const { code, verifier } = await aBoundCode(ada);

    const answer = await exchange(code, verifier);

    expect(answer.status, answer.text).toBe(200);
    expect((await service.anyone.withToken(answer.body.token).get('/api/me')).status).toBe(200);
  });

  it('is refused without the verifier or with a wrong one, and not consumed', async () => {
    const { code, verifier } = await aBoundCode(ada);
    const challenge = createHash('sha256').update(verifier).digest('base64url');

    for (const wrong of [
      undefined,
      '',
      'x',
      'x'.repeat(43),
      challenge,
      verifier.toLowerCase(),
      `${verifier} `,
    ]) {
      expect(await exchange(code, wrong), `verifier ${wrong}`).toMatchObject(invalidCode);
    }

    expect((await exchange(code, verifier)).status).toBe(200);
  });

  it.each([[null], [0], [true], [['x']], [{}]])(
    'refuses a verifier of another type: %j',
    async (verifier) => {
      const { code } = await aBoundCode(ada);

      expect(await exchange(code, verifier)).toMatchObject(invalidFields('codeVerifier'));
    },
  );

  it('refuses a verifier for a code that was issued without a challenge', async () => {
    const code = await aCode(ada);

    expect(await exchange(code, randomBytes(32).toString('base64url'))).toMatchObject(invalidCode);
    expect((await exchange(code)).status).toBe(200);
  });

  it('revokes the first session when reused with the verifier, not without it', async () => {
    const { code, verifier } = await aBoundCode(ada);
    const first = await exchange(code, verifier);
    const desktop = service.anyone.withToken(first.body.token);

    expect(await exchange(code, 'x'.repeat(43))).toMatchObject(invalidCode);
    expect(await exchange(code)).toMatchObject(invalidCode);
    expect((await desktop.get('/api/me')).status).toBe(200);

    expect(await exchange(code, verifier)).toMatchObject(invalidCode);
    expect(await desktop.get('/api/me')).toMatchObject(invalidToken);
  });
});
