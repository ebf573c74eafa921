import { NestFactory } from '@nestjs/core';
import { afterAll, describe, expect, it } from 'vitest';
import { CliModule } from '../../src/cli/command/cli.module.js';
import { UserDeletion } from '../../src/accounts/user-deletion.js';
import { openDataLayer } from '../support/data-source.js';
import { engine } from '../support/engine.js';
import { recordStatements } from '../support/executed-statements.js';
import { anUnknownId } from '../support/personas.js';
import { allRows, insertRow, insertRows } from '../support/rows.js';

/** Every other table has rows of users, which `UserDeletion` deletes one table after the other. */
const HOLD_NOTHING_OF_USERS = [
  'feed',
  'instances',
  // a hash of the email, for the window of a limit
  'lifted_limits',
  'migrations',
  'migrations_lease',
  'orgs',
  'provider_domains',
  // of a person who may become a user, for minutes
  'provider_logins',
  'providers',
  'service_calls',
  'service_secrets',
  'services',
];

/** The audit log, which outlives users and belongs to operators. */
const OUTLIVE_USERS = ['events', 'operator_emails'];

/** The tables that `UserExport` reads. */
const EXPORTED = [
  ...'api_keys events identities invitations known_places login_traces mails members recovery_codes second_factors'.split(
    ' ',
  ),
  'second_factor_failures',
  'sessions',
  'users',
];

/** In the order that locks, the audit log and Galera need. */
const WRITES_OF_DELETION = [
  'UPDATE orgs',
  'UPDATE users',
  'DELETE members',
  'DELETE invitations',
  'DELETE email_codes',
  'UPDATE mails',
  'DELETE idempotency_keys',
  'DELETE api_keys',
  'DELETE identities',
  'DELETE second_factors',
  'DELETE second_factor_failures',
  'DELETE recovery_codes',
  'DELETE known_places',
  'INSERT events',
  'DELETE authorization_codes',
  'DELETE pending_revocations',
  'DELETE sessions',
  'DELETE login_traces',
  'DELETE users',
];

/** Hashes of secrets, and what lives for a day at most. */
const NOT_EXPORTED = ['authorization_codes', 'idempotency_keys', 'email_codes', 'pending_revocations'];

const REFERENCES = {
  sqlite: `SELECT DISTINCT t.name FROM sqlite_master t JOIN pragma_foreign_key_list(t.name) f
    WHERE t.type = 'table' AND f."table" = 'users'`,
  mariadb: `SELECT DISTINCT TABLE_NAME AS name FROM information_schema.KEY_COLUMN_USAGE
    WHERE TABLE_SCHEMA = DATABASE() AND REFERENCED_TABLE_NAME = 'users'`,
};

const data = await openDataLayer();
const context = await NestFactory.createApplicationContext(CliModule.forRoot(data.env, data.dataSource), {
  logger: false,
  abortOnError: false,
});
afterAll(() => data.close());

describe('the rows of users', () => {
  /** The emails stay for the limits, without the addresses of clients. */
  const deleted = WRITES_OF_DELETION.filter((write) => /^DELETE|mails$/.test(write)).map(
    (write) => write.split(' ')[1]!,
  );

  it('are in tables that a deletion answers for, save the record, which stays', async () => {
    const tables = Object.keys(await allRows(data.db));
    const expected = tables.filter((table) => ![...OUTLIVE_USERS, ...HOLD_NOTHING_OF_USERS].includes(table));
    expect(deleted.toSorted()).toEqual(expected.toSorted());
  });

  it('are exported, save secrets', async () => {
    const known = new Set([...EXPORTED, ...OUTLIVE_USERS, ...NOT_EXPORTED, ...HOLD_NOTHING_OF_USERS]);
    expect(Object.keys(await allRows(data.db)).filter((table) => !known.has(table))).toEqual([]);
  });

  it('are referred to by none of the tables that are said to hold nothing of users', async () => {
    const referring = (await data.db.query(REFERENCES[engine])).map(({ name }) => String(name));
    expect(referring).toContain('sessions');
    expect(referring.filter((table) => !deleted.includes(table))).toEqual([]);
  });

  it('go in the order that locks, the record and Galera need', async () => {
    const { db } = data;
    const [user, other, org] = [anUnknownId(), anUnknownId(), anUnknownId()];
    await insertRows(db, 'users', [{ id: user }, { id: other }], { email_verified_at: 1 });
    await insertRow(db, 'orgs', { id: org });
    const members = [
      { user_id: user, role: 'admin' },
      { user_id: other, role: 'owner' },
    ];
    await insertRows(db, 'members', members, { org_id: org });
    await insertRow(db, 'sessions', { id: anUnknownId(), user_id: user });
    await insertRow(db, 'api_keys', { id: anUnknownId(), user_id: user });
    const executed = recordStatements(data.dataSource);
    await context.get(UserDeletion).delete(user, { actor: { kind: 'system' }, force: false });
    const writes = executed.filter(({ verb }) => ['INSERT', 'UPDATE', 'DELETE'].includes(verb));
    const order = writes.map(({ verb, table }) => `${verb} ${table}`);
    expect(order.filter((write, place) => write !== order[place - 1])).toEqual(WRITES_OF_DELETION);
  });
});
