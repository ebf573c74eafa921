import { randomUUIDv7 } from 'node:crypto';
import { afterAll, describe, expect, it } from 'vitest';
import type { DataOf } from '../../client/src/index.ts';
import { accounts, accountsJson, failure, following } from '../support/accounts-command.js';
import { engine } from '../support/engine.js';
import { insertRow, insertRows } from '../support/rows.js';
import { anAccount, anOrg, anOrgOf, join } from '../support/personas.js';
import { startOwnService } from '../support/service.js';

/** More than a page, and more than any list that stands in memory by default. */
const MANY = 1203;

interface Listed {
  id: string;
  email?: string;
  name?: string;
}

interface ShownOrg extends Listed, DataOf<'listMembers'> {
  counts: Record<string, number>;
  areAllShown: boolean;
}

type ShownEvent = DataOf<'adminListAuditEvents'>['events'][number];

const service = await startOwnService({ env: { RATE_LIMIT_REGISTER: 'off' } });
const { installation } = service;
const cast = await anOrg(service);
const byCode = (one: string, other: string) => (one < other ? -1 : 1);
await fill();
afterAll(() => service.stop());

async function fill(): Promise<void> {
  // Ids of one millisecond come in any order.
  const ids = Array.from({ length: MANY }, () => randomUUIDv7()).toSorted(byCode);
  const rows = ids.map((id, n) => ({ id, text: String(n).padStart(4, '0') }));
  const users = rows.map(({ id, text }) => ({ id, email: `many-${text}@example.com` }));
  await insertRows(service.db, 'users', users);
  const orgs = rows.map(({ id, text }) => ({ id, name: `Many ${text}` }));
  await insertRows(service.db, 'orgs', orgs);
  const members = users.map(({ id, email }) => ({ user_id: id, email }));
  await insertRows(service.db, 'members', members, { org_id: cast.org.id });
}

const run = (...parameters: string[]) => accounts(installation, parameters);
const json = <T = Listed>(...parameters: string[]) => accountsJson<T>(installation, parameters);
const linesOf = async (...parameters: string[]) => (await run(...parameters)).stdout.trimEnd().split('\n');

describe('accounts users list, find and show', () => {
  it('lists all users, by e-mail, each once', async () => {
    const emails = (await json('users', 'list')).map(({ email }) => email);
    const rows = await service.db.query('SELECT email FROM users');
    expect(emails.length).toBeGreaterThan(MANY);
    expect(emails).toEqual(rows.map(({ email }) => String(email)).toSorted(byCode));
    expect(await linesOf('users', 'list')).toHaveLength(rows.length);
  });

  it('finds all with a text, without a bound, and says where --limit cuts', async () => {
    expect(await json('users', 'find', 'MANY-')).toHaveLength(MANY);
    const two = ['users', 'find', 'many-', '--limit', '2'];
    const emails = (await json(...two)).map(({ email }) => email);
    expect(emails).toEqual(['many-0000@example.com', 'many-0001@example.com']);
    expect((await linesOf(...two)).at(-1)).toBe('only the first 2 are shown');
    expect(await linesOf('users', 'find', 'many-', '--limit', String(MANY))).toHaveLength(MANY);
    expect(await linesOf('users', 'find', 'nobody-here')).toEqual(['none']);
  });

  it('shows who a user is, since when, how many sessions and which organizations', async () => {
    const user = await anAccount(service, 'shown');
    const own = await anOrgOf(user, 'Own');
    const profile = { name: 'Ada Lovelace', avatarUrl: null, locale: 'de-AT' };
    await user.patch('/api/me/profile', profile);
    expect((await json('users', 'find', user.email))[0]).not.toHaveProperty('name');

    expect(await json('users', 'show', user.id)).toEqual([
      {
        id: user.id,
        email: user.email,
        ...profile,
        createdAt: expect.stringMatching(/Z$/),
        disabledAt: null,
        emailVerifiedAt: null,
        passwordChangedAt: null,
        secondFactorAt: null,
        operatorSince: null,
        lastLoginAt: expect.toSatisfy((at) => at === null || String(at).endsWith('Z')),
        failedLogins: { count: 0, lastAt: null, lastIp: null },
        loginLimits: [],
        loginLimitsOf: 'database',
        sessions: 1,
        invitations: 0,
        orgs: [{ id: own.id, name: 'Own', role: 'owner' }],
      },
    ]);
  });

  it('shows failed logins', async () => {
    const user = await anAccount(service, 'attacked');
    // The login by which the account registered may be noted later.
    const [at, ip] = [Date.now() + 3_600_000, '203.0.113.9'];
    const columns = 'user_id, last_login_at, failures, failed_at, failed_ip';
    const sql = `REPLACE INTO login_traces (${columns}) VALUES (?, 1, 7, ?, ?)`;
    await service.db.query(sql, [user.id, at, ip]);
    const lines = await linesOf('users', 'show', user.email);
    const time = new Date(at).toISOString();
    expect(lines).toContain(`failedLogins       7 since then, the last at ${time} from ${ip}`);
  });

  it.runIf(engine === 'sqlite').each([
    ['users', 'show', cast.owner.email],
    ['users', 'find', cast.owner.email.slice(0, 12)],
    ['orgs', 'show', cast.org.id],
  ])('shows no hash and no token by %s %s', async (...command) => {
    const [row] = await service.db.query('SELECT password_hash FROM users WHERE id = ?', [cast.owner.id]);
    for (const parameters of [command, [...command, '--json']]) {
      const { stdout } = await run(...parameters);
      expect(stdout).toContain(cast.owner.email);
      expect(stdout).not.toContain(String(row!['password_hash']));
      expect(stdout).not.toMatch(/argon2|eyJ/);
    }
  });
});

