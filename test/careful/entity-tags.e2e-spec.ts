import { randomUUID } from 'node:crypto';
import { afterAll, describe, expect, it } from 'vitest';
import type { Answer } from '../support/answer.js';
import { atOnce, times } from '../support/at-once.js';
import type { Caller } from '../support/caller.js';
import { invalidFields, lastOwner, preconditionFailed } from '../support/expected.js';
import { answerAfter, type HeldRows } from '../support/held-rows.js';
import {
  accept,
  acceptByCode,
  anInvitation,
  aVerifiedAccount,
  decline,
  declineByCode,
} from '../support/inviting.js';
import { addMember, changeRole, memberPath, removeMember } from '../support/org-members.js';
import type { Account, Cast, Org } from '../support/personas.js';
import { anAccount, anEmail, anOrg, anOrgOf, join } from '../support/personas.js';
import { startClusterWithoutLimits } from '../support/service.js';

const cluster = await startClusterWithoutLimits();
const { instances, db } = cluster;
const service = instances[0]!;
afterAll(() => cluster.stop());

type Change = [name: string, send: (by: Caller, cast: Cast) => Promise<Answer>];

const tagOf = ({ headers }: Answer): string | null => headers.get('etag');
const currentTag = async (who: Account, { id }: Org): Promise<string> =>
  tagOf(await who.get(`/api/orgs/${id}`))!;
const ifMatch = (who: Account, tag: string) => who.with({ 'if-match': tag });
const raiseRevision =
  ({ id }: Org, by: number) =>
  (held: HeldRows) =>
    held.write(`UPDATE orgs SET revision = revision + ${by} WHERE id = ?`, [id]);

describe('If-Match', () => {
  const CHANGES: Change[] = [
    ['add a member', (by, { org, outsider }) => addMember(by, org, outsider)],
    ['change a member', (by, { org, member }) => changeRole(by, org, member, 'admin')],
    ['remove a member', (by, { org, member }) => removeMember(by, org, member)],
  ];

  it('knows the tag of an organization by every change, and by nothing else', async () => {
    const { org, owner, admin, member, outsider } = await anOrg(service);
    const first = await currentTag(owner, org);
    expect(first).toMatch(/^"\d+"$/);
    expect(await currentTag(member, org)).toBe(first);
    expect(tagOf(await owner.send('HEAD', `/api/orgs/${org.id}`))).toBe(first);

    expect((await changeRole(admin, org, owner, 'member')).status).toBe(403);
    expect(await currentTag(owner, org)).toBe(first);
    await join(org, owner, outsider, 'member');
    expect(await currentTag(owner, org)).not.toBe(first);
    expect(tagOf(await outsider.get('/api/me'))).toBeNull();
  });

  describe.each(CHANGES)('when asked to %s', (_name, change) => {
    it('lets the change through at that revision only', async () => {
      const cast = await anOrg(service);
      const { org, owner } = cast;
      const old = await currentTag(owner, org);
      await join(org, owner, await anAccount(service), 'member');
      const tag = await currentTag(owner, org);

      for (const wrong of [old, `W/${tag}`, '"0"', `"0", W/${tag}`, `"0${tag.slice(1)}`]) {
        expect(await change(ifMatch(owner, wrong), cast), wrong).toMatchObject(preconditionFailed);
      }
      expect(await currentTag(owner, org)).toBe(tag);
      expect((await change(ifMatch(owner, `W/"0", "0" , ${tag}`), cast)).status).toBeLessThan(300);
      expect(await change(ifMatch(owner, tag), cast)).toMatchObject(preconditionFailed);
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
      const by = ifMatch(cast.owner, await currentTag(cast.owner, cast.org));
      const late = await answerAfter(service, raiseRevision(cast.org, 1), () => change(by, cast));
      expect(late).toMatchObject(preconditionFailed);
    });
  });

  it('lets one of 20 writers at once win for each revision', async () => {
    const { org, owner } = await anOrg(service);
    for (let round = 0; round < 10; round += 1) {
      const tag = await currentTag(owner, org);
      const answers = await atOnce(
        times(20, (client) => () => {
          const by = ifMatch(owner.at(instances[client % instances.length]!), tag);
          return by.patch(`/api/orgs/${org.id}`, { name: `Org ${round} of ${client}` });
        }),
      );
      const won = answers.filter(({ status }) => status === 200);
      expect(won).toHaveLength(1);
      const next = `"${Number(tag.slice(1, -1)) + 1}"`;
      expect(tagOf(won[0]!)).toBe(next);
      for (const answer of answers.filter(({ status }) => status !== 200)) {
        expect(answer).toMatchObject(preconditionFailed);
      }
      expect(await currentTag(owner, org)).toBe(next);
    }
  });
});

