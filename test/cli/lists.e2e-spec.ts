import { randomUUIDv7 } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { accounts, accountsJson } from '../support/accounts-command.js';
import { anInstallation, type Installation } from '../support/installation.js';
import { anAccount, anAccountOf, anOrg, anOrgOf, type Cast } from '../support/personas.js';
import { type Instance, startOwnService } from '../support/service.js';

/** More than a page, and more than any list that stands in memory by default. */
const MANY = 1203;

interface Listed {
  id: string;
  email?: string;
  name?: string;
}

interface ShownOrg extends Listed {
  counts: Record<string, number>;
  members: { email: string; role: string }[];
  areAllShown: boolean;
}

let installation: Installation;
let service: Instance;
let cast: Cast;

beforeAll(async () => {
  installation = await anInstallation();
  service = await startOwnService({ installation, env: { RATE_LIMIT_REGISTER: 'off' } });
  cast = await anOrg(service);
  await fill();
});
afterAll(async () => {
  await service.stop();
  await installation.remove();
});

const byCode = (one: string, other: string) => (one < other ? -1 : 1);
const places = (row: string) => Array.from({ length: MANY }, () => row).join();

/** Users and organizations, all of whom are members of one. */
async function fill(): Promise<void> {
  // Ids of one millisecond come in any order.
  const ids = Array.from({ length: MANY }, () => randomUUIDv7()).toSorted(byCode);
  const rows = ids.map((id, n) => ({ id, text: String(n).padStart(4, '0') }));
  await service.db.query(
    `INSERT INTO users (id, email, password_hash, created_at) VALUES ${places("(?, ?, 'x', 1)")}`,
    rows.flatMap(({ id, text }) => [id, `many-${text}@example.com`]),
  );
  await service.db.query(
    `INSERT INTO orgs (id, name, revision, created_at) VALUES ${places('(?, ?, 1, 1)')}`,
    rows.flatMap(({ id, text }) => [id, `Many ${text}`]),
  );
  await service.db.query(
    `INSERT INTO members (org_id, user_id, email, role, joined_at) VALUES ${places("(?, ?, ?, 'member', 1)")}`,
    rows.flatMap(({ id, text }) => [cast.org.id, id, `many-${text}@example.com`]),
  );
}

const json = <T = Listed>(...parameters: string[]) => accountsJson<T>(installation, parameters);
const linesOf = async (...parameters: string[]) => {
  const { stdout } = await accounts(installation, parameters);
  return stdout.trimEnd().split('\n');
};

describe('accounts users list and find', () => {
  it('lists all users, by e-mail, each once', async () => {
    const emails = (await json('users', 'list')).map(({ email }) => email);

    const rows = await service.db.query('SELECT email FROM users');
    expect(emails.length).toBeGreaterThan(MANY);
    expect(emails).toEqual(rows.map(({ email }) => String(email)).toSorted(byCode));
    expect(await linesOf('users', 'list')).toHaveLength(rows.length);
  });

  it('finds all with a text, without a bound, and says where --limit cuts', async () => {
    expect(await json('users', 'find', 'MANY-')).toHaveLength(MANY);
    expect((await json('users', 'find', 'many-', '--limit', '2')).map(({ email }) => email)).toEqual([
      'many-0000@example.com',
      'many-0001@example.com',
    ]);
    expect((await linesOf('users', 'find', 'many-', '--limit', '2')).at(-1)).toBe(
      'only the first 2 are shown',
    );
    expect(await linesOf('users', 'find', 'many-', '--limit', String(MANY))).toHaveLength(MANY);
    expect(await linesOf('users', 'find', 'nobody-here')).toEqual(['nobody']);
  });

  it('takes _ and % as they are', async () => {
    const { email } = await anAccountOf(service, 'a_b@wild.example');
    await anAccountOf(service, 'axb@wild.example');

    expect((await json('users', 'find', 'a_b@wild')).map((found) => found.email)).toEqual([email]);
    expect(await json('users', 'find', 'a%b@wild')).toEqual([]);
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
    const owner = await anAccount(service);
    const org = await anOrgOf(owner, 'Süßwaren ÉCLAIR 100%_');

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
    const org = await anOrgOf(await anAccount(service), `${'\u{1F3E2}'.repeat(99)}é`);
    const typed = org.name.normalize('NFD');

    expect(await json('orgs', 'find', typed)).toMatchObject([{ id: org.id }]);
    expect(await json('orgs', 'show', typed)).toMatchObject([{ id: org.id, name: org.name }]);
  });

  it('marks those that are deleted', async () => {
    const owner = await anAccount(service);
    const org = await anOrgOf(owner, 'Gone');
    await owner.delete(`/api/orgs/${org.id}`);

    expect(await linesOf('orgs', 'find', 'gone')).toEqual([`${org.id}  Gone  DELETED`]);
  });
});

describe('accounts orgs show', () => {
  const show = async (...parameters: string[]) => (await json<ShownOrg>('orgs', 'show', ...parameters))[0]!;

  it('shows owners first, how many members there are in all, and that not all of them stand there', async () => {
    const shown = await show(cast.org.id);

    expect(shown.counts).toEqual({ owner: 1, admin: 1, member: MANY + 1 });
    expect(shown.members).toHaveLength(100);
    expect(shown.members.slice(0, 3).map(({ email, role }) => [role, email])).toEqual([
      ['owner', cast.owner.email],
      ['admin', cast.admin.email],
      ['member', 'many-0000@example.com'],
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
    const [one, other] = [await anAccount(service), await anAccount(service)];
    const org = await anOrgOf(one, 'Only One');
    const [twin, same] = [await anOrgOf(one, 'Twins'), await anOrgOf(other, 'Twins')];

    expect((await show('Only One')).id).toBe(org.id);
    const { code, stdout, stderr } = await accounts(installation, ['orgs', 'show', 'Twins']);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toBe(`error: several organizations have that name: give an id, ${twin.id}, ${same.id}\n`);
    expect((await accounts(installation, ['orgs', 'show', 'Only'])).code).toBe(2);
  });
});
