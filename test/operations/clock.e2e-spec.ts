import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startLateProxy } from '../faults/support/tcp-proxy.js';
import { examine, untrueClaims } from '../support/accounts-command.js';
import { engine } from '../support/engine.js';
import { anInstallation } from '../support/installation.js';
import { type Account, anAccount } from '../support/personas.js';
import { NO_LIMITS } from '../support/service.js';
import { aSigningKey } from '../support/signing-keys.js';
import { OwnMachine, startThreeInstances, type ThreeInstances } from '../faults/support/three-instances.js';
import { hangTimeoutMs, waitFor } from '../../tooling/wait.js';

const CLAIM = 'the clocks of all running instances agree with the clock of the database';
const DIFFERS = 'the clock of this instance differs from that of the database';
const LEFT = 'clients should not reach this instance';
const STATEMENT = /^SELECT CAST\(ROUND\(UNIX_TIMESTAMP\(NOW\(3\)\) \* 1000\) AS SIGNED\) AS now$/;

describe.runIf(engine === 'mariadb')('three instances behind HAProxy', () => {
  let three: ThreeInstances;
  let ada: Account;

  beforeAll(async () => {
    three = await startThreeInstances(NO_LIMITS);
    ada = await anAccount(three.machines[0].instance);
    await three.untilInRotation(0, 1, 2);
  });
  afterAll(() => three.stop());

  const statuses = async (): Promise<number[]> => {
    const answers: number[] = [];
    for (let n = 0; n < 12; n += 1) {
      const headers = { authorization: `Bearer ${ada.token}` };
      answers.push((await fetch(`${three.balancer.url}/api/me`, { headers })).status);
    }
    return answers;
  };
  const allServed = Array<number>(12).fill(200);

  it('with right clocks are ready', async () => {
    expect((await three.machines[0].ready()).body).toMatchObject({ status: 'ok', clock: 'ok' });
    await three.machines[0].untilMetric('its clock is measured', ({ value }) => {
      return Math.abs(value('accounts_clock_offset_seconds') ?? Infinity) < 2;
    });
    expect(await untrueClaims(three.installation)).toEqual([]);
  });

  it('serve on with a clock that is 5 seconds ahead, and say so', async () => {
    const [odd] = three.machines;
    odd.clock.moveOn(5000);
    await odd.heartbeat();
    await odd.heartbeat();
    await odd.until('its clock is degraded', ({ body }) => body['clock'] === 'degraded');

    expect((await odd.ready()).body['status']).toBe('degraded');
    expect(odd.lines(DIFFERS)).toEqual([
      expect.stringMatching(/"clock":"[45](\.\d)? s ahead of the database"/),
    ]);
    await odd.untilMetric('the metrics have it', ({ value }) => {
      const offset = value('accounts_clock_offset_seconds')!;
      return offset > 3 && offset < 7 && value('accounts_ready', { part: 'clock' }) === 0;
    });
    const { code, lines } = await examine(three.installation);
    expect(code).toBe(1);
    expect(lines).toContain(`RED    ${CLAIM}`);
    expect(lines.filter((line) => line.includes('ahead of the database'))).toHaveLength(1);
    await three.untilInRotation(0, 1, 2);
  });

  it('lose the one whose clock is a minute ahead: HAProxy sends it nothing', async () => {
    const [odd] = three.machines;
    odd.clock.moveOn(55_000);
    await odd.heartbeat();
    await odd.heartbeat();
    await three.untilInRotation(1, 2);

    expect(await odd.ready()).toMatchObject({
      status: 503,
      body: {
        detail: expect.stringMatching(
          /^The clock of this instance is (60|59\.\d) s ahead of the database\.$/,
        ) as string,
      },
    });
    expect(odd.lines(LEFT)).toEqual([expect.stringContaining('"because":"clock"')]);
    await odd.untilMetric('the metrics say so', ({ value }) => {
      return (
        value('accounts_ready', { part: 'clock' }) === 0 &&
        value('accounts_ready', { part: 'database' }) === 1
      );
    });
    expect(await statuses()).toEqual(allServed);
  });

  it('do not flap while the clock of one jumps back and forth', async () => {
    const [odd] = three.machines;
    const jump = async (): Promise<number> => {
      odd.clock.moveOn(odd.clock.ahead > 0 ? -60_000 : 60_000);
      // The row of the second is written after the first has decided.
      await odd.heartbeat();
      return (await odd.ready()).status;
    };
    expect([await jump(), await jump(), await jump()]).toEqual([503, 503, 503]);

    await odd.heartbeat();
    await odd.until('it is ready', ({ status }) => status === 200);
    expect([await jump(), await jump(), await jump(), await jump()]).toEqual([200, 200, 200, 200]);
    expect(odd.lines(LEFT)).toHaveLength(1);
    expect(odd.lines('clients may reach this instance again')).toHaveLength(1);
  });

  it('serve all if the clock of the database differs from all', async () => {
    for (const { clock } of three.machines) clock.moveOn(60_000);
    await three.heartbeats();
    await three.heartbeats();
    for (const machine of three.machines)
      await machine.until('its clock is degraded', ({ body }) => body['clock'] === 'degraded');
    await three.untilInRotation(0, 1, 2);

    const { lines } = await examine(three.installation);
    expect(lines).toContain(
      '         all instances differ from the database, so its clock is probably the wrong one',
    );
    for (const { clock } of three.machines) clock.moveOn(-60_000);
    await three.heartbeats();
    await three.heartbeats();
    for (const machine of three.machines)
      await machine.until('it is well', ({ body }) => body['clock'] === 'ok');
    expect(await untrueClaims(three.installation)).toEqual([]);
  });

  it('serve somebody if two clocks are wrong and the third has another key file', async () => {
    const [fast, slow, odd] = three.machines;
    fast.clock.moveOn(60_000);
    slow.clock.moveOn(-60_000);
    for (const machine of [fast, slow]) {
      await machine.heartbeat();
      await machine.heartbeat();
    }
    await three.untilInRotation(2);
    await odd.give(aSigningKey());
    await three.heartbeats();
    await three.untilInRotation(0, 1, 2);
    expect((await fetch(`${three.balancer.url}/health/ready`)).status).toBe(200);
  });
});

