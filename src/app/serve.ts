import { NestFactory } from '@nestjs/core';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import type { Logger } from 'pino';
import { AppModule } from './app.module.js';
import type { KeyRing } from '../auth/tokens/key-ring.js';
import type { Env } from '../config/env.js';
import { FeedPoller } from '../events/feed-rounds.js';
import { Connections, IdleConnections, maxConnections } from '../http/connections.js';
import { fastifyOptions } from '../http/fastify-options.js';
import { listen, stopOnSignals } from '../http/listening.js';
import { RequestLog } from '../http/request-log.js';
import { NestLogger } from '../telemetry/logging/nest-logger.js';
import { startTracing } from '../telemetry/tracing/start-tracing.js';
import { configureApp } from './configure-app.js';
import { announce } from './start-message.js';

export async function serve(env: Env, keys: KeyRing, log: Logger): Promise<void> {
  const stopTracing = await startTracing(env);
  const requestLog = new RequestLog(log);
  const idle = new IdleConnections(log);
  const connections = new Connections(requestLog, idle);
  const app = await NestFactory.create<NestFastifyApplication>(
    AppModule.forRoot(env, keys),
    new FastifyAdapter(fastifyOptions(env, connections, requestLog)),
    { logger: new NestLogger(log), abortOnError: false, bodyParser: false },
  );
  stopOnSignals(app, log, stopTracing);
  await configureApp(app, env, connections);
  app.get(FeedPoller).start();
  idle.limit(app.getHttpServer(), maxConnections(env));
  await listen(app, env);
  announce(env, await app.getUrl(), log);
}
