import { spawn } from 'node:child_process';
import { randomUUIDv7 } from 'node:crypto';
import { appendFile, readFile, writeFile } from 'node:fs/promises';
import { join as joinPath } from 'node:path';
import { text as output } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { EncryptedSecrets } from '../../src/auth/tokens/derived-keys.js';
import { newEntityId } from '../../src/identifiers/entity-id.js';
import {
  accounts,
  accountsAlone,
  accountsJson,
  BY_ROOT,
  CLI,
  environmentOf,
  failure,
} from '../support/accounts-command.js';
import { insertApiKey } from '../support/api-keys.js';
import { times } from '../support/at-once.js';
import { engine } from '../support/engine.js';
import { anInvitation, roleOf } from '../support/inviting.js';
import { makeOperator } from '../support/operators.js';
import {
  type Account,
  anAccount,
  anOrgOf,
  anOrgWithTwoOwners,
  type Cast,
  type Org,
} from '../support/personas.js';
import { insertProvider } from '../support/provider-rows.js';
import { idAt, insertRow, insertRows } from '../support/rows.js';
import { keyRingOf, protect } from '../support/second-factor.js';
import { startOwnService } from '../support/service.js';
import { aServiceClient, type ServiceClient } from '../support/services.js';
import { aSigningKey } from '../support/signing-keys.js';

const service = await startOwnService({ env: { RATE_LIMIT_REGISTER: 'off', RATE_LIMIT_LOGIN: 'off' } });
const { installation, db } = service;
afterAll(() => service.stop());

const AFTER_RESTORE = ['after-restore', ...BY_ROOT];

it('refuses a key file that does not decrypt every TOTP secret, before it changes anything', async () => {
  const [ada, grace] = [await anAccount(service), await anAccount(service)];
  await protect(service, ada);
  const { keys } = installation;
  await installation.writeKeys([aSigningKey()]);
  await protect(service, grace);

  const refusal = /^refused: \/[^\n]+ does not decrypt the TOTP secrets of 1 users: [^\n]+\n$/;
  expect(await accounts(installation, AFTER_RESTORE)).toEqual(failure(1, refusal));
  const ended = await db.query("SELECT id FROM events WHERE type = 'session.ended'");
  expect(ended).toEqual([]);

  expect(await accounts(installation, [...AFTER_RESTORE, '--force'])).toMatchObject({ code: 0 });
  await installation.writeKeys([...installation.keys, ...keys]);
  expect(await accounts(installation, AFTER_RESTORE)).toMatchObject({ code: 0 });
});

it('refuses a key file that does not decrypt the secret of every provider', async () => {
  const id = newEntityId();
  await insertRow(db, 'providers', { id, name: 'other-key', secret: 'of another key' });
  const refusal = /^refused: \/[^\n]+ does not decrypt the secrets of 1 providers: [^\n]+\n$/;
  expect(await accounts(installation, AFTER_RESTORE)).toEqual(failure(1, refusal));
  await db.query('DELETE FROM providers WHERE id = ?', [id]);
  const { stdout } = await accounts(installation, AFTER_RESTORE);
  expect(stdout).toContain('\n  providers disabled, removed or changed, users unlinked from them\n');
});

it('drops the emails that waited, and says how many of each kind', async () => {
  const waiting = async (...kinds: string[]) => {
    const mail = { state: 'waiting', created_at: Date.now(), next_attempt_at: 0, recipient: 'a@example.com' };
    const ids = kinds.map(() => idAt(Date.now()));
    const rows = kinds.map((kind, index) => ({ id: ids[index]!, kind }));
    await insertRows(db, 'mails', rows, mail);
    return ids;
  };
  const states = async (ids: string[]) => {
    const rows = await db.query(
      `SELECT id, state FROM mails WHERE id IN (${ids.map(() => '?').join()})`,
      ids,
    );
    return rows.map(({ state }) => state);
  };
  const first = await waiting('invitation', 'invitation', 'new_sign_in');

  expect(await accountsJson(installation, [...AFTER_RESTORE, '--keep-emails'])).toMatchObject([
    { emails: {} },
  ]);
  expect(await states(first)).toEqual(['waiting', 'waiting', 'waiting']);
  expect(await accountsJson(installation, AFTER_RESTORE)).toMatchObject([
    { emails: { invitation: 2, new_sign_in: 1 } },
  ]);
  expect(await states(first)).toEqual(['dropped', 'dropped', 'dropped']);

  const [, , third] = (await accounts(installation, AFTER_RESTORE)).stdout.split('\n');
  expect(third).toMatch(/^without --since, /);
  await waiting('invitation');
  const { stdout } = await accounts(installation, AFTER_RESTORE);
  expect(stdout).toContain('waiting emails are dropped: 1 invitation\n');
});

