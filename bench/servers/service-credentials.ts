import { execFile } from 'node:child_process';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import type { Program } from './http-server.ts';

export interface ServiceCredentials {
  name: string;
  secret: string;
}

/** Adds a service that may do what the scopes say. */
export async function addService(
  { script, env, directory }: Program,
  name: string,
  scopes: string,
): Promise<ServiceCredentials> {
  const command = join(dirname(script), 'cli', 'main.js');
  const { stdout } = await promisify(execFile)(
    process.execPath,
    [command, 'services', 'add', name, '--allow', scopes, '--reason', 'benchmark', '--json'],
    { cwd: directory, env: { PATH: process.env['PATH'] ?? '', ...env } },
  );
  const { secret } = JSON.parse(stdout) as { secret: string };
  return { name, secret };
}

/** Adds a service that may follow the feed, and returns the value of its `Authorization` header. */
export async function addFeedReader(program: Program): Promise<string> {
  const { name, secret } = await addService(program, 'feed-reader', 'events');
  return `Basic ${Buffer.from(`${name}:${secret}`).toString('base64')}`;
}
