import { writeFile } from 'node:fs/promises';
import { join as joinPath } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { accounts, accountsJson, BY_ROOT, failure } from '../support/accounts-command.js';
import { invalidFields, invalidToken, lastOwner, memberNotFound } from '../support/expected.js';
import { eventsSince, knownEvents } from '../support/feed.js';
import { anInvitation } from '../support/inviting.js';
import { anOperator } from '../support/operators.js';
import { type Account, anAccount, anEmail, anOrg, anOrgOf, type Org } from '../support/personas.js';
import { allRows } from '../support/rows.js';
import { startOwnService } from '../support/service.js';

const REASON = 'ticket 4711: left the company';

const service = await startOwnService({ env: { RATE_LIMIT_REGISTER: 'off' } });
afterAll(() => service.stop());
const operator = await anOperator(service);
const { installation } = service;

/** An operator over HTTP and one with CLI access make the same changes. */
const WAYS = ['HTTP', 'the command line'] as const;

interface Result {
  code: string;
  changed: boolean;
}

async function change(
  way: (typeof WAYS)[number],
  action: 'role' | 'remove',
  { id: orgId }: Pick<Org, 'id'>,
  { id: userId }: Pick<Account, 'id'>,
  role?: string,
): Promise<Result> {
  if (way === 'HTTP') {
    const at = `/api/operators/orgs/${orgId}/members/${userId}/${action}`;
    const { status, body } = await operator.post<{ code?: string }>(at, {
      reason: REASON,
      ...(role !== undefined && { role }),
    });
    return { code: body.code ?? 'done', changed: status === 200 };
  }
  const command = action === 'role' ? 'set-role' : 'remove-member';
  const parameters = ['orgs', command, orgId, userId, ...(role === undefined ? [] : [role])];
  const { code, stderr } = await accounts(installation, [...parameters, '--as', 'root', '--reason', REASON]);
  return { code: /\((\w+)\)\n$/.exec(stderr)?.[1] ?? (code === 0 ? 'done' : stderr), changed: code === 0 };
}

const DONE = { code: 'done', changed: true };
const refused = (code: string): Result => ({ code, changed: false });

