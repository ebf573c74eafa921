import { randomUUID } from 'node:crypto';
import { afterAll, describe, expect, it } from 'vitest';
import type { Answer } from '../support/answer.js';
import { atOnce, times } from '../support/at-once.js';
import type { Caller } from '../support/caller.js';
import { idempotencyKeyReused } from '../support/expected.js';
import { type Account, anOrg, anOrgWithTwoOwners, type Cast, type Org } from '../support/personas.js';
import { startClusterWithoutLimits } from '../support/service.js';

const ROUNDS = 10;
const CLIENTS = 8;

interface Case {
  name: string;
  by: (cast: Cast) => Account;
  send: (by: Caller, cast: Cast) => Promise<Answer>;
}

const members = ({ org }: Cast) => `/api/orgs/${org.id}/members`;
const CASES: Case[] = [
  {
    name: 'create an organization',
    by: ({ owner }) => owner,
    send: (by) => by.post('/api/orgs', { name: 'Once' }),
  },
  {
    name: 'add a member',
    by: ({ admin }) => admin,
    send: (by, cast) => by.post(members(cast), { email: cast.outsider.email, role: 'member' }),
  },
  {
    name: 'change a member',
    by: ({ owner }) => owner,
    send: (by, cast) => by.patch(`${members(cast)}/${cast.member.id}`, { role: 'admin' }),
  },
  {
    name: 'remove a member',
    by: ({ owner }) => owner,
    send: (by, cast) => by.delete(`${members(cast)}/${cast.member.id}`),
  },
  {
    name: 'leave, after which they may ask nothing any more',
    by: ({ owner }) => owner,
    send: (by, cast) => by.delete(`${members(cast)}/${cast.owner.id}`),
  },
];

const cluster = await startClusterWithoutLimits();
afterAll(() => cluster.stop());

describe('equal requests with one key at once', () => {
  const instance = (index: number) => cluster.instances[index % cluster.instances.length]!;

  it.each(CASES)('$name: once, with equal answers', async ({ by, send }) => {
    for (let round = 0; round < ROUNDS; round += 1) {
      const cast = await anOrgWithTwoOwners(instance(round));
      const key = { 'idempotency-key': randomUUID() };
      const known = new Set((await cluster.db.query('SELECT id FROM events')).map(({ id }) => id));

      const answers = await atOnce(
        times(CLIENTS, (client) => () => send(by(cast).at(instance(client)).with(key), cast)),
      );

      expect(new Set(answers.map(({ status, text }) => `${status} ${text}`)).size, answers[0]!.text).toBe(1);
      expect(answers[0]!.status).toBeLessThan(300);
      const first = answers.filter(({ headers }) => headers.get('idempotency-replayed') === null);
      expect(first).toHaveLength(1);
      const events = (await cluster.db.query('SELECT id, type FROM events')).filter(
        ({ id }) => !known.has(id),
      );
      const memberEvents = events.filter(({ type }) => String(type).startsWith('member.'));
      expect(memberEvents).toHaveLength(1);
    }
  });

  it('where the requests differ, one is carried out and the others are refused', async () => {
    for (let round = 0; round < ROUNDS; round += 1) {
      const { owner } = await anOrg(instance(round));
      const key = { 'idempotency-key': randomUUID() };
      const answers = await atOnce(
        times(
          CLIENTS,
          (client) => () =>
            owner
              .at(instance(client))
              .with(key)
              .post<{ org: Org }>('/api/orgs', { name: `Org ${client}` }),
        ),
      );
      const made = answers.filter(({ status }) => status === 201);
      expect(made).toHaveLength(1);
      for (const answer of answers.filter(({ status }) => status !== 201))
        expect(answer).toMatchObject(idempotencyKeyReused);
      const { orgs } = (await owner.get<{ orgs: Org[] }>('/api/me')).body;
      expect(orgs.filter(({ name }) => name.startsWith('Org '))).toEqual([made[0]!.body.org]);
    }
  });
});
