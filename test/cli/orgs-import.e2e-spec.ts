import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join as pathOf } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { newEntityId } from '../../src/identifiers/entity-id.js';
import { hangTimeoutMs, waitFor } from '../../tooling/wait.js';
import { accounts, BY_ROOT, failure, spawnAccounts } from '../support/accounts-command.js';
import { anInvitation, rowOf } from '../support/inviting.js';
import { anAccount, anEmail, anOrgOf } from '../support/personas.js';
import { insertRows } from '../support/rows.js';
import { startOwnService } from '../support/service.js';

const service = await startOwnService();
const { installation, db } = service;
afterAll(() => service.stop());

const [ada, grace, joan] = await Promise.all(
  ['ada', 'grace', 'joan'].map((name) => anAccount(service, name)),
);

/** Returns the exit code, the refusals as lines of text, and the summary. */
async function importing(input: string, ...options: string[]) {
  const command = ['orgs', 'import', '-', ...options, ...BY_ROOT];
  const { code, stdout, stderr } = await accounts(installation, command, { input });
  expect(stderr).toBe('');
  const lines = stdout.trimEnd().split('\n');
  return { code, refused: lines.slice(0, -1), summary: lines.at(-1)! };
}
const counts = (created: number, added: number, skipped = 0, refused = 0): string =>
  `created ${created} organizations, added ${added} members, skipped ${skipped} that are members already, refused ${refused}`;
const csv = (...lines: string[]): string => ['org,email,role', ...lines].join('\n');

async function orgsNamed(name: string): Promise<string[]> {
  const rows = await db.query('SELECT id FROM orgs WHERE name = ? ORDER BY id', [name]);
  return rows.map(({ id }) => String(id));
}

async function rolesIn(orgId: string): Promise<Record<string, unknown>> {
  const rows = await db.query('SELECT email, role FROM members WHERE org_id = ? ORDER BY email', [orgId]);
  return Object.fromEntries(rows.map(({ email, role }) => [email, role]));
}
const aName = (): string => `Org ${randomBytes(6).toString('hex')}`;

