import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { KeyRing, readKeySet } from '../../src/auth/tokens/signing-keys.js';
import { EncryptedSecrets } from '../../src/auth/tokens/derived-keys.js';
import type { Row } from '../support/database.js';
import { examine as examineInstallation, type Examination, untrueClaims } from '../support/doctor.js';
import { engine } from '../support/engine.js';
import { untilNumbered } from '../support/feed.js';
import { anInvitation } from '../support/inviting.js';
import { anInstallation, type Installation } from '../support/installation.js';
import { type Account, aCode, type Cast, anOrg, anOrgOf } from '../support/personas.js';
import { startOwnService } from '../support/service.js';
import { decodeToken } from '../support/signing-keys.js';

const REVOKE = 'UPDATE sessions SET revoked_at = created_at';
const DAY_MS = 86_400_000;
const OLD_EVENT = `INSERT INTO events (id, type, at, actor_type, user_id, user_revision, data, pending)
  VALUES ('01900000-0000-7000-8000-000000000000', ?, 1, 'system', ?, ?, '{}', NULLIF(?, 0))`;
const PLACE_OF_OLD_EVENT = `INSERT INTO feed (seq, event_id)
  SELECT MAX(seq) + 1, '01900000-0000-7000-8000-000000000000' FROM feed`;

/** What is done to the tables named, which get their rows back afterwards, and every claim that is then untrue. */
interface Damage {
  what: string;
  tables: string[];
  do: () => Promise<unknown>;
  red: string[];
}

const OF_ITS_LOGIN =
  'every session that a code opened has the user and the time of its login, and the login of its branch';

