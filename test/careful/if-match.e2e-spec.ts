import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Answer } from '../support/answer.js';
import { atOnce, times } from '../support/at-once.js';
import { invalidFields, preconditionFailed } from '../support/expected.js';
import { holdRows } from '../support/held-rows.js';
import { type Account, anAccount, anOrg, type Cast, join, type Org } from '../support/personas.js';
import { type Cluster, type Service, startClusterWithoutLimits, startService } from '../support/service.js';

const tagOf = async (who: Account, { id }: Org): Promise<string> =>
  (await who.get(`/api/orgs/${id}`)).headers.get('etag')!;
const ifMatch = (who: Account, tag: string) => who.with({ 'if-match': tag });

describe('If-Match', () => {
  let service: Service;

  beforeAll(async () => {
    service = await startService();
  });
  afterAll(() => service.stop());

  const CHANGES: [string, (by: ReturnType<typeof ifMatch>, cast: Cast) => Promise<Answer>][] = [
    [
      'add a member',
      (by, { org, outsider }) =>
        by.post(`/api/orgs/${org.id}/members`, { email: outsider.email, role: 'member' }),
    ],
    [
      'change a member',
      (by, { org, member }) => by.patch(`/api/orgs/${org.id}/members/${member.id}`, { role: 'admin' }),
    ],
    ['remove a member', (by, { org, member }) => by.delete(`/api/orgs/${org.id}/members/${member.id}`)],
  ];

  it('knows the tag of an organization by every change, and by nothing else', async () => {
    const { org, owner, admin, member, outsider } = await anOrg(service);
    const first = await tagOf(owner, org);
    expect(first).toMatch(/^"\d+"$/);
    expect(await tagOf(member, org)).toBe(first);
    expect((await owner.send('HEAD', `/api/orgs/${org.id}`)).headers.get('etag')).toBe(first);

    const refused = await admin.patch(`/api/orgs/${org.id}/members/${owner.id}`, { role: 'member' });
    expect([refused.status, await tagOf(owner, org)]).toEqual([403, first]);
    await join(org, owner, outsider, 'member');
    expect(await tagOf(owner, org)).not.toBe(first);
    expect((await outsider.get('/api/me')).headers.get('etag')).toBeNull();
  });

  describe.each(CHANGES)('when asked to %s', (_name, change) => {
    it('lets the change through at that revision only', async () => {
      const cast = await anOrg(service);
      const old = await tagOf(cast.owner, cast.org);
      await join(cast.org, cast.owner, await anAccount(service), 'member');
      const tag = await tagOf(cast.owner, cast.org);

      for (const wrong of [old, `W/${tag}`, '"0"', `"0", W/${tag}`, `"0${tag.slice(1)}`]) {
        expect(await change(ifMatch(cast.owner, wrong), cast), wrong).toMatchObject(preconditionFailed);
      }
      expect(await tagOf(cast.owner, cast.org)).toBe(tag);
      const { status } = await change(ifMatch(cast.owner, `W/"0", "0" , ${tag}`), cast);
      expect(status).toBeLessThan(300);
      expect(await change(ifMatch(cast.owner, tag), cast)).toMatchObject(preconditionFailed);
    });

    it('is true for * and refuses what is no list of tags', async () => {
      const cast = await anOrg(service);
      for (const wrong of ['7', '"7', '*, "7"', '', `"${'7'.repeat(1000)}"`]) {
        expect(await change(ifMatch(cast.owner, wrong), cast), wrong).toMatchObject(
          invalidFields('If-Match'),
        );
      }
      expect((await change(ifMatch(cast.owner, '*'), cast)).status).toBeLessThan(300);
    });

    it('decides again where somebody was faster', async () => {
      const cast = await anOrg(service);
      const tag = await tagOf(cast.owner, cast.org);
      const held = await holdRows(service);
      await held.write('UPDATE orgs SET revision = revision + 1 WHERE id = ?', [cast.org.id]);
      const late = change(ifMatch(cast.owner, tag), cast);
      await held.untilOneWaits();
      await held.commit();
      expect(await late).toMatchObject(preconditionFailed);
    });
  });
});

describe('20 writers at once', () => {
  let cluster: Cluster;

  beforeAll(async () => {
    cluster = await startClusterWithoutLimits();
  });
  afterAll(() => cluster.stop());

  it('win exactly once for each revision', async () => {
    const instance = (index: number) => cluster.instances[index % cluster.instances.length]!;
    const { org, owner } = await anOrg(instance(0));
    for (let round = 0; round < 10; round += 1) {
      const tag = await tagOf(owner, org);
      const answers = await atOnce(
        times(
          20,
          (client) => () =>
            ifMatch(owner.at(instance(client)), tag).patch(`/api/orgs/${org.id}`, {
              name: `Org ${round} of ${client}`,
            }),
        ),
      );
      const won = answers.filter(({ status }) => status === 200);
      const lost = answers.filter(({ status }) => status !== 200);
      expect(won).toHaveLength(1);
      expect(won[0]!.headers.get('etag')).toBe(`"${Number(tag.slice(1, -1)) + 1}"`);
      for (const answer of lost) expect(answer).toMatchObject(preconditionFailed);
      expect(await tagOf(owner, org)).toBe(`"${Number(tag.slice(1, -1)) + 1}"`);
    }
  });
});
