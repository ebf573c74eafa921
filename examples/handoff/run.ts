import { setTimeout as pause } from 'node:timers/promises';
import { startAccounts } from './accounts.ts';
import { Desktop, must } from './desktop.ts';
import { openEngineRoom } from './service.ts';

const say = (text: string): void => console.log(text);

say('Accounts starts on a database that is thrown away.');
const accounts = await startAccounts();
const secret = await accounts.addService('engine-room');
const engineRoom = await openEngineRoom(accounts.url, { name: 'engine-room', secret });
try {
  await show();
} finally {
  await engineRoom.close();
  await accounts.close();
}

async function show(): Promise<void> {
  const ada = new Desktop(accounts.url, engineRoom.url, 'ada@example.com', 'a correct horse battery');
  const grace = new Desktop(accounts.url, engineRoom.url, 'grace@example.com', 'another horse battery');
  await ada.register();
  const orgId = must(await ada.client.createOrg({ name: 'Analytical Engines' })).org.id;
  const userId = await grace.register();
  must(await ada.client.addMember({ orgId, email: grace.email, role: 'member' }));
  await grace.protect();
  say('Ada has made an organization with Grace, who protects her login with an authenticator app.');

  await grace.logIn();
  say('Grace has logged in with her password and a code of the app.');
  await grace.enter();
  const there = await grace.whoAmI(orgId);
  say(
    `Her program has handed the login over. The service says: ${there.status} ${JSON.stringify(there.body)}`,
  );

  const removedAt = performance.now();
  must(await ada.client.removeMember({ orgId, userId }));
  let refused = await grace.whoAmI(orgId);
  for (; refused.status === 200; refused = await grace.whoAmI(orgId)) await pause(20);
  const ms = Math.round(performance.now() - removedAt);
  say(`Ada has removed Grace. After ${ms} ms the service says: ${refused.status} ${refused.body.code}`);

  must(await grace.client.logOut());
  let ended = await grace.whoAmI(orgId);
  for (; ended.status !== 401; ended = await grace.whoAmI(orgId)) await pause(20);
  say(`Grace has logged out. The service says: ${ended.status} ${ended.body.code}`);
}
