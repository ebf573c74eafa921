import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { KeyRing, readKeySet } from '../../src/auth/tokens/signing-keys.js';
import { EncryptedSecrets } from '../../src/auth/tokens/derived-keys.js';
import type { Check } from '../../src/cli/doctor/check.js';
import { type Finding, inspect } from '../../src/cli/doctor/doctor.js';
import { parseEnv } from '../../src/config/env.js';
import type { Row } from '../support/database.js';
import { examine as examineInstallation, type Examination } from '../support/doctor.js';
import { engine } from '../support/engine.js';
import { untilNumbered } from '../support/feed.js';
import { anInvitation } from '../support/inviting.js';
import { anInstallation, type Installation } from '../support/installation.js';
import { type Account, aCode, anEmail, anOrg, anOrgOf, byCode, type Cast } from '../support/personas.js';
import { startOwnService } from '../support/service.js';
import { decodeToken } from '../support/signing-keys.js';

const REVOKE = 'UPDATE sessions SET revoked_at = created_at';
const DAY_MS = 86_400_000;

/** What is wrong, the statements that make it so, and every claim that is then untrue. */
const DAMAGES = `
no migration was noted
UPDATE migrations SET name = 'x';
RED every migration of this version has run

an organization without an owner
UPDATE members SET role = 'admin' WHERE org_id = :org;
RED every organization has an owner
RED every membership agrees with its last event

an organization whose only owner is disabled
UPDATE users SET disabled_at = 1, disabled_email = email WHERE id = :owner;
RED every organization has an owner whose account is enabled

a deleted organization that nobody purged
UPDATE orgs SET deleted_at = 1, deleted_name = name, purge_at = :yesterday WHERE id = :org;
RED no purge of a deleted organization is overdue
RED every pending invitation is from somebody who may invite

a deleted organization without a time of its purge
UPDATE orgs SET deleted_at = 1, deleted_name = name WHERE id = :org;
RED every deleted organization has a purge time, and no other has one
RED every pending invitation is from somebody who may invite

a purge of an organization that is not deleted
UPDATE orgs SET purge_began_at = 1 WHERE id = :org;
RED every deleted organization has a purge time, and no other has one

a membership of a user who is gone
UPDATE members SET user_id = 'gone' WHERE user_id = :member;
RED every membership belongs to a user and an organization
RED every membership agrees with its last event

a membership in an organization that is gone
UPDATE members SET org_id = 'gone' WHERE user_id = :member;
RED every membership belongs to a user and an organization
RED every membership agrees with its last event

a membership with an e-mail of before
UPDATE members SET email = 'before@example.com' WHERE user_id = :member;
RED every membership has the e-mail of its user

a role of its own
UPDATE members SET role = 'king' WHERE user_id = :member;
RED every membership has a valid role
RED every membership agrees with its last event

a membership that nobody recorded the end of
DELETE FROM members WHERE user_id = :member;
RED every membership agrees with its last event

a revision that two changes have
UPDATE events SET org_revision = 2 WHERE org_id = :org AND org_revision = 3;
RED every revision of an organization belongs to one change

an event that nobody numbers
INSERT INTO events (id, type, at, actor_type, user_id, user_revision, data, pending)
  VALUES (:event, 'account.enabled', 1, 'system', :member, 9, '{}', 1);
RED no event waits for long for its place in the feed

a mark that nobody may clear
INSERT INTO events (id, type, at, actor_type, user_id, user_revision, data, pending)
  VALUES (:event, 'account.enabled', 1, 'system', :member, 9, '{}', 1);
INSERT INTO feed (seq, event_id) SELECT MAX(seq) + 1, :event FROM feed;
RED no event that has its place in the feed is still marked for long

a place of the feed that is gone
DELETE FROM feed WHERE seq = 2;
RED the feed has no gap

a feed in which an organization changes before it is created
UPDATE events SET org_revision = 99 WHERE type = 'org.created' AND org_id = :org;
RED the feed has the events of each organization in the order of its revision

a feed in which an account changes before it is registered
INSERT INTO events (id, type, at, actor_type, user_id, user_revision, data, pending)
  VALUES (:event, 'account.enabled', 1, 'system', :member, 0, '{}', NULL);
INSERT INTO feed (seq, event_id) SELECT MAX(seq) + 1, :event FROM feed;
RED the feed has the events of each account in the order of its revision

two pending invitations for one e-mail, of which one counts as ended
UPDATE invitations SET email = 'one@example.com', pending = NULL WHERE email = 'two@example.com';
RED an e-mail has at most one pending invitation to an organization
RED every invitation is pending, or has ended

an invitation that is accepted and pending
UPDATE invitations SET status = 'accepted';
RED every invitation is pending, or has ended

a pending invitation of somebody who is no admin
UPDATE invitations SET invited_by = :member;
RED every pending invitation is from somebody who may invite

a pending invitation of somebody who is disabled
UPDATE users SET disabled_at = 1, disabled_email = email WHERE id = :admin;
RED every pending invitation is from somebody who may invite

a pending invitation of an organization that is gone
UPDATE invitations SET org_id = 'gone';
RED every pending invitation is from somebody who may invite

a session of a user who is gone
UPDATE sessions SET user_id = 'gone' WHERE user_id = :member;
RED no session belongs to a deleted user

a code of a session that is gone
UPDATE authorization_codes SET session_id = 'gone';
RED every authorization code belongs to a session

a session that a code opened without its login
UPDATE sessions SET login_id = NULL WHERE id = :second;
RED every session that a code opened has its login and the first session of its branch

a session with a login, and without a code
UPDATE sessions SET code_hash = NULL WHERE id = :first;
RED every session that a code opened has its login and the first session of its branch

a session of a login that is gone
UPDATE sessions SET login_id = 'gone' WHERE user_id = :owner AND login_id IS NOT NULL;
RED every session that a code opened has its login and the first session of its branch

a session of a branch that is gone
UPDATE sessions SET branch_id = 'gone' WHERE id = :second;
RED every session that a code opened has its login and the first session of its branch

a session that a code opened, with refresh tokens
UPDATE sessions SET refresh_generation = 1 WHERE id = :first;
RED no session that a code opened is refreshed

a session of another user than its login
UPDATE sessions SET user_id = :admin WHERE id = :second;
RED every session that a code opened has the user and the time of its login, and the login of its branch

a session with another time of the login
UPDATE sessions SET auth_time = auth_time - 1 WHERE id = :second;
RED every session that a code opened has the user and the time of its login, and the login of its branch

a session of a branch that does not begin with its head
UPDATE sessions SET branch_id = :second WHERE id = :first;
RED every session that a code opened has the user and the time of its login, and the login of its branch

a revocation that broke off and was not taken up again
INSERT INTO pending_revocations (session_id, user_id, since, reason) VALUES (:login, :owner, :yesterday, 'logout');
RED no revocation has been left unfinished

a session that expires before it begins
UPDATE sessions SET created_at = expires_at + 1;
RED no session expires before it begins

a session that begins long before its login
UPDATE sessions SET auth_time = created_at + 30001 WHERE user_id = :member;
RED no session begins before its login

a session that lives on and on
UPDATE sessions SET expires_at = auth_time + 30 * 86400000 + 30001;
RED no session outlives SESSION_MAX_AGE after its login

an account that asks for a second factor it does not have
UPDATE users SET second_factor_at = 1 WHERE id = :member;
RED every account asks for the second factor that is enabled for it

a second factor that no login asks for
INSERT INTO second_factors (user_id, secret, enabled_at) VALUES (:member, 's', 1);
RED every account asks for the second factor that is enabled for it
RED a key of JWT_KEYS_FILE opens the secret of every second factor

a second factor that is pending for ever, and sealed for another user
INSERT INTO second_factors (user_id, secret) VALUES (:member, :sealedForAdmin);
INSERT INTO second_factors (user_id, secret, pending_until) VALUES (:admin, :sealedForAdmin, 1);
RED every second factor is either enabled or pending for a time
RED a key of JWT_KEYS_FILE opens the secret of every second factor

recovery codes of a second factor that was removed
INSERT INTO recovery_codes (user_id, hash) VALUES (:member, 'h');
RED no account without a second factor has recovery codes

an operator whom no command granted it
UPDATE users SET operator_since = :now WHERE id = :member;
RED every operator was granted by a command

a live secret of a service that was removed
INSERT INTO services (name, allow, created_at, disabled_at, removed_at) VALUES ('a', '', 1, 1, 1);
INSERT INTO service_secrets (id, service, hash, created_at) VALUES ('1', 'a', 'h', 1);
RED no removed service has a live secret, and no other has more than two

three live secrets of a service
INSERT INTO services (name, allow, created_at) VALUES ('a', '', 1);
INSERT INTO service_secrets (id, service, hash, created_at) VALUES ('1', 'a', '1', 1), ('2', 'a', '2', 1), ('3', 'a', '3', 1);
RED no removed service has a live secret, and no other has more than two

a service that was removed and is not disabled
INSERT INTO services (name, allow, created_at, removed_at) VALUES ('a', '', 1, 1);
RED every removed service is disabled

a session for a disabled service, which it would be alive of once that is enabled
INSERT INTO services (name, allow, epoch, created_at, disabled_at) VALUES ('a', '', 3, 1, 1);
UPDATE sessions SET service = 'a', bound_epoch = 3 WHERE id = :first;
UPDATE sessions SET service = 'a', bound_epoch = 1 WHERE id = :second;
RED no session for a service that is disabled or gone is of its epoch, or of a later one

a session for a removed service
INSERT INTO services (name, allow, epoch, created_at, disabled_at, removed_at) VALUES ('a', '', 3, 1, 1, 1);
UPDATE sessions SET service = 'a', bound_epoch = 3 WHERE id = :first;
UPDATE sessions SET service = 'a', bound_epoch = 1 WHERE id = :second;
RED no session for a service that is disabled or gone is of its epoch, or of a later one

a session for a service that has not come to its epoch
INSERT INTO services (name, allow, epoch, created_at) VALUES ('a', '', 2, 1);
UPDATE sessions SET service = 'a', bound_epoch = 3 WHERE id = :first;
UPDATE sessions SET service = 'a', bound_epoch = 1 WHERE id = :second;
RED no session for a service that is disabled or gone is of its epoch, or of a later one

a session for a service that is gone
UPDATE sessions SET service = 'gone', bound_epoch = 0 WHERE id = :first;
RED no session for a service that is disabled or gone is of its epoch, or of a later one

an enabled account and an organization in the lists of others
UPDATE users SET disabled_email = email WHERE id = :member;
UPDATE orgs SET deleted_name = name WHERE id = :org;
RED exactly the disabled accounts are listed as disabled
RED exactly the deleted organizations are listed as deleted

an e-mail in capitals
UPDATE users SET email = 'Loud@Example.com' WHERE id = :member;
RED every membership has the e-mail of its user
RED every e-mail is in its canonical form

an e-mail that is none
UPDATE users SET email = 'nobody' WHERE id = :member;
RED every membership has the e-mail of its user
RED every e-mail is in its canonical form
`;

