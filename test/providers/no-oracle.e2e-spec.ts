import { afterAll, expect, it, vi } from 'vitest';
import { hangTimeoutMs, waitFor } from '../../tooling/wait.js';
import { AuthService } from '../../src/auth/auth.service.js';
import { decoyLike, Decoys } from '../../src/auth/passwords/decoys.js';
import { HASH_ENGINE, type HashEngine } from '../../src/auth/passwords/hash-engines.js';
import { inBatches } from '../../src/database/statements.js';
import { newEntityId } from '../../src/identifiers/entity-id.js';
import { Problem } from '../../src/problems/problem.js';
import { times } from '../support/at-once.js';
import { openDataLayer } from '../support/data-source.js';
import { recordStatements } from '../support/executed-statements.js';
import { insertRow, insertRows } from '../support/rows.js';
import { wired } from '../support/wired.js';

const EMAILS = 400;
const AT_ONCE = 20;
const BCRYPT = `$2b$04$${'b'.repeat(21)}O${'b'.repeat(30)}C`;
const SCRYPT = `$scrypt$ln=4,r=8,p=1$${'B'.repeat(11)}A$${'B'.repeat(42)}A`;
const CLIENT = { key: '203.0.113.7', hasLeft: () => false };
const ORIGIN = { requestId: 'request', address: '203.0.113.7', userAgent: null };

const data = await openDataLayer();
const context = await wired(data);
const decoys = context.get(Decoys);
const engine = context.get<HashEngine>(HASH_ENGINE);
afterAll(async () => {
  await decoys.onApplicationShutdown();
  await data.close();
});

interface Group {
  domain: string;
  hasUsers?: false;
  hash?: string;
  isLinked?: true;
}

const GROUPS: Record<string, Group> = {
  unknown: { domain: 'unknown.example', hasUsers: false },
  known: { domain: 'known.example' },
  'of a required domain': { domain: 'required.example' },
  'without a password': { domain: 'none.example', hash: '!' },
  linked: { domain: 'linked.example', isLinked: true },
};

const emailsAt = (domain: string): string[] => times(EMAILS, (index) => `user${index}@${domain}`);

async function insertAll(): Promise<void> {
  const id = newEntityId();
  await insertRow(data.db, 'providers', { id, name: 'acme', required: 1 });
  await insertRow(data.db, 'provider_domains', { domain: 'required.example', provider_id: id });
  for (const { domain, hasUsers = true, hash, isLinked = false } of Object.values(GROUPS)) {
    if (!hasUsers) continue;
    const users = emailsAt(domain).map((email, index) => ({
      id: newEntityId(),
      email,
      password_hash: hash ?? (index % 4 === 0 ? SCRYPT : BCRYPT),
    }));
    await insertRows(data.db, 'users', users);
    const identities = users.map((user) => ({ user_id: user.id }));
    if (isLinked) await insertRows(data.db, 'identities', identities, { provider_id: id });
  }
}

async function refusal(email: string): Promise<string> {
  const login = { email, password: 'correct horse' };
  const failed: unknown = await context
    .get(AuthService)
    .login(login, CLIENT, ORIGIN)
    .catch((error: unknown) => error);
  if (!(failed instanceof Problem)) throw new Error('the login was not refused');
  const { code, status, detail, extensions, headers } = failed;
  return JSON.stringify({ code, status, detail, extensions, headers });
}

it('wrong passwords of all kinds of emails cost and answer the same', { timeout: 120_000 }, async () => {
  await insertAll();
  decoys.start();
  const unknown = emailsAt(GROUPS['unknown']!.domain);
  await waitFor('the kinds are counted', hangTimeoutMs(), () =>
    Promise.resolve(new Set(unknown.map((email) => decoys.find(email))).size > 1),
  );
  const verify = vi.spyOn(engine, 'verify');
  const hash = vi.spyOn(engine, 'hash');
  const executed = recordStatements(data.dataSource);
  const answers = new Set<string>();
  for (const [name, { domain }] of Object.entries(GROUPS)) {
    verify.mockClear();
    const before = executed.length;
    for await (const some of inBatches(emailsAt(domain), AT_ONCE))
      for (const answer of await Promise.all(some.map(refusal))) answers.add(answer);
    const kinds = verify.mock.calls.map(([stored]) => decoyLike(stored));
    expect([kinds.length, executed.length - before], name).toEqual([EMAILS, EMAILS]);
    const ofScrypt = kinds.filter((kind) => kind === decoyLike(SCRYPT)).length;
    // A quarter of them, within six standard deviations.
    expect(Math.abs(ofScrypt - EMAILS / 4), name).toBeLessThan(52);
  }
  expect(hash).not.toHaveBeenCalled();
  expect(answers.size).toBe(1);
});
