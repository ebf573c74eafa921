import {
  type Aggregator,
  AggregatorRegistry,
  collectDefaultMetrics,
  Counter,
  Gauge,
  type GaugeConfiguration,
  Histogram,
  type MetricObjectWithValues,
  type MetricValue,
  Registry,
} from 'prom-client';
import cluster, { type Worker } from 'node:cluster';
import { VERSION } from '../../config/env.js';
import {
  clockOffset,
  conflictRetried,
  databaseConnections,
  feedState,
  LOGIN_FAILURES,
  loginFailed,
  mailCounts,
  passwordHashes,
  providerLoginEnded,
  rateLimitDecided,
  readyParts,
  REFRESH_OUTCOMES,
  refreshed,
  requestEnded,
  type RequestOutcome,
  signingKeyAge,
  untrustedProxySeen,
  userCount,
} from './measurements.js';

const LATENCY_BUCKETS_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5];

/** Half as often as by default, because each sample costs CPU even in an idle process. */
const EVENT_LOOP_PERIOD_MS = 20;

const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

const LOGIN_OUTCOMES = ['success', 'invalid_credentials', 'account_disabled', 'rate_limited', 'unavailable'];
const MAIL_STATES = ['waiting', 'sent', 'failed'];
const EXCHANGE_OUTCOMES = ['success', 'invalid_code', 'unavailable'];

export function measure(): Registry {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: EVENT_LOOP_PERIOD_MS });
  countRequests(registry);
  const counter = (name: string, help: string, ...labelNames: string[]): Counter =>
    new Counter({ name, help, labelNames, registers: [registry] });
  const decisions = counter(
    'accounts_rate_limit_decisions_total',
    'Requests that a rate limit admitted or refused',
    'limit',
    'decision',
  );
  rateLimitDecided.listen((labels) => decisions.inc(labels));
  const failed = counter(
    'accounts_failed_logins_total',
    'Failed logins, by reason. Logins that a rate limit refused are not among them',
    'reason',
  );
  for (const reason of LOGIN_FAILURES) failed.inc({ reason }, 0);
  loginFailed.listen((labels) => failed.inc(labels));
  const atProviders = counter(
    'accounts_provider_logins_total',
    'Logins at a provider, by "success" or the error code. A program may repeat a login with what it lacked',
    'provider',
    'outcome',
  );
  providerLoginEnded.listen((labels) => atProviders.inc(labels));
  const refreshes = counter(
    'accounts_refreshes_total',
    'Requests with a refresh token, by what it decided. After "reissued", the previous response was lost; after "reused", the session was revoked',
    'outcome',
  );
  for (const outcome of REFRESH_OUTCOMES) refreshes.inc({ outcome }, 0);
  refreshed.listen((labels) => refreshes.inc(labels));
  const retried = counter(
    'accounts_conflicts_retried_total',
    'Transactions that were retried after a conflict in the database',
  );
  conflictRetried.listen(() => retried.inc());
  const untrusted = counter(
    'accounts_untrusted_proxy_requests_total',
    'Requests with X-Forwarded-For or Forwarded from an address that is not in TRUST_PROXY, without those of /health',
  );
  untrustedProxySeen.listen(() => untrusted.inc());
  readGauges(registry);
  return registry;
}

function countRequests(registry: Registry): void {
  const duration = new Histogram({
    name: 'accounts_http_request_duration_seconds',
    help: 'Time from the arrival of a request to the end of its response',
    labelNames: ['method', 'route', 'status'],
    buckets: LATENCY_BUCKETS_SECONDS,
    registers: [registry],
  });
  const countOutcome = outcomes(registry);
  requestEnded.listen((request) => {
    const method = METHODS.has(request.method) ? request.method : 'other';
    const labels = { method, route: request.route ?? 'unknown', status: request.status };
    duration.observe(labels, request.seconds);
    if (request.method === 'POST') countOutcome(request);
  });
}

function outcomes(registry: Registry): (request: RequestOutcome) => void {
  const logins = new Counter({
    name: 'accounts_logins_total',
    help: 'Login requests, by "success" or the error code',
    labelNames: ['outcome'],
    registers: [registry],
  });
  const issued = new Counter({
    name: 'accounts_codes_issued_total',
    help: 'Issued one-time codes',
    registers: [registry],
  });
  const exchanged = new Counter({
    name: 'accounts_codes_exchanged_total',
    help: 'Requests to exchange a one-time code, by "success" or the error code',
    labelNames: ['outcome'],
    registers: [registry],
  });
  for (const outcome of LOGIN_OUTCOMES) logins.inc({ outcome }, 0);
  for (const outcome of EXCHANGE_OUTCOMES) exchanged.inc({ outcome }, 0);

  return ({ route, code: outcome = 'success' }) => {
    if (route === '/api/auth/login') logins.inc({ outcome });
    else if (route === '/api/auth/code/exchange') exchanged.inc({ outcome });
    else if (route === '/api/auth/code' && outcome === 'success') issued.inc();
  };
}