describe('the ETag of a change', () => {
  /** Each is sent with the tag that the one before it answered. */
  const CHANGES: Change[] = [
    ['rename', (by, { org }) => by.patch(`/api/orgs/${org.id}`, { name: 'Renamed' })],
    ['rename to the same name', (by, { org }) => by.patch(`/api/orgs/${org.id}`, { name: 'Renamed' })],
    ['add', (by, cast) => addMember(by, cast.org, cast.outsider)],
    ['change a role', (by, { org, outsider }) => changeRole(by, org, outsider, 'admin')],
    ['change to the same role', (by, { org, outsider }) => changeRole(by, org, outsider, 'admin')],
    ['remove', (by, { org, outsider }) => removeMember(by, org, outsider)],
    [
      'invite',
      (by, { org, outsider }) =>
        by.post(`/api/orgs/${org.id}/invitations`, { email: outsider.email, role: 'member', showCode: true }),
    ],
    ['transfer', (by, { org, admin }) => by.post(`/api/orgs/${org.id}/transfer`, { userId: admin.id })],
    ['leave', (by, { org }) => by.post(`/api/orgs/${org.id}/leave`)],
  ];

  const stored = async ({ id }: Org): Promise<string> => {
    const [row] = await db.query('SELECT revision FROM orgs WHERE id = ?', [id]);
    return `"${Number(row!['revision'])}"`;
  };

  /** A success whose tag is the one of now. */
  async function expectCurrent(answer: Answer, org: Org): Promise<string> {
    expect(answer.status, answer.text).toBeLessThan(300);
    expect(tagOf(answer)).toBe(await stored(org));
    return tagOf(answer)!;
  }

  it('is the one of the organization from then on, and the next change can rely on it', async () => {
    const cast = await anOrg(service);
    let tag = await stored(cast.org);
    for (const [name, send] of CHANGES) {
      const answer = await send(cast.owner.with({ 'if-match': tag }), cast);
      expect([name, answer.status < 300]).toEqual([name, true]);
      tag = await expectCurrent(answer, cast.org);
    }
    const { admin, org } = cast;
    expect(tagOf(await admin.get(`/api/orgs/${org.id}`))).toBe(tag);
    await expectCurrent(await admin.with({ 'if-match': tag }).delete(`/api/orgs/${org.id}`), org);
    await expectCurrent(await admin.post(`/api/orgs/${org.id}/restore`), org);
  });

  it('is sent with a new organization, and with what is done to invitations', async () => {
    const ada = await anAccount(service);
    const made = await ada.post<{ org: Org }>('/api/orgs', { name: 'New' });
    const { org } = made.body;
    expect(await expectCurrent(made, org)).toBe('"1"');
    const [one, two] = [await aVerifiedAccount(service), await anAccount(service)];
    const first = await anInvitation(ada, org, one);
    const second = await anInvitation(ada, org, two);
    const third = await anInvitation(ada, org, { email: anEmail() });
    const path = `/api/orgs/${org.id}/invitations/${third.id}`;
    await expectCurrent(await ada.post(`${path}/resend`, { showCode: true }), org);
    await expectCurrent(await ada.delete(path), org);
    await expectCurrent(await accept(one, first), org);
    await expectCurrent(await acceptByCode(two, second.code), org);
  });

  it('is told to nobody who declines', async () => {
    const { org, owner, outsider } = await anOrg(service);
    const guest = await aVerifiedAccount(service);
    const invitation = await anInvitation(owner, org, guest);
    const { code } = await anInvitation(owner, org, outsider);

    for (const answer of [await decline(guest, invitation), await declineByCode(outsider, code)]) {
      expect([answer.status, tagOf(answer)]).toEqual([200, null]);
    }
  });

  it('is that of the state after the change, where somebody else was faster', async () => {
    const { org, owner, member } = await anOrg(service);
    const late = await answerAfter(service, raiseRevision(org, 5), () =>
      changeRole(owner, org, member, 'admin'),
    );

    expect(tagOf(late)).toBe(await stored(org));
    expect(late.status).toBe(200);
  });

  it('is sent with no refusal, no dry run and no repeated answer', async () => {
    const { org, owner, member } = await anOrg(service);
    const refused = await owner.post(`/api/orgs/${org.id}/leave`);
    expect(refused).toMatchObject(lastOwner);
    const dry = await owner.delete(`${memberPath(org, member)}?dryRun=true`);
    expect(dry.headers.get('dry-run')).toBe('true');
    const by = owner.with({ 'idempotency-key': randomUUID() });
    const change = () => by.patch(`/api/orgs/${org.id}`, { name: 'Once' });
    await expectCurrent(await change(), org);
    await anOrgOf(owner);
    const again = await change();
    expect(again.headers.get('idempotency-replayed')).toBe('true');

    expect([refused, dry, again].map(tagOf)).toEqual([null, null, null]);
  });
});
