import type { INestApplicationContext } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { CliModule } from '../../../src/cli/command/cli.module.js';
import { parseEnv } from '../../../src/config/env.js';
import { aDataSource } from '../../support/data-source.js';
import type { Installation } from '../../support/installation.js';
import { through } from './instance.js';

/** The services of the command line at one node, without the half second that each command takes to start. */
export interface NodeServices extends Pick<INestApplicationContext, 'get'> {
  close(): Promise<void>;
}

export async function servicesAt(installation: Installation, port: number): Promise<NodeServices> {
  const env = { ...installation.env, ...(through(port, installation) as Record<string, string>) };
  const dataSource = await aDataSource({ ...installation, env });
  const context = await NestFactory.createApplicationContext(CliModule.forRoot(parseEnv(env), dataSource), {
    logger: false,
    abortOnError: false,
  });
  return { get: context.get.bind(context), close: () => dataSource.destroy() };
}
