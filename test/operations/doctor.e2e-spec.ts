import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { EncryptedSecrets } from '../../src/auth/tokens/derived-keys.js';
import type { Check } from '../../src/cli/doctor/check.js';
import { type Finding, inspect } from '../../src/cli/doctor/doctor.js';
import { parseEnv } from '../../src/config/env.js';
import { expectPrinted, outputOf } from '../pages/support/outputs.js';
import { examine as examineInstallation } from '../support/accounts-command.js';
import { engine } from '../support/engine.js';
import { untilNumbered } from '../support/feed.js';
import { anInvitation } from '../support/inviting.js';
import { anInstallation, type Installation } from '../support/installation.js';
import { aCode, anOrg, anOrgOf, byCode, type Cast } from '../support/personas.js';
import { insertRow, insertRows } from '../support/rows.js';
import { keyRingOf } from '../support/second-factor.js';
import { startOwnService } from '../support/service.js';
import { sessionIdOf } from '../support/signing-keys.js';

const REVOKE = 'UPDATE sessions SET revoked_at = created_at';
const DAY_MS = 86_400_000;

/** Claims of the doctor, and below them statements, each of which makes exactly those claims untrue. */
const DAMAGES = `
every migration of this version has run
  UPDATE migrations SET name = 'x'
all running instances have the same signing keys
  INSERT INTO instances (id, host, pid, key_set, signing_key, counts_alone, started_at, seen_at, differs_since)
    VALUES ('1', 'app-1', 1, 'k1', 'k1', 0, 1, :tomorrow, 1), ('2', 'app-2', 1, 'k2', 'k2', 0, 1, :tomorrow, 1)
the clocks of all running instances agree with the clock of the database
  INSERT INTO instances (id, host, pid, key_set, signing_key, counts_alone, started_at, seen_at, clock_offset)
    VALUES ('1', 'app-1', 1, 'k1', 'k1', 0, 1, :tomorrow, -2001)
no instances that run side by side count rate limits by themselves
  INSERT INTO instances (id, host, pid, key_set, signing_key, counts_alone, started_at, seen_at)
    VALUES ('1', 'app-1', 1, 'k1', 'k1', 1, 1, :tomorrow), ('2', 'app-2', 1, 'k1', 'k1', 0, 1, :tomorrow)
every organization has an owner
every membership matches its last event
  UPDATE members SET role = 'admin' WHERE org_id = :org
every organization has an enabled owner
  UPDATE users SET disabled_at = 1, disabled_email = email WHERE id = :owner
no purge of a deleted organization is overdue
every pending invitation is from a user who may invite
  UPDATE orgs SET deleted_at = 1, deleted_name = name, purge_at = :yesterday WHERE id = :org
every deleted organization has a purge time, and no other has one
every pending invitation is from a user who may invite
  UPDATE orgs SET deleted_at = 1, deleted_name = name WHERE id = :org
every deleted organization has a purge time, and no other has one
  UPDATE orgs SET purge_began_at = 1 WHERE id = :org
every membership belongs to a user and an organization
every membership matches its last event
  UPDATE members SET user_id = 'gone' WHERE user_id = :member
  UPDATE members SET org_id = 'gone' WHERE user_id = :member
every membership has the email of its user
  UPDATE members SET email = 'before@example.com' WHERE user_id = :member
every membership has a valid role
every membership matches its last event
  UPDATE members SET role = 'king' WHERE user_id = :member
every membership matches its last event
  DELETE FROM members WHERE user_id = :member
every revision of an organization belongs to one change
  UPDATE events SET org_revision = 2 WHERE org_id = :org AND org_revision = 3
no event waits long for its position in the event feed
  INSERT INTO events (id, type, at, actor_type, user_id, user_revision, data, pending)
    VALUES (:event, 'account.enabled', 1, 'system', :member, 9, '{}', 1)
no event with a position in the event feed stays marked as pending
  INSERT INTO events (id, type, at, actor_type, user_id, user_revision, data, pending)
    VALUES (:event, 'account.enabled', 1, 'system', :member, 9, '{}', 1);
    INSERT INTO feed (seq, event_id) SELECT MAX(seq) + 1, :event FROM feed
the event feed has no gap
  DELETE FROM feed WHERE seq = 2
the event feed has the events of each organization in the order of their revisions
  UPDATE events SET org_revision = 99 WHERE type = 'org.created' AND org_id = :org
the event feed has the events of each user in the order of their revisions
  INSERT INTO events (id, type, at, actor_type, user_id, user_revision, data, pending)
    VALUES (:event, 'account.enabled', 1, 'system', :member, 0, '{}', NULL);
    INSERT INTO feed (seq, event_id) SELECT MAX(seq) + 1, :event FROM feed
an email has at most one pending invitation to an organization
every invitation is pending, or has ended
  UPDATE invitations SET email = 'one@example.com', pending = NULL WHERE email = 'two@example.com'
every invitation is pending, or has ended
  UPDATE invitations SET status = 'accepted'
every pending invitation is from a user who may invite
  UPDATE invitations SET invited_by = :member
  UPDATE users SET disabled_at = 1, disabled_email = email WHERE id = :admin
  UPDATE invitations SET org_id = 'gone'
no session belongs to a deleted user
  UPDATE sessions SET user_id = 'gone' WHERE user_id = :member
every trace of logins belongs to a user
  INSERT INTO login_traces (user_id) VALUES ('gone')
every one-time code belongs to a session
  UPDATE authorization_codes SET session_id = 'gone'
every delegated session has its parent session and the first session of its branch
  UPDATE sessions SET login_id = NULL WHERE id = :second
  UPDATE sessions SET code_hash = NULL WHERE id = :first
  UPDATE sessions SET login_id = 'gone' WHERE user_id = :owner AND login_id IS NOT NULL
  UPDATE sessions SET branch_id = 'gone' WHERE id = :second
no delegated session was refreshed
  UPDATE sessions SET refresh_generation = 1 WHERE id = :first
every session counts its refresh tokens in order
  UPDATE sessions SET refresh_generation = 2, seen_generation = 3 WHERE id = :login
  UPDATE sessions SET refresh_generation = 2, reissues = 2 WHERE id = :login
every delegated session has the user and the login time of its parent session, and the parent session of its branch
  UPDATE sessions SET user_id = :admin WHERE id = :second
  UPDATE sessions SET auth_time = auth_time - 1 WHERE id = :second
  UPDATE sessions SET branch_id = :second WHERE id = :first
no revocation is left unfinished
  INSERT INTO pending_revocations (session_id, user_id, since, reason)
    VALUES (:login, :owner, :yesterday, 'logout')
no session expires before it begins
  UPDATE sessions SET created_at = expires_at + 1
no session begins before its login
  UPDATE sessions SET auth_time = created_at + 30001 WHERE user_id = :member
no session outlives SESSION_MAX_AGE after its login
  UPDATE sessions SET expires_at = auth_time + 30 * 86400000 + 30001
every user with an enabled second factor needs it to log in
  UPDATE users SET second_factor_at = 1 WHERE id = :member
every user with an enabled second factor needs it to log in
a key of JWT_KEYS_FILE decrypts the secret of every second factor
  INSERT INTO second_factors (user_id, secret, enabled_at) VALUES (:member, 's', 1)
every second factor is either enabled or pending until a time
a key of JWT_KEYS_FILE decrypts the secret of every second factor
  INSERT INTO second_factors (user_id, secret) VALUES (:member, :sealedForAdmin);
    INSERT INTO second_factors (user_id, secret, pending_until) VALUES (:admin, :sealedForAdmin, 1)
no session outlives the end that its provider set
  UPDATE sessions SET ends_at = expires_at - 1 WHERE id = :login
every identity belongs to a user and a provider
  INSERT INTO identities (provider_id, subject, user_id, created_at) VALUES ('gone', 's', :member, 1)
every identity belongs to a user and a provider
every provider has settings that Accounts can read
  INSERT INTO providers (id, name, title, issuer, client_id, secret, settings, created_at)
    VALUES ('p', 'acme', 'Acme', 'https://id.example', 'a', :sealedForProvider, '{"createUsers": 1}', 1);
    INSERT INTO identities (provider_id, subject, user_id, created_at) VALUES ('p', 's', 'gone', 1)
a key of JWT_KEYS_FILE decrypts the secret of every provider
  INSERT INTO providers (id, name, title, issuer, client_id, secret, settings, created_at)
    VALUES ('q', 'acme', 'Acme', 'https://id.example', 'a', :sealedForProvider, '{}', 1)
no user without two-factor authentication has recovery codes
  INSERT INTO recovery_codes (user_id, hash) VALUES (:member, 'h')
every operator was granted by a command
  UPDATE users SET operator_since = :now WHERE id = :member
no removed service has a live secret, and no other service has more than two
  INSERT INTO services (name, allow, created_at, disabled_at, removed_at) VALUES ('a', '', 1, 1, 1);
    INSERT INTO service_secrets (id, service, hash, created_at) VALUES ('1', 'a', 'h', 1)
  INSERT INTO services (name, allow, created_at) VALUES ('a', '', 1);
    INSERT INTO service_secrets (id, service, hash, created_at)
    VALUES ('1', 'a', '1', 1), ('2', 'a', '2', 1), ('3', 'a', '3', 1)
every removed service is disabled
  INSERT INTO services (name, allow, created_at, removed_at) VALUES ('a', '', 1, 1)
no delegated session of a disabled or removed service has its epoch, or a later one
  INSERT INTO services (name, allow, epoch, created_at, disabled_at) VALUES ('a', '', 3, 1, 1);
    UPDATE sessions SET service = 'a', bound_epoch = 3 WHERE id = :first;
    UPDATE sessions SET service = 'a', bound_epoch = 1 WHERE id = :second
  INSERT INTO services (name, allow, epoch, created_at, disabled_at, removed_at) VALUES ('a', '', 3, 1, 1, 1);
    UPDATE sessions SET service = 'a', bound_epoch = 3 WHERE id = :first;
    UPDATE sessions SET service = 'a', bound_epoch = 1 WHERE id = :second
  INSERT INTO services (name, allow, epoch, created_at) VALUES ('a', '', 2, 1);
    UPDATE sessions SET service = 'a', bound_epoch = 3 WHERE id = :first;
    UPDATE sessions SET service = 'a', bound_epoch = 1 WHERE id = :second
  UPDATE sessions SET service = 'gone', bound_epoch = 0 WHERE id = :first
every API key has a user, a service and, if it names one, an organization
  INSERT INTO api_keys (id, hash, user_id, audience, role, name, created_at, expires_at)
    VALUES ('1', 'h', :member, 'gone', 'member', 'x', 1, 2)
  INSERT INTO services (name, allow, created_at) VALUES ('a', '', 1);
    INSERT INTO api_keys (id, hash, user_id, audience, role, name, created_at, expires_at)
      VALUES ('1', 'h', 'gone', 'a', 'member', 'x', 1, 2)
  INSERT INTO services (name, allow, created_at) VALUES ('a', '', 1);
    INSERT INTO api_keys (id, hash, user_id, org_id, audience, role, name, created_at, expires_at)
      VALUES ('1', 'h', :member, 'gone', 'a', 'member', 'x', 1, 2)
every call names two services that exist
  INSERT INTO services (name, allow, created_at) VALUES ('a', '', 1);
    INSERT INTO service_calls (caller, callee, allowed_at) VALUES ('a', 'gone', 1)
  INSERT INTO services (name, allow, created_at) VALUES ('a', '', 1);
    INSERT INTO service_calls (caller, callee) VALUES ('gone', 'a')
exactly the disabled users are listed as disabled
exactly the deleted organizations are listed as deleted
  UPDATE users SET disabled_email = email WHERE id = :member;
    UPDATE orgs SET deleted_name = name WHERE id = :org
every membership has the email of its user
every email is normalized
  UPDATE users SET email = 'Loud@Example.com' WHERE id = :member
  UPDATE users SET email = 'nobody' WHERE id = :member
no password hash is costlier than an import accepts
  UPDATE users SET password_hash = :costlyHash WHERE id = :member
`;

