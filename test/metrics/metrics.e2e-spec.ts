import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { addProvider, finishAt, insertConfirmed } from '../support/at-providers.js';
import { times } from '../support/at-once.js';
import { engine } from '../support/engine.js';
import { providerEmailRefused } from '../support/expected.js';
import { holdRows } from '../support/held-rows.js';
import {
  aCode,
  anAccount,
  anEmail,
  anOrg,
  anOrgOf,
  aPassword,
  exchange,
  join,
  logIn,
} from '../support/personas.js';
import { requestBytes, sendBytes } from '../support/connections.js';
import { insertProvider } from '../support/provider-rows.js';
import { insertRow } from '../support/rows.js';
import { metricsUrl, scrape, type Scraped } from '../support/scrape.js';
import { startOwnService } from '../support/service.js';
import { SLOW_HASH } from '../support/slow-hash.js';
import { hangTimeoutMs, waitFor } from '../../tooling/wait.js';

interface Panel {
  targets?: { expr: string }[];
}

const FILE = resolve(import.meta.dirname, '../../deploy/grafana-dashboard.json');
/** Those that Prometheus adds, and that of the buckets. */
const LABELS_OF_OTHERS = ['instance', 'le'];

const PACKAGE = resolve(import.meta.dirname, '../../package.json');
const DAY_MS = 86_400_000;

const DURATION = 'accounts_http_request_duration_seconds_count';
const LOGINS = 'accounts_logins_total';
const DECISIONS = 'accounts_rate_limit_decisions_total';
const FAILED = 'accounts_failed_logins_total';
const CONNECTIONS = 'accounts_database_connections';

const POOL_SIZE = 7;

const env = {
  DATABASE_POOL_SIZE: String(POOL_SIZE),
  METRICS_PORT: '0',
  RATE_LIMIT_LOGIN: '5/15m',
  RATE_LIMIT_IP: '100/1h',
  RATE_LIMIT_REGISTER: '20/1h',
};
const service = await startOwnService({ env });
const url = await metricsUrl(service.logs);
const ada = await anAccount(service, 'ada');
afterAll(() => service.stop());

