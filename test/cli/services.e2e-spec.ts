import { afterAll, describe, expect, it } from 'vitest';
import { accounts, accountsJson } from '../support/accounts-command.js';
import { anInstallation } from '../support/installation.js';
import { eventsSince, knownEvents } from '../support/recorded-events.js';

const BY_ROOT = ['--as', 'root', '--reason', 'a test'];
const SECRET = /^acs_[\w-]{43}$/;
const ID = /^[0-9a-f]{8}-[0-9a-f-]{27}$/;

interface Issued {
  name: string;
  secretId: string;
  secret: string;
}

interface Shown {
  name: string;
  allow: string[];
  disabledAt: string | null;
  removedAt: string | null;
  secrets: { id: string; lastUsedAt: string | null; revokedAt: string | null }[];
}

const installation = await anInstallation();
await accountsJson(installation, ['migrate']);
afterAll(() => installation.remove());

describe('accounts services', () => {
  const done = async <T>(...parameters: string[]): Promise<T> =>
    (await accountsJson<T>(installation, ['services', ...parameters]))[0]!;
  const show = (name: string) => done<Shown>('show', name);

  it('leads a service from its first secret to its end, and records each change', async () => {
    const known = await knownEvents(installation.db);

    const first = await done<Issued>('add', 'billing', '--allow', 'events,introspect', ...BY_ROOT);
    const second = await done<Issued>('rotate', 'billing', ...BY_ROOT);
    const service = { name: 'billing' };
    const [a, b] = [first.secretId, second.secretId];
    expect(await done('allow', 'billing', 'memberships', ...BY_ROOT)).toEqual({ ...service, changed: true });
    expect(await done('revoke-secret', 'billing', ...BY_ROOT)).toEqual({
      ...service,
      secretId: a,
      changed: true,
      sessionsEnded: false,
    });
    expect(await show('billing')).toEqual({
      ...service,
      allow: ['memberships'],
      createdAt: expect.stringMatching(/Z$/) as unknown,
      disabledAt: null,
      removedAt: null,
      secrets: [
        expect.objectContaining({
          id: a,
          lastUsedAt: null,
          revokedAt: expect.stringMatching(/Z$/) as unknown,
        }),
        expect.objectContaining({ id: b, lastUsedAt: null, revokedAt: null }),
      ],
    });
    await done('revoke-secret', 'billing', b, '--end-sessions', ...BY_ROOT);
    for (const change of ['disable', 'enable', 'remove']) {
      expect(await done(change, 'billing', ...BY_ROOT)).toEqual({ ...service, changed: true });
    }
    expect(await done('remove', 'billing', ...BY_ROOT)).toEqual({ ...service, changed: false });

    expect([first, second]).toEqual([
      {
        ...service,
        allow: ['introspect', 'events'],
        secretId: expect.stringMatching(ID) as unknown,
        secret: expect.stringMatching(SECRET) as unknown,
      },
      {
        ...service,
        secretId: expect.stringMatching(ID) as unknown,
        secret: expect.stringMatching(SECRET) as unknown,
      },
    ]);
    const common = {
      actor_type: 'operator',
      actor_id: 'root',
      org_id: null,
      user_id: null,
      reason: 'a test',
    };
    const event = (type: string, data = {}) => ({ ...common, type, data: { service: 'billing', ...data } });
    const recorded = await eventsSince(installation.db, known);
    expect(recorded).toHaveLength(10);
    expect(recorded).toEqual(
      expect.arrayContaining([
        event('service.allowed', { from: 'introspect,events', to: 'memberships' }),
        event('service.created', { allow: 'introspect,events' }),
        event('service.disabled'),
        event('service.enabled'),
        event('service.removed'),
        event('service.secret_added', { secretId: a }),
        event('service.secret_added', { secretId: b }),
        event('service.secret_revoked', { secretId: a }),
        event('service.secret_revoked', { secretId: b }),
        event('service.sessions_ended'),
      ]),
    );
    const stored = JSON.stringify([recorded, await installation.db.query('SELECT * FROM service_secrets')]);
    for (const { secret } of [first, second]) expect(stored).not.toContain(secret);
  });

  it('prints to people what it prints to programs, a secret once and never a hash', async () => {
    const added = await accounts(installation, ['services', 'add', 'printing']);
    const [, secret] = /^secret: (\S+)$/m.exec(added.stdout)!;
    expect(secret).toMatch(SECRET);
    await done('add', 'archive', '--allow', 'introspect');
    await done('disable', 'archive');

    const shown = await accounts(installation, ['services', 'show', 'printing']);
    const listed = await accounts(installation, ['services', 'list']);

    expect(shown.stdout).toMatch(/^name +printing\nallow +none\n/);
    expect(shown.stdout).toMatch(/^secret +\S+ {2}since \S+Z, never used$/m);
    expect(listed.stdout).toMatch(/^archive +introspect {2}DISABLED\n/);
    expect(listed.stdout).toMatch(/^printing +none$/m);
    const [row] = await installation.db.query("SELECT hash FROM service_secrets WHERE service = 'printing'");
    for (const { stdout } of [added, shown, listed]) expect(stdout).not.toContain(String(row!['hash']));
    for (const { stdout } of [shown, listed]) expect(stdout).not.toContain(secret);
    const names = await accountsJson<Shown>(installation, ['services', 'list']);
    expect(names.map(({ name }) => name)).toEqual(expect.arrayContaining(['archive', 'printing']));
    const [one] = await accountsJson<Shown>(installation, ['services', 'list', '--limit', '1']);
    expect(one!.name).toBe('archive');
  });

  it('two rotations at once leave two live secrets', async () => {
    await done('add', 'rotated');

    const results = await Promise.all(
      [1, 2].map(() => accounts(installation, ['services', 'rotate', 'rotated'])),
    );

    expect(new Set(results.map(({ code }) => code))).toEqual(new Set([0, 1]));
    expect((await show('rotated')).secrets).toHaveLength(2);
  });

  it.each([
    ['a name that is taken, or was', ['add', 'billing'], /service_name_taken/],
    ['the value of JWT_AUDIENCE', ['add', 'accounts'], /JWT_\w+.*service_name_reserved/],
    ['to revoke the only secret without its id', ['revoke-secret', 'printing'], /secret_not_named/],
  ])('refuses %s, with one line and exit code 1', async (_what, parameters, message) => {
    const { code, stdout, stderr } = await accounts(installation, ['services', ...parameters]);

    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toMatch(/^refused: [^\n]+\n$/);
    expect(stderr).toMatch(message);
  });

  it.each([
    ['a service that is not there', ['show', 'nobody']],
    ['a name that is none', ['disable', 'a\nb']],
    ['unknown scopes', ['add', 'wrong', '--allow', 'everything']],
  ])('cannot run with %s', async (_what, parameters) => {
    const { code, stdout, stderr } = await accounts(installation, ['services', ...parameters]);

    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(/^error: [^\n]+\n$/);
  });
});
