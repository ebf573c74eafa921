import { afterAll, describe, expect, it } from 'vitest';
import { atOnce, times } from '../support/at-once.js';
import { notAMember } from '../support/expected.js';
import { anOrg, join } from '../support/personas.js';
import { startClusterWithoutLimits } from '../support/service.js';

const ROUNDS = 10;
const READERS = 4;

interface Detail {
  org: { name: string; members: { userId: string; role: string }[] };
}

const cluster = await startClusterWithoutLimits();
afterAll(() => cluster.stop());

describe('while an organization changes', () => {
  const at = (index: number) => cluster.instances[index % cluster.instances.length]!;

  it('its detail is a state that there was, with the tag of that state', async () => {
    const { org, owner, admin, member } = await anOrg(at(0));
    const path = `/api/orgs/${org.id}`;
    const states = new Map<string, { name: string; role: string }>();
    const reads: { tag: string; name: string; role: string | undefined }[] = [];
    const running = { writers: 1 };
    async function read(by: number): Promise<void> {
      const { headers, body } = await admin.at(at(by)).get<Detail>(path);
      const role = body.org.members.find(({ userId }) => userId === member.id)?.role;
      reads.push({ tag: headers.get('etag')!, name: body.org.name, role });
    }
    async function write(): Promise<void> {
      const state = { name: org.name, role: 'member' };
      const first = await owner.get(path);
      states.set(first.headers.get('etag')!, { ...state });
      for (let round = 0; round < 4 * ROUNDS; round += 1) {
        const isRenamed = round % 2 === 0;
        if (isRenamed) state.name = `Name ${round}`;
        else state.role = state.role === 'member' ? 'admin' : 'member';
        const { headers } = isRenamed
          ? await owner.at(at(round)).patch(path, { name: state.name })
          : await owner.at(at(round)).patch(`${path}/members/${member.id}`, { role: state.role });
        states.set(headers.get('etag')!, { ...state });
      }
      running.writers -= 1;
    }

    await atOnce([
      write,
      ...times(READERS, (by) => async () => {
        while (running.writers > 0) await read(by);
      }),
    ]);

    expect(states.size).toBe(4 * ROUNDS + 1);
    for (const { tag, name, role } of reads) expect({ tag, name, role }).toEqual({ tag, ...states.get(tag) });
  });

  it('a removed reader gets nothing that is newer than the removal', async () => {
    const { org, owner, member, outsider } = await anOrg(at(0));
    const members = `/api/orgs/${org.id}/members`;
    const paths = [
      `/api/orgs/${org.id}`,
      members,
      `${members}?limit=50`,
      `${members}?role=member`,
      `${members}/${outsider.id}`,
    ];
    const newer: string[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      await atOnce([
        async () => {
          expect((await owner.delete(`${members}/${member.id}`)).status).toBe(200);
          await join(org, owner, outsider, 'member');
        },
        ...paths.map((path, by) => async () => {
          let answer = await member.at(at(by)).get(path);
          while (answer.status !== 403) {
            if (answer.status === 200 && answer.text.includes(outsider.email)) newer.push(path);
            answer = await member.at(at(by)).get(path);
          }
          expect(answer).toMatchObject(notAMember);
        }),
      ]);
      await owner.delete(`${members}/${outsider.id}`);
      await join(org, owner, member, 'member');
    }
    expect(newer).toEqual([]);
  });
});