describe('accounts orgs import', () => {
  it('creates organizations with their members, says so before, and adds nothing twice', async () => {
    const [engines, looms] = [aName(), aName()];
    const lines = [
      `${engines},${grace!.email},member`,
      `${engines},${ada!.email.toUpperCase()},owner`,
      `${looms},${joan!.email},owner`,
      `${engines},${joan!.email},admin`,
      `${engines},${joan!.email},admin`,
    ];
    const dry = await importing(csv(...lines), '--dry-run');
    expect(dry).toEqual({ code: 0, refused: [], summary: `dry run: would have ${counts(2, 4)}` });
    expect(await orgsNamed(engines)).toEqual([]);

    expect(await importing(csv(...lines))).toEqual({ code: 0, refused: [], summary: counts(2, 4) });

    const [id] = await orgsNamed(engines);
    expect(id).toMatch(/^[\da-f]{8}-[\da-f]{4}-5[\da-f]{3}-[89ab]/);
    const roles = { [ada!.email]: 'owner', [grace!.email]: 'member', [joan!.email]: 'admin' };
    expect(await rolesIn(id!)).toEqual(roles);
    const { body } = await ada!.get(`/api/orgs/${id}`);
    expect(body).toMatchObject({ org: { name: engines } });
    const events = await db.query(
      'SELECT type, org_revision, actor_id, reason FROM events WHERE org_id = ? ORDER BY id',
      [id!],
    );
    const about = { org_revision: 1, actor_id: 'root', reason: 'a test' };
    expect(events).toEqual([
      { type: 'org.created', ...about },
      ...Array.from({ length: 3 }, () => ({ type: 'member.added', ...about })),
    ]);

    const katherine = await anAccount(service, 'katherine');
    const more = [...lines, `${engines},${katherine.email},member`];
    expect(await importing(csv(...more))).toMatchObject({ code: 0, summary: counts(0, 1, 4) });
    expect(await rolesIn(id!)).toEqual({ ...roles, [katherine.email]: 'member' });
    expect(await importing(csv(...more))).toMatchObject({ code: 0, summary: counts(0, 0, 5) });
    expect(await orgsNamed(engines)).toEqual([id]);
  });

  it('reads JSON Lines, semicolons, quotes, a byte order mark and formulas', async () => {
    const [json, excel] = [aName(), `=cmd|' /C calc'!${randomBytes(3).toString('hex')}; "x"`];
    const rows = [
      { org: json, email: ada!.email, role: 'owner', id: 4711 },
      { org: json, email: joan!.email, role: 'member', id: '4711' },
    ];
    const jsonl = `\ufeff\r\n${rows.map((row) => JSON.stringify(row)).join('\r\n')}`;
    expect(await importing(jsonl)).toMatchObject({ code: 0, summary: counts(1, 2) });
    const quoted = `"${excel.replaceAll('"', '""')}"`;
    const text = `\ufeffOrg;Email;Role;id\r\n${quoted};${ada!.email};owner;\r\n`;
    expect(await importing(text)).toMatchObject({ code: 0, summary: counts(1, 1) });
    expect(await orgsNamed(excel)).toHaveLength(1);
  });

  it('keeps a UUID, and tells organizations of one name apart by their ids', async () => {
    const [name, uuid] = [aName(), newEntityId()];
    const header = 'org,email,role,id';
    const lines = [
      header,
      `${name},${ada!.email},owner,${uuid.toUpperCase()}`,
      `${name},${joan!.email},owner,b`,
    ];
    expect(await importing(lines.join('\n'))).toMatchObject({ summary: counts(2, 2) });
    expect(await orgsNamed(name)).toContain(uuid);
    expect(await orgsNamed(name)).toHaveLength(2);
    // The name of one organization and the id of another are not the same.
    const other = [header, `b,${ada!.email},owner,`].join('\n');
    expect(await importing(other)).toMatchObject({ summary: counts(1, 1) });

    const mixed = aName();
    const wrong = [
      header,
      `${mixed},${ada!.email},owner,x1`,
      `${mixed},${grace!.email},owner,`,
      `${aName()},${joan!.email},owner,x1`,
    ];
    expect(await importing(wrong.join('\n'))).toEqual({
      code: 1,
      refused: [
        `line 4, ${joan!.email}: id belongs to an organization of another name (id_of_another_org)`,
        `${mixed}: several organizations have this name: give each line an id (id_needed)`,
      ],
      summary: counts(1, 1, 0, 2),
    });
  });

  it('refuses an organization without an owner by name, and single lines with theirs', async () => {
    const [ownerless, disabledOnly, mixed] = [aName(), aName(), aName()];
    const gone = await anAccount(service, 'gone');
    expect((await accounts(installation, ['users', 'disable', gone.email, ...BY_ROOT])).code).toBe(0);
    const nobody = anEmail('nobody');
    const lines = [
      `${ownerless},${joan!.email},admin`,
      `${ownerless},${nobody},owner`,
      `${disabledOnly},${gone.email},owner`,
      `${mixed},${ada!.email},owner`,
      `${mixed},${gone.email},member`,
      `${mixed},${ada!.email},member`,
      `${mixed},${nobody},king`,
      `,${nobody},owner`,
      `${mixed},nobody,owner`,
      `${mixed},${nobody}`,
    ];
    const refused = [
      `line 7, ${ada!.email}: email has another role in this organization on an earlier line (second_role)`,
      `line 8, ${nobody}: role is none of member, admin, owner (invalid_role)`,
      `line 9, ${nobody}: org must be 1 to 100 characters on one line (invalid_org)`,
      `line 10: email is not an email address (invalid_email)`,
      expect.stringMatching(/^line 11: not CSV in UTF-8 .+ \(invalid_csv\)$/),
      `line 3, ${nobody} in ${ownerless}: there is no user with this email (user_not_found)`,
      expect.stringMatching(`^${ownerless}: no line names an owner .+ \\(no_owner\\)$`),
      expect.stringMatching(`^line 4, ${gone.email} in ${disabledOnly}: the user is disabled.+$`),
      expect.stringMatching(`^${disabledOnly}: no line names an owner .+ \\(no_owner\\)$`),
    ];
    for (const [option, prefix] of [
      [['--dry-run'], 'dry run: would have '],
      [[], ''],
    ] as const) {
      const result = await importing(csv(...lines), ...option);
      expect(result).toEqual({ code: 1, refused, summary: prefix + counts(1, 2, 0, 8) });
    }
    expect([await orgsNamed(ownerless), await orgsNamed(disabledOnly)]).toEqual([[], []]);
    const [id] = await orgsNamed(mixed);
    expect(await rolesIn(id!)).toEqual({ [ada!.email]: 'owner', [gone.email]: 'member' });
  });

  it('brings back no organization that was deleted', async () => {
    const [deleted, purged] = [aName(), aName()];
    const input = csv(`${deleted},${ada!.email},owner`, `${purged},${ada!.email},owner`);
    await importing(input);
    const [[deletedId], [purgedId]] = await Promise.all([orgsNamed(deleted), orgsNamed(purged)]);
    for (const id of [deletedId!, purgedId!])
      expect((await accounts(installation, ['orgs', 'delete', id, ...BY_ROOT])).code).toBe(0);
    // As the purge does, which waits for its next minute.
    await db.query('DELETE FROM members WHERE org_id = ?', [purgedId!]);
    await db.query('DELETE FROM orgs WHERE id = ?', [purgedId!]);
    await db.query("UPDATE events SET type = 'org.purged' WHERE org_id = ? AND type = 'org.deleted'", [
      purgedId!,
    ]);

    const { code, refused, summary } = await importing(input);

    expect([code, summary]).toEqual([1, counts(0, 0, 0, 2)]);
    expect(refused).toEqual([
      `${deleted}: the organization was deleted: accounts orgs restore brings it back (org_deleted)`,
      `${purged}: the organization was deleted for good: give its lines another id (org_purged)`,
    ]);
  });

  it('adds members as any addition does: invitations end, and a required second factor suspends', async () => {
    const org = await anOrgOf(ada!);
    const invitation = await anInvitation(ada!, org, { email: grace!.email });
    await db.query('UPDATE orgs SET second_factor_from = 1 WHERE id = ?', [org.id]);
    const header = 'org,email,role,id';
    const input = [header, `any name,${grace!.email},admin,${org.id}`].join('\n');
    expect(await importing(input)).toMatchObject({ code: 0, summary: counts(0, 1) });
    expect((await rowOf(db, invitation))['status']).toBe('revoked');
    const [event] = await db.query(
      "SELECT data FROM events WHERE org_id = ? AND type = 'member.added' AND user_id = ?",
      [org.id, grace!.id],
    );
    expect(JSON.parse(String(event!['data']))).toEqual({ role: 'admin', via: 'added', suspended: true });
    const latest = await db.query(
      `SELECT type FROM events WHERE org_id = ? AND org_revision =
        (SELECT revision FROM orgs WHERE id = ?) ORDER BY type`,
      [org.id, org.id],
    );
    expect(latest.map(({ type }) => type)).toEqual(['invitation.revoked', 'member.added']);
  });
});