describe.each(WAYS)('by %s', (way) => {
  const by = () => ({
    actor_type: 'operator',
    actor_id: way === 'HTTP' ? operator.id : 'root',
    reason: REASON,
  });
  const roleOf = async (org: Org, { id }: Account): Promise<unknown> => {
    const [row] = await service.db.query('SELECT role FROM members WHERE org_id = ? AND user_id = ?', [
      org.id,
      id,
    ]);
    return row?.['role'];
  };

  it('a member gets a role and loses it, and the event names the operator', async () => {
    const { org, member } = await anOrg(service);
    for (const [from, to] of [
      ['member', 'owner'],
      ['owner', 'admin'],
      ['admin', 'member'],
    ] as const) {
      const known = await knownEvents(service.db);
      expect(await change(way, 'role', org, member, to)).toEqual(DONE);
      expect(await roleOf(org, member)).toBe(to);
      expect(await eventsSince(service.db, known)).toEqual([
        { ...by(), type: 'member.role_changed', org_id: org.id, user_id: member.id, data: { from, to } },
      ]);
      const again = await knownEvents(service.db);
      expect(await change(way, 'role', org, member, to)).toEqual(DONE);
      expect(await eventsSince(service.db, again)).toEqual([]);
    }
  });

  it('an organization is handed over: a new owner, then the old one is removed', async () => {
    const { org, owner, member } = await anOrg(service);
    expect(await change(way, 'role', org, owner, 'member')).toEqual(refused('last_owner'));
    expect(await change(way, 'remove', org, owner)).toEqual(refused('last_owner'));
    await change(way, 'role', org, member, 'owner');
    const known = await knownEvents(service.db);
    expect(await change(way, 'remove', org, owner)).toEqual(DONE);
    expect(await eventsSince(service.db, known)).toEqual([
      {
        ...by(),
        type: 'member.removed',
        org_id: org.id,
        user_id: owner.id,
        data: { role: 'owner', reason: 'removed' },
      },
    ]);
    expect((await owner.get(`/api/orgs/${org.id}`)).status).toBe(403);
    expect(await change(way, 'remove', org, owner)).toEqual(refused('member_not_found'));
    expect(await change(way, 'role', org, owner, 'admin')).toEqual(refused('member_not_found'));
  });

  it('a disabled owner does not count, and a disabled member does not become one', async () => {
    const { org, owner, member, admin } = await anOrg(service);
    await change(way, 'role', org, admin, 'owner');
    await service.db.query('UPDATE users SET disabled_at = 1 WHERE id IN (?, ?)', [admin.id, member.id]);
    expect(await change(way, 'remove', org, owner)).toEqual(refused('last_owner'));
    expect(await change(way, 'role', org, member, 'owner')).toEqual(refused('member_disabled'));
    expect(await change(way, 'remove', org, admin)).toEqual(DONE);
    expect(await roleOf(org, owner)).toBe('owner');
  });

  it('who may no longer invite loses their pending invitations', async () => {
    for (const action of ['role', 'remove'] as const) {
      const { org, admin } = await anOrg(service);
      await anInvitation(admin, org, { email: anEmail() });
      const known = await knownEvents(service.db);
      await change(way, action, org, admin, action === 'role' ? 'member' : undefined);
      const reason = action === 'role' ? 'inviter_demoted' : 'inviter_removed';
      expect(await eventsSince(service.db, known)).toContainEqual(
        expect.objectContaining({
          ...by(),
          type: 'invitation.revoked',
          data: expect.objectContaining({ reason }) as object,
        }),
      );
    }
  });

  it('an organization without an owner is deleted with its last member', async () => {
    const [alone, org] = await (async () => {
      const account = await anAccount(service);
      return [account, await anOrgOf(account)] as const;
    })();
    expect(await change(way, 'remove', org, alone)).toEqual(refused('last_owner'));
    await service.db.query("UPDATE members SET role = 'admin' WHERE org_id = ?", [org.id]);
    const known = await knownEvents(service.db);
    expect(await change(way, 'remove', org, alone)).toEqual(DONE);
    const types = (await eventsSince(service.db, known)).map(({ type }) => type);
    expect(types).toEqual(['member.removed', 'org.deleted']);
  });

  it('nobody is changed in a deleted organization', async () => {
    const { org, owner, member } = await anOrg(service);
    await owner.delete(`/api/orgs/${org.id}`);
    expect(await change(way, 'role', org, member, 'admin')).toEqual(refused('org_not_found'));
    expect(await change(way, 'remove', org, member)).toEqual(refused('org_not_found'));
  });

  it('members of an organization that requires a second factor are changed as well', async () => {
    const { org, member } = await anOrg(service);
    await service.db.query('UPDATE orgs SET second_factor_from = 1 WHERE id = ?', [org.id]);
    const known = await knownEvents(service.db);
    expect(await change(way, 'role', org, member, 'admin')).toEqual(DONE);
    expect(await eventsSince(service.db, known)).toMatchObject([{ data: { suspended: true } }]);
    expect(await change(way, 'remove', org, member)).toEqual(DONE);
  });
});

describe('bad input', () => {
  it.each([undefined, null, '', 'king', 'Owner', 7, ['owner']])('the role %j is refused', async (role) => {
    const { org, member } = await anOrg(service);
    const at = `/api/operators/orgs/${org.id}/members/${member.id}/role`;
    expect(await operator.post(at, { reason: REASON, role })).toMatchObject(invalidFields('role'));
  });

  it('a command refuses an unknown role in one line', async () => {
    const { org, member } = await anOrg(service);
    const result = await accounts(installation, ['orgs', 'set-role', org.id, member.id, 'king', ...BY_ROOT]);
    expect(result).toEqual(failure(2, /^error: expected one of member, admin, owner [^\n]+\n$/));
  });

  it('a user who is no member is not found', async () => {
    const { org, outsider } = await anOrg(service);
    const at = `/api/operators/orgs/${org.id}/members/${outsider.id}`;
    expect(await operator.post(`${at}/remove`, { reason: REASON })).toMatchObject(memberNotFound);
    expect(await operator.post(`${at}/role`, { reason: REASON, role: 'admin' })).toMatchObject(
      memberNotFound,
    );
  });
});

