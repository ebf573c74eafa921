import { afterAll, describe, expect, it } from 'vitest';
import { accounts } from '../support/accounts-command.js';
import { anAccount } from '../support/personas.js';
import { startOwnService } from '../support/service.js';

const service = await startOwnService();
const user = await anAccount(service);
afterAll(() => service.stop());

describe('what cannot be run', () => {
  it.each([
    ['users', 'show', 'nobody@example.com'],
    ['users', 'show', '019a8f3e-5b1c-7c4e-9d2a-3f6b8c1d4e5f'],
    ['users', 'show', 'not an e-mail'],
    ['users', 'show', 'x'.repeat(100_000)],
    ['users', 'find', ''],
    ['users', 'disable', 'nobody@example.com'],
    ['users', 'enable', 'nobody@example.com'],
    ['users', 'end-sessions', 'nobody@example.com'],
    ['users', 'set-password', 'nobody@example.com', '--generate'],
    ['users', 'verify-email', 'nobody@example.com'],
    ['users', 'reset-code', 'nobody@example.com', '--reason', 'a test'],
    ['users', 'reset-code', 'nobody@example.com'],
    ['users', 'remove-second-factor', 'nobody@example.com', '--reason', 'a test'],
    ['users', 'remove-second-factor', 'nobody@example.com'],
    ['mail', 'list', '--state', 'lost'],
    ['mail', 'list', '--to', 'nobody'],
    ['mail', 'list', '--limit', '0'],
    ['mail', 'retry'],
    ['mail', 'retry', '--failed', '019a8f3e-5b1c-7c4e-9d2a-3f6b8c1d4e5f'],
    ['mail', 'retry', '019a8f3e-5b1c-7c4e-9d2a-3f6b8c1d4e5f'],
    ['mail', 'retry', "' OR 1=1"],
    ['operators', 'grant'],
    ['operators', 'grant', 'nobody@example.com'],
    ['operators', 'revoke', 'nobody@example.com'],
    ['operators', 'list', '--limit', '0'],
    ['orgs', 'show', '019a8f3e-5b1c-7c4e-9d2a-3f6b8c1d4e5f'],
    ['orgs', 'show', 'Analytical Engines'],
    ['orgs', 'show', ''],
    ['orgs', 'show', 'x'.repeat(100_000)],
    ['orgs', 'show', '019a8f3e-5b1c-7c4e-9d2a-3f6b8c1d4e5f', '--role', 'king'],
    ['orgs', 'find', ' '],
    ['orgs', 'find', 'x'.repeat(101)],
    ['orgs', 'list', '--limit', '0'],
    ['users', 'list', '--limit', '1e3'],
    ['users', 'set-email', 'nobody@example.com', 'new@example.com'],
    ['users', 'set-email', 'nobody@example.com', 'no address'],
    ['users', 'invite-code', 'nobody@example.com', '--reason', 'a test'],
    ['users', 'invite-code', 'nobody', '--reason', 'a test'],
    ['backup', '/dev/null'],
    ['copy-from', '/dev/null/none'],
    ['orgs', 'set-owner', '019a8f3e-5b1c-7c4e-9d2a-3f6b8c1d4e5f', 'nobody@example.com'],
    ['users', 'disable', 'nobody@example.com', '--reason', 'two\nlines'],
    ['users', 'disable', 'nobody@example.com', '--as', ''],
    ['users', 'disable', 'nobody@example.com', '--reason', 'x'.repeat(501)],
    ['users', 'disable'],
  ])('accounts %s %s %s: one line, exit code 2', async (...parameters) => {
    const { code, stdout, stderr } = await accounts(service.installation, parameters);

    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(/^error: [^\n]{1,200}\n$/);
  });

  it.each([
    ['nothing', ''],
    ['an empty line', '\n'],
    ['two lines', 'correct horse battery\nstaple\n'],
    ['without end', 'x'.repeat(100_000)],
  ])('a password of %s from a pipe', async (_what, input) => {
    const { code, stderr } = await accounts(service.installation, ['users', 'set-password', user.email], {
      input,
    });

    expect(code).toBe(2);
    expect(stderr).toMatch(/^error: [^\n]+\n$/);
    const { email, password } = user;
    expect((await service.anyone.post('/api/auth/login', { email, password })).status).toBe(200);
  });
});
