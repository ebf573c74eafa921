import { expect, it } from 'vitest';
import { OwnMachine } from '../faults/support/three-instances.js';
import { examine, untrueClaims } from '../support/accounts-command.js';
import { engine } from '../support/engine.js';
import { anInstallation } from '../support/installation.js';
import { NO_LIMITS } from '../support/service.js';

const CLAIM = 'no instances that run side by side count rate limits by themselves';
const ALONE = 'this instance counts rate limits by itself, although several instances run';
const LIMITED = { ...NO_LIMITS, RATE_LIMIT_LOGIN: '10/15m' };

it.runIf(engine === 'mariadb')('several instances without Redis say that they count alone', async () => {
  const installation = await anInstallation();
  const [one, two, unlimited] = await Promise.all([
    OwnMachine.in(installation, 'one', LIMITED),
    OwnMachine.in(installation, 'two', LIMITED),
    OwnMachine.in(installation, 'three', NO_LIMITS),
  ]);
  const all = [one, two, unlimited];
  const heartbeats = () => Promise.all(all.map((machine) => machine.heartbeat()));
  const state = async (machine: OwnMachine) => (await machine.ready()).body['rateLimits'];

  // A restart shows two for less.
  await heartbeats();
  await heartbeats();
  expect(await Promise.all(all.map(state))).toEqual(['ok', 'ok', 'ok']);
  expect(await untrueClaims(installation)).toEqual([]);

  await installation.db.query('UPDATE instances SET started_at = started_at - 120001');
  await heartbeats();
  for (const machine of [one, two])
    await machine.until(
      'it is degraded',
      ({ status, body }) => status === 200 && body['rateLimits'] === 'degraded',
    );
  expect(await state(unlimited)).toBe('ok');
  expect(one.lines(ALONE)).toHaveLength(1);
  expect(unlimited.lines(ALONE)).toEqual([]);
  await one.untilMetric('the metrics say so', ({ value }) => {
    return value('accounts_ready', { part: 'rateLimits' }) === 0;
  });
  const { code, lines } = await examine(installation);
  expect(code).toBe(1);
  expect(lines).toContain(`RED    ${CLAIM}`);

  await Promise.all([two, unlimited].map(({ instance }) => instance.stop()));
  await one.heartbeat();
  await one.until('it is alone', ({ body }) => body['status'] === 'ok');
  expect(one.lines('no other instance runs any longer')).toHaveLength(1);
  expect(await untrueClaims(installation)).toEqual([]);
  await one.instance.stop();
  await installation.remove();
});