describe('accounts orgs list and find', () => {
  it('lists all organizations in the order of their creation, each once', async () => {
    const ids = (await json('orgs', 'list')).map(({ id }) => id);
    const rows = await service.db.query('SELECT id FROM orgs');
    expect(ids.length).toBeGreaterThan(MANY);
    expect(ids).toEqual(rows.map(({ id }) => String(id)).toSorted(byCode));
  });

  it('finds organizations by a part of their name, whatever its case, in any script', async () => {
    const org = await anOrgOf(cast.outsider, 'Süßwaren ÉCLAIR 100%_');

    for (const text of ['éclair', 'E\u0301clair', 'SÜSSWAREN'.replace('SS', 'ß'), '100%_']) {
      expect(await json('orgs', 'find', text), text).toMatchObject([{ id: org.id, name: org.name }]);
    }
    expect(await json('orgs', 'find', 'many')).toHaveLength(MANY);
    expect(await linesOf('orgs', 'find', 'many', '--limit', '1')).toEqual([
      expect.stringMatching(/ {2}Many 0000$/),
      'only the first 1 are shown',
    ]);
    expect(await linesOf('orgs', 'find', 'no such name')).toEqual(['none']);
  });

  it('takes names as long as the API does, which counts characters, and in decomposed form', async () => {
    const org = await anOrgOf(cast.outsider, `${'\u{1F3E2}'.repeat(99)}é`);
    const typed = org.name.normalize('NFD');
    expect(await json('orgs', 'find', typed)).toMatchObject([{ id: org.id }]);
    expect(await json('orgs', 'show', typed)).toMatchObject([{ id: org.id, name: org.name }]);
  });

  it('lists those of a status', async () => {
    const org = await anOrgOf(cast.outsider, 'Abandoned');
    await service.db.query('DELETE FROM members WHERE org_id = ?', [org.id]);
    const named = async (status: string) =>
      (await json('orgs', 'list', '--status', status)).map(({ name = '' }) => name.replace(/\d+$/, ''));
    const ownerless = await named('ownerless');
    expect(ownerless.filter((name) => name !== 'Many ')).toEqual(['Abandoned']);
    expect(ownerless).toHaveLength(MANY + 1);
    expect(await named('active')).toContain(cast.org.name);
    expect(await named('deleted')).not.toContain('Abandoned');
    expect(await run('orgs', 'list', '--status', 'gone')).toEqual(
      failure(2, /--status: expected one of active, deleted, ownerless/),
    );
  });

  it('marks those that are deleted', async () => {
    const org = await anOrgOf(cast.outsider, 'Gone');
    await cast.outsider.delete(`/api/orgs/${org.id}`);
    expect(await linesOf('orgs', 'find', 'gone')).toEqual([`${org.id}  Gone  DELETED`]);
  });
});