describe('a large organization', async () => {
  const MEMBERS = 2200;
  const run = randomBytes(4).toString('hex');
  const emails = Array.from({ length: MEMBERS }, (_, index) => `u${index}-${run}@large.example`);
  const input = emails.map((email) => JSON.stringify({ email, passwordHash: null })).join('\n');
  await accounts(installation, ['users', 'import', '-', ...BY_ROOT], { input });
  const linesOf = (name: string): string =>
    csv(...emails.map((email, index) => `${name},${email},${index === MEMBERS - 1 ? 'owner' : 'member'}`));
  const stateOf = async (name: string) => {
    const [id] = await orgsNamed(name);
    const one = async (sql: string): Promise<number> =>
      Number((await db.query(sql, [id ?? '']))[0]!['found']);
    return {
      members: await one('SELECT COUNT(*) AS found FROM members WHERE org_id = ?'),
      events: await one("SELECT COUNT(*) AS found FROM events WHERE org_id = ? AND type = 'member.added'"),
      revisions: await one('SELECT COUNT(DISTINCT org_revision) AS found FROM events WHERE org_id = ?'),
      owners: await one("SELECT COUNT(*) AS found FROM members WHERE org_id = ? AND role = 'owner'"),
    };
  };
  const WHOLE = { members: MEMBERS, events: MEMBERS, owners: 1 };

  it('has its owner from the first 500 on, and is completed after a kill', async () => {
    const name = aName();
    const file = pathOf(installation.directory, 'large.csv');
    await writeFile(file, linesOf(name));
    const command = spawnAccounts(installation, ['orgs', 'import', file]);
    await waitFor('some members are there', hangTimeoutMs(), async () => (await stateOf(name)).members > 0);
    command.kill('SIGKILL');
    await once(command, 'close');
    const { members, owners } = await stateOf(name);
    expect([members % 500 === 0 || members === MEMBERS, owners]).toEqual([true, 1]);

    const { code, summary } = await importing(linesOf(name));

    expect([code, summary]).toEqual([0, counts(0, MEMBERS - members, members)]);
    expect(await stateOf(name)).toEqual({ ...WHOLE, revisions: 5 });
    expect(await accounts(installation, ['doctor'])).toMatchObject({ code: 0 });
  });

  it('is created once by two imports at once', async () => {
    const name = aName();
    const results = await Promise.all([importing(linesOf(name)), importing(linesOf(name))]);
    expect(results.map(({ code }) => code)).toEqual([0, 0]);
    expect(await orgsNamed(name)).toHaveLength(1);
    expect(await stateOf(name)).toMatchObject(WHOLE);
  });

  it('counts who belongs to too many organizations', async () => {
    const email = emails[0]!;
    const [user] = await db.query('SELECT id FROM users WHERE email = ?', [email]);
    const ids = Array.from({ length: 500 }, newEntityId);
    await insertRows(
      db,
      'orgs',
      ids.map((id) => ({ id })),
    );
    await insertRows(
      db,
      'members',
      ids.map((id) => ({ org_id: id, user_id: user!['id']!, email })),
    );
    const [name, second] = [aName(), aName()];
    const lines = [`${name},${email},member`, `${name},${ada!.email},owner`, `${second},${email},owner`];
    const { code, refused, summary } = await importing(csv(...lines));
    expect([code, summary]).toEqual([1, counts(1, 1, 0, 2)]);
    expect(refused[0]).toMatch(`line 2, ${email} in ${name}: the user belongs to`);
    expect(refused[1]).toMatch(`${second}: no line names an owner`);
    expect(await orgsNamed(second)).toEqual([]);
  });
});

