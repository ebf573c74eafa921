import { afterAll, describe, expect, it } from 'vitest';
import { accounts, accountsJson, following } from '../support/accounts-command.js';
import { engine } from '../support/engine.js';
import { anInstallation } from '../support/installation.js';
import { anAccount, anOrgOf, join } from '../support/personas.js';
import { startOwnService } from '../support/service.js';

interface ShownEvent {
  id: string;
  type: string;
  at: string;
  actor: { type: string; id: string | null };
  orgId?: string | null;
  userId?: string | null;
  data?: unknown;
  reason?: string | null;
}

const installation = await anInstallation();
const service = await startOwnService({ installation });
const owner = await anAccount(service, 'owner');
const member = await anAccount(service, 'member');
const org = await anOrgOf(owner);
await join(org, owner, member, 'member');
await owner.delete(`/api/orgs/${org.id}/members/${member.id}`);
await accountsJson(installation, ['users', 'disable', member.id, '--as', 'root', '--reason', 'left']);
afterAll(async () => {
  await service.stop();
  await installation.remove();
});

describe('accounts events', () => {
  const events = (...parameters: string[]) =>
    accountsJson<ShownEvent>(installation, ['events', ...parameters]);
  const typesOf = (found: ShownEvent[]) => found.map(({ type }) => type);

  it('tells who removed somebody, and when', async () => {
    const found = await events('--user', member.email, '--type', 'member.removed');

    expect(found).toMatchObject([
      { type: 'member.removed', actor: { type: 'user', id: owner.id }, orgId: org.id, userId: member.id },
    ]);
    expect(Math.abs(Date.parse(found[0]!.at) - Date.now())).toBeLessThan(3_600_000);
  });

  it('shows what operators did, and their words', async () => {
    expect(await events('--user', member.id, '--type', 'account.disabled')).toMatchObject([
      { actor: { type: 'operator', id: 'root' }, reason: 'left' },
    ]);
  });

  it('is of one organization, newest first', async () => {
    const found = await events('--org', org.id);

    expect(typesOf(found).filter((type) => type.startsWith('member.') || type.startsWith('org.'))).toEqual(
      expect.arrayContaining(['member.removed', 'member.added', 'org.created']),
    );
    expect(found.every(({ orgId }) => orgId === org.id)).toBe(true);
    expect(typesOf(found)[0]).toBe('member.removed');
  });

  it('is of a time', async () => {
    const all = await events();

    expect(await events('--since', '1h')).toEqual(all);
    expect(await events('--until', '1h')).toEqual([]);
    expect(await events('--since', '2000-01-01', '--until', '2100-01-01T00:00Z')).toEqual(all);
    expect(await events('--since', '2100-01-01')).toEqual([]);
    expect(await events('--limit', '2')).toEqual(all.slice(0, 2));
  });

  it('is a line for each for people, too', async () => {
    const { code, stdout } = await accounts(installation, [
      'events',
      '--user',
      member.id,
      '--type',
      'account.disabled',
    ]);

    expect(code).toBe(0);
    expect(stdout).toMatch(/^\d{4}-\S+Z {2}account\.disabled {2}.*by operator root.*"left"\n$/);
  });

  it('shows no e-mail, no name, no secret', async () => {
    const { stdout } = await accounts(installation, ['events', '--json']);

    for (const secret of [
      owner.email,
      member.email,
      owner.password,
      owner.token,
      'Analytical Engines',
      'argon2',
    ]) {
      expect(stdout).not.toContain(secret);
    }
  });

  it('follows the feed, as somebody reads it', async () => {
    const followed = following(installation, ['events', 'follow', '--after', 'start', '--json']);
    const found: ShownEvent[] = [];
    const until = async (isLast: (event: ShownEvent) => boolean): Promise<void> => {
      do found.push(JSON.parse(await followed.line()) as ShownEvent);
      while (!isLast(found.at(-1)!));
    };
    await until(({ type }) => type === 'account.disabled');
    const created = await anOrgOf(owner, 'Difference Engines');
    await until(({ orgId }) => orgId === created.id);
    await followed.stop();

    expect(found[0]).toMatchObject({ type: 'account.registered', actor: { type: 'user' } });
    expect(found).toContainEqual(expect.objectContaining({ type: 'account.disabled', reason: 'left' }));
  });

  it('refuses to follow from an event that the feed does not have', async () => {
    const { code, stderr } = await accounts(installation, ['events', 'follow', '--after', org.id]);
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: expect.stringContaining('cursor_expired') as string,
    });
  });

  const UNKNOWN: [string[], RegExp][] = [
    [['--user', 'nobody@example.com'], /there is no user/],
    [['--org', '019a8f3e-5b1c-7c4e-9d2a-3f6b8c1d4e5f'], /there is no organization/],
  ];
  /** refused before the database is opened */
  const MALFORMED: [string[], RegExp][] = [
    [['--type', 'member.vanished'], /--type: expected one of account\./],
    [['--since', 'yesterday'], /--since: expected a time/],
    [['--until', '2026-13-45'], /--until: expected a time/],
    [['--since', '2026-11-22T09:30'], /--since: expected a time/],
    [['--limit', '0'], /--limit: expected a whole number/],
    [['--limit', '1e3'], /--limit: expected a whole number/],
    [['--limit'], /argument missing/],
    [['follow', '--after', 'now'], /--after: expected the id of an event, or start/],
  ];
  it.each([...UNKNOWN, ...(engine === 'sqlite' ? MALFORMED : [])])(
    'refuses %j in one line with exit code 2',
    async (parameters, message) => {
      const { code, stdout, stderr } = await accounts(installation, ['events', ...parameters]);

      expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
      expect(stderr).toMatch(message);
      expect(stderr).toMatch(/^error: [^\n]+\n$/);
    },
  );
});
