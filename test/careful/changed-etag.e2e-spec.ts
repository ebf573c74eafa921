import { randomUUID } from 'node:crypto';
import { afterAll, describe, expect, it } from 'vitest';
import type { Answer } from '../support/answer.js';
import { lastOwner } from '../support/expected.js';
import { holdRows } from '../support/held-rows.js';
import {
  accept,
  acceptByCode,
  anInvitation,
  aVerifiedAccount,
  decline,
  declineByCode,
} from '../support/inviting.js';
import { type Account, anAccount, anOrg, anOrgOf, type Cast, type Org } from '../support/personas.js';
import { startService } from '../support/service.js';

/** A change, sent with the tag that the one before it answered. */
type Change = [
  name: string,
  send: (by: Account | ReturnType<Account['with']>, cast: Cast) => Promise<Answer>,
];

const members = ({ org }: Cast) => `/api/orgs/${org.id}/members`;

const CHANGES: Change[] = [
  ['rename', (by, { org }) => by.patch(`/api/orgs/${org.id}`, { name: 'Renamed' })],
  ['rename to the same name', (by, { org }) => by.patch(`/api/orgs/${org.id}`, { name: 'Renamed' })],
  ['add', (by, cast) => by.post(members(cast), { email: cast.outsider.email, role: 'member' })],
  ['change a role', (by, cast) => by.patch(`${members(cast)}/${cast.outsider.id}`, { role: 'admin' })],
  [
    'change to the same role',
    (by, cast) => by.patch(`${members(cast)}/${cast.outsider.id}`, { role: 'admin' }),
  ],
  ['remove', (by, cast) => by.delete(`${members(cast)}/${cast.outsider.id}`)],
  [
    'invite',
    (by, { org, outsider }) =>
      by.post(`/api/orgs/${org.id}/invitations`, { email: outsider.email, role: 'member', showCode: true }),
  ],
  ['transfer', (by, { org, admin }) => by.post(`/api/orgs/${org.id}/transfer`, { userId: admin.id })],
  ['leave', (by, { org }) => by.post(`/api/orgs/${org.id}/leave`)],
];

const service = await startService();
afterAll(() => service.stop());

describe('the ETag of a change', () => {
  const stored = async ({ id }: Org): Promise<string> => {
    const [row] = await service.db.query('SELECT revision FROM orgs WHERE id = ?', [id]);
    return `"${Number(row!['revision'])}"`;
  };
  const tagOf = ({ headers }: Answer): string | null => headers.get('etag');

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
    const [one, two, three] = [
      await aVerifiedAccount(service),
      await anAccount(service),
      await aVerifiedAccount(service),
    ];
    const [first, second, third] = [
      await anInvitation(ada, org, { email: one.email }),
      await anInvitation(ada, org, { email: two.email }),
      await anInvitation(ada, org, { email: three.email }),
    ];
    const path = `/api/orgs/${org.id}/invitations/${third.id}`;
    await expectCurrent(await ada.post(`${path}/resend`, { showCode: true }), org);
    await expectCurrent(await ada.delete(path), org);
    await expectCurrent(await accept(one, first), org);
    await expectCurrent(await acceptByCode(two, second.code), org);
  });

  it('is told to nobody who declines', async () => {
    const { org, owner, outsider } = await anOrg(service);
    const guest = await aVerifiedAccount(service);
    const invitation = await anInvitation(owner, org, { email: guest.email });
    const { code } = await anInvitation(owner, org, { email: outsider.email });

    for (const answer of [await decline(guest, invitation), await declineByCode(outsider, code)]) {
      expect([answer.status, tagOf(answer)]).toEqual([200, null]);
    }
  });

  it('is that of the state after the change, where somebody else was faster', async () => {
    const { org, owner, member } = await anOrg(service);
    const held = await holdRows(service);
    await held.write('UPDATE orgs SET revision = revision + 5 WHERE id = ?', [org.id]);
    const late = owner.patch(`/api/orgs/${org.id}/members/${member.id}`, { role: 'admin' });
    await held.untilOneWaits();
    await held.commit();

    expect(tagOf(await late)).toBe(await stored(org));
    expect((await late).status).toBe(200);
  });

  it('is sent with no refusal, no dry run and no repeated answer', async () => {
    const { org, owner, member } = await anOrg(service);
    const refused = await owner.post(`/api/orgs/${org.id}/leave`);
    expect(refused).toMatchObject(lastOwner);
    const dry = await owner.delete(`/api/orgs/${org.id}/members/${member.id}?dryRun=true`);
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