describe('accounts orgs show', () => {
  const show = async (...parameters: string[]) => (await json<ShownOrg>('orgs', 'show', ...parameters))[0]!;

  it('shows owners first, how many members there are in all, and that not all of them stand there', async () => {
    const shown = await show(cast.org.id);

    expect(shown.counts).toEqual({ owner: 1, admin: 1, member: MANY + 1 });
    expect(shown.members).toHaveLength(100);
    expect(shown.members.slice(0, 3)).toMatchObject([
      { role: 'owner', email: cast.owner.email },
      { role: 'admin', email: cast.admin.email },
      { role: 'member', email: 'many-0000@example.com' },
    ]);
    expect(shown.areAllShown).toBe(false);
    const lines = await linesOf('orgs', 'show', cast.org.id);
    expect(lines).toContain(`members    ${MANY + 3} in all: 1 owner, 1 admin, ${MANY + 1} member`);
    expect(lines.at(-1)).toBe('only the first 100 are shown: see --limit and --role');
  });

  it('shows all with a limit that is high enough, and those of one role', async () => {
    const all = await show(cast.org.id, '--limit', '10000');
    expect(all.members).toHaveLength(MANY + 3);
    expect(all.areAllShown).toBe(true);
    const owners = await show(cast.org.id, '--role', 'owner');
    expect(owners.members.map(({ email }) => email)).toEqual([cast.owner.email]);
    expect(owners).toMatchObject({ areAllShown: true, counts: { member: MANY + 1 } });
  });

  it('takes the whole name where it is the only one', async () => {
    const org = await anOrgOf(cast.outsider, 'Only One');
    const [twin, same] = [await anOrgOf(cast.outsider, 'Twins'), await anOrgOf(cast.member, 'Twins')];
    expect((await show('Only One')).id).toBe(org.id);
    expect(await run('orgs', 'show', 'Twins')).toEqual(
      failure(2, `error: several organizations have that name: give an id, ${twin.id}, ${same.id}\n`),
    );
    expect((await run('orgs', 'show', 'Only')).code).toBe(2);
  });
});

