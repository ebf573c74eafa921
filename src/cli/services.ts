import type { INestApplicationContext } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { DataSource } from 'typeorm';
import { SCHEMA } from '../app/schema.js';
import type { Env } from '../config/env.js';
import { loadEnv } from '../config/load-env.js';
import { isSchemaNewer, isSchemaUpToDate } from '../database/schema-version.js';
import { CannotRunError } from './cannot-run.error.js';
import { CliModule } from './cli.module.js';
import { openDatabase } from './open-database.js';

export interface Services extends Pick<INestApplicationContext, 'get'> {
  env: Env;
}

export async function requireSchema(dataSource: DataSource): Promise<void> {
  if (!(await isSchemaUpToDate(dataSource))) {
    throw new CannotRunError('the database is of another version: run accounts migrate first');
  }
  if (await isSchemaNewer(dataSource)) {
    throw new CannotRunError(
      'the database is of a newer version than this command: use the command of that version',
    );
  }
}

/** Opens the configured database for one command, while the service may be running. */
export async function withServices<T>(work: (services: Services) => Promise<T>): Promise<T> {
  const env = loadEnv();
  const dataSource = await openDatabase(env, SCHEMA, 'command');
  try {
    await requireSchema(dataSource);
    const context = await NestFactory.createApplicationContext(CliModule.forRoot(env, dataSource), {
      logger: false,
      abortOnError: false,
    });
    return await work({ env, get: context.get.bind(context) });
  } finally {
    await dataSource.destroy();
  }
}