describe('the doctor', () => {
  let installation: Installation;
  /** of a service that runs; afterwards nothing but a test changes the data */
  let healthy: Examination;
  let cast: Cast;
  /** sessions: of a login, derived from it, and derived from that */
  let chain: string[];

  beforeAll(async () => {
    installation = await anInstallation();
    const service = await startOwnService({ installation });
    cast = await anOrg(service);
    await anOrgOf(cast.outsider);
    for (const email of ['one@example.com', 'two@example.com']) {
      await anInvitation(cast.admin, cast.org, { email });
    }
    const derive = async (from: Account): Promise<Account> => {
      const code = await aCode(from);
      const { body } = await service.anyone.post<{ token: string }>('/api/auth/code/exchange', { code });
      return from.as(body.token);
    };
    const derived = await derive(cast.owner);
    const accounts = [cast.owner, derived, await derive(derived)];
    chain = accounts.map(({ token }) => decodeToken(token).claims['sid'] as string);
    await aCode(cast.owner);
    healthy = await examine();
    await untilNumbered(installation.db);
    await service.stop();
  });

  afterAll(() => installation.remove());

  const examine = (env?: Record<string, string>) => examineInstallation(installation, env);
  const force = (sql: string, ...values: (string | number)[]) => installation.db.force(sql, values);
  const redIn = ({ lines }: Examination) =>
    lines.filter((line) => line.startsWith('RED')).map((line) => line.slice('RED    '.length));

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

  const damages: Damage[] = [
    {
      what: 'no migration was noted',
      tables: ['migrations'],
      do: () => force("UPDATE migrations SET name = 'x'"),
      red: ['every migration of this version has run'],
    },
    {
      what: 'an organization without an owner',
      tables: ['members'],
      do: () => force("UPDATE members SET role = 'admin' WHERE org_id = ?", cast.org.id),
      red: ['every organization has an owner', 'every membership agrees with its last event'],
    },
    {
      what: 'an organization whose only owner is disabled',
      tables: ['users'],
      do: () => force('UPDATE users SET disabled_at = 1, disabled_email = email WHERE id = ?', cast.owner.id),
      red: ['every organization has an owner whose account is enabled'],
    },
    {
      what: 'a deleted organization that nobody purged',
      tables: ['orgs'],
      do: () =>
        force(
          'UPDATE orgs SET deleted_at = 1, deleted_name = name, purge_at = ? WHERE id = ?',
          Date.now() - DAY_MS - 1,
          cast.org.id,
        ),
      red: [
        'no purge of a deleted organization is overdue',
        'every pending invitation is from somebody who may invite',
      ],
    },
    {
      what: 'a deleted organization without a time of its purge',
      tables: ['orgs'],
      do: () => force('UPDATE orgs SET deleted_at = 1, deleted_name = name WHERE id = ?', cast.org.id),
      red: [
        'every deleted organization has a purge time, and no other has one',
        'every pending invitation is from somebody who may invite',
      ],
    },
    {
      what: 'a purge of an organization that is not deleted',
      tables: ['orgs'],
      do: () => force('UPDATE orgs SET purge_began_at = 1 WHERE id = ?', cast.org.id),
      red: ['every deleted organization has a purge time, and no other has one'],
    },
    {
      what: 'a membership of a user who is gone',
      tables: ['members'],
      do: () => force("UPDATE members SET user_id = 'gone' WHERE user_id = ?", cast.member.id),
      red: [
        'every membership belongs to a user and an organization',
        'every membership agrees with its last event',
      ],
    },
    {
      what: 'a membership in an organization that is gone',
      tables: ['members'],
      do: () => force("UPDATE members SET org_id = 'gone' WHERE user_id = ?", cast.member.id),
      red: [
        'every membership belongs to a user and an organization',
        'every membership agrees with its last event',
      ],
    },
    {
      what: 'a membership with an e-mail of before',
      tables: ['members'],
      do: () => force("UPDATE members SET email = 'before@example.com' WHERE user_id = ?", cast.member.id),
      red: ['every membership has the e-mail of its user'],
    },
    {
      what: 'a role of its own',
      tables: ['members'],
      do: () => force("UPDATE members SET role = 'king' WHERE user_id = ?", cast.member.id),
      red: ['every membership has a valid role', 'every membership agrees with its last event'],
    },
    {
      what: 'a membership that nobody recorded the end of',
      tables: ['members'],
      do: () => force('DELETE FROM members WHERE user_id = ?', cast.member.id),
      red: ['every membership agrees with its last event'],
    },
    {
      what: 'a revision that two changes have',
      tables: ['events'],
      do: () =>
        force('UPDATE events SET org_revision = 2 WHERE org_id = ? AND org_revision = 3', cast.org.id),
      red: ['every revision of an organization belongs to one change'],
    },
    {
      what: 'an event that nobody numbers',
      tables: ['events'],
      do: () => force(OLD_EVENT, 'account.enabled', cast.member.id, 9, 1),
      red: ['no event waits for long for its place in the feed'],
    },
    {
      what: 'a mark that nobody may clear',
      tables: ['events', 'feed'],
      do: async () => {
        await force(OLD_EVENT, 'account.enabled', cast.member.id, 9, 1);
        await force(PLACE_OF_OLD_EVENT);
      },
      red: ['no event that has its place in the feed is still marked for long'],
    },
    {
      what: 'a place of the feed that is gone',
      tables: ['feed'],
      do: () => force('DELETE FROM feed WHERE seq = 2'),
      red: ['the feed has no gap'],
    },
    {
      what: 'a feed in which an organization changes before it is created',
      tables: ['events'],
      do: () =>
        force("UPDATE events SET org_revision = 99 WHERE type = 'org.created' AND org_id = ?", cast.org.id),
      red: ['the feed has the events of each organization in the order of its revision'],
    },
    {
      what: 'a feed in which an account changes before it is registered',
      tables: ['events', 'feed'],
      do: async () => {
        await force(OLD_EVENT, 'account.enabled', cast.member.id, 0, 0);
        await force(PLACE_OF_OLD_EVENT);
      },
      red: ['the feed has the events of each account in the order of its revision'],
    },
    {
      what: 'two pending invitations for one e-mail, of which one counts as ended',
      tables: ['invitations'],
      do: () =>
        force(
          "UPDATE invitations SET email = 'one@example.com', pending = NULL WHERE email = 'two@example.com'",
        ),
      red: [
        'an e-mail has at most one pending invitation to an organization',
        'every invitation is pending, or has ended',
      ],
    },
    {
      what: 'an invitation that is accepted and pending',
      tables: ['invitations'],
      do: () => force("UPDATE invitations SET status = 'accepted'"),
      red: ['every invitation is pending, or has ended'],
    },
    {
      what: 'a pending invitation of somebody who is no admin',
      tables: ['invitations'],
      do: () => force('UPDATE invitations SET invited_by = ?', cast.member.id),
      red: ['every pending invitation is from somebody who may invite'],
    },
    {
      what: 'a pending invitation of somebody who is disabled',
      tables: ['users'],
      do: () => force('UPDATE users SET disabled_at = 1, disabled_email = email WHERE id = ?', cast.admin.id),
      red: ['every pending invitation is from somebody who may invite'],
    },
    {
      what: 'a pending invitation of an organization that is gone',
      tables: ['invitations'],
      do: () => force("UPDATE invitations SET org_id = 'gone'"),
      red: ['every pending invitation is from somebody who may invite'],
    },
    {
      what: 'a session of a user who is gone',
      tables: ['sessions'],
      do: () => force("UPDATE sessions SET user_id = 'gone' WHERE user_id = ?", cast.member.id),
      red: ['no session belongs to a deleted user'],
    },
    {
      what: 'a code of a session that is gone',
      tables: ['authorization_codes'],
      do: () => force("UPDATE authorization_codes SET session_id = 'gone'"),
      red: ['every authorization code belongs to a session'],
    },
    {
      what: 'a session that a code opened without its login',
      tables: ['sessions'],
      do: () => force('UPDATE sessions SET login_id = NULL WHERE id = ?', chain[2]!),
      red: ['every session that a code opened has its login and the first session of its branch'],
    },
    {
      what: 'a session with a login, and without a code',
      tables: ['sessions'],
      do: () => force('UPDATE sessions SET code_hash = NULL WHERE id = ?', chain[1]!),
      red: ['every session that a code opened has its login and the first session of its branch'],
    },
    {
      what: 'a session of a login that is gone',
      tables: ['sessions'],
      do: () =>
        force(
          "UPDATE sessions SET login_id = 'gone' WHERE user_id = ? AND login_id IS NOT NULL",
          cast.owner.id,
        ),
      red: ['every session that a code opened has its login and the first session of its branch'],
    },
    {
      what: 'a session of a branch that is gone',
      tables: ['sessions'],
      do: () => force("UPDATE sessions SET branch_id = 'gone' WHERE id = ?", chain[2]!),
      red: ['every session that a code opened has its login and the first session of its branch'],
    },
    {
      what: 'a session that a code opened, with refresh tokens',
      tables: ['sessions'],
      do: () => force('UPDATE sessions SET refresh_generation = 1 WHERE id = ?', chain[1]!),
      red: ['no session that a code opened is refreshed'],
    },
    {
      what: 'a session of another user than its login',
      tables: ['sessions'],
      do: () => force('UPDATE sessions SET user_id = ? WHERE id = ?', cast.admin.id, chain[2]!),
      red: [OF_ITS_LOGIN],
    },
    {
      what: 'a session with another time of the login',
      tables: ['sessions'],
      do: () => force('UPDATE sessions SET auth_time = auth_time - 1 WHERE id = ?', chain[2]!),
      red: [OF_ITS_LOGIN],
    },
    {
      what: 'a session of a branch that does not begin with its head',
      tables: ['sessions'],
      do: () => force('UPDATE sessions SET branch_id = ? WHERE id = ?', chain[2]!, chain[1]!),
      red: [OF_ITS_LOGIN],
    },
    {
      what: 'a revocation that broke off and was not taken up again',
      tables: ['pending_revocations'],
      do: () =>
        force(
          'INSERT INTO pending_revocations (session_id, user_id, since, reason) VALUES (?, ?, ?, ?)',
          chain[0]!,
          cast.owner.id,
          Date.now() - 200_000,
          'logout',
        ),
      red: ['no revocation has been left unfinished'],
    },
    {
      what: 'a session that expires before it begins',
      tables: ['sessions'],
      do: () => force('UPDATE sessions SET created_at = expires_at + 1'),
      red: ['no session expires before it begins'],
    },
    {
      what: 'a session that begins long before its login',
      tables: ['sessions'],
      do: () => force('UPDATE sessions SET auth_time = created_at + 30001 WHERE user_id = ?', cast.member.id),
      red: ['no session begins before its login'],
    },
    {
      what: 'a session that lives on and on',
      tables: ['sessions'],
      do: () => force('UPDATE sessions SET expires_at = auth_time + ?', 30 * DAY_MS + 30_001),
      red: ['no session outlives SESSION_MAX_AGE after its login'],
    },
    {
      what: 'an account that asks for a second factor it does not have',
      tables: ['users'],
      do: () => force('UPDATE users SET second_factor_at = 1 WHERE id = ?', cast.member.id),
      red: ['every account asks for the second factor that is enabled for it'],
    },
    {
      what: 'a second factor that no login asks for',
      tables: ['second_factors'],
      do: () =>
        force("INSERT INTO second_factors (user_id, secret, enabled_at) VALUES (?, 's', 1)", cast.member.id),
      red: [
        'every account asks for the second factor that is enabled for it',
        'a key of JWT_KEYS_FILE opens the secret of every second factor',
      ],
    },
    {
      what: 'a second factor that is pending for ever, and sealed for another user',
      tables: ['second_factors'],
      do: async () => {
        const keys = new KeyRing(readKeySet(await readFile(installation.env['JWT_KEYS_FILE']!, 'utf8')));
        const sealed = new EncryptedSecrets(keys, 'second factor secrets').encrypt(
          Buffer.from('s'),
          cast.admin.id,
        );
        await force('INSERT INTO second_factors (user_id, secret) VALUES (?, ?)', cast.member.id, sealed);
        await force(
          'INSERT INTO second_factors (user_id, secret, pending_until) VALUES (?, ?, 1)',
          cast.admin.id,
          sealed,
        );
      },
      red: [
        'every second factor is either enabled or pending for a time',
        'a key of JWT_KEYS_FILE opens the secret of every second factor',
      ],
    },
    {
      what: 'recovery codes of a second factor that was removed',
      tables: ['recovery_codes'],
      do: () => force("INSERT INTO recovery_codes (user_id, hash) VALUES (?, 'h')", cast.member.id),
      red: ['no account without a second factor has recovery codes'],
    },
    {
      what: 'an operator whom no command granted it',
      tables: ['users'],
      do: () => force('UPDATE users SET operator_since = ? WHERE id = ?', Date.now(), cast.member.id),
      red: ['every operator was granted by a command'],
    },
    {
      what: 'a live secret of a service that was removed',
      tables: ['service_secrets', 'services'],
      do: async () => {
        await force(
          "INSERT INTO services (name, allow, created_at, disabled_at, removed_at) VALUES ('a', '', 1, 1, 1)",
        );
        await force("INSERT INTO service_secrets (id, service, hash, created_at) VALUES ('1', 'a', 'h', 1)");
      },
      red: ['no removed service has a live secret, and no other has more than two'],
    },
    {
      what: 'three live secrets of a service',
      tables: ['service_secrets', 'services'],
      do: async () => {
        await force("INSERT INTO services (name, allow, created_at) VALUES ('a', '', 1)");
        for (const id of ['1', '2', '3']) {
          await force(
            "INSERT INTO service_secrets (id, service, hash, created_at) VALUES (?, 'a', ?, 1)",
            id,
            id,
          );
        }
      },
      red: ['no removed service has a live secret, and no other has more than two'],
    },
    {
      what: 'a service that was removed and is not disabled',
      tables: ['services'],
      do: () => force("INSERT INTO services (name, allow, created_at, removed_at) VALUES ('a', '', 1, 1)"),
      red: ['every removed service is disabled'],
    },
    ...[
      ['a disabled service, which it would be alive of once that is enabled', "'', 3, 1, 1, NULL"],
      ['a removed service', "'', 3, 1, 1, 1"],
      ['a service that has not come to its epoch', "'', 2, 1, NULL, NULL"],
    ].map(([of, values]) => ({
      what: `a session for ${of}`,
      tables: ['sessions', 'services'],
      do: async () => {
        const columns = 'name, allow, epoch, created_at, disabled_at, removed_at';
        await force(`INSERT INTO services (${columns}) VALUES ('a', ${values})`);
        await force("UPDATE sessions SET service = 'a', bound_epoch = 3 WHERE id = ?", chain[1]!);
        await force("UPDATE sessions SET service = 'a', bound_epoch = 1 WHERE id = ?", chain[2]!);
      },
      red: ['no session for a service that is disabled or gone is of its epoch, or of a later one'],
    })),
    {
      what: 'a session for a service that is gone',
      tables: ['sessions'],
      do: () => force("UPDATE sessions SET service = 'gone', bound_epoch = 0 WHERE id = ?", chain[1]!),
      red: ['no session for a service that is disabled or gone is of its epoch, or of a later one'],
    },
    {
      what: 'an enabled account and an organization in the lists of others',
      tables: ['users', 'orgs'],
      do: async () => {
        await force('UPDATE users SET disabled_email = email WHERE id = ?', cast.member.id);
        await force('UPDATE orgs SET deleted_name = name WHERE id = ?', cast.org.id);
      },
      red: [
        'exactly the disabled accounts are listed as disabled',
        'exactly the deleted organizations are listed as deleted',
      ],
    },
    {
      what: 'an e-mail in capitals',
      tables: ['users'],
      do: () => force('UPDATE users SET email = ? WHERE id = ?', 'Loud@Example.com', cast.member.id),
      red: ['every membership has the e-mail of its user', 'every e-mail is in its canonical form'],
    },
    {
      what: 'an e-mail that is none',
      tables: ['users'],
      do: () => force('UPDATE users SET email = ? WHERE id = ?', 'nobody', cast.member.id),
      red: ['every membership has the e-mail of its user', 'every e-mail is in its canonical form'],
    },
  ];
  it.each(damages)('detects $what', async ({ tables, do: damage, red }) => {
    const untrue = await restoring(tables, async () => {
      await damage();
      return untrueClaims(installation);
    });

    expect(untrue).toEqual(red);
  });

  it('detects a column that no migration created', async () => {
    await installation.db.query('ALTER TABLE orgs ADD COLUMN extra integer');
    try {
      const sick = await examine();
      expect(redIn(sick)).toEqual(['the tables are as the migrations made them']);
      expect(sick.code).toBe(1);
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
      const sick = await examine();
      expect(sick.code).toBe(1);
      expect(redIn(sick)).toContain('every e-mail is in its canonical form');
      expect(sick.lines.filter((line) => line.includes('could not be checked'))).not.toEqual([]);
    } finally {
      await installation.db.query('ALTER TABLE hidden RENAME TO users');
    }
  });

  it('tolerates clock skew up to the leeway of tokens', async () => {
    const { code, lines } = await restoring(['sessions'], async () => {
      await force(
        'UPDATE sessions SET auth_time = created_at + 30000, expires_at = created_at + ? WHERE user_id = ?',
        DAY_MS,
        cast.member.id,
      );
      return examine();
    });

    expect(lines.filter((line) => !line.startsWith('green  '))).toEqual([]);
    expect(code).toBe(0);
  });

  it('checks sessions against the current SESSION_MAX_AGE', async () => {
    expect(redIn(await examine({ SESSION_MAX_AGE: '23h' }))).toEqual([
      'no session outlives SESSION_MAX_AGE after its login',
    ]);
    expect(redIn(await examine({ SESSION_MAX_AGE: '24h' }))).toEqual([]);
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
      const before = await examine();
      for (const { id } of await installation.db.query('SELECT id FROM sessions')) {
        if (before.lines.includes(`         ${id}`)) await force(`${REVOKE} WHERE id = ?`, String(id));
      }
      return { sick: before, cured: await examine() };
    });

    expect(redIn(sick)).toHaveLength(3);
    expect(sick.lines.filter((line) => line.includes(REVOKE))).toHaveLength(2);
    expect(redIn(cured)).toEqual([]);
  });

  it('exits with 2 and one line when nothing can be checked', async () => {
    const { code, errors } = await examine({ DATABASE_URL: 'sqlite:./nowhere.sqlite' });

    expect(errors).toMatch(/^DATABASE_URL: [^\n]+\n$/);
    expect(code).toBe(2);
  });
});
