import { randomBytes, randomUUIDv7 } from 'node:crypto';
import { afterAll, describe, expect, it } from 'vitest';
import { accounts, accountsJson } from '../support/accounts-command.js';
import { engine } from '../support/engine.js';
import { invalidFields } from '../support/expected.js';
import { anOperator } from '../support/operators.js';
import { pagesOf } from '../support/pages.js';
import { insertRows } from '../support/rows.js';
import { startOwnService } from '../support/service.js';

/** More than a page of a command, and more than the others that a search ends with. */
const MANY = 5000;
const MAX_OTHERS = 50;

interface Row {
  id: string;
  email: string;
  name: string;
}

type Page = Record<'users' | 'orgs', Row[]> & { nextCursor?: string; complete?: boolean };

const service = await startOwnService();
afterAll(() => service.stop());
const operator = await anOperator(service);

const tagged = (): string => `t${randomBytes(5).toString('hex')}`;
const newIds = (count: number): string[] =>
  Array.from({ length: count }, () => randomUUIDv7()).toSorted((one, other) => (one < other ? -1 : 1));

async function addUsers(users: Partial<Row>[]): Promise<void> {
  const ids = newIds(users.length);
  const rows = users.map(({ email, name = null as never }, n) => ({
    id: ids[n]!,
    email: email ?? `${ids[n]}@example.com`,
    name,
  }));
  await insertRows(service.db, 'users', rows);
}

async function addOrgs(names: string[]): Promise<void> {
  const ids = newIds(names.length);
  await insertRows(
    service.db,
    'orgs',
    names.map((name, n) => ({ id: ids[n]!, name })),
  );
}

const pathOf = (list: string, search: string, more = ''): string =>
  `/api/operators/${list}?search=${encodeURIComponent(search)}${more}`;

async function found(list: 'users' | 'orgs', search: string, more = ''): Promise<Page> {
  const { status, body, text } = await operator.get<Page>(pathOf(list, search, more));
  expect(status, text).toBe(200);
  return body;
}

const emails = async (search: string, more = '') =>
  (await found('users', search, more)).users.map(({ email }) => email);
const names = async (search: string, more = '') =>
  (await found('orgs', search, more)).orgs.map(({ name }) => name);

const byCommand = async (list: 'users' | 'orgs', text: string) =>
  (await accountsJson<Row>(service.installation, [list, 'find', text])).map(
    ({ email, name }) => email ?? name,
  );

describe('a search of users', () => {
  it('finds any part of an email or name, ignoring case: first the emails that begin with it', async () => {
    const tag = tagged();
    await addUsers([
      { email: `x.${tag}@example.com` },
      { email: `${tag}-b@example.com`, name: `Also ${tag}` },
      { email: `y@${tag}.example` },
      { email: `named-${tag.slice(1)}@example.com`, name: `Orphan ${tag.toUpperCase()} Ltd` },
      { email: `${tag}-a@example.com` },
    ]);
    const begins = [`${tag}-a@example.com`, `${tag}-b@example.com`];
    const others = [`named-${tag.slice(1)}@example.com`, `y@${tag}.example`, `x.${tag}@example.com`];

    expect(await found('users', tag.toUpperCase())).toMatchObject({
      users: [...begins, ...others].map((email) => ({ email })),
    });
    expect(await found('users', tag)).not.toHaveProperty('complete');
    expect(await emails(`orphan ${tag}`)).toEqual([others[0]]);
    expect(await emails(` ${tag} ltd `)).toEqual([others[0]]);
    const byAny = await byCommand('users', tag.toUpperCase());
    expect(byAny.toSorted()).toEqual([...begins, ...others].toSorted());
    expect(await byCommand('users', `orphan ${tag}`)).toEqual([others[0]]);
  });

  it('has the others on the last page only, and tells a client that there are more', async () => {
    const tag = tagged();
    const many = Array.from({ length: MANY }, (_, n) => ({ name: `${tag} ${n}` }));
    await addUsers([...many, ...['a', 'b', 'c'].map((one) => ({ email: `${tag}${one}@example.com` }))]);

    const pages = await pagesOf<Row>(operator, pathOf('users', tag, '&limit=2&include=profile'), 'users');

    expect(pages.map((page) => page.length)).toEqual([2, 1 + MAX_OTHERS]);
    const newest = Array.from({ length: MAX_OTHERS }, (_, n) => `${tag} ${MANY - 1 - n}`);
    expect(pages[1]!.slice(1).map(({ name }) => name)).toEqual(newest);
    expect(await found('users', tag, '&limit=2')).not.toHaveProperty('complete');
    expect(await found('users', tag)).toMatchObject({ complete: false });
  });

  it('keeps to a status', async () => {
    const tag = tagged();
    await addUsers([
      { name: `${tag} enabled` },
      { name: `${tag} disabled`, email: `d-${tag}@example.com` },
      { email: `${tag}@example.com` },
    ]);
    await service.db.query('UPDATE users SET disabled_at = 1, disabled_email = email WHERE email = ?', [
      `d-${tag}@example.com`,
    ]);
    expect(await emails(tag, '&status=disabled')).toEqual([`d-${tag}@example.com`]);
    expect(await emails(tag, '&status=active')).toHaveLength(2);
    expect(await emails(tag)).toHaveLength(3);
  });

  it('ignores accents by the command, on every engine', async () => {
    const tag = tagged();
    await addUsers([{ name: `Zoë Müller ${tag}` }, { email: `muller-${tag}@example.com` }]);
    expect(await byCommand('users', `zoe MÜLLER ${tag}`)).toHaveLength(1);
    expect(await byCommand('users', `müller-${tag}`)).toHaveLength(1);
    await addOrgs([`Süd ${tag}`]);
    expect(await byCommand('orgs', `SUD ${tag}`)).toHaveLength(1);
  });

  it.runIf(engine === 'mariadb')('ignores accents, on MariaDB and MySQL', async () => {
    const tag = tagged();
    const email = `muller-${tag}@example.com`;
    await addUsers([{ name: `Zoë Müller ${tag}` }, { email }]);
    expect(await emails(`zoe muller ${tag}`)).toHaveLength(1);
    expect(await emails(`ZOË MÜLLER ${tag}`)).toHaveLength(1);
    expect(await emails(`müller-${tag}`)).toEqual([email]);
    await addOrgs([`Süd ${tag}`]);
    expect(await names(`SUD ${tag}`)).toHaveLength(1);
  });
});

