import { readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { requireProgram } from '../../../tooling/processes/find-program.js';
import { temporaryDirectory } from '../../../tooling/processes/at-exit.js';
import { ServerProcess } from '../../../tooling/processes/server-process.js';
import { freePort } from '../../../tooling/servers/free-port.js';
import { KeepAliveClient } from '../../support/keep-alive-client.js';
import { Authority } from '../../support/certificates.js';

const CONFIGURATION = resolve(import.meta.dirname, '../../../deploy/haproxy.cfg');
const ANSWER_TIMEOUT_MS = 60_000;

/** The only address that the balancer of a test takes for one of the operators' network. */
export const INSIDE = '127.0.0.9';

/** A real HAProxy with deploy/haproxy.cfg, of which only what depends on this machine is replaced. */
export class Balancer extends ServerProcess {
  private constructor(
    directory: string,
    readonly port: number,
    readonly ca: string,
    readonly configuration: string,
  ) {
    super(`haproxy:${port}`, directory);
  }

  /** @param instance port of the one that stands for all three */
  static async start(instance: number): Promise<Balancer> {
    const directory = temporaryDirectory('haproxy');
    const authority = await Authority.create('the balancer of a test');
    const { certificate, key } = await authority.issue('DNS:localhost,IP:127.0.0.1');
    const pem = join(directory, 'tls.pem');
    writeFileSync(pem, readFileSync(certificate, 'utf8') + readFileSync(key, 'utf8'), { mode: 0o600 });
    const port = await freePort();
    const configuration = join(directory, 'haproxy.cfg');
    writeFileSync(configuration, placedHere(readFileSync(CONFIGURATION, 'utf8'), { port, pem, instance }));

    const balancer = new Balancer(
      directory,
      port,
      readFileSync(authority.certificate, 'utf8'),
      configuration,
    );
    balancer.launch({ program: requireProgram('haproxy'), args: ['-db', '-f', configuration] });
    const client = balancer.client('127.0.0.1');
    await balancer.waitUntil('answers', ANSWER_TIMEOUT_MS, async () => {
      const sent = await client.send('GET', '/health/live');
      return sent.kind === 'answered' && sent.status === 200;
    });
    client.close();
    return balancer;
  }

  get url(): string {
    return `https://127.0.0.1:${this.port}`;
  }

  client(localAddress: string): KeepAliveClient {
    return new KeepAliveClient(this.url, ANSWER_TIMEOUT_MS, { localAddress, ca: this.ca });
  }
}

function placedHere(text: string, here: { port: number; pem: string; instance: number }): string {
  const places: [RegExp, string][] = [
    [/bind :8443 ssl crt \S+/, `bind 127.0.0.1:${here.port} ssl crt ${here.pem}`],
    // A machine that is busy answers a check late.
    [/timeout check 3s/, 'timeout check 60s'],
    [/acl inside src .*/, `acl inside src ${INSIDE}`],
    ...['one', 'two', 'three'].map((name): [RegExp, string] => [
      new RegExp(`server ${name} \\S+`),
      `server ${name} 127.0.0.1:${here.instance}`,
    ]),
  ];
  return places.reduce((result, [place, replacement]) => {
    if (!place.test(result)) throw new Error(`deploy/haproxy.cfg has no ${place.source}`);
    return result.replace(place, replacement);
  }, text);
}
