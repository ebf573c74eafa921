import type { INestApplicationContext } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { type Env, loadEnv } from '../../config/env.js';
import { CliModule } from './cli.module.js';
import { requireSchema, withDatabase } from './database.js';

export interface Services extends Pick<INestApplicationContext, 'get'> {
  env: Env;
}

/** Opens the configured database for one command, while the service may be running. */
export async function withServices<T>(work: (services: Services) => Promise<T>): Promise<T> {
  const env = loadEnv();
  return withDatabase(env, 'command', async (dataSource) => {
    await requireSchema(dataSource);
    const context = await NestFactory.createApplicationContext(CliModule.forRoot(env, dataSource), {
      logger: false,
      abortOnError: false,
    });
    return work({ env, get: context.get.bind(context) });
  });
}
