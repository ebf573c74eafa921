import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { aCode, anAccount, type Account } from '../support/personas.js';
import { startService } from '../support/service.js';
import { decodeToken, signToken } from '../support/signing-keys.js';
import { hangTimeoutMs, waitFor } from '../../tooling/wait.js';

interface Line {
  msg: string;
  requestId?: string;
  code?: string;
  reason?: string;
}

interface Refusal {
  status: number;
  body: object;
}

const service = await startService();
const key = service.installation.keys[0]!;
afterAll(() => service.stop());

describe('the log line of a refusal', () => {
  let ada: Account;
  let begin: number;
  beforeEach(async () => {
    ada = await anAccount(service, 'ada');
    begin = service.logs.length;
  });

  /** @returns the reason that the log gives, after making sure that the answer gives none */
  async function reasonOf({ body }: Refusal): Promise<string | undefined> {
    const { requestId } = body as { requestId: string };
    expect(body).not.toHaveProperty('reason');
    const line = await waitFor('the line of the request', hangTimeoutMs(), () =>
      service.logs
        .slice(begin)
        .map((text) => JSON.parse(text) as Line)
        .find((one) => one.msg === 'request' && one.requestId === requestId),
    );
    return line.reason;
  }

  const withToken = (token: string): Promise<Refusal> => ada.as(token).get('/api/me');
  const exchange = (code: string, codeVerifier?: string): Promise<Refusal> =>
    service.anyone.post('/api/auth/code/exchange', { code, codeVerifier });
  const refresh = (refreshToken: string): Promise<Refusal> =>
    service.anyone.post('/api/auth/refresh', { refreshToken });

  it('says why a token was refused, and the answer does not', async () => {
    const { header, claims } = decodeToken(ada.token);
    const now = Math.floor(Date.now() / 1000);
    const other = `${ada.token.slice(0, -4)}AAAA`;
    const refused = async (token: string) => reasonOf(await withToken(token));

    expect(await refused('no.jwt.atall')).toBe('malformed');
    expect(await refused(other)).toBe('signature');
    expect(await refused(signToken({ ...header, kid: 'unknown' }, claims, key))).toBe('unknown_key');
    expect(await refused(signToken(header, { ...claims, exp: now - 3600 }, key))).toBe('expired');
    expect(await refused(signToken(header, { ...claims, aud: 'shop' }, key))).toBe('claims');
    expect(await refused(signToken(header, { ...claims, iss: 'shop' }, key))).toBe('claims');
    await ada.post('/api/auth/logout');
    expect(await refused(ada.token)).toBe('session_ended');
  });

  it('says why a code was refused, and the answer does not', async () => {
    const code = await aCode(ada);
    const unused = await aCode(ada);

    expect(await reasonOf(await exchange('short'))).toBe('malformed');
    expect(
      await reasonOf(await exchange(code, 'a verifier that nobody asked for, of any length at all')),
    ).toBe('unknown');
    expect((await exchange(code)).status).toBe(200);
    expect(await reasonOf(await exchange(code))).toBe('reused');
    await ada.post('/api/auth/logout');
    expect(await reasonOf(await exchange(unused))).toBe('ended');
  });

  it('says why a refresh token was refused, and the answer does not', async () => {
    const { email, password } = ada;
    const login = await service.anyone.post<{ refreshToken: string }>('/api/auth/login', {
      email,
      password,
      refresh: true,
    });
    const first = login.body.refreshToken;
    expect(await reasonOf(await refresh(`${first.slice(0, -4)}AAAA`))).toBe('forged');

    const steps = [first];
    for (let i = 0; i < 2; i += 1) {
      const { body } = await service.anyone.post<{ refreshToken: string }>('/api/auth/refresh', {
        refreshToken: steps.at(-1)!,
      });
      steps.push(body.refreshToken);
    }
    expect(await reasonOf(await refresh(first))).toBe('reused');
    expect(await reasonOf(await refresh(steps.at(-1)!))).toBe('session_ended');
  });
});
