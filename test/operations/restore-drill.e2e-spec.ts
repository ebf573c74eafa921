import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { join as joinPath } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { hangTimeoutMs, waitFor } from '../../tooling/wait.js';
import { Random, seedOfRun } from '../faults/support/random.js';
import { Client } from '../histories/clients/client.js';
import { aGuest, anOwner, aTeam, type Step, type Team } from '../histories/clients/org-clients.js';
import { accounts, accountsJson, BY_ROOT, spawnAccounts } from '../support/accounts-command.js';
import { times } from '../support/at-once.js';
import { backUp } from '../support/backup.js';
import type { Database } from '../support/database.js';
import { accept, anInvitation, verified } from '../support/inviting.js';
import { anInstallation } from '../support/installation.js';
import { makeOperator } from '../support/operators.js';
import { type Account, anAccount, anOrgOf, anOrgWithTwoOwners, isAlive } from '../support/personas.js';
import { protect, aChallenge, secondStep } from '../support/second-factor.js';
import { NO_LIMITS, startOwnService } from '../support/service.js';
import { clientOf } from '../support/service-client.js';

const LOAD_MS = 3000;

const installation = await anInstallation();
const { db } = installation;
const service = await startOwnService({ installation, env: NO_LIMITS });
const seed = seedOfRun('the restore drill');
afterAll(() => installation.remove());

const byRoot = (...parameters: string[]) => accountsJson(installation, [...parameters, ...BY_ROOT]);

/** What anybody has, each with the least that grants it: `member O U` with a role. */
type Grants = Map<string, string>;

const ROLES = ['member', 'admin', 'owner'];
const exceeds = (role: string, than: string | undefined): boolean =>
  than === undefined || ROLES.indexOf(role) > ROLES.indexOf(than);

async function grantsIn(database: Database): Promise<Grants> {
  const rows = (sql: string) => database.query(sql);
  const users = await rows('SELECT id, email, operator_since AS since FROM users WHERE disabled_at IS NULL');
  const orgs = await rows('SELECT id FROM orgs WHERE deleted_at IS NULL');
  const members = await rows(`SELECT m.org_id AS o, m.user_id AS u, m.role FROM members m
    JOIN orgs o ON o.id = m.org_id JOIN users u ON u.id = m.user_id
    WHERE o.deleted_at IS NULL AND u.disabled_at IS NULL`);
  const memberships = await rows('SELECT org_id AS o, email, role FROM members');
  const invitations = await rows('SELECT id, org_id AS o, email, role, status FROM invitations');
  const services = await rows('SELECT name, allow FROM services WHERE disabled_at IS NULL');
  const secrets = await rows(`SELECT s.id FROM service_secrets s JOIN services v ON v.name = s.service
    WHERE s.revoked_at IS NULL AND v.disabled_at IS NULL`);
  const calls = await rows('SELECT caller, callee FROM service_calls WHERE allowed_at IS NOT NULL');
  // A disabled user has a membership again when the user is enabled.
  const roleByEmail = new Map(memberships.map(({ o, email, role }) => [`${o} ${email}`, String(role)]));
  return new Map([
    ...users.map(({ id }) => [`user ${id}`, 'member'] as const),
    ...users.filter(({ since }) => since !== null).map(({ id }) => [`operator ${id}`, 'member'] as const),
    ...orgs.map(({ id }) => [`org ${id}`, 'member'] as const),
    ...members.map(({ o, u, role }) => [`member ${o} ${u}`, String(role)] as const),
    ...invitations.flatMap(({ id, o, email, role, status }) => {
      // Who has accepted one may have again what it gives, and who has declined one may think again.
      const has = status === 'accepted' ? roleByEmail.get(`${o} ${email}`) : String(role);
      return status === 'revoked' || has === undefined ? [] : [[`invitation ${id}`, has] as const];
    }),
    ...services.flatMap(({ name, allow }) =>
      ['', ...String(allow).split(',')].map((scope) => [`service ${name} ${scope}`, 'member'] as const),
    ),
    ...secrets.map(({ id }) => [`secret ${id}`, 'member'] as const),
    ...calls.map(({ caller, callee }) => [`call ${caller} ${callee}`, 'member'] as const),
  ]);
}

/** What the database grants beyond what was granted before the disaster. */
const tooMuch = (restored: Grants, before: Grants): string[] =>
  [...restored].filter(([what, role]) => exceeds(role, before.get(what))).map(([what]) => what);

interface Line {
  group: string;
  what: string;
  orgId: string | null;
  userId: string | null;
  outcome?: string;
}

const client = (random: Random) => new Client([clientOf(service.url)], [], random);

async function load(teams: readonly Team[], random: Random): Promise<void> {
  const steps: Step[] = teams.flatMap((team) => [
    ...team.owners.map((owner) => anOwner(client(random), team, owner)),
    ...team.guests.map((guest) => aGuest(client(random), team, guest)),
  ]);
  const end = Date.now() + LOAD_MS;
  const repeat = async (step: Step): Promise<void> => {
    while (Date.now() < end) await step();
  };
  await Promise.all(steps.map(repeat));
}

