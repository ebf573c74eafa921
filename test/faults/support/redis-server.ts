import { connect } from 'node:net';
import { connect as connectTls } from 'node:tls';
import type { Certificate } from '../../support/certificates.js';
import type { Service } from '../../support/service.js';
import { hangTimeoutMs, waitFor } from '../../../tooling/wait.js';
import { temporaryDirectory } from '../../../tooling/processes/at-exit.js';
import { requireProgram } from '../../../tooling/processes/find-program.js';
import { ServerProcess } from '../../../tooling/processes/server-process.js';
import { freePort } from '../../../client/src/free-port.ts';

/** A private Redis on 127.0.0.1 that keeps nothing on disk: a restart brings back an empty one. */
export class RedisServer extends ServerProcess {
  private constructor(
    directory: string,
    readonly port: number,
    private readonly certificate: Certificate | undefined,
  ) {
    super(`redis:${port}`, directory);
  }

  /** @param certificate makes it accept nothing but TLS */
  static async start(certificate?: Certificate): Promise<RedisServer> {
    const server = new RedisServer(temporaryDirectory('redis'), await freePort(), certificate);
    await server.restart();
    return server;
  }

  get url(): string {
    return `redis://127.0.0.1:${this.port}`;
  }

  async restart(): Promise<void> {
    const inMemory = ['--dir', this.directory, '--save', '', '--appendonly', 'no'];
    const args = [...this.portArgs(), '--bind', '127.0.0.1', ...inMemory];
    this.launch({ program: requireProgram('redis-server'), args });
    await this.waitUntil('answers', 10_000, async () => (await this.command('PING')) === '+PONG\r\n');
  }

  command(...words: string[]): Promise<string> {
    return new Promise((resolve, reject) => {
      const socket = this.certificate
        ? connectTls({ port: this.port, host: '127.0.0.1', rejectUnauthorized: false })
        : connect(this.port, '127.0.0.1');
      socket.setTimeout(1000, () => socket.destroy(new Error(`${this.name} does not answer`)));
      socket.once('error', reject);
      socket.once('data', (data) => {
        socket.destroy();
        resolve(data.toString());
      });
      socket.write(
        `*${words.length}\r\n${words.map((w) => `$${Buffer.byteLength(w)}\r\n${w}\r\n`).join('')}`,
      );
    });
  }

  private portArgs(): string[] {
    if (!this.certificate) return ['--port', String(this.port)];
    const { certificate, key } = this.certificate;
    const files = ['--tls-cert-file', certificate, '--tls-key-file', key, '--tls-ca-cert-file', certificate];
    return ['--port', '0', '--tls-port', String(this.port), '--tls-auth-clients', 'no', ...files];
  }
}

/** What readiness says of rate limits: `ok`, or `degraded` while instances count by themselves. */
export async function rateLimitsAt(instances: readonly Service[]): Promise<string[]> {
  const answers = await Promise.all(
    instances.map(({ anyone }) => anyone.get<{ rateLimits: string }>('/health/ready')),
  );
  return answers.map(({ status, body }) => (status === 200 ? body.rateLimits : String(status)));
}

export function expectRateLimits(
  state: 'ok' | 'degraded',
  instances: readonly Service[],
  timeoutMs = hangTimeoutMs(),
): Promise<unknown> {
  return waitFor(`rate limits are ${state}`, timeoutMs, async () =>
    (await rateLimitsAt(instances)).every((found) => found === state),
  );
}
