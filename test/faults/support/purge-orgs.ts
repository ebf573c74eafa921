/**
 * Runs by itself, beside the built service, as the clean-up of an instance: purges every organization whose time is
 * over, and writes a dot after each batch.
 */
import 'reflect-metadata';
import { NestFactory } from '@nestjs/core';
import { builtModule } from './built-module.ts';

const { openDatabase } =
  await builtModule<typeof import('../../../src/cli/command/database.js')>('cli/command/database.js');
const { CliModule } =
  await builtModule<typeof import('../../../src/cli/command/cli.module.js')>('cli/command/cli.module.js');
const { loadEnv } = await builtModule<typeof import('../../../src/config/env.js')>('config/env.js');
const { OrgPurge } =
  await builtModule<typeof import('../../../src/clean-up/clean-up.js')>('clean-up/clean-up.js');

const env = loadEnv();
const dataSource = await openDatabase(env, 'command');
const module = CliModule.forRoot(env, dataSource);
module.providers?.push(OrgPurge);
const context = await NestFactory.createApplicationContext(module, { logger: ['error'] });
const purge = context.get(OrgPurge, { strict: false });
while ((await purge.purgeBatch(Date.now())).examined > 0) process.stdout.write('.');
await dataSource.destroy();
