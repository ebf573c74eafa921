import { afterEach, expect, it } from 'vitest';
import { createGuard, type Guard } from '../../client/src/service/index.ts';
import { hangTimeoutMs, waitFor } from '../../tooling/wait.js';
import { Door } from '../client/support/door.js';
import { accountsJson } from '../support/accounts-command.js';
import type { Session } from '../support/personas.js';
import { clientOf } from '../support/service-client.js';
import { aServiceClient } from '../support/services.js';
import { backUp } from '../support/backup.js';
import {
  askOf,
  closeAfterAll,
  closeAfterTest,
  PASSWORD,
  register,
  RestartableService,
  Storage,
} from './support/deployment.js';
import { report } from './support/figures.js';

/** Later than a service that is up is expected to be, and within the time of a question. */
const LATE_MS = 900;
/** Enough for an answer on a busy machine. */
const READY_MS = 3_000;

const storage = await closeAfterAll(Storage.on('sqlite'));
const { installation } = storage;
const service = await closeAfterAll(RestartableService.on(storage));
await service.start();
const door = await closeAfterAll(Door.open(service.url));
const ask = askOf(clientOf(service.url));
const { name, secret } = await aServiceClient(installation.db, ['introspect', 'memberships', 'events']);
afterEach(() => Object.assign(door, { pageStatus: undefined, lateMs: 0 }));

async function aGuard(): Promise<{ guard: Guard; lines: string[] }> {
  const lines: string[] = [];
  const options = { baseUrl: door.url, credentials: { name, secret } };
  const log = { warn: (line: string) => void lines.push(line) };
  const guard = createGuard({ ...options, issuer: 'accounts', audience: 'accounts', log });
  return { guard: await closeAfterTest(guard), lines };
}

const aUser = () => register(clientOf(service.url));

async function logIn({ email }: { email: string }): Promise<string> {
  const body = { email, password: PASSWORD };
  return (await ask<Session>(200, 'POST', '/api/auth/login', body)).token;
}

it.each([200, 404, 502])(
  'another server that answers %i with HTML refuses nobody, and is named',
  async (status) => {
    const [known, unseen] = [await aUser(), await aUser()];
    const { guard, lines } = await aGuard();
    expect(await guard.authorize(`Bearer ${known.token}`)).toMatchObject({ ok: true });

    door.pageStatus = status;
    expect(await guard.authorize(`Bearer ${known.token}`)).toMatchObject({ ok: true });
    for (let time = 0; time < 3; time += 1)
      expect(await guard.authorize(`Bearer ${unseen.token}`)).toMatchObject({ status: 503 });
    const cause = `Another server than Accounts answered ${status}. (not_json, from ${door.url})`;
    expect(lines).toEqual([`accounts-client: requests are answered 503: ${cause}`]);
    await expect((await aGuard()).guard.ready({ timeoutMs: READY_MS })).rejects.toThrow(cause);

    door.pageStatus = undefined;
    expect(await guard.authorize(`Bearer ${unseen.token}`)).toMatchObject({ ok: true });
    report({ faults: 1, requests: 6, wrong: 0 });
  },
);

it('an Accounts that answers late is waited for, and its logouts are heard', async () => {
  door.lateMs = LATE_MS;
  const ada = await aUser();
  const { guard, lines } = await aGuard();
  await guard.ready();
  expect(await guard.authorize(`Bearer ${ada.token}`)).toMatchObject({ ok: true });

  await ask(200, 'POST', '/api/auth/logout', {}, ada.token);
  await waitFor('the logout is heard', hangTimeoutMs(), async () => {
    const answer = await guard.authorize(`Bearer ${ada.token}`);
    expect(answer).not.toMatchObject({ status: 503 });
    return !answer.ok;
  });
  expect(lines).toEqual([]);
  report({ faults: 1, wrong: 0 });
});

it('after a backup is restored, sessions end, and earlier revisions refuse nobody and hide nothing', async () => {
  const [owner, member] = [await aUser(), await aUser()];
  const body = { name: 'Engines' };
  const { org } = await ask<{ org: { id: string } }>(201, 'POST', '/api/orgs', body, owner.token);
  const members = `/api/orgs/${org.id}/members`;
  await ask(201, 'POST', members, { email: member.email, role: 'member' }, owner.token);
  const { guard } = await aGuard();
  const use = (token: string, atLeast: number) =>
    guard.authorize(`Bearer ${token}`, { orgId: org.id, atLeast });
  expect(await use(member.token, 2)).toMatchObject({ role: 'member' });
  const restore = await backUp(installation);
  await ask(200, 'PATCH', `${members}/${member.id}`, { role: 'admin' }, owner.token);
  expect(await use(member.token, 3)).toMatchObject({ role: 'admin' });
  await ask(200, 'DELETE', `${members}/${member.id}`, undefined, owner.token);
  expect(await use(member.token, 4)).toMatchObject({ status: 403 });

  await service.stop();
  await restore();
  await accountsJson(installation, ['after-restore', '--reason', 'restored a backup']);
  await service.start();
  await waitFor('the earlier session has ended', hangTimeoutMs(), async () => {
    const answer = await use(member.token, 4);
    expect(answer.ok).toBe(false);
    return !answer.ok && answer.status === 401;
  });
  // The member is there again, and revision 4 comes only with a further change.
  expect(await use(await logIn(member), 4)).toMatchObject({ ok: true, role: 'member' });
  await ask(200, 'PATCH', `${members}/${member.id}`, { role: 'admin' }, await logIn(owner));
  expect(await use(await logIn(member), 3)).toMatchObject({ role: 'admin' });
  report({ faults: 1, wrong: 0 });
});