it('says how many API keys live, or revokes all of them', async () => {
  const [ada, billing] = [await anAccount(service), await aServiceClient(db, ['keys'])];
  const org = await anOrgOf(ada);
  const keys = [
    await insertApiKey(service, ada, billing),
    await insertApiKey(service, ada, billing, { orgId: org.id }),
    await insertApiKey(service, ada, billing, { expiresAt: 1 }),
  ];
  const { stdout } = await accounts(installation, AFTER_RESTORE);
  expect(stdout).toContain(
    '\n2 API keys have not expired; those revoked since the backup work again: see --revoke',
  );
  expect(await accountsJson(installation, AFTER_RESTORE)).toMatchObject([{ apiKeysKept: 2 }]);

  const revoking = [...AFTER_RESTORE, '--revoke-api-keys'];
  expect(await accountsJson(installation, revoking)).toMatchObject([{ apiKeysRevoked: 3 }]);
  expect(await db.query('SELECT id FROM api_keys')).toEqual([]);
  const events = await db.query(
    "SELECT org_id AS orgId, data FROM events WHERE type = 'key.revoked' ORDER BY id",
  );
  expect(events.map(({ orgId, data }) => ({ orgId, data: JSON.parse(String(data)) as unknown }))).toEqual(
    [keys[2]!, keys[1]!, keys[0]!].map(({ id, orgId }) => ({
      orgId,
      data: { keyId: id, reason: 'operator' },
    })),
  );
  expect((await accounts(installation, AFTER_RESTORE)).stdout).not.toContain('API key');
});

interface Line {
  id: string;
  [field: string]: unknown;
}

/** An event that the database does not have. */
function lost(type: string, about: { orgId?: string; userId?: string; data?: object } = {}): Line {
  const { orgId = null, userId = null, data = {} } = about;
  const actor = { type: 'operator', id: 'support', email: null, sessionId: null };
  const revisions = { orgRevision: orgId && 1000, userRevision: orgId === null ? userId && 1000 : null };
  const nothing = { sessionId: null, requestId: null, reason: null };
  const at = new Date().toISOString();
  return { id: newEntityId(), type, at, actor, orgId, userId, ...revisions, ...nothing, data };
}

const textOf = (lines: readonly Line[]) => lines.map((line) => `${JSON.stringify(line)}\n`).join('');

