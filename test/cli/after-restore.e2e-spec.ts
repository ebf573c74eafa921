import { afterAll, expect, it } from 'vitest';
import { accounts, accountsJson, BY_ROOT, failure } from '../support/accounts-command.js';
import { anAccount } from '../support/personas.js';
import { idAt, insertRows } from '../support/rows.js';
import { protect } from '../support/second-factor.js';
import { startOwnService } from '../support/service.js';
import { aSigningKey } from '../support/signing-keys.js';

const service = await startOwnService({ env: { RATE_LIMIT_REGISTER: 'off', RATE_LIMIT_LOGIN: 'off' } });
const { installation, db } = service;
afterAll(() => service.stop());

const AFTER_RESTORE = ['after-restore', ...BY_ROOT];

it('refuses a key file that does not decrypt every TOTP secret, before it changes anything', async () => {
  const [ada, grace] = [await anAccount(service), await anAccount(service)];
  await protect(service, ada);
  const { keys } = installation;
  await installation.writeKeys([aSigningKey()]);
  await protect(service, grace);

  const refusal = /^refused: \/[^\n]+ does not decrypt the TOTP secrets of 1 users: [^\n]+\n$/;
  expect(await accounts(installation, AFTER_RESTORE)).toEqual(failure(1, refusal));
  const ended = await db.query("SELECT id FROM events WHERE type = 'session.ended'");
  expect(ended).toEqual([]);

  expect(await accounts(installation, [...AFTER_RESTORE, '--force'])).toMatchObject({ code: 0 });
  await installation.writeKeys([...installation.keys, ...keys]);
  expect(await accounts(installation, AFTER_RESTORE)).toMatchObject({ code: 0 });
});

it('drops the emails that waited, and says how many of each kind', async () => {
  const waiting = async (...kinds: string[]) => {
    const mail = { state: 'waiting', created_at: Date.now(), next_attempt_at: 0, recipient: 'a@example.com' };
    const ids = kinds.map(() => idAt(Date.now()));
    const rows = kinds.map((kind, index) => ({ id: ids[index]!, kind }));
    await insertRows(db, 'mails', rows, mail);
    return ids;
  };
  const states = async (ids: string[]) => {
    const rows = await db.query(
      `SELECT id, state FROM mails WHERE id IN (${ids.map(() => '?').join()})`,
      ids,
    );
    return rows.map(({ state }) => state);
  };
  const first = await waiting('invitation', 'invitation', 'new_sign_in');

  expect(await accountsJson(installation, [...AFTER_RESTORE, '--keep-emails'])).toMatchObject([
    { emails: {} },
  ]);
  expect(await states(first)).toEqual(['waiting', 'waiting', 'waiting']);
  expect(await accountsJson(installation, AFTER_RESTORE)).toMatchObject([
    { emails: { invitation: 2, new_sign_in: 1 } },
  ]);
  expect(await states(first)).toEqual(['dropped', 'dropped', 'dropped']);

  const [, , third] = (await accounts(installation, AFTER_RESTORE)).stdout.split('\n');
  expect(third).toMatch(/^the restore also undid/);
  await waiting('invitation');
  const { stdout } = await accounts(installation, AFTER_RESTORE);
  expect(stdout).toContain('waiting emails are dropped: 1 invitation\n');
});