it.runIf(engine === 'mariadb')(
  'a database that answers slowly does not look like a wrong clock',
  async () => {
    const installation = await anInstallation();
    const url = new URL(installation.db.url);
    const proxy = await startLateProxy(Number(url.port), STATEMENT);
    url.port = String(proxy.port);
    const machine = await OwnMachine.in(installation, 'one', { ...NO_LIMITS, DATABASE_URL: url.href });

    // Half of the delay would make it 2.2 seconds.
    machine.clock.moveOn(1500);
    proxy.delayMs = 1400;
    await machine.heartbeat();
    await machine.heartbeat();
    expect(proxy.late).toBeGreaterThan(1);
    expect((await machine.ready()).body).toMatchObject({ status: 'ok', clock: 'ok' });

    await machine.instance.stop();
    await proxy.close();
    await installation.remove();
  },
);

it.runIf(engine === 'sqlite')('the clock of SQLite is that of the instance', async () => {
  const installation = await anInstallation();
  const machine = await OwnMachine.in(installation, 'one', NO_LIMITS);
  machine.clock.moveOn(60_000);
  await machine.heartbeat();
  await machine.heartbeat();
  expect((await machine.ready()).body).toMatchObject({ status: 'ok', clock: 'ok' });
  await waitFor('the parts are read', hangTimeoutMs(), async () => {
    let parts = 0;
    await machine.untilMetric('it answers', ({ value }) => {
      parts = value('accounts_ready', { part: 'clock' }) ?? 0;
      expect(value('accounts_clock_offset_seconds')).toBeUndefined();
      return true;
    });
    return parts === 1;
  });
  await machine.instance.stop();
  await installation.remove();
});
