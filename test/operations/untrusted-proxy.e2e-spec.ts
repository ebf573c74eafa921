import { expect, it } from 'vitest';
import { hangTimeoutMs, waitFor } from '../../tooling/wait.js';
import { examine } from '../support/accounts-command.js';
import { anInstallation } from '../support/installation.js';
import { logIn } from '../support/personas.js';
import { metricsUrl, scrape } from '../support/scrape.js';
import { type Instance, launch } from '../support/service.js';

const UNTRUSTED = 'accounts_untrusted_proxy_requests_total';
const DURATION = 'accounts_http_request_duration_seconds_count';
const NOBODY = { password: 'the wrong password' };

it('a proxy that TRUST_PROXY lacks is named by log and metric, and changes neither readiness nor doctor', async () => {
  const installation = await anInstallation();
  const limited = { METRICS_PORT: '0', RATE_LIMIT_IP: '3/15m' };
  const misconfigured = await launch(installation, limited).listening;
  const { anyone, logs } = misconfigured;
  /** As a proxy on this machine sends them, each for another client. */
  const logInAll = async (instance: Instance) => {
    const statuses: number[] = [];
    for (const n of [1, 2, 3, 4]) {
      const client = instance.anyone.with({ 'X-Forwarded-For': `198.51.100.${n}` });
      const { status } = await logIn(
        { ...instance, anyone: client },
        { ...NOBODY, email: `${n}@example.com` },
      );
      statuses.push(status);
    }
    return statuses;
  };
  const warningsIn = (lines: readonly string[]) =>
    lines.filter((line) => line.includes('not in TRUST_PROXY'));

  await anyone.with({ 'X-Forwarded-For': '198.51.100.9' }).get('/health/live');
  expect(warningsIn(logs)).toEqual([]);
  expect(await logInAll(misconfigured)).toEqual([401, 401, 401, 429]);
  const metrics = await metricsUrl(logs);
  const { value } = await waitFor('all are counted', hangTimeoutMs(), async () => {
    const scraped = await scrape(metrics);
    return scraped.sum(DURATION, { route: '/api/auth/login' }) === 4 && scraped;
  });
  expect(value(UNTRUSTED)).toBe(4);
  expect(warningsIn(logs)).toEqual([
    expect.stringContaining('X-Forwarded-For from 127.0.0.1, which is not in TRUST_PROXY'),
  ]);
  expect((await anyone.get('/health/ready')).body).toMatchObject({ status: 'ok' });
  expect(await examine(installation)).toMatchObject({ code: 0 });
  await misconfigured.stop();

  const corrected = await launch(installation, { ...limited, TRUST_PROXY: '127.0.0.1' }).listening;
  expect(await logInAll(corrected)).toEqual([401, 401, 401, 401]);
  expect((await scrape(await metricsUrl(corrected.logs))).value(UNTRUSTED)).toBe(0);
  expect(warningsIn(corrected.logs)).toEqual([]);
  await corrected.stop();
  await installation.remove();
});
