import { setTimeout as sleep } from 'node:timers/promises';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import type { Logger } from 'pino';
import { useContainer } from 'class-validator';
import { AppModule } from './app.module.js';
import { RepeatedWork } from './repeated-work.js';
import type { KeyRing } from '../auth/tokens/signing-keys.js';
import { type Env, VERSION } from '../config/env.js';
import { listenError } from '../config/ip-address.js';
import { ConfigurationError } from '../config/variables.js';
import { onceReachable } from '../database/once-reachable.js';
import { Connections, IdleConnections, maxConnections } from '../http/connections.js';
import { fastifyOptions, stopOnSignals } from '../http/server.js';
import { allowOrigins, sendSecurityHeaders } from '../http/response-headers.js';
import { RequestLog, traceRequests } from '../http/request-log.js';
import { NestLogger } from '../telemetry/logging/logger.js';
import { replaceNodeAnswers } from '../http/problem.filter.js';
import { noticeUntrustedProxies } from '../http/request-origin.js';
import { AcceptablePassword } from '../auth/passwords/password.decorators.js';
import { giveBackUncounted } from '../rate-limits/admissions.js';
import { ReadinessService } from '../health/readiness.js';
import { noteSignedInUsers } from '../auth/tokens/token-issuer.js';
import { linkNextPages } from '../http/pages.js';
import { refuseLongUrls, refuseOtherMethods } from '../http/paths.js';
import { enforceDeadline } from '../http/deadline.js';
import { acceptBodies } from '../http/bodies.js';
import { validationPipe } from '../http/fields.js';
import { serveDocs } from '../openapi/docs.js';
import { reservedNames } from '../services/service-secrets.js';
import { ServicesRepository } from '../services/services.repository.js';
import { markDryRuns } from '../requests/write-controls.js';
import { Heartbeat } from '../auth/tokens/heartbeat.js';
import { KeyFileWatch } from '../auth/tokens/key-file-watch.js';
import { Decoys } from '../auth/passwords/decoys.js';
import { PasswordHasher } from '../auth/passwords/password-hasher.js';
import { MailWorker } from '../mail-delivery/mail-worker.js';

/** A proxy notices meanwhile that the instance is not ready, and loses no request on a connection that closes. */
const DRAIN_MS = 3000;

export async function serve(env: Env, keys: KeyRing, log: Logger): Promise<void> {
  const stopTracing = await traceIfWanted(env);
  const requestLog = new RequestLog(log);
  const idle = new IdleConnections(log);
  const connections = new Connections(requestLog, idle);
  const app = await NestFactory.create<NestFastifyApplication>(
    AppModule.forRoot(env, keys),
    new FastifyAdapter(fastifyOptions(env, connections, requestLog)),
    { logger: new NestLogger(log), abortOnError: false, bodyParser: false },
  );
  const drain = async (signal: NodeJS.Signals): Promise<void> => {
    app.get(ReadinessService).beginStop();
    connections.isClosing = true;
    if (env.trustProxy.length > 0 && signal === 'SIGTERM') await sleep(DRAIN_MS);
  };
  stopOnSignals(app, log, idle, { drain, beforeExit: stopTracing });
  await configureApp(app, env, connections);
  await refuseReservedNames(app, env);
  await startWorkers(app);
  idle.limit(app.getHttpServer(), maxConnections(env));
  await app.listen(env.port, env.host).catch((error: unknown) => {
    throw listenError('PORT, HOST', env.host, env.port, error);
  });
  announce(env, await app.getUrl(), log);
}

async function traceIfWanted(env: Env): Promise<() => Promise<void>> {
  if (env.otlpEndpoint === undefined) return () => Promise.resolve();
  const { startTracing } = await import('../telemetry/tracing/open-telemetry.js');
  return startTracing(env);
}

/** A service must not be named like JWT_AUDIENCE or JWT_ISSUER. */
async function refuseReservedNames(app: NestFastifyApplication, env: Env): Promise<void> {
  const reserved = reservedNames(env);
  const [name] = await onceReachable(() => app.get(ServicesRepository).findExisting([...reserved.keys()]));
  if (name === undefined) return;
  throw new ConfigurationError([
    `${reserved.get(name)}: a service has this name, so Accounts would accept its access tokens as full ones: set another value, or run accounts services remove ${name}`,
  ]);
}

function announce(env: Env, url: string, log: Logger): void {
  log.info({
    msg: 'listening',
    version: VERSION,
    mode: env.mode,
    url,
    api: `${url}/api`,
    docs: env.docs ? `${url}/docs` : 'off',
    data: databaseName(env),
    keys: env.jwtKeysFile,
    pid: process.pid,
  });
}

function databaseName({ database }: Env): string {
  if (database.engine === 'sqlite') return database.file;
  const hosts = database.hosts.map(({ host, port }) => `${host}:${port}`).join(', ');
  return `${database.database} on ${hosts}`;
}

export async function configureApp(
  app: NestFastifyApplication,
  env: Env,
  connections: Connections,
): Promise<void> {
  const fastify = app.getHttpAdapter().getInstance();
  sendSecurityHeaders(fastify);
  connections.follow(fastify);
  traceRequests(fastify);
  noticeUntrustedProxies(fastify, env.trustProxy);
  replaceNodeAnswers(fastify);
  refuseLongUrls(fastify);
  acceptBodies(fastify);
  enforceDeadline(fastify);
  giveBackUncounted(fastify);
  noteSignedInUsers(fastify);
  linkNextPages(fastify);
  markDryRuns(fastify);
  allowOrigins(app, env.corsOrigins);
  refuseOtherMethods(fastify);

  const acceptablePassword = app.get(AcceptablePassword);
  const container = {
    get: (type: unknown) => (type === AcceptablePassword ? acceptablePassword : undefined),
  };
  useContainer(container, { fallback: true });
  app.useGlobalPipes(validationPipe());
  if (env.docs) serveDocs(app, env);

  await app.init();
}

/** Providers do not start by themselves, because CLI commands must not start them. */
async function startWorkers(app: NestFastifyApplication): Promise<void> {
  await app.get(PasswordHasher).start();
  app.get(Decoys).start();
  app.get(KeyFileWatch).start();
  app.get(MailWorker).start();
  // The first probe must not send clients to an instance with a wrong clock or key file. RepeatedWork logs what fails.
  await app
    .get(Heartbeat)
    .run()
    .catch(() => undefined);
  app.get(RepeatedWork).start();
}
