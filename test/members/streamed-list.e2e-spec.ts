import { afterAll, describe, expect, it } from 'vitest';
import { times } from '../support/at-once.js';
import { orgNotFound } from '../support/expected.js';
import { addCrowd, crowdEmail } from '../support/rows.js';
import { PausedReader } from '../support/connections.js';
import { removeMember } from '../support/org-members.js';
import { type Account, anAccount, anOrgOf, join } from '../support/personas.js';
import { startOwnService } from '../support/service.js';
import { hangTimeoutMs } from '../../tooling/wait.js';

const CROWD = 20_000;

const service = await startOwnService();
const owner = await anAccount(service, 'owner');
const org = await anOrgOf(owner);
await addCrowd(service.db, org, CROWD);
afterAll(() => service.stop());

describe('a member list that is streamed', () => {
  const paths: [string, () => string][] = [
    ['GET /api/orgs/:id', () => `/api/orgs/${org.id}`],
    ['GET /api/orgs/:id/members', () => `/api/orgs/${org.id}/members`],
  ];

  const tagOf = async () => (await owner.get(`/api/orgs/${org.id}`)).headers.get('etag')!;

  async function aMember(name: string): Promise<Account> {
    const member = await anAccount(service, name);
    await join(org, owner, member, 'member');
    return member;
  }
  const aReader = () => aMember('reader');

  describe.each(paths)('%s', (_route, path) => {
    it('is complete for a reader who pauses and stays a member', async () => {
      const stream = await PausedReader.get(service, path(), await aReader());
      const newcomer = await aMember('newcomer');
      const { text, whole } = await stream.readOn();
      expect(whole).toBe(true);
      expect(text).toContain(crowdEmail(CROWD - 1));
      expect(text).toContain(newcomer.email);
    });

    it.each<[string, (reader: Account) => Promise<unknown>]>([
      ['was removed', (reader) => removeMember(owner, org, reader)],
      [
        'lost the session',
        ({ id }) => service.db.query('UPDATE sessions SET revoked_at = 1 WHERE user_id = ?', [id]),
      ],
    ])('is cut off for a reader who %s, and shows nobody who joined later', async (_what, end) => {
      const reader = await aReader();
      const stream = await PausedReader.get(service, path(), reader);
      await end(reader);
      const newcomer = await aMember('newcomer');
      const { text, whole } = await stream.readOn();
      expect(text).toContain(crowdEmail(0));
      expect(text).not.toContain(newcomer.email);
      expect(whole).toBe(false);
    });

    it('is cut off when the database fails', async () => {
      const stream = await PausedReader.get(service, path(), await aReader());
      await service.db.query('ALTER TABLE sessions RENAME TO sessions_elsewhere');
      const { text, whole } = await stream.readOn();
      await service.db.query('ALTER TABLE sessions_elsewhere RENAME TO sessions');
      expect(text).not.toContain(crowdEmail(CROWD - 1));
      expect(whole).toBe(false);
    });
  });

  it('is cut off when the organization is deleted', async () => {
    const reader = await aReader();
    const streams = await Promise.all(paths.map(([, path]) => PausedReader.get(service, path(), reader)));
    await owner.delete(`/api/orgs/${org.id}`);
    for (const stream of streams) expect(await stream.readOn()).toMatchObject({ whole: false });
    expect(await reader.get(`/api/orgs/${org.id}`)).toMatchObject(orgNotFound);
    await owner.post(`/api/orgs/${org.id}/restore`);
  });

  it('has a tag of its own, for a change while the organization stays as it was', async () => {
    const [one, other] = [await tagOf(), await tagOf()];
    const rename = (ifMatch: string) =>
      owner.with({ 'if-match': ifMatch }).patch(`/api/orgs/${org.id}`, { name: 'Renamed' });
    expect(one).not.toBe(other);
    expect((await rename(one)).status).toBe(200);
    expect(await rename(other)).toMatchObject({ status: 412, body: { code: 'precondition_failed' } });
  });

  it('takes no slot from other reads while 32 clients read slowly', async () => {
    const readers = await Promise.all(times(4, aReader));
    const streams = await Promise.all(
      readers.flatMap((reader) => times(8, () => PausedReader.get(service, paths[0]![1](), reader))),
    );
    for (const caller of [owner, ...readers]) expect((await caller.get('/api/me')).status).toBe(200);
    for (const stream of streams) stream.leave();
  });

  it('is ended for a client that stops reading', async () => {
    const stalled = () => service.logs.filter((line) => line.includes('read nothing of the response'));
    const reader = await aReader();
    const streams = await Promise.all(
      paths.flatMap(([, path]) => [
        PausedReader.get(service, path(), reader),
        PausedReader.get(service, path(), reader).then((stream) => stream.keepSending()),
      ]),
    );
    await expect
      .poll(() => stalled().length, { timeout: 2 * hangTimeoutMs(), interval: 250 })
      .toBe(streams.length);
    for (const stream of streams) {
      const { text, whole } = await stream.readOn();
      expect(text).not.toContain(crowdEmail(CROWD - 1));
      expect(whole).toBe(false);
    }
  });
});