describe('accounts events', async () => {
  const owner = await anAccount(service, 'owner');
  const member = await anAccount(service, 'member');
  const org = await anOrgOf(owner);
  await join(org, owner, member, 'member');
  await owner.delete(`/api/orgs/${org.id}/members/${member.id}`);
  await json('users', 'disable', member.id, '--as', 'root', '--reason', 'left');

  const events = (...parameters: string[]) => json<ShownEvent>('events', ...parameters);

  it('tells who removed somebody, and when', async () => {
    const found = await events('--user', member.email, '--type', 'member.removed');
    const removal = { actor: { type: 'user', id: owner.id }, orgId: org.id, userId: member.id };
    expect(found).toMatchObject([{ type: 'member.removed', ...removal }]);
    expect(Math.abs(Date.parse(found[0]!.at) - Date.now())).toBeLessThan(3_600_000);
  });

  it('shows what operators did, and their words, to people too', async () => {
    const disabled = ['--user', member.id, '--type', 'account.disabled'];
    expect(await events(...disabled)).toMatchObject([
      { actor: { type: 'operator', id: 'root' }, reason: 'left' },
    ]);
    const { stdout } = await run('events', ...disabled);
    expect(stdout).toMatch(/^\d{4}-\S+Z {2}account\.disabled {2}.*by operator root.*"left"\n$/);
  });

  it('names users and actors by their present emails, but not in JSON', async () => {
    const [{ stdout: lines }, { stdout: ofJson }] = [
      await run('events', '--org', org.id),
      await run('events', '--org', org.id, '--json'),
    ];
    expect(lines).toContain(
      `  user ${member.id} (${member.email})  org ${org.id}  by user ${owner.id} (${owner.email})`,
    );
    expect(ofJson).not.toContain('@');
    const gone = await anAccount(service, 'gone');
    await json('users', 'delete', gone.id, '--reason', 'asked for it');
    const { stdout } = await run('events', '--user', gone.id, '--type', 'account.deleted');
    expect(stdout).toMatch(new RegExp(`  user ${gone.id}  by operator [^@]*$`));
  });

  it('is of one actor, by email, id or the name of a command', async () => {
    const created = ['member.removed', 'member.added', 'member.added', 'org.created'];
    const types = async (actor: string) => (await events('--actor', actor)).map(({ type }) => type);
    expect((await types(owner.email.toUpperCase())).slice(0, 4)).toEqual(created);
    expect(await types(owner.id)).toEqual(await types(owner.email));
    expect(await events('--actor', 'root', '--user', member.id)).toMatchObject([
      { reason: 'left' },
      { reason: 'left' },
    ]);
    expect(await types('nobody')).toEqual([]);
    const [id, email] = [randomUUIDv7(), 'former@example.com'];
    const act = { type: 'account.enabled', at: 1, actor_type: 'operator', actor_id: id, actor_email: email };
    await insertRow(service.db, 'events', {
      id: randomUUIDv7(),
      ...act,
      user_id: id,
      data: '{}',
      pending: null,
    });
    await insertRow(service.db, 'operator_emails', { email, user_id: id });
    const { stdout } = await run('events', '--actor', email);
    expect(stdout).toMatch(
      new RegExp(`^1970\\S+ {2}account\\.enabled {2}.*by operator ${id} \\(${email}\\)\\n$`),
    );
    await service.db.query('DELETE FROM events WHERE actor_id = ?', [id]);
  });

  it('is of one organization, newest first', async () => {
    const found = await events('--org', org.id);
    const types = found.map(({ type }) => type);
    expect(types).toEqual(expect.arrayContaining(['member.removed', 'member.added', 'org.created']));
    expect(types[0]).toBe('member.removed');
    expect(found.every(({ orgId }) => orgId === org.id)).toBe(true);
  });

  it('is of a time, without e-mails, names and secrets', async () => {
    const { stdout } = await run('events', '--json');
    const secrets = [owner.email, member.email, owner.password, owner.token, 'Analytical Engines', 'argon2'];
    for (const secret of secrets) expect(stdout).not.toContain(secret);
    const lines = stdout.trimEnd().split('\n');
    const all = lines.map((line) => JSON.parse(line) as ShownEvent);

    expect(await events('--since', '1h')).toEqual(all);
    expect(await events('--until', '1h')).toEqual([]);
    expect(await events('--since', '2000-01-01', '--until', '2100-01-01T00:00Z')).toEqual(all);
    expect(await events('--since', '2100-01-01')).toEqual([]);
    expect(await events('--limit', '2')).toEqual(all.slice(0, 2));
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
    expect(found[0]).not.toHaveProperty('eventId');
    expect(found).toContainEqual(expect.objectContaining({ type: 'account.disabled', reason: 'left' }));
  });

  it('refuses to follow from an event that the feed does not have', async () => {
    expect(await run('events', 'follow', '--after', org.id)).toMatchObject(failure(1, /cursor_expired/));
  });

  it.runIf(engine === 'sqlite').each<[string[], RegExp]>([
    [['--user', 'nobody@example.com'], /there is no user/],
    [['--org', '019a8f3e-5b1c-7c4e-9d2a-3f6b8c1d4e5f'], /there is no organization/],
    [['--type', 'member.vanished'], /--type: expected one of account\./],
    [['--since', 'yesterday'], /--since: expected a time/],
    [['--until', '2026-13-45'], /--until: expected a time/],
    [['--since', '2026-11-22T09:30'], /--since: expected a time/],
    [['--limit', '0'], /--limit: expected a whole number/],
    [['--limit', '1e3'], /--limit: expected a whole number/],
    [['--limit'], /argument missing/],
    [['follow', '--after', 'now'], /--after: expected the id of an event, or start/],
  ])('refuses %j in one line with exit code 2', async (parameters, message) => {
    const result = await run('events', ...parameters);
    expect(result).toEqual(failure(2, /^error: [^\n]+\n$/));
    expect(result.stderr).toMatch(message);
  });
});
