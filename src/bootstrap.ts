import { Logger } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import { AppModule } from './app.module.js';
import { loadEnv } from './config/load-env.js';
import { configureApp } from './configure-app.js';
import { migrate } from './database/migrate.js';
import { fastifyOptions } from './http/fastify-options.js';
import { stopOnSignals } from './http/shutdown.js';
import { createLogger } from './logging/logger.js';
import { NestLogger } from './logging/nest-logger.js';
import { SCHEMA } from './schema.js';
import { announce } from './start-message.js';

/** Starts the service; resolves when it listens. */
export async function bootstrap(): Promise<void> {
  const env = loadEnv();
  const log = createLogger(env.logLevel);
  const logger = new NestLogger(log);
  Logger.overrideLogger(logger);
  await migrate(env, SCHEMA);
  const app = await NestFactory.create<NestFastifyApplication>(
    AppModule.forRoot(env),
    new FastifyAdapter(fastifyOptions(env)),
    { logger, abortOnError: false, bodyParser: false },
  );
  stopOnSignals(app, log);
  await configureApp(app, env, log);
  await app.listen(env.port, env.host);
  announce(env, await app.getUrl(), log);
}