const damages = [...DAMAGES.matchAll(/((?:^\S.*\n)+)((?:^ .*\n)+)/gm)].flatMap(([, claims, statements]) =>
  statements!
    .trim()
    .split(/\n  (?! )/)
    .map((sql) => ({ sql, red: claims!.trim().split('\n') })),
);

describe('the doctor', () => {
  let installation: Installation;
  /** of a service that runs; afterwards nothing but a test changes the data */
  let healthy: Awaited<ReturnType<typeof examine>>;
  let cast: Cast;
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

    const secrets = new EncryptedSecrets(await keyRingOf({ installation }), 'second factor secrets');
    const ofProviders = new EncryptedSecrets(await keyRingOf({ installation }), 'provider secrets');
    named = {
      org: cast.org.id,
      owner: cast.owner.id,
      admin: cast.admin.id,
      member: cast.member.id,
      login: sessionIdOf(cast.owner),
      first: sessionIdOf(first),
      second: sessionIdOf(second),
      event: '01900000-0000-7000-8000-000000000000',
      costlyHash: `$2b$14$${'.'.repeat(53)}`,
      now: Date.now(),
      tomorrow: Date.now() + DAY_MS,
      yesterday: Date.now() - DAY_MS - 1,
      sealedForProvider: ofProviders.encrypt(Buffer.from('s'), 'p'),
      sealedForAdmin: secrets.encrypt(Buffer.from('s'), cast.admin.id),
    };
  });

  afterAll(() => installation.remove());

  const examine = (env?: Record<string, string>) => examineInstallation(installation, env);
  const force = (sql: string, values: (string | number | null)[] = []) => installation.db.force(sql, values);
  const untrue = async (env: Record<string, string> = {}): Promise<Finding[]> =>
    (await inspect(parseEnv({ ...installation.env, ...env }))).filter(({ faults }) => faults.length > 0);
  const claimsOf = (findings: Finding[]) => findings.map(({ check }) => check.claim);

  async function restoring<T>(tables: string[], work: () => Promise<T>): Promise<T> {
    const saved = await Promise.all(tables.map((table) => installation.db.query(`SELECT * FROM ${table}`)));
    try {
      return await work();
    } finally {
      for (const [index, table] of tables.entries()) {
        await force(`DELETE FROM ${table}`);
        await insertRows({ query: force }, table, saved[index]!);
      }
    }
  }

  it('finds a running service healthy, claim by claim', () => {
    const lines = Array<unknown>(54).fill(expect.stringMatching(/^green /));
    expect(healthy).toEqual({ code: 0, lines, errors: '' });
    expectPrinted(healthy.lines.join('\n'), outputOf('docs/quickstart-operator.md', 'green'));
  });

  it.each(damages)('detects $sql', async ({ sql, red }) => {
    const tables = [...sql.matchAll(/(?:UPDATE|INSERT INTO|DELETE FROM) (\w+)/g)].map(([, table]) => table!);
    const found = await restoring([...new Set(tables)], async () => {
      for (const statement of sql.split(';')) {
        const values = [...statement.matchAll(/:(\w+)/g)].map(([, name]) => named[name!]!);
        await force(statement.replaceAll(/:\w+/g, '?'), values);
      }
      return untrue();
    });
    expect(claimsOf(found)).toEqual(red);
  });

  async function altered<T>(change: string, undo: string, work: () => Promise<T>): Promise<T> {
    await installation.db.query(change);
    try {
      return await work();
    } finally {
      await installation.db.query(undo);
    }
  }

  it('detects a column that no migration created', async () => {
    const [add, drop] = ['ALTER TABLE orgs ADD COLUMN extra integer', 'ALTER TABLE orgs DROP COLUMN extra'];
    const found = await altered(add, drop, untrue);
    expect(claimsOf(found)).toEqual(['the tables have the schema of the migrations']);
  });

  it('detects a missing index, and the queries that it slows down', async () => {
    const index = 'sessions_expires_at_id_idx';
    const drop = `DROP INDEX ${index}${engine === 'mariadb' ? ' ON sessions' : ''}`;
    const create = `CREATE INDEX ${index} ON sessions (expires_at, id)`;
    const { code, lines } = await restoring(['sessions'], async () => {
      // Enough that no engine would scan all of them for a few.
      const now = Date.now();
      const times = { user_id: cast.member.id, auth_time: now, created_at: now, expires_at: now + DAY_MS };
      const ids = Array.from({ length: 3000 }, (_, number) => ({ id: `filler-${number}` }));
      await insertRows(installation.db, 'sessions', ids, times);
      if (engine === 'mariadb') await installation.db.query('ANALYZE TABLE sessions');
      return altered(drop, create, () => examine());
    });

    expect(code).toBe(1);
    expect(lines.filter((line) => line.startsWith('RED'))).toEqual([
      'RED    the tables have the schema of the migrations',
      'RED    hot queries use their indexes',
    ]);
    const cleanUp =
      /^         reads all of sessions: SELECT s\.id, .+ FROM sessions s WHERE s\.expires_at <= \?/;
    expect(lines).toContainEqual(expect.stringMatching(cleanUp));
  });

  it('treats a claim that cannot be checked as false', async () => {
    const [hide, show] = ['ALTER TABLE users RENAME TO hidden', 'ALTER TABLE hidden RENAME TO users'];
    const sick = await altered(hide, show, untrue);
    expect(claimsOf(sick)).toContain('every email is normalized');
    expect(sick.flatMap(({ faults }) => faults).join()).toContain('could not be checked');
  });

  it('tolerates clock skew up to the leeway of tokens', async () => {
    const found = await restoring(['sessions'], async () => {
      const sql =
        'UPDATE sessions SET auth_time = created_at + 30000, expires_at = created_at + ? WHERE user_id = ?';
      await force(sql, [DAY_MS, cast.member.id]);
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
      await force('UPDATE sessions SET created_at = expires_at + 1 WHERE user_id = ?', [cast.member.id]);
      const lasting = 'UPDATE sessions SET expires_at = auth_time + ? WHERE user_id = ?';
      await force(lasting, [31 * DAY_MS, cast.admin.id]);
      await force('UPDATE sessions SET auth_time = created_at + 30001 WHERE user_id = ?', [cast.outsider.id]);
      const before = await untrue();
      for (const id of before.flatMap(({ faults }) => faults)) await force(`${REVOKE} WHERE id = ?`, [id]);
      return { sick: before, cured: await untrue() };
    });

    expect(sick).toHaveLength(3);
    expect(sick.filter(({ check }) => check.remedy.includes(REVOKE))).toHaveLength(2);
    expect(cured).toEqual([]);
  });

  it('counts costly hashes by kind, but not those of argon2id', async () => {
    const set = async (hash: string, ...users: string[]): Promise<void> => {
      for (const id of users) await force('UPDATE users SET password_hash = ? WHERE id = ?', [hash, id]);
    };
    const ending = `$${'A'.repeat(22)}$${'A'.repeat(43)}`;
    const { code, lines } = await restoring(['users'], async () => {
      await set(`$2b$14$${'.'.repeat(53)}`, cast.owner.id, cast.admin.id);
      await set(`$pbkdf2-sha512$i=800001${ending}`, cast.member.id);
      await set(`$argon2id$v=19$m=1048576,t=2,p=1${ending}`, cast.outsider.id);
      return examine();
    });
    const warned = lines.findIndex((line) => !line.startsWith('green'));
    expect(lines.slice(warned, warned + 3)).toEqual([
      'yellow no password hash is costlier than an import accepts',
      '         users with 2b 14: 2',
      '         users with pbkdf2-sha512 i=800001: 1',
    ]);
    expect(lines.filter((line) => line.startsWith('RED'))).toEqual([]);
    expect(code).toBe(0);
  });

  it('sees one snapshot, whatever is written meanwhile', async () => {
    const COUNT = 'SELECT COUNT(*) AS users FROM users';
    const checkOf = (findFaults: Check['findFaults']): Check => ({ claim: '', remedy: '', findFaults });
    const counting = checkOf(async ({ runner }) => {
      const [row] = (await runner.query(COUNT)) as { users: number }[];
      return [String(row!.users)];
    });
    const writing = checkOf(async () => {
      await insertRow(installation.db, 'users', { id: randomUUID() });
      return [];
    });
    const users = async () => Number((await installation.db.query(COUNT))[0]!['users']);
    const before = await users();

    await restoring(['users'], async () => {
      const findings = await inspect(parseEnv(installation.env), [counting, writing, counting]);
      expect(findings.map(({ faults }) => faults)).toEqual([[String(before)], [], [String(before)]]);
      expect(await users()).toBe(before + 1);
    });
  });

  it('exits with 2 and one line when nothing can be checked', async () => {
    expect(await examine({ DATABASE_URL: 'sqlite:./nowhere.sqlite' })).toMatchObject({
      code: 2,
      errors: expect.stringMatching(/^DATABASE_URL: [^\n]+\n$/),
    });
  });
});
