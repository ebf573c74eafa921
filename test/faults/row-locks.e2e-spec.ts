import { expect, it } from 'vitest';
import { atOnce } from '../support/at-once.js';
import { holdRows } from '../support/held-rows.js';
import { type Account, anAccount, anOrg } from '../support/personas.js';
import { startCluster } from '../support/service.js';
import { closeAfterAll, UNLIMITED } from './support/deployment.js';
import { report } from './support/figures.js';
import { MariaDbServer } from '../../tooling/servers/mariadb.js';

const NEW_USERS = 100;

const { port } = await closeAfterAll(MariaDbServer.start());
const { instances, db } = await closeAfterAll(startCluster(2, { mariadbPort: port, env: UNLIMITED }));
const instance = (index: number) => instances[index % instances.length]!;

async function serverCount(name: string): Promise<number> {
  const [row] = await db.query(`SHOW GLOBAL STATUS LIKE '${name}'`);
  return Number(row!['Value']);
}

it('waits for a row longer than one lock wait, without losing the host', async () => {
  const { org, owner, member } = await anOrg(instance(0));
  const held = await holdRows(instance(0));
  const waitsBefore = await serverCount('Innodb_row_lock_waits');
  const send = () => owner.patch(`/api/orgs/${org.id}/members/${member.id}`, { role: 'admin' });
  await held.write('UPDATE orgs SET revision = revision + 1 WHERE id = ?', [org.id]);
  const answer = send();
  await expect
    .poll(() => serverCount('Innodb_row_lock_waits'), { timeout: 10_000 })
    .toBeGreaterThanOrEqual(waitsBefore + 2);
  await held.rollback();

  expect((await answer).status).toBe(200);
  expect(instance(0).logs.filter((line) => line.includes('database host taken out of rotation'))).toEqual([]);
  report({ faults: 1, requests: 1, wrong: 0 });
});

it('lets new users create their first organizations at once without a deadlock', async () => {
  const users: Account[] = [];
  while (users.length < NEW_USERS) users.push(await anAccount(instance(users.length)));
  const deadlocksBefore = await serverCount('Innodb_deadlocks');

  const answers = await atOnce(
    users.map((user, index) => () => user.at(instance(index)).post('/api/orgs', { name: 'First' })),
  );

  expect(answers.map(({ status }) => status)).toEqual(users.map(() => 201));
  expect((await serverCount('Innodb_deadlocks')) - deadlocksBefore).toBe(0);
  report({ faults: 0, requests: NEW_USERS, wrong: 0 });
});
