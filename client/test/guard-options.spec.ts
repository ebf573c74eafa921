import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { hangTimeoutMs } from '../../tooling/wait.js';
import { createVerifier, type VerifierOptions } from '../src/service/index.ts';
import { json, OddServer, page, problem } from './support/odd-server.ts';

const SECRET = 'acs_never-logged';

let server: OddServer;
let nobody: string;

beforeAll(async () => {
  server = await OddServer.start();
  const stopped = await OddServer.start();
  nobody = stopped.url;
  await stopped.stop();
});
afterAll(() => server.stop());

const options = (): VerifierOptions => ({
  issuer: server.url,
  audience: 'billing',
  credentials: { name: 'billing', secret: SECRET },
});

describe('a guard that could admit nobody', () => {
  it.each<[string, object]>([
    ['credentials must have the name and the secret of a service', { credentials: undefined }],
    ['credentials.name must be a name', { credentials: { name: '', secret: SECRET } }],
    [
      'credentials.secret must be a secret, or a function that returns it',
      { credentials: { name: 'billing', secret: undefined } },
    ],
    [
      'credentials.secret must be a secret, or a function that returns it',
      { credentials: { name: 'billing', secret: '' } },
    ],
    ['issuer must be the JWT_ISSUER of Accounts', { issuer: undefined }],
    ['issuer must be the JWT_ISSUER of Accounts', { issuer: '' }],
    ['audience must be the name of this service, or a list of audiences', { audience: undefined }],
    ['audience must be the name of this service, or a list of audiences', { audience: '' }],
    ['audience must be the name of this service, or a list of audiences', { audience: [] }],
    ['audience must be the name of this service, or a list of audiences', { audience: ['billing', 7] }],
    ['log must have a function warn', { log: {} }],
    ['createVerifier does not take "audiance"', { audiance: 'billing' }],
    ['createVerifier does not take "onFeedProblems"', { onFeedProblems: () => undefined }],
    ['limits do not take "token"', { limits: { token: 1 } }],
  ])('is not created: %s', (message, wrong) => {
    expect(() => createVerifier({ ...options(), ...wrong })).toThrow(new TypeError(message));
  });

  it('takes no option that a request does not have', async () => {
    const guard = createVerifier(options());
    const wrong = { signal: undefined, orgID: 'o' };
    await expect(guard.roleOf('u', 'o', wrong)).rejects.toThrow(TypeError);
    await expect(guard.exchange({ code: 'c', codeVerifier: 'v' }, wrong)).rejects.toThrow(TypeError);
    await guard.close();
  });
});

describe('the log of a guard', () => {
  it.each([
    ['a wrong secret', problem(401, 'invalid_client'), ['name or the secret of "billing"', 'invalid_client']],
    [
      'a missing scope',
      json(403, {
        type: 'about:blank',
        title: 'T',
        status: 403,
        detail: 'D',
        code: 'insufficient_scope',
        requestId: 'r',
        requiredScope: 'events',
      }),
      ['"billing" lacks the scope "events"', 'insufficient_scope'],
    ],
  ])('names %s without a request', async (_what, answer, parts) => {
    server.answer(answer);
    const warn = vi.fn<(message: string) => void>();
    const guard = createVerifier({ ...options(), log: { warn } });

    await vi.waitFor(() => expect(warn).toHaveBeenCalled(), { timeout: hangTimeoutMs() });
    for (const part of parts) expect(warn.mock.calls[0]![0]).toContain(part);
    await vi.waitFor(() => expect(server.asked.length).toBeGreaterThan(2), { timeout: hangTimeoutMs() });
    expect(warn).toHaveBeenCalledTimes(1);
    await guard.close();
  });

  it.each<[string, () => Partial<VerifierOptions>, string]>([
    ['an Accounts that cannot be reached', () => ({ baseUrl: nobody }), '(ECONNREFUSED)'],
    [
      'a secret that cannot be read',
      () => ({
        credentials: {
          name: 'billing',
          secret: () => {
            throw new Error('no such file');
          },
        },
      }),
      'the secret of "billing" cannot be read: no such file',
    ],
    ['another server', () => ({}), 'Something other than the service answered 404'],
  ])('names %s once, however many requests are refused', async (_what, more, part) => {
    server.answer(page(404, '<html>'));
    const warn = vi.fn<(message: string) => void>();
    const guard = createVerifier({ ...options(), ...more(), log: { warn } });

    for (let time = 0; time < 3; time += 1) {
      expect(await guard.exchange({ code: 'c', codeVerifier: 'v' })).toMatchObject({ status: 503 });
    }
    const lines = warn.mock.calls.map(([message]) => message);
    expect(lines.filter((line) => line.includes(part))).toHaveLength(1);
    expect(lines[0]).toContain('503');
    expect(lines.join()).not.toContain(SECRET);
    await guard.close();
  });

  it('is the console where none is given', async () => {
    server.answer(problem(401, 'invalid_client'));
    const warn = vi.spyOn(console, 'warn').mockImplementation(() => undefined);
    const guard = createVerifier(options());

    expect(await guard.roleOf('u', 'o')).toMatchObject({ status: 503 });
    expect(warn).toHaveBeenCalledTimes(1);
    await guard.close();
    warn.mockRestore();
  });
});