/** Every kind of change of an operator, so that some are given back. */
async function operate(team: Team, random: Random): Promise<void> {
  const { orgId, guests, owners } = team;
  const { id: userId } = random.pick(guests);
  const choice = random.pick([
    ['users', 'disable', userId],
    ['users', 'enable', userId],
    ['users', 'end-sessions', userId],
    ['orgs', 'set-role', orgId, userId, random.pick(['member', 'admin', 'owner'])],
    ['orgs', 'remove-member', orgId, userId],
    ['operators', 'grant', userId, '--force'],
    ['operators', 'revoke', userId],
    ['users', 'set-email', owners[1].id, `${random.between(0, 9999)}@example.org`],
  ]);
  await accounts(installation, [...choice, ...BY_ROOT]);
}

it('leaves nobody what was taken since the backup, but for what it prints', async () => {
  const random = new Random(seed);
  const teams: Team[] = [];
  for (const place of times(2, (index) => index)) teams.push(await aTeam(client(random), `drill-${place}`));
  const { org, owner, coOwner, admin, member, outsider } = await anOrgWithTwoOwners(service);
  const [leaver, solo, doubtful] = (await Promise.all(
    ['leaver', 'solo', 'doubtful'].map((name) => anAccount(service, name)),
  )) as [Account, Account, Account];
  const [doomed, revived] = [await anOrgOf(solo, 'Doomed'), await anOrgOf(owner, 'Revived')];
  const invitation = await anInvitation(owner, org, { email: outsider.email, role: 'admin' });
  const toLeaver = await anInvitation(owner, org, { email: leaver.email, role: 'member' });
  const { recoveryCodes } = await protect(service, coOwner);
  await makeOperator(service, admin);
  for (const name of ['billing', 'reports', 'search', 'shop'])
    await byRoot('services', 'add', name, '--allow', 'introspect,events');
  for (const name of ['search', 'shop']) await byRoot('services', 'call', name, '--to', 'billing');
  await load(teams, random);

  const back = await backUp(installation);

  await Promise.all([
    load(teams, random),
    (async () => {
      for (let count = 0; count < 12; count += 1) await operate(random.pick(teams), random);
    })(),
  ]);
  expect((await accept(await verified(db, outsider), invitation)).status).toBe(200);
  await byRoot('orgs', 'remove-member', org.id, outsider.id);
  expect((await accept(await verified(db, leaver), toLeaver)).status).toBe(200);
  await byRoot('orgs', 'set-role', org.id, coOwner.id, 'member');
  await byRoot('orgs', 'remove-member', org.id, admin.id);
  await byRoot('operators', 'revoke', admin.id);
  await byRoot('users', 'delete', member.id);
  await byRoot('users', 'disable', leaver.id);
  for (const change of ['disable', 'enable', 'disable', 'enable']) await byRoot('users', change, doubtful.id);
  await byRoot('orgs', 'delete', doomed.id);
  await byRoot('orgs', 'delete', revived.id);
  await byRoot('orgs', 'restore', revived.id);
  await byRoot('users', 'disable', solo.id, '--force');
  await byRoot('services', 'disable', 'billing');
  await byRoot('services', 'remove', 'reports');
  await byRoot('services', 'rotate', 'search');
  await byRoot('services', 'revoke-secret', 'search');
  await byRoot('services', 'allow', 'shop', 'events');
  for (const name of ['search', 'shop']) await byRoot('services', 'revoke-call', name, '--to', 'billing');
  await byRoot('services', 'call', 'search', '--to', 'billing');
  await byRoot('services', 'add', 'late');
  await secondStep(service, await aChallenge(service, coOwner), recoveryCodes[0]);
  await anAccount(service, 'newcomer');
  const [last] = await db.query('SELECT id FROM events ORDER BY id DESC LIMIT 1');
  const file = joinPath(installation.directory, 'events.jsonl');
  const copy = spawnAccounts(installation, ['events', 'copy', file]);
  const closed = once(copy, 'close');
  await waitFor('the copy has every event', hangTimeoutMs(), async () =>
    (await readFile(file, 'utf8').catch(() => '')).includes(String(last!['id'])),
  );
  copy.kill('SIGTERM');
  await closed;
  const before = await grantsIn(db);
  await service.kill();

  await back();

  const restored = tooMuch(await grantsIn(db), before);
  expect(new Set(restored.map((what) => what.split(' ')[0]))).toEqual(
    new Set(['user', 'operator', 'org', 'member', 'invitation', 'service', 'secret', 'call']),
  );
  const command = ['after-restore', '--since', file, ...BY_ROOT];
  const plan = await accounts(installation, command);
  expect(plan.code).toBe(0);
  expect(tooMuch(await grantsIn(db), before)).toEqual(restored);

  const { stdout } = await accounts(installation, [...command, '--apply', '--json']);
  const lines = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Line);
  const left = lines.filter(({ outcome }) => outcome === 'left');
  const leftOver = new Set(left.map(({ orgId, userId }) => `member ${orgId} ${userId}`));
  const excess = tooMuch(await grantsIn(db), before);
  expect(excess.filter((what) => !leftOver.has(what))).toEqual([]);
  expect(left.length).toBeLessThan(restored.length / 2);

  const again = await accounts(installation, [...command, '--apply', '--json']);
  expect(JSON.parse(again.stdout.trim().split('\n').at(-1)!)).toMatchObject({ repeated: 0 });
  const instance = await startOwnService({ installation });
  for (const user of [owner, coOwner, doubtful]) expect(await isAlive(user.at(instance))).toBe(false);
  expect((await accounts(installation, ['doctor'])).code).toBe(0);
  await instance.stop();
});
