import { resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { unwrap } from 'accounts-client';
import { startAccounts } from 'accounts-client/testing';
import { Desktop } from './desktop.ts';
import { openLedger } from './ledger.ts';
import { openEngineRoom } from './service.ts';

const say = (text: string): void => console.log(text);

say('Accounts starts on a database that is deleted at the end.');
const accounts = await startAccounts({ directory: resolve(import.meta.dirname, '../..') });
const [engineRoomSecret, ledgerSecret] = [
  await accounts.addService('engine-room'),
  await accounts.addService('ledger'),
];
await accounts.allowCall('engine-room', 'ledger');
const ledger = await openLedger(accounts.url, ledgerSecret);
const engineRoom = await openEngineRoom(accounts.url, ledger.url, engineRoomSecret);
try {
  await show();
} finally {
  await engineRoom.close();
  await ledger.close();
  await accounts.close();
}

async function show(): Promise<void> {
  const open = (name: string, email: string, password: string): Desktop =>
    new Desktop(accounts.url, engineRoom.url, name, email, password);
  const ada = open('Ada Lovelace', 'ada@example.com', 'a correct horse battery');
  const grace = open('Grace Hopper', 'grace@example.com', 'another horse battery');
  await ada.register();
  const orgId = unwrap(await ada.client.createOrg({ name: 'Analytical Engines' })).org.id;
  const userId = await grace.register();
  unwrap(await ada.client.addMember({ orgId, email: grace.email, role: 'member' }));
  await grace.protect();
  say('Ada created an organization and added Grace, who enabled two-factor authentication.');
  say(`Her program lists the members: ${(await grace.members(orgId)).join(', ')}.`);

  await grace.logIn();
  say('Grace logged in with her password and a TOTP code.');
  await grace.enter();
  const there = await grace.whoAmI(orgId);
  say(
    `Her program handed the login to the service, which returns ${there.status} ${JSON.stringify(there.body)}`,
  );
  const { booked, closed } = (await grace.book(orgId)).body;
  say(
    `The service called the ledger for her: ${JSON.stringify(booked)}, and for itself: ${JSON.stringify(closed)}`,
  );

  const removedAt = performance.now();
  unwrap(await ada.client.removeMember({ orgId, userId }));
  let refused = await grace.whoAmI(orgId);
  for (; refused.status === 200; refused = await grace.whoAmI(orgId)) await pause(20);
  const ms = Math.round(performance.now() - removedAt);
  say(`Ada removed Grace. After ${ms} ms the service returns ${refused.status} ${refused.body.code}`);

  unwrap(await grace.client.logOut());
  let ended = await grace.whoAmI(orgId);
  for (; ended.status !== 401; ended = await grace.whoAmI(orgId)) await pause(20);
  say(`Grace logged out. The service returns ${ended.status} ${ended.body.code}`);
}