const damages = DAMAGES.trim()
  .split('\n\n')
  .map((paragraph) => {
    const [what, ...lines] = paragraph.split('\n');
    const sql = lines.filter((line) => !line.startsWith('RED ')).join('\n');
    return {
      what,
      statements: sql.split(/;\n?/).filter((statement) => statement !== ''),
      tables: [
        ...new Set(
          [...sql.matchAll(/^(?:UPDATE|INSERT INTO|DELETE FROM) (\w+)/gm)].map(([, table]) => table!),
        ),
      ],
      red: lines.filter((line) => line.startsWith('RED ')).map((line) => line.slice('RED '.length)),
    };
  });

describe('the doctor', () => {
  let installation: Installation;
  /** of a service that runs; afterwards nothing but a test changes the data */
  let healthy: Examination;
  let cast: Cast;
  /** what the statements of DAMAGES name */
  let named: Record<string, string | number>;

  beforeAll(async () => {
    installation = await anInstallation();
    const service = await startOwnService({ installation });
    cast = await anOrg(service);
    await anOrgOf(cast.outsider);
    for (const email of ['one@example.com', 'two@example.com']) {
      await anInvitation(cast.admin, cast.org, { email });
    }
    const first = await byCode(service, cast.owner);
    const second = await byCode(service, first);
    await aCode(cast.owner);
    healthy = await examine();
    await untilNumbered(installation.db);
    await service.stop();

    const sessionOf = ({ token }: Account) => decodeToken(token).claims['sid'] as string;
    const keys = new KeyRing(readKeySet(await readFile(installation.env['JWT_KEYS_FILE']!, 'utf8')));
    const secrets = new EncryptedSecrets(keys, 'second factor secrets');
    named = {
      org: cast.org.id,
      owner: cast.owner.id,
      admin: cast.admin.id,
      member: cast.member.id,
      login: sessionOf(cast.owner),
      first: sessionOf(first),
      second: sessionOf(second),
      event: '01900000-0000-7000-8000-000000000000',
      now: Date.now(),
      yesterday: Date.now() - DAY_MS - 1,
      sealedForAdmin: secrets.encrypt(Buffer.from('s'), cast.admin.id),
    };
  });

  afterAll(() => installation.remove());

  const examine = (env?: Record<string, string>) => examineInstallation(installation, env);
  const force = (sql: string, ...values: (string | number)[]) => installation.db.force(sql, values);
  const redIn = ({ lines }: Examination) =>
    lines.filter((line) => line.startsWith('RED')).map((line) => line.slice('RED    '.length));
  /** In this process: of dozens, each process would cost the most. */
  const untrue = async (env: Record<string, string> = {}): Promise<Finding[]> =>
    (await inspect(parseEnv({ ...installation.env, ...env }))).filter(({ faults }) => faults.length > 0);
  const claimsOf = (findings: Finding[]) => findings.map(({ check }) => check.claim);

  /** Restores the rows, even when the work fails. */
  async function restoring<T>(tables: string[], work: () => Promise<T>): Promise<T> {
    const saved = await Promise.all(tables.map((table) => installation.db.query(`SELECT * FROM ${table}`)));
    try {
      return await work();
    } finally {
      for (const [index, table] of tables.entries()) await refill(table, saved[index]!);
    }
  }

  async function refill(table: string, rows: Row[]): Promise<void> {
    await force(`DELETE FROM ${table}`);
    for (const row of rows) {
      const places = Object.keys(row).map(() => '?');
      await installation.db.force(
        `INSERT INTO ${table} (${Object.keys(row).join(', ')}) VALUES (${places.join(', ')})`,
        Object.values(row),
      );
    }
  }

  it('finds a running service healthy, claim by claim', () => {
    const { code, lines, errors } = healthy;

    expect(errors).toBe('');
    expect(lines.filter((line) => !line.startsWith('green  '))).toEqual([]);
    expect(lines).toHaveLength(41);
    expect(code).toBe(0);
  });

  it.each(damages)('detects $what', async ({ tables, statements, red }) => {
    const found = await restoring(tables, async () => {
      for (const sql of statements) {
        const values = [...sql.matchAll(/:(\w+)/g)].map(([, name]) => named[name!]!);
        await force(sql.replaceAll(/:\w+/g, '?'), ...values);
      }
      return untrue();
    });

    expect(claimsOf(found)).toEqual(red);
  });

  it('detects a column that no migration created', async () => {
    await installation.db.query('ALTER TABLE orgs ADD COLUMN extra integer');
    try {
      expect(claimsOf(await untrue())).toEqual(['the tables are as the migrations made them']);
    } finally {
      await installation.db.query('ALTER TABLE orgs DROP COLUMN extra');
    }
  });

  it('detects a missing index, and the queries that it slows down', async () => {
    const sick = await restoring(['sessions'], async () => {
      await fillSessions();
      await installation.db.query(
        engine === 'sqlite'
          ? 'DROP INDEX sessions_expires_at_id_idx'
          : 'ALTER TABLE sessions DROP INDEX sessions_expires_at_id_idx',
      );
      try {
        return await examine();
      } finally {
        await installation.db.query('CREATE INDEX sessions_expires_at_id_idx ON sessions (expires_at, id)');
      }
    });

    expect(sick.code).toBe(1);
    expect(redIn(sick)).toEqual([
      'the tables are as the migrations made them',
      'hot queries use their indexes',
    ]);
    expect(sick.lines).toContain('         the clean-up of sessions reads all of sessions');
  });

  /** Enough that no engine would scan all of them for a few. */
  async function fillSessions(): Promise<void> {
    const now = Date.now();
    const rows = Array.from(
      { length: 3000 },
      (_, index) => `('filler-${index}', ?, ${now}, ${now}, ${now + DAY_MS})`,
    );
    const columns = 'id, user_id, auth_time, created_at, expires_at';
    await force(
      `INSERT INTO sessions (${columns}) VALUES ${rows.join(', ')}`,
      ...rows.map(() => cast.member.id),
    );
    if (engine === 'mariadb') await installation.db.query('ANALYZE TABLE sessions');
  }

  it('treats a claim that cannot be checked as false', async () => {
    await installation.db.query('ALTER TABLE users RENAME TO hidden');
    try {
      const sick = await untrue();
      expect(claimsOf(sick)).toContain('every e-mail is in its canonical form');
      expect(sick.flatMap(({ faults }) => faults).join()).toContain('could not be checked');
    } finally {
      await installation.db.query('ALTER TABLE hidden RENAME TO users');
    }
  });

  it('tolerates clock skew up to the leeway of tokens', async () => {
    const found = await restoring(['sessions'], async () => {
      await force(
        'UPDATE sessions SET auth_time = created_at + 30000, expires_at = created_at + ? WHERE user_id = ?',
        DAY_MS,
        cast.member.id,
      );
      return untrue();
    });

    expect(found).toEqual([]);
  });

  it('checks sessions against the current SESSION_MAX_AGE', async () => {
    expect(claimsOf(await untrue({ SESSION_MAX_AGE: '23h' }))).toEqual([
      'no session outlives SESSION_MAX_AGE after its login',
    ]);
    expect(await untrue({ SESSION_MAX_AGE: '24h' })).toEqual([]);
  });

  it('is green after its remedy for sessions was applied', async () => {
    const { sick, cured } = await restoring(['sessions'], async () => {
      await force('UPDATE sessions SET created_at = expires_at + 1 WHERE user_id = ?', cast.member.id);
      await force(
        'UPDATE sessions SET expires_at = auth_time + ? WHERE user_id = ?',
        31 * DAY_MS,
        cast.admin.id,
      );
      await force('UPDATE sessions SET auth_time = created_at + 30001 WHERE user_id = ?', cast.outsider.id);
      const before = await untrue();
      for (const id of before.flatMap(({ faults }) => faults)) await force(`${REVOKE} WHERE id = ?`, id);
      return { sick: before, cured: await untrue() };
    });

    expect(sick).toHaveLength(3);
    expect(sick.filter(({ check }) => check.remedy.includes(REVOKE))).toHaveLength(2);
    expect(cured).toEqual([]);
  });

  it('sees one snapshot, whatever is written meanwhile', async () => {
    const users = async () =>
      Number((await installation.db.query('SELECT COUNT(*) AS users FROM users'))[0]!['users']);
    const addUser = () =>
      installation.db.query("INSERT INTO users (id, email, password_hash, created_at) VALUES (?, ?, '', 0)", [
        randomUUID(),
        anEmail(),
      ]);
    const counting: Check = {
      claim: 'as many users as before',
      remedy: '',
      findFaults: async ({ runner }) => {
        const [row] = (await runner.query('SELECT COUNT(*) AS users FROM users')) as { users: number }[];
        return [String(row!.users)];
      },
    };
    const writing: Check = { claim: '', remedy: '', findFaults: async () => (await addUser(), []) };
    const before = await users();

    await restoring(['users'], async () => {
      const findings = await inspect(parseEnv(installation.env), [counting, writing, counting]);
      expect(findings.map(({ faults }) => faults)).toEqual([[String(before)], [], [String(before)]]);
      expect(await users()).toBe(before + 1);
    });
  });

  it('exits with 2 and one line when nothing can be checked', async () => {
    const { code, errors } = await examine({ DATABASE_URL: 'sqlite:./nowhere.sqlite' });

    expect(errors).toMatch(/^DATABASE_URL: [^\n]+\n$/);
    expect(code).toBe(2);
  });
});
