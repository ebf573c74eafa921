import { NestFactory } from '@nestjs/core';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import { AppModule } from './app.module.js';
import { loadEnv } from './config/load-env.js';
import { configureApp } from './configure-app.js';
import { SchemaMigrations } from './database/schema-migrations.js';
import { fastifyOptions } from './http/fastify-options.js';
import { stopOnSignals } from './http/shutdown.js';
import { createLogger } from './logging/logger.js';
import { NestLogger } from './logging/nest-logger.js';
import { announce } from './start-message.js';

/** Starts the service; resolves when it listens. */
export async function bootstrap(): Promise<void> {
  const env = loadEnv();
  const log = createLogger(env.logLevel);
  const app = await NestFactory.create<NestFastifyApplication>(
    AppModule.forRoot(env),
    new FastifyAdapter(fastifyOptions(env)),
    { logger: new NestLogger(log), abortOnError: false, bodyParser: false },
  );
  stopOnSignals(app, log);
  await app.get(SchemaMigrations).bringUpToDate();
  await configureApp(app, env, log);
  await app.listen(env.port, env.host);
  announce(env, await app.getUrl(), log);
}
