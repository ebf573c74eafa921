import { readFileSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { join, resolve } from 'node:path';
import { text as readText } from 'node:stream/consumers';
import { temporaryDirectory } from '../../tooling/processes/at-exit.js';
import { ServerProcess } from '../../tooling/processes/server-process.js';
import { freePort } from '../../client/src/free-port.ts';
import { hangTimeoutMs } from '../../tooling/wait.js';
import type { Environment } from './service-process.js';

const MAIN = resolve(import.meta.dirname, '../../client/src/guard/main.ts');

export interface Received {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  text: string;
}

/** Sends the path as it is, which `fetch` would not. */
export function get(
  port: number,
  path: string,
  headers: Record<string, string | string[]> = {},
  { method = 'GET', body = '' } = {},
): Promise<Received> {
  return new Promise((answered, failed) => {
    const sent = request({ port, host: '127.0.0.1', path, method, headers, agent: false }, (answer) => {
      const { statusCode, headers: received } = answer;
      void readText(answer).then(
        (text) => answered({ status: statusCode!, headers: received, text }),
        failed,
      );
    });
    sent.once('error', failed);
    sent.end(body);
  });
}

/** `accounts-guard` as a process, which keeps its port when it is started again. */
export class Sidecar {
  readonly process = new ServerProcess('accounts-guard', temporaryDirectory('sidecar'));
  readonly secretFile = join(this.process.directory, 'secret');
  readonly env: Environment;

  private constructor(
    readonly port: number,
    accountsUrl: string,
    { name, secret }: { name: string; secret: string },
    env: Environment,
  ) {
    this.writeSecret(secret);
    this.env = {
      PATH: process.env['PATH'],
      GUARD_LISTEN: `127.0.0.1:${port}`,
      GUARD_ISSUER: 'accounts',
      GUARD_URL: accountsUrl,
      // Users of the tests have the tokens of their own logins.
      GUARD_AUDIENCE: `${name},accounts`,
      GUARD_SERVICE: name,
      GUARD_SECRET_FILE: this.secretFile,
      ...env,
    };
  }

  /** Starts it, and waits until it can decide. */
  static async start(
    accountsUrl: string,
    client: { name: string; secret: string },
    env: Environment = {},
  ): Promise<Sidecar> {
    const sidecar = new Sidecar(await freePort(), accountsUrl, client, env);
    await sidecar.start();
    return sidecar;
  }

  async start(): Promise<void> {
    this.launch();
    await this.untilReady();
  }

  launch(program = process.execPath, args: string[] = []): void {
    this.process.launch({ program, args: [...args, MAIN], env: this.env });
  }

  untilReady(): Promise<void> {
    const isReady = async (): Promise<boolean> => (await this.get('/health/ready')).status === 200;
    return this.process.waitUntil('is ready', hangTimeoutMs(), isReady);
  }

  get(path: string, token?: string): Promise<Received> {
    return get(this.port, path, token === undefined ? {} : { authorization: `Bearer ${token}` });
  }

  async status(path: string, token?: string): Promise<number> {
    return (await this.get(path, token)).status;
  }

  writeSecret(secret: string): void {
    writeFileSync(this.secretFile, secret, { mode: 0o600 });
  }

  /** Each line of its log. */
  log(): { msg: string }[] {
    const text = readFileSync(join(this.process.directory, 'server.log'), 'utf8');
    return text
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as { msg: string });
  }

  close(): Promise<void> {
    return this.process.close();
  }
}