describe('the metrics', () => {
  /** When the last request that was sent is counted: answers arrive a moment before. */
  const untilCounted = (total: number): Promise<Scraped> =>
    waitFor(`${total} requests are counted`, hangTimeoutMs(), async () => {
      const scraped = await scrape(url);
      return scraped.sum(DURATION) >= total && scraped;
    });

  it('are Prometheus text, and begin with the outcomes that matter, at zero', async () => {
    const { text, contentType, value } = await scrape(url);

    expect(contentType).toBe('text/plain; version=0.0.4; charset=utf-8');
    expect(value('process_cpu_seconds_total')).toBeGreaterThan(0);
    expect(value('nodejs_eventloop_lag_seconds')).toBeGreaterThanOrEqual(0);
    expect(text).toMatch(/^# TYPE accounts_http_request_duration_seconds histogram$/m);
    expect(text).toMatch(/^# TYPE accounts_logins_total counter$/m);
    expect(text).toMatch(/^# TYPE accounts_hashes_running gauge$/m);
    for (const outcome of ['success', 'invalid_credentials']) expect(value(LOGINS, { outcome })).toBe(0);
    for (const reason of [
      'unknown_email',
      'wrong_password',
      'account_disabled',
      'wrong_second_factor_code',
      'provider_required',
    ])
      expect(value(FAILED, { reason })).toBe(0);
    for (const outcome of ['rotated', 'repeated', 'reissued', 'reused', 'newer', 'ended', 'forged'])
      expect(value('accounts_refreshes_total', { outcome })).toBe(0);
    expect(value('accounts_codes_issued_total')).toBe(0);
    expect(value('accounts_codes_exchanged_total', { outcome: 'invalid_code' })).toBe(0);
    expect(value('accounts_conflicts_retried_total')).toBe(0);
    expect(value('accounts_untrusted_proxy_requests_total')).toBe(0);
  });

  it('count each request once, by method, route and status', async () => {
    const before = (await scrape(url)).sum(DURATION);
    const repeat = async (count: number, send: () => Promise<unknown>): Promise<void> => {
      for (let index = 0; index < count; index += 1) await send();
    };
    await repeat(2, () => logIn(service, ada));
    await repeat(4, () => logIn(service, { email: ada.email, password: aPassword() }));
    await service.anyone.post('/api/auth/login', { email: 'nonsense' });
    await repeat(3, () => ada.get('/api/me'));
    const [one] = [await aCode(ada), await aCode(ada)];
    await repeat(2, () => exchange(service, one));
    await service.anyone.get('/api/nothing');
    await service.anyone.get(`/${ada.id}/${ada.email}`);
    await service.anyone.send('DELETE', '/api/auth/login');
    await sendBytes(service, requestBytes('PROPFIND /api/me'));
    await sendBytes(service, requestBytes('GET /%zz'));

    const { value, sum } = await untilCounted(before + 19);
    expect(sum(DURATION)).toBe(before + 19);
    for (const [method, route, status, count] of [
      ['POST', '/api/auth/login', '200', 2],
      ['POST', '/api/auth/login', '401', 3],
      ['POST', '/api/auth/login', '429', 1],
      ['POST', '/api/auth/login', '400', 1],
      ['DELETE', '/api/auth/login', '405', 1],
      ['GET', '/api/me', '200', 3],
      ['other', '/api/me', '405', 1],
      ['GET', 'unknown', '404', 2],
      ['GET', 'unknown', '400', 1],
    ] as const)
      expect(value(DURATION, { method, route, status }), `${method} ${route} ${status}`).toBe(count);
    const outcomes = ['success', 'invalid_credentials', 'rate_limited', 'validation_failed'];
    expect(outcomes.map((outcome) => value(LOGINS, { outcome }))).toEqual([2, 3, 1, 1]);
    expect(['wrong_password', 'unknown_email'].map((reason) => value(FAILED, { reason }))).toEqual([3, 0]);
    expect(value('accounts_codes_issued_total')).toBe(2);
    const exchanged = (outcome: string) => value('accounts_codes_exchanged_total', { outcome });
    expect(['success', 'invalid_code'].map(exchanged)).toEqual([1, 1]);
  });

  it('count what each limit decided, and have the durations in buckets, of which the last holds all', async () => {
    const { value } = await scrape(url);
    const decided = (limit: string, decision: string) => value(DECISIONS, { limit, decision });
    expect(decided('register', 'admitted')).toBe(1);
    expect(decided('login', 'admitted')).toBe(5);
    expect(decided('login', 'refused')).toBe(1);
    // One registration and five logins; the sixth was rejected by the other limit.
    expect(decided('address', 'admitted')).toBe(6);
    expect(decided('address', 'refused')).toBeUndefined();
    const labels = { method: 'GET', route: '/api/me', status: '200' };
    const name = 'accounts_http_request_duration_seconds';
    expect(value(`${name}_bucket`, { ...labels, le: '+Inf' })).toBe(3);
    expect(value(`${name}_sum`, labels)).toBeGreaterThan(0);
  });

  it('count the right passwords that a required provider refuses apart from the wrong ones', async () => {
    const user = await anAccount(service, 'grace');
    await insertProvider(service.db, { users: [user.id], required: 1 });
    const counts = async () => {
      const { value } = await scrape(url);
      return ['provider_required', 'wrong_password'].map((reason) => value(FAILED, { reason })!);
    };
    const [refused, wrong] = await counts();
    expect((await logIn(service, { email: user.email, password: aPassword() })).status).toBe(401);
    for (const _ of times(2, String)) expect((await logIn(service, user)).status).toBe(403);
    expect(await counts()).toEqual([refused! + 2, wrong! + 1]);
  });

  it('count logins at a provider by their outcome', async () => {
    const atAcme = { issuer: 'https://login.example.com', clientId: 'accounts', secret: aPassword() };
    const acme = await addProvider(service, atAcme);
    const confirmed = await insertConfirmed(service, acme, { subject: 'ada', email: null });
    expect(await finishAt(service, confirmed)).toMatchObject(providerEmailRefused);
    const { value } = await scrape(url);
    const labels = { provider: acme.name, outcome: 'provider_email_refused' };
    expect(value('accounts_provider_logins_total', labels)).toBe(1);
  });

  it('show hashes under way and those that wait, and none when all is done', async () => {
    const slow = await startOwnService({ env: { ...env, ...SLOW_HASH } });
    onTestFinished(() => slow.stop());
    const slowUrl = await metricsUrl(slow.logs);
    const seen = new AbortController();
    const clients = times(8, async () => {
      while (!seen.signal.aborted)
        await slow.anyone.post('/api/auth/login', { email: anEmail(), password: 'x' });
    });
    await waitFor(
      'hashes run and others wait',
      hangTimeoutMs(),
      async () => {
        const { value } = await scrape(slowUrl);
        return value('accounts_hashes_running')! > 0 && value('accounts_hashes_waiting')! > 0;
      },
      1,
    );
    seen.abort();
    await Promise.all(clients);

    const { value } = await scrape(slowUrl);
    expect(value('accounts_hashes_running')).toBe(0);
    expect(value('accounts_hashes_waiting')).toBe(0);
  });

  it('show the connections to the database, and a conflict that was retried', async () => {
    const org = await anOrgOf(ada);
    const bob = await anAccount(service, 'bob');
    await join(org, ada, bob, 'member');
    const before = (await scrape(url)).value('accounts_conflicts_retried_total')!;
    // A round of the feed may be under way, once a second.
    const rest = await waitFor('no connection is in use', hangTimeoutMs(), async () => {
      const metrics = await scrape(url);
      return metrics.value(CONNECTIONS, { state: 'in_use' }) === 0 ? metrics : undefined;
    });
    expect(rest.value(CONNECTIONS, { state: 'idle' })).toBeGreaterThan(0);
    expect(rest.value('accounts_database_pool_size')).toBe(engine === 'mariadb' ? POOL_SIZE : undefined);

    const held = await holdRows(service);
    await held.write('UPDATE orgs SET revision = revision + 1 WHERE id = ?', [org.id]);
    const change = ada.delete(`/api/orgs/${org.id}/members/${bob.id}`);
    await held.untilOneWaits();
    // On SQLite a transaction that waits for another process gives the connection back between two tries.
    const isServer = engine === 'mariadb';
    await waitFor('no other connection is in use', hangTimeoutMs(), async () => {
      const { value } = await scrape(url);
      return value(CONNECTIONS, { state: 'in_use' }) === (isServer ? 1 : 0);
    });
    await waitFor('a conflict is retried', hangTimeoutMs(), async () => {
      const { value } = await scrape(url);
      return !isServer || value('accounts_conflicts_retried_total')! > before;
    });
    await held.rollback();
    expect((await change).status).toBe(200);
  });

  it('say which version runs, how old its key is, and which parts work', async () => {
    const { version } = JSON.parse(readFileSync(PACKAGE, 'utf8')) as { version: string };
    // The parts are read in the background.
    const { value } = await waitFor('the parts are read', hangTimeoutMs(), async () => {
      const scraped = await scrape(url);
      return scraped.value('accounts_ready', { part: 'database' }) === undefined ? undefined : scraped;
    });
    expect(value('accounts_build_info', { version })).toBe(1);
    expect(value('accounts_key_age_seconds')).toBeGreaterThan(0);
    // The instance and the database share the clock of this machine.
    expect(Math.abs(value('accounts_clock_offset_seconds') ?? 0)).toBeLessThan(2);
    const parts = ['database', 'migrations', 'rateLimits', 'mail', 'breachCheck', 'keys', 'clock'];
    expect(parts.map((part) => value('accounts_ready', { part }))).toEqual(parts.map(() => 1));
  });

  it('count the users in one instance, and show other keys in another', async () => {
    const { installation, db } = service;
    const until = (what: string, isSo: (scraped: Scraped) => boolean) =>
      waitFor(what, hangTimeoutMs(), async () => isSo(await scrape(url)));
    // A change of the file lets the instances compare at once.
    const compare = () => installation.writeKeys(installation.keys);
    const [{ users }] = (await db.query('SELECT COUNT(*) AS users FROM users')) as [{ users: unknown }];
    await until('it counts', ({ value }) => value('accounts_users') !== undefined);
    expect((await scrape(url)).value('accounts_users')).toBeGreaterThan(0);
    expect((await scrape(url)).value('accounts_users')).toBeLessThanOrEqual(Number(users));

    // Its id comes before all others.
    const row = { id: '0', host: 'app-2', key_set: 'other', seen_at: Date.now() + DAY_MS, differs_since: 1 };
    await insertRow(db, 'instances', row);
    await compare();
    await until('the keys differ', ({ value }) => value('accounts_ready', { part: 'keys' }) === 0);
    await until('the other counts', ({ value }) => value('accounts_users') === undefined);

    await db.query("DELETE FROM instances WHERE id = '0'");
    await compare();
    await until('all is well', ({ value }) => value('accounts_ready', { part: 'keys' }) === 1);
    await until('it counts again', ({ value }) => value('accounts_users') === Number(users));
  });

  it('name nobody: no id, no e-mail, after all of that', async () => {
    const { owner, admin, member, outsider, org } = await anOrg(service);
    for (const one of [owner, admin, member, outsider]) await one.get(`/api/orgs/${org.id}/members?limit=2`);
    const { text } = await scrape(url);
    expect(text).not.toContain('@');
    expect(text).not.toMatch(/[\da-f]{8}-[\da-f]{4}-/);
    for (const secret of [ada.id, ada.email, owner.email, org.id, ada.token])
      expect(text).not.toContain(secret);
    expect(text).toContain('route="/api/orgs/:orgId/members"');
  });

  it.each([
    ['POST', '/metrics', 405],
    ['GET', '/', 404],
    ['GET', '/metrics/more', 404],
    ['HEAD', '/metrics', 200],
  ])('answer %s %s with %i', async (method, path, status) => {
    const response = await fetch(new URL(path, url), { method });
    expect(response.status).toBe(status);
  });
});

it('the metrics are not on the port of the API', async () => {
  expect((await service.anyone.get('/metrics')).status).toBe(404);
});

describe('the dashboard', () => {
  const { panels } = JSON.parse(readFileSync(FILE, 'utf8')) as { panels: Panel[] };
  const queries = panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr));

  let scraped: string;
  beforeAll(async () => {
    ({ text: scraped } = await scrape(url));
  });

  const names = (): string[] => [...scraped.matchAll(/^# TYPE (\w+) /gm)].map(([, name]) => name!);
  const named = (query: string): string[] =>
    [...query.matchAll(/\b(?:accounts|process|nodejs)_\w+/g)].map(([name]) => name);

  it('asks for metrics that a scrape has, and nothing else', () => {
    const known = new Set(
      names().flatMap((name) => [name, `${name}_bucket`, `${name}_count`, `${name}_sum`]),
    );
    const asked = queries.flatMap(named);
    expect(asked.length).toBeGreaterThan(15);
    expect(asked.filter((name) => !known.has(name))).toEqual([]);
    expect(queries.filter((query) => named(query).length === 0)).toEqual([]);
  });

  it('shows every metric of the service', () => {
    const asked = queries.flatMap(named).join(' ');
    const own = names().filter((name) => name.startsWith('accounts_'));
    expect(own).toHaveLength(22);
    expect(own.filter((name) => !asked.includes(name))).toEqual([]);
  });

  it('groups and filters by labels that there are', () => {
    const known = [...scraped.matchAll(/[{,](\w+)="/g)].map(([, label]) => label!);
    const labels = new Set([...known, ...LABELS_OF_OTHERS]);
    const text = queries.join('\n');
    const groups = [...text.matchAll(/by \(([^)]*)\)/g)].flatMap(([, list]) => list!.split(/,\s*/));
    const filters = [...text.matchAll(/[{,](\w+)(?:=~|!~|=|!=)"/g)].map(([, label]) => label!);
    const used = [...groups, ...filters];
    expect(used.filter((label) => !labels.has(label))).toEqual([]);
  });
});