describe('a file that is none', () => {
  it.each([
    ['nothing', ''],
    ['blank lines', '\ufeff\r\n \n'],
    ['a header', 'org,email,role\n'],
  ])('has no organizations: %s', async (_what, input) => {
    expect(await accounts(installation, ['orgs', 'import', '-', ...BY_ROOT], { input })).toEqual(
      failure(2, 'error: the file has no organizations\n'),
    );
  });

  it.each([
    ['org,email\n', /^error: the first line has no column role, between commas or semicolons\n$/],
    ['org,email,role,name\n', /^error: the first line: name is no field of this format\n$/],
    ['\u0000\u0001\u0002\n', /^error: the first line has no column org/],
  ])('has a wrong header: %j', async (input, error) => {
    expect(await accounts(installation, ['orgs', 'import', '-', ...BY_ROOT], { input })).toEqual(
      failure(2, error),
    );
  });

  it('has a line of 10 MB, or another field, which are refused', async () => {
    const lines = [
      JSON.stringify({ org: 'x', email: ada!.email, role: 'owner', name: 'x' }),
      'x'.repeat(10 * 2 ** 20),
      '{"org":',
    ];
    const { code, refused, summary } = await importing(lines.join('\n'));
    expect([code, summary]).toEqual([1, counts(0, 0, 0, 3)]);
    expect(refused.map((line) => / \((\w+)\)$/.exec(line)?.[1])).toEqual([
      'unknown_field',
      'line_too_long',
      'invalid_json',
    ]);
  });
});