describe('accounts orgs show', () => {
  it('marks disabled members', async () => {
    const { org, member } = await anOrg(service);
    await service.db.query('UPDATE users SET disabled_at = 1 WHERE id = ?', [member.id]);
    const { stdout } = await accounts(installation, ['orgs', 'show', org.id]);
    expect(stdout.match(/DISABLED/g)).toHaveLength(1);
    expect(stdout).toContain(`${member.email}  DISABLED\n`);
    const [shown] = await accountsJson<{ members: object[] }>(installation, ['orgs', 'show', org.id]);
    expect(shown!.members).toContainEqual(expect.objectContaining({ userId: member.id, disabled: true }));
  });
});

describe('accounts users disable --file', () => {
  const file = joinPath(installation.directory, 'leavers.txt');
  const disable = (...more: string[]) =>
    accounts(installation, ['users', 'disable', '--file', file, ...BY_ROOT, ...more]);

  it('disables the users of a file, and prints a line for each that was refused', async () => {
    const [first, second, already, only] = await Promise.all([
      anAccount(service),
      anAccount(service),
      anAccount(service),
      anAccount(service),
    ]);
    const org = await anOrgOf(only);
    await service.db.query('UPDATE users SET disabled_at = 1, disabled_email = email WHERE id = ?', [
      already.id,
    ]);
    const lines = [first.email.toUpperCase(), '', 'nobody@example.com', only.email, ` ${second.email} `];
    lines.push(already.email, first.email, 'no email', '=cmd@x', 'x'.repeat(100_000), '\u0000\u00ff');
    await writeFile(file, `\ufeff${lines.join('\r\n')}`);
    const before = await allRows(service.db);

    const expected = (prefix: string) => ({
      code: 1,
      stderr: '',
      stdout: [
        'line 3: nobody@example.com: there is no user with this email',
        `line 4: ${only.email}: the user is the only enabled owner of ${org.id}; no other user is in ${org.id} (last_owner)`,
        ...[8, 9, 10, 11].map((line) => `line ${line}: not an email address`),
        `${prefix}disabled 2, already disabled 2, refused 6`,
        '',
      ].join('\n'),
    });
    expect(await disable('--dry-run')).toEqual(expected('dry run: would have '));
    expect(await allRows(service.db)).toEqual(before);
    const known = await knownEvents(service.db);
    expect(await disable()).toEqual(expected(''));
    const events = (await eventsSince(service.db, known)).filter(({ type }) => type === 'account.disabled');
    expect(events.map((one) => one['user_id'])).toEqual([first.id, second.id]);
    for (const one of events) expect(one).toMatchObject({ actor_id: 'root', reason: 'a test' });
    expect(await first.get('/api/me')).toMatchObject(invalidToken);
    expect((await only.get('/api/me')).status).toBe(200);

    await writeFile(file, only.email);
    const forced = await disable('--force', '--json');
    expect(forced.code).toBe(0);
    expect(
      forced.stdout
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line) as object),
    ).toEqual([
      { line: 1, email: only.email, orphanedOrg: { id: org.id, name: org.name, isDeleted: false } },
      { disabled: 1, unchanged: 0, refused: 0 },
    ]);
    expect(await only.get('/api/me')).toMatchObject(invalidToken);
  });

  it('reads standard input, and refuses a file without an email', async () => {
    const { email } = await anAccount(service);
    const command = ['users', 'disable', '--file', '-', ...BY_ROOT];
    const input = `${email}\n`;
    expect(await accountsJson(installation, command, { input })).toEqual([
      { disabled: 1, unchanged: 0, refused: 0 },
    ]);
    await writeFile(file, '\ufeff\r\n \n');
    expect(await disable()).toEqual(failure(2, 'error: the file has no emails\n'));
  });
});

it('two operators never leave an organization without an enabled owner', async () => {
  const { org, owner, member } = await anOrg(service);
  await change('HTTP', 'role', org, member, 'owner');
  const remove = (user: Account) =>
    operator.post(`/api/operators/orgs/${org.id}/members/${user.id}/remove`, { reason: REASON });
  const answers = await Promise.all([remove(owner), remove(member)]);
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200, 409]));
  expect(answers.find(({ status }) => status === 409)).toMatchObject(lastOwner);
});
