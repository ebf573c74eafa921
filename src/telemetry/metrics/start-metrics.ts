import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Logger } from '@nestjs/common';
import cluster from 'node:cluster';
import type { Logger as PinoLogger } from 'pino';
import { listenError } from '../../config/ip-address.js';
import type { Env } from '../../config/env.js';

type Scrape = () => Promise<string>;

const PATH = '/metrics';
const REQUEST_TIMEOUT_MS = 5000;

async function listenForScrapes(
  endpoint: { host: string; port: number },
  contentType: string,
  scrape: Scrape,
): Promise<string> {
  const collect = shared(scrape);
  const options = { requestTimeout: REQUEST_TIMEOUT_MS, connectionsCheckingInterval: REQUEST_TIMEOUT_MS };
  const server = createServer(options, (request, response) => {
    void answer(request, response, contentType, collect);
  });
  server.on('connection', (socket) => socket.unref());
  server.listen(endpoint.port, endpoint.host);
  try {
    await once(server, 'listening');
  } catch (error) {
    throw listenError('METRICS_PORT, METRICS_HOST', endpoint.host, endpoint.port, error);
  }
  server.unref();
  const { address, port, family } = server.address() as AddressInfo;
  return `http://${family === 'IPv6' ? `[${address}]` : address}:${port}${PATH}`;
}

async function answer(
  { method, url }: IncomingMessage,
  response: ServerResponse,
  contentType: string,
  scrape: Scrape,
): Promise<void> {
  const known = url?.split('?', 1)[0] === PATH;
  if (!known || (method !== 'GET' && method !== 'HEAD')) {
    response.writeHead(known ? 405 : 404, known ? { Allow: 'GET, HEAD' } : {}).end();
    return;
  }
  try {
    const text = await scrape();
    response.writeHead(200, { 'Content-Type': contentType, 'Cache-Control': 'no-store' }).end(text);
  } catch (error) {
    new Logger('Metrics').error({ msg: 'metrics cannot be collected', err: error });
    response.writeHead(500).end();
  }
}

function shared(scrape: Scrape): Scrape {
  let running: Promise<string> | undefined;
  return () => (running ??= scrape().finally(() => (running = undefined)));
}

/** The primary process answers for all workers. Without METRICS_PORT, Accounts loads no metrics library. */
export async function startMetrics(env: Env, workers: number, log: PinoLogger): Promise<void> {
  if (env.metricsPort === undefined) return;
  const endpoint = { host: env.metricsHost, port: env.metricsPort };
  const { measure, reportToPrimary, WorkerReports } = await import('./instruments.js');
  if (cluster.isWorker) return reportToPrimary(measure());

  const { Registry } = await import('prom-client');
  const reports = workers > 1 ? new WorkerReports() : measure();
  const url = await listenForScrapes(endpoint, Registry.PROMETHEUS_CONTENT_TYPE, () => reports.metrics());
  log.info({ msg: 'metrics', metrics: url });
}