function readGauges(registry: Registry): void {
  type Read = () => number | undefined;
  const gauge = (name: string, help: string, read: Read, aggregator: Aggregator = 'sum'): void =>
    labelledGauge(registry, { name, help, aggregator }, (metric) => {
      const value = read();
      if (value === undefined) metric.remove();
      else metric.set(value);
    });
  gauge('accounts_hashes_running', 'Password hashes in progress', () => passwordHashes.read().running);
  gauge(
    'accounts_hashes_waiting',
    'Password hashes that wait in the queue',
    () => passwordHashes.read().waiting,
  );
  gauge(
    'accounts_feed_waiters',
    'Requests that wait for an event of the feed',
    () => feedState.read().waiters,
  );
  gauge(
    'accounts_feed_lag_seconds',
    'Seconds since the event feed last contained every committed event, as far as the process knows',
    () => feedState.read().lagSeconds,
    'max',
  );
  gauge(
    'accounts_clock_offset_seconds',
    "Seconds by which the clock of the instance is ahead of the database's; negative if it is behind. None on SQLite",
    () => clockOffset.read(),
    'average',
  );
  gauge('accounts_users', 'Users; one instance counts them', () => userCount.read(), 'max');
  gauge(
    'accounts_key_age_seconds',
    'Seconds since the signing key began to sign',
    () => signingKeyAge.read(),
    'max',
  );
  const connections = {
    name: 'accounts_database_connections',
    help: 'Open connections to the database, by state: idle or in_use',
    labelNames: ['state'],
  };
  labelledGauge(registry, connections, (metric) => {
    const { idle, inUse } = databaseConnections.read();
    metric.set({ state: 'idle' }, idle);
    metric.set({ state: 'in_use' }, inUse);
  });
  gauge(
    'accounts_database_pool_size',
    'Connections that may be open to a MySQL or MariaDB server (DATABASE_POOL_SIZE)',
    () => databaseConnections.read().poolSize,
  );
  const mails = {
    name: 'accounts_mails',
    help: 'Emails in the outbox, by state: waiting, sent or failed. Sent and failed emails stay for 7 days',
    labelNames: ['state'],
    // All processes count the same rows.
    aggregator: 'max',
  } as const;
  labelledGauge(registry, mails, (metric) => {
    const counts = mailCounts.read();
    for (const state of MAIL_STATES) metric.set({ state }, counts[state] ?? 0);
  });
  const build = { name: 'accounts_build_info', help: 'Always 1', labelNames: ['version'] };
  labelledGauge(registry, { ...build, aggregator: 'max' }, (metric) => metric.set({ version: VERSION }, 1));
  const ready = {
    name: 'accounts_ready',
    help: 'Whether a part of GET /health/ready works: 1, or 0 if it is degraded or the instance cannot serve without it',
    labelNames: ['part'],
    aggregator: 'min',
  } as const;
  labelledGauge(registry, ready, (metric) => {
    for (const [part, works] of Object.entries(readyParts.read())) metric.set({ part }, works ? 1 : 0);
  });
}

function labelledGauge(
  registry: Registry,
  configuration: Omit<GaugeConfiguration<string>, 'collect' | 'registers'>,
  read: (metric: Gauge) => void,
): void {
  const metric = new Gauge({
    ...configuration,
    registers: [],
    collect() {
      read(this);
    },
  });
  registry.registerMetric(metric);
}

type MetricsReport = MetricObjectWithValues<MetricValue<string>>[];

const REPORT_REQUEST = { type: 'accounts:report-metrics' };

interface ReportAnswer {
  type: 'accounts:metrics';
  report: MetricsReport;
}

const ANSWER_TIMEOUT_MS = 1000;

export function reportToPrimary(registry: Registry): void {
  process.on('message', ({ type }: typeof REPORT_REQUEST) => {
    if (type === REPORT_REQUEST.type) void answer(registry);
  });
}

async function answer(registry: Registry): Promise<void> {
  const message: ReportAnswer = { type: 'accounts:metrics', report: await registry.getMetricsAsJSON() };
  if (process.connected) process.send?.(message, undefined, {}, () => undefined);
}

/** Keeps the counts of ended workers, or Prometheus would assume a restart and count the other workers again. */
export class WorkerReports {
  private readonly latest = new Map<number, MetricsReport>();
  private past: MetricsReport = [];
  private readonly waiting = new Map<number, () => void>();

  constructor() {
    cluster.on('message', (worker, message: ReportAnswer) => {
      if (message.type === 'accounts:metrics') this.take(worker, message.report);
    });
    cluster.on('exit', (worker) => this.keepCounted(worker));
  }

  async metrics(): Promise<string> {
    const workers = Object.values(cluster.workers ?? {}).filter((worker) => worker !== undefined);
    await Promise.all(workers.map((worker) => this.ask(worker)));
    return AggregatorRegistry.aggregate([this.past, ...this.latest.values()]).metrics();
  }

  private async ask(worker: Worker): Promise<void> {
    if (!worker.isConnected()) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, ANSWER_TIMEOUT_MS);
    this.waiting.set(worker.id, resolve);
    worker.send(REPORT_REQUEST, (error) => error && resolve());
    await promise;
    clearTimeout(timer);
  }

  private take(worker: Worker, report: MetricsReport): void {
    if (!worker.isDead()) this.latest.set(worker.id, report);
    this.waiting.get(worker.id)?.();
  }

  private keepCounted(worker: Worker): void {
    this.waiting.get(worker.id)?.();
    this.waiting.delete(worker.id);
    const counted = (this.latest.get(worker.id) ?? []).filter(isCounted);
    this.latest.delete(worker.id);
    this.past = AggregatorRegistry.aggregate([this.past, counted]).getMetricsAsArray() as MetricsReport;
  }
}

/** prom-client declares `type` as a number, but it is a word. */
function isCounted({ type }: MetricsReport[number]): boolean {
  return String(type) !== 'gauge';
}
