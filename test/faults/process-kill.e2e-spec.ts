import { expect, it } from 'vitest';
import { type Org, type Role, ROLES, type Session } from '../support/personas.js';
import { ENGINES, PASSWORD, register, UNLIMITED } from './support/deployment.js';
import { report } from './support/figures.js';
import { brokenInState, brokenWrites, isDone, type MembershipWrite, timed } from './support/invariants.js';
import { startToKill } from './support/kill-rounds.js';
import { WriteLedger } from './support/write-ledger.js';

const KILLS = 12;
const WRITERS = 8;

interface Writer {
  me: { id: string; email: string; token: string };
  others: { id: string; email: string }[];
  orgId: string;
}

// SEED repeats the requests and the times of the kills, but not the progress of each request by then.
it.each(ENGINES)(
  'kill -9 during writes on %s loses no acknowledged write, leaves nothing half done and restarts',
  { timeout: 180_000 },
  async (engine) => {
    const env = { ...UNLIMITED, CODE_TTL: '10m' };
    const { storage, send, ask, random, killDuring } = await startToKill(engine, 'writes', env);
    /** by email and name; of the round, by code: whether it was exchanged */
    const [users, orgs] = [new WriteLedger(), new WriteLedger()];
    let codes = new WriteLedger();
    const members: MembershipWrite[] = [];
    /** Of the round: codes that were issued and not sent back yet, tokens, and emails that were sent. */
    let [unused, tokens, emails] = [new Set<string>(), [] as string[], [] as string[]];
    let [requests, written] = [0, 0];

    const noted = async <T>(ledger: WriteLedger, key: string, write: Promise<T>): Promise<T> => {
      ledger.note(key, 'unknown');
      const answer = await write;
      ledger.note(key, 'ok');
      return answer;
    };
    const newKey = (what: string): string => `${what}.${(written += 1)}`;
    const aWriter = async (): Promise<Writer> => {
      const people = [await register(send), await register(send), await register(send), await register(send)];
      const [me, ...others] = people as [Writer['me'], ...typeof people];
      const options = { token: me.token, body: { name: newKey('own') } };
      const { reply, answered } = await timed(send, 'POST', '/api/orgs', options);
      const orgId = (reply!.body['org'] as Org).id;
      members.push({ orgId, userId: me.id, role: 'owner', ...answered });
      return { me, others, orgId };
    };
    const writes: ((writer: Writer) => Promise<unknown>)[] = [
      async () => {
        const body = { email: `${newKey('user')}@example.com`, password: PASSWORD };
        emails.push(body.email);
        const registered = ask<Session>(201, 'POST', '/api/auth/register', body);
        tokens.push((await noted(users, body.email, registered)).token);
      },
      async ({ me: { email } }) => {
        const login = await ask<Session>(200, 'POST', '/api/auth/login', { email, password: PASSWORD });
        tokens.push(login.token);
      },
      async ({ me }) => {
        // A session can have ten unused codes.
        if (unused.size >= WRITERS) return;
        const { code } = await ask<{ code: string }>(201, 'POST', '/api/auth/code', undefined, me.token);
        unused.add(code);
      },
      async () => {
        const [code] = unused;
        if (code === undefined) return;
        unused.delete(code);
        const exchanged = ask<Session>(200, 'POST', '/api/auth/code/exchange', { code });
        tokens.push((await noted(codes, code, exchanged)).token);
      },
      ({ me }) => {
        const name = newKey('org');
        return noted(orgs, name, ask(201, 'POST', '/api/orgs', { name }, me.token));
      },
      // Of each organization one writer alone changes the members, so that the order of writes is known.
      async ({ me: { token }, others, orgId }) => {
        const { id: userId, email } = random.pick(others);
        const path = `/api/orgs/${orgId}/members`;
        const [low, any] = [random.pick<Role>(['member', 'admin']), random.pick(ROLES)];
        const [role, method, place, body] = random.pick<[Role | undefined, string, string, object?]>([
          [low, 'POST', path, { email, role: low }],
          [any, 'PATCH', `${path}/${userId}`, { role: any }],
          [undefined, 'DELETE', `${path}/${userId}`],
        ]);
        const { reply, error, answered } = await timed(send, method, place, { token, body });
        members.push({ orgId, userId, role, ...answered });
        if (!reply) throw error;
        if (![200, 201, 404, 409].includes(reply.status)) throw new Error(`${method} ${reply.status}`);
      },
    ];

    /** Compares what clients were told with what the service answers and its database holds. */
    const broken = async (): Promise<string[]> => {
      const found: string[] = [];
      for (const token of tokens) {
        const { status } = await send('GET', '/api/me', { token });
        if (status !== 200) found.push(`the session of a token: ${status}`);
      }
      // A user whose registration was acknowledged can log in; another can either log in or register again.
      for (const email of emails) {
        const body = { email, password: PASSWORD };
        const login = await send('POST', '/api/auth/login', { body });
        if (login.status === 200) continue;
        const again = await send('POST', '/api/auth/register', { body });
        if (users.keys('ok').includes(email) || login.status !== 401 || again.status !== 201)
          found.push(`${email}: login ${login.status}, register ${again.status}`);
      }
      // One that was exchanged does not work again; one whose exchange has no answer does one of both.
      const sent: [string[], ...number[]][] = [
        [[...unused], 200],
        [codes.keys('ok'), 400],
        [codes.keys('unknown'), 200, 400],
      ];
      for (const [some, ...possible] of sent) {
        for (const code of some) {
          const { status } = await send('POST', '/api/auth/code/exchange', { body: { code } });
          if (!possible.includes(status)) found.push(`a code: ${status}, not ${possible.join(' or ')}`);
        }
      }
      const snapshot = await storage.snapshot();
      const names = (await storage.query('SELECT name FROM orgs')).map(({ name }) => String(name));
      const lone = await storage.query(
        'SELECT c.hash FROM authorization_codes c LEFT JOIN sessions s ON s.id = c.session_id WHERE s.id IS NULL',
      );
      return [
        ...found,
        ...lone.map((row) => `a code of no session: ${JSON.stringify(row)}`),
        ...orgs.compare(new Set(names)).lost,
        ...users.compare(new Set(snapshot.users.map(({ email }) => email))).lost,
        ...brokenInState(snapshot),
        ...brokenWrites(members, snapshot),
        ...(await storage.faults()),
      ];
    };

    const recoveriesMs: number[] = [];
    let acknowledged = 0;
    for (let kill = 0; kill < KILLS; kill += 1) {
      const writers: Writer[] = [];
      while (writers.length < WRITERS) writers.push(await aWriter());
      const deeds = writers.map((writer) => async () => {
        requests += 1;
        await random.pick(writes)(writer);
      });
      recoveriesMs.push(await killDuring(deeds, 50, 700));
      // Rows of earlier rounds are compared again: later crashes must not undo what an earlier one left intact.
      expect(await broken(), `kill ${kill}`).toEqual([]);
      acknowledged += tokens.length + unused.size;
      codes = new WriteLedger();
      [unused, tokens, emails] = [new Set(), [], []];
    }
    acknowledged += orgs.keys('ok').length + members.filter(isDone).length;
    expect(acknowledged).toBeGreaterThan(KILLS * WRITERS);
    report({ faults: KILLS, requests, wrong: 0, acknowledged, lost: 0, recoveriesMs });
  },
);
