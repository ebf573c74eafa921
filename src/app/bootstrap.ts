import cluster from 'node:cluster';
import { Logger } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import type { Logger as PinoLogger } from 'pino';
import { AppModule } from '../app.module.js';
import { loadKeyFile } from '../auth/tokens/key-file.js';
import { KeyRing } from '../auth/tokens/key-ring.js';
import { workersFor } from '../config/concurrency.js';
import type { Env } from '../config/env.js';
import { loadEnv } from '../config/load-env.js';
import { configureApp } from './configure-app.js';
import { migrate } from '../database/migrate.js';
import { Connections } from '../http/connections.js';
import { fastifyOptions } from '../http/fastify-options.js';
import { listen } from '../http/listen.js';
import { RequestLog } from '../http/request-log.js';
import { stopOnSignals } from '../http/shutdown.js';
import { createLogger } from '../logging/logger.js';
import { NestLogger } from '../logging/nest-logger.js';
import { SCHEMA } from './schema.js';
import { announce } from './start-message.js';
import { Workers } from './workers.js';

export async function bootstrap(): Promise<void> {
  const env = loadEnv();
  const log = await createLogger(env.logLevel);
  const logger = new NestLogger(log);
  Logger.overrideLogger(logger);
  // First, so that a start without keys fails before it changes the database.
  const keys = new KeyRing(loadKeyFile(env.jwtKeysFile, env.production));
  if (cluster.isWorker) return serve(env, keys, log, logger);

  await migrate(env, SCHEMA);
  const { workers, reason } = workersFor(env);
  if (reason !== undefined) log.warn(`WEB_CONCURRENCY: one process only: ${reason}`);
  if (workers > 1) new Workers(log).start(workers);
  else await serve(env, keys, log, logger);
}

async function serve(env: Env, keys: KeyRing, log: PinoLogger, logger: NestLogger): Promise<void> {
  const requestLog = new RequestLog(log);
  const connections = new Connections(requestLog);
  const app = await NestFactory.create<NestFastifyApplication>(
    AppModule.forRoot(env, keys),
    new FastifyAdapter(fastifyOptions(env, connections, requestLog)),
    { logger, abortOnError: false, bodyParser: false },
  );
  stopOnSignals(app, log);
  await configureApp(app, env, connections);
  await listen(app, env);
  announce(env, await app.getUrl(), log);
}