describe('a search of organizations', () => {
  it('finds any part of a name, ignoring case: first the names that begin with it', async () => {
    const tag = tagged();
    const upper = tag.toUpperCase();
    await addOrgs([`The ${upper} Company`, `${tag} b`, `${upper} Ltd`, `${tag} a`]);
    expect(await names(tag)).toEqual([`${tag} a`, `${tag} b`, `${upper} Ltd`, `The ${upper} Company`]);
    expect(await names(upper)).toEqual([`${upper} Ltd`, `${tag} a`, `${tag} b`, `The ${upper} Company`]);
    expect(await byCommand('orgs', tag)).toHaveLength(4);

    await service.db.query('UPDATE orgs SET deleted_at = 1, deleted_name = name WHERE name = ?', [
      `${upper} Ltd`,
    ]);
    expect(await names(tag, '&status=deleted')).toEqual([`${upper} Ltd`]);
    expect(await names(tag, '&status=active')).toEqual([`${tag} a`, `${tag} b`, `The ${upper} Company`]);
    expect(await names(`he ${tag}`, '&status=ownerless')).toEqual([`The ${upper} Company`]);
  });

  it('has the others on the last page only, and tells a client that there are more', async () => {
    const tag = tagged();
    const others = Array.from({ length: MAX_OTHERS }, (_, n) => `Other ${tag} ${n}`);
    await addOrgs([`${tag} a`, `${tag} b`, ...others]);
    const path = pathOf('orgs', tag, '&limit=1');
    expect((await pagesOf<Row>(operator, path, 'orgs')).map((page) => page.length)).toEqual([
      1,
      1 + MAX_OTHERS,
    ]);
    expect(await found('orgs', tag)).not.toHaveProperty('complete');
    await addOrgs([`Other ${tag}`]);
    expect(await found('orgs', tag)).toMatchObject({ complete: false });
  });
});

describe('odd text', () => {
  it.each(['%', '_', '\\', '!', "'", '"', '*', '[', 'ü', '🙂', '%_', '\u200b', '日本', '\\%'])(
    'finds %j, and nothing else',
    async (text) => {
      const tag = tagged();
      await addUsers([{ name: `Ada ${tag}${text}x` }, { name: `Ada ${tag}?x` }, { name: `Ada ${tag}🏢x` }]);
      await addOrgs([`Org ${tag}${text}x`, `Org ${tag}?x`, `Org ${tag}🏢x`]);
      const search = `a ${tag}${text}x`;
      const { users } = await found('users', search, '&include=profile');
      expect(users.map(({ name }) => name)).toEqual([`Ada ${tag}${text}x`]);
      expect(await names(`g ${tag}${text}x`)).toEqual([`Org ${tag}${text}x`]);
      expect(await byCommand('users', search)).toHaveLength(1);
      expect(await byCommand('orgs', `g ${tag}${text}x`)).toHaveLength(1);
    },
  );

  it.each(['x'.repeat(1000), '', ' ', '\u0000', 'a\nb'])('%j is refused', async (text) => {
    for (const list of ['users', 'orgs'] as const) {
      expect(await operator.get(pathOf(list, text))).toMatchObject(invalidFields('search'));
      if (text.includes('\u0000')) continue;
      const { code, stderr } = await accounts(service.installation, [list, 'find', text]);
      expect([code, stderr]).toEqual([
        2,
        expect.stringMatching(/^error: expected 1 to \d+ characters of [^\n]+\n$/),
      ]);
    }
  });
});

// The last test: afterwards, the rows of the others are too old.
it('compares the newest 100,000 rows only, says so, and finds every beginning', async () => {
  const tag = tagged();
  await addUsers([{ email: `old.${tag}@example.com`, name: tag }]);
  await addUsers(Array.from({ length: 100_000 }, () => ({})));

  expect(await found('users', tag)).toEqual({ users: [], complete: false });
  expect(await emails(`old.${tag}`)).toEqual([`old.${tag}@example.com`]);
  expect(await byCommand('users', tag)).toEqual([`old.${tag}@example.com`]);

  await addUsers([{ email: `new.${tag}@example.com` }]);
  expect(await emails(tag)).toEqual([`new.${tag}@example.com`]);
});