/** Ends the command with SIGKILL before it sends its nth write. */
const killedAt = (nth: number) => ({
  NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(`
    import { subscribe } from 'node:diagnostics_channel';
    let left = ${nth};
    const count = (sql) => {
      if (/^(?:INSERT|UPDATE|DELETE|COMMIT)/.test(sql) && --left === 0) process.kill(process.pid, 'SIGKILL');
    };
    for (const engine of ['sqlite', 'mysql']) subscribe('accounts.' + engine, count);`)}`,
});
const STATEMENTS_BETWEEN_KILLS = 7;

let copies = 0;
/** The audit log as it is, and then what was lost. */
async function aCopy(lines: readonly Line[], before = 10_000): Promise<string> {
  const file = joinPath(installation.directory, `events-${(copies += 1)}.jsonl`);
  const present = await accountsJson<Line>(installation, ['events', '--limit', String(before)]);
  await writeFile(file, textOf([...present.toReversed(), ...lines]));
  return file;
}

interface Counts {
  repeated: number;
  unchanged: number;
  left: number;
}

interface Shown {
  group: string;
  what: string;
  email?: string;
  outcome?: string;
  why?: string;
}

const planOf = async (...parameters: string[]) =>
  accountsJson<Shown>(installation, [...AFTER_RESTORE, ...parameters]);
const shown = ({ group, what, email, outcome }: Shown) =>
  [group, what, email, outcome].filter(Boolean).join(' ');

describe('with a copy of the audit log', () => {
  let cast: Cast & { coOwner: Account };
  let gone: Account;
  let billing: ServiceClient;
  let pending: { id: string };
  let doomed: Org;
  let lines: Line[];
  let leaked: { id: string };
  let disabledSince: { name: string };
  let unlinkedSince: { name: string };

  /** A provider whose secret the keys decrypt, and where the user is linked. */
  const aProviderOf = async (user: Account) => {
    const provider = await insertProvider(db, { users: [user.id] });
    const secrets = new EncryptedSecrets(await keyRingOf(service), 'provider secrets');
    const secret = secrets.encrypt(Buffer.from('acme'), provider.id);
    await db.query('UPDATE providers SET secret = ? WHERE id = ?', [secret, provider.id]);
    return provider;
  };

  beforeAll(async () => {
    cast = await anOrgWithTwoOwners(service);
    const { org, owner, admin, member, outsider, coOwner } = cast;
    gone = await anAccount(service, 'gone');
    doomed = await anOrgOf(owner, 'Doomed');
    const invited = await anOrgOf(outsider, 'Inviting');
    pending = await anInvitation(outsider, invited, { email: 'joan@example.com' });
    billing = await aServiceClient(db, ['introspect', 'events']);
    const [secret] = await db.query('SELECT id FROM service_secrets WHERE service = ?', [billing.name]);
    await makeOperator(service, outsider);
    leaked = await insertApiKey(service, owner, billing, { orgId: org.id });
    disabledSince = await aProviderOf(coOwner);
    unlinkedSince = await aProviderOf(coOwner);
    const about = { orgId: org.id };
    const named = { service: billing.name };
    lines = [
      lost('account.operator_revoked', { userId: outsider.id }),
      lost('member.role_changed', { ...about, userId: coOwner.id, data: { from: 'owner', to: 'member' } }),
      lost('member.removed', { ...about, userId: admin.id, data: { role: 'admin', reason: 'removed' } }),
      lost('account.disabled', { userId: member.id }),
      lost('account.deleted', { userId: gone.id }),
      lost('org.deleted', { orgId: doomed.id }),
      lost('invitation.revoked', {
        orgId: invited.id,
        data: { invitationId: pending.id, role: 'member', reason: 'revoked' },
      }),
      lost('service.allowed', { data: { ...named, from: 'introspect,events', to: 'events' } }),
      lost('service.secret_revoked', { data: { ...named, secretId: secret!['id'] } }),
      lost('service.disabled', { data: named }),
      lost('key.revoked', { ...about, userId: owner.id, data: { keyId: leaked.id, reason: 'reported' } }),
      lost('provider.disabled', { data: { provider: disabledSince.name } }),
      lost('account.identity_unlinked', { userId: coOwner.id, data: { provider: unlinkedSince.name } }),
      // The only owner of an organization stays.
      lost('member.removed', {
        orgId: invited.id,
        userId: outsider.id,
        data: { role: 'owner', reason: 'left' },
      }),
      lost('account.password_changed', { userId: owner.id }),
      lost('account.recovery_code_used', { userId: owner.id }),
      lost('org.second_factor_required', { ...about, data: { from: '2027-01-01T00:00:00.000Z' } }),
      lost('account.registered', { userId: randomUUIDv7() }),
    ];
  });

  const state = async () => {
    const { org, admin, member, outsider, coOwner } = cast;
    const flags = 'disabled_at IS NULL AS isEnabled, operator_since IS NOT NULL AS isOperator';
    const ids = [member.id, outsider.id, gone.id];
    const invitation = 'SELECT status FROM invitations WHERE id = ?';
    const services = 'SELECT allow, disabled_at IS NULL AS isEnabled FROM services WHERE name = ?';
    const live = 'SELECT COUNT(*) AS live FROM service_secrets WHERE service = ? AND revoked_at IS NULL';
    const linked = `SELECT p.name, p.disabled_at IS NULL AS isEnabled FROM identities i
      JOIN providers p ON p.id = i.provider_id WHERE i.user_id = ?`;
    return {
      users: await db.query(
        `SELECT ${flags} FROM users WHERE id IN (?, ?, ?) ORDER BY disabled_at DESC`,
        ids,
      ),
      roles: await Promise.all([coOwner, admin].map((who) => roleOf(db, org, who))),
      orgs: await db.query('SELECT deleted_at IS NULL AS isActive FROM orgs WHERE id = ?', [doomed.id]),
      invitations: await db.query(invitation, [pending.id]),
      services: await db.query(services, [billing.name]),
      secrets: await db.query(live, [billing.name]),
      apiKeys: await db.query('SELECT id FROM api_keys WHERE id = ?', [leaked.id]),
      linked: await db.query(linked, [coOwner.id]),
    };
  };

  it('prints what was taken, what people must do and what is lost, and changes nothing', async () => {
    const { org, owner, admin, member, coOwner, outsider } = cast;
    const before = await state();
    const file = await aCopy(lines);

    const plan = await planOf('--since', file);

    expect(plan.map(shown)).toEqual([
      `repeat operator revoked ${outsider.email}`,
      `repeat role lowered ${coOwner.email}`,
      `repeat member removed ${admin.email}`,
      `repeat user disabled ${member.email}`,
      `repeat user deleted ${gone.email}`,
      'repeat organization deleted',
      'repeat invitation revoked joan@example.com',
      'repeat scopes of a service revoked',
      'repeat secret of a service revoked',
      'repeat service disabled',
      `repeat API key revoked ${owner.email}`,
      'repeat provider disabled',
      `repeat identity unlinked ${coOwner.email}`,
      `repeat member removed ${outsider.email}`,
      `act password changed ${owner.email}`,
      `act recovery code used ${owner.email}`,
      'act second factor required',
      'lost user registered',
    ]);
    expect(await state()).toEqual(before);
    const { code, stdout } = await accounts(installation, [...AFTER_RESTORE, '--since', file]);
    const role = new RegExp(
      `^  [-0-9T:.]{23}Z  ${lines[1]!.id}  role lowered to member  ${coOwner.email}  in ${org.name} \\(${org.id}\\)$`,
      'm',
    );
    expect(code).toBe(0);
    expect(stdout).toMatch(role);
    expect(stdout.split('\n').filter((line) => !line.startsWith(' '))).toEqual([
      'taken away since, which --apply repeats:',
      'changed since, which people must change again:',
      'given since, which is lost:',
      'sessions: --apply first ends all of them, resets the event feed, and drops waiting emails',
      '',
    ]);
  });

  const apply = async (file: string) => {
    const { code, stdout } = await accounts(installation, [
      ...AFTER_RESTORE,
      '--since',
      file,
      '--apply',
      '--json',
    ]);
    const printed = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Shown & Counts);
    return { code, first: printed[0]!, plan: printed.slice(1, -1), counts: printed.at(-1)! };
  };

  it('repeats what was taken, interrupted before any statement, and no part of it twice', async () => {
    const { owner, outsider, member } = cast;
    const file = await aCopy(lines);
    const command = [...AFTER_RESTORE, '--since', file, '--apply'];
    const ends: (number | null)[] = [];
    for (let statements = 1; ends.at(-1) == null; statements += STATEMENTS_BETWEEN_KILLS)
      ends.push((await accountsAlone(installation, command, { env: killedAt(statements) })).code);
    expect(ends.length).toBeGreaterThan(3);
    expect(ends.at(-1)).toBe(1);

    const end = {
      users: [
        { isEnabled: 0, isOperator: 0 },
        { isEnabled: 1, isOperator: 0 },
      ],
      roles: ['member', undefined],
      orgs: [{ isActive: 0 }],
      invitations: [{ status: 'revoked' }],
      services: [{ allow: 'events', isEnabled: 0 }],
      secrets: [{ live: 0 }],
      apiKeys: [],
      linked: [{ name: disabledSince.name, isEnabled: 0 }],
    };
    expect(await state()).toEqual(end);
    const reasons = await db.query("SELECT type, reason FROM events WHERE reason LIKE 'restored: %'");
    const repeated = lines.slice(0, 13).map(({ id, type }) => ({ type, reason: `restored: ${id}, a test` }));
    expect(reasons).toEqual(expect.arrayContaining(repeated));

    const { code, first, plan, counts } = await apply(file);
    expect({ code, counts }).toEqual({ code: 1, counts: { repeated: 0, unchanged: 0, left: 1 } });
    expect(first).toHaveProperty('users');
    expect(plan.map(shown)).toEqual([
      `repeat member removed ${outsider.email} left`,
      `act password changed ${owner.email}`,
      `act recovery code used ${owner.email}`,
      'act second factor required',
      'lost user registered',
    ]);
    expect(plan[0]!.why).toMatch(/\(last_owner\)$/);
    expect(await state()).toEqual(end);

    await accountsJson(installation, ['users', 'enable', member.email, ...BY_ROOT]);
    expect((await apply(file)).counts).toMatchObject({ repeated: 0 });
    expect((await state()).users).toContainEqual({ isEnabled: 1, isOperator: 0 });
  });

  it('names the organizations that are left without an owner', async () => {
    const solo = await anAccount(service, 'solo');
    const org = await anOrgOf(solo, 'Left alone');
    const { plan } = await apply(await aCopy([lost('account.disabled', { userId: solo.id })]));
    expect(plan).toMatchObject([{ outcome: 'repeated', orphanedOrgs: [{ id: org.id, name: 'Left alone' }] }]);
  });
});

describe('a copy that is damaged or of something else', () => {
  let user: Account;
  let disabled: Line;
  let present: Line[];

  beforeAll(async () => {
    user = await anAccount(service);
    disabled = lost('account.disabled', { userId: user.id });
    const newest = await accountsJson<Line>(installation, ['events', '--limit', '3']);
    present = newest.toReversed();
  });
  const written = async (text: string) => {
    const file = joinPath(installation.directory, `copy-${(copies += 1)}.jsonl`);
    await writeFile(file, text);
    return file;
  };
  const repeats = async (...texts: string[]) => {
    const files = await Promise.all(texts.map(written));
    return (await planOf(...files.flatMap((file) => ['--since', file]))).map(shown);
  };

  it('is read up to a torn last line', async () => {
    const enabled = textOf([lost('account.enabled', { userId: user.id })]);
    const begin = textOf([...present, disabled]);
    const plan = [`repeat user disabled ${user.email}`];
    expect(await repeats(begin + enabled.slice(0, -20))).toEqual(plan);
    expect(await repeats(begin + enabled)).toEqual([]);
  });

  it('may be joined, in any order, with events twice, and in several files', async () => {
    const enabled = lost('account.enabled', { userId: user.id });
    const last = lost('account.disabled', { userId: user.id });
    const all = [...present, disabled, enabled, last].map((one, revision) =>
      Object.assign(one, one['userRevision'] === 1000 ? { userRevision: 1000 + revision } : {}),
    );
    const plan = [`repeat user disabled ${user.email}`];
    expect(await repeats(textOf(all) + textOf(all.slice(0, 5)))).toEqual(plan);
    expect(await repeats(textOf(all.toReversed()))).toEqual(plan);
    expect(await repeats(textOf(all), textOf(all.slice(0, 4)))).toEqual(plan);
    expect(await repeats(textOf(all.slice(0, 4)), textOf(all))).toEqual(plan);
  });

  it('belongs to the database if any event is in both, such as the start of a session', async () => {
    const sessions = await accountsJson<Line>(installation, ['events', '--type', 'session.started']);
    expect(await repeats(textOf([sessions[0]!, disabled]))).toEqual([`repeat user disabled ${user.email}`]);
  });

  it('leaves out events that the retention deleted', async () => {
    const old = { ...disabled, id: idAt(Date.now() - 400 * 86_400_000) };
    expect(await repeats(textOf([old, ...present]))).toEqual([]);
  });

  it.each<[string, (text: string) => string, 1 | 2, RegExp]>([
    ['no file', () => '', 1, /^refused: the database has no event of these copies/],
    [
      'another installation',
      () => textOf([disabled]),
      1,
      /^refused: the database has no event of these copies/,
    ],
    ['a line torn in the middle', (text) => text.slice(0, 90) + '\n' + text, 2, /, line 1: not an event/],
    ['a foreign file', () => 'email,role\nada@example.com,owner\n', 2, /, line 1: not an event/],
    ['foreign JSON', (text) => `${text}{"email":"ada@example.com"}\n`, 2, /, line 4: not an event/],
    [
      'an unknown role',
      (text) =>
        text + textOf([lost('member.added', { orgId: user.id, userId: user.id, data: { role: 'god' } })]),
      2,
      /^error: event [-0-9a-f]{36}: not a member\.added that this version knows\n$/,
    ],
  ])('is refused: %s', async (_what, change, code, stderr) => {
    const file = await written(change(textOf(present)));
    const command = [...AFTER_RESTORE, '--apply', '--since', file];
    expect(await accounts(installation, command)).toEqual(failure(code, stderr));
  });

  it.each([
    [['--apply'], /--apply requires --since/],
    [['--since', '/dev/null/none'], /cannot be read/],
    [['--since', '/tmp'], /is a directory/],
    [['--since', 'x', '--reason', 'x'.repeat(451)], /--reason: expected at most 450 characters/],
  ])('is refused: %j', async (parameters, stderr) => {
    expect(await accounts(installation, [...AFTER_RESTORE, ...parameters])).toEqual(failure(2, stderr));
  });

  it.runIf(engine === 'sqlite')('may have a million lines, in less than 200 MiB', async () => {
    const file = joinPath(installation.directory, 'million.jsonl');
    const rss = joinPath(installation.directory, 'rss');
    const types = ['session.started', 'session.ended', 'account.profile_changed', 'account.password_changed'];
    const numbered = times(1000, (index) => {
      const isNew = index % 50 === 0;
      const type = isNew ? 'account.registered' : types[index % 4]!;
      const line = lost(type, { userId: isNew ? newEntityId().replace(/-7...-/, '-7###-') : user.id });
      return { ...line, id: line.id.replace(/-7...-/, '-7###-') };
    });
    await writeFile(file, textOf(present));
    for (let thousand = 0; thousand < 1000; thousand += 1) {
      const lines = textOf(numbered).replaceAll('###', thousand.toString(16).padStart(3, '0'));
      await appendFile(file, lines);
    }
    const measure = `import { writeFileSync } from 'node:fs';
      process.on('exit', () => writeFileSync(${JSON.stringify(rss)}, String(process.resourceUsage().maxRSS)));`;
    // The recorder of statements would take more memory than the command.
    const node = [`--import=data:text/javascript,${encodeURIComponent(measure)}`, CLI];
    const command = spawn(process.execPath, [...node, ...AFTER_RESTORE, '--since', file], {
      cwd: installation.directory,
      env: { ...environmentOf(installation.env) },
    });
    command.stderr.pipe(process.stderr);
    const stdout = await output(command.stdout);

    expect(stdout.match(/ {2}user registered/g)).toHaveLength(20_000);
    expect(stdout.match(/ {2}password changed/g)).toHaveLength(1);
    expect(Number(await readFile(rss, 'utf8')) / 1024).toBeLessThan(200);
  });
});
