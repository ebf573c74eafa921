import { once } from 'node:events';
import { createServer, type Server, type Socket } from 'node:net';
import { type AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { anInstallation, type Installation } from '../support/installation.js';
import { anAccount } from '../support/personas.js';
import { type Service, startService } from '../support/service.js';
import { exitCode, untilListening } from '../support/service-process.js';
import { spawnWithout } from '../support/without-packages.js';
import { hangTimeoutMs, waitFor } from '../../tooling/wait.js';

const PACKAGES = [
  '@opentelemetry/api',
  '@opentelemetry/sdk-trace',
  '@opentelemetry/exporter-trace-otlp-http',
];
const NOBODY_LISTENS = 'http://127.0.0.1:1';

describe('the exporter of traces', () => {
  let installation: Installation;

  beforeEach(async () => {
    installation = await anInstallation();
  });
  afterEach(() => installation.remove());

  const start = (OTEL_EXPORTER_OTLP_ENDPOINT: string): Promise<Service> =>
    startService({ installation, env: { OTEL_EXPORTER_OTLP_ENDPOINT, RATE_LIMIT_REGISTER: 'off' } });

  it('is not loaded by default', async () => {
    const service = spawnWithout(PACKAGES, installation, {});
    await untilListening(service);
    service.child.kill('SIGTERM');
    expect(await exitCode(service)).toBe(0);

    const traced = spawnWithout(PACKAGES, installation, { OTEL_EXPORTER_OTLP_ENDPOINT: NOBODY_LISTENS });
    expect(await exitCode(traced)).toBe(1);
  });

  /** More requests than the exporter keeps spans. */
  async function manyRequests(service: Service): Promise<number[]> {
    const ada = await anAccount(service, 'ada');
    const statuses = [];
    for (let round = 0; round < 50; round += 1) {
      const answers = await Promise.all(Array.from({ length: 30 }, () => ada.get('/api/me')));
      statuses.push(...answers.map(({ status }) => status));
    }
    return [...new Set(statuses)];
  }

  it('that nobody answers fails no request and no stop, and the log says so once', async () => {
    const service = await start(NOBODY_LISTENS);

    expect(await manyRequests(service)).toEqual([200]);
    const warnings = () => service.logs.filter((line) => line.includes('traces cannot be exported'));
    await waitFor('a warning', hangTimeoutMs(), () => warnings().length > 0);
    await service.stop();
    expect(warnings()).toHaveLength(1);
    expect(service.logs.join('\n')).not.toContain('requests are still running');
  });

  it('that hangs fails no request, and a stop does not wait for it', async () => {
    const sockets: Socket[] = [];
    const hanging: Server = createServer((socket) => sockets.push(socket)).listen(0, '127.0.0.1');
    await once(hanging, 'listening');
    const service = await start(`http://127.0.0.1:${(hanging.address() as AddressInfo).port}`);

    expect(await manyRequests(service)).toEqual([200]);
    await waitFor('an export has begun', hangTimeoutMs(), () => sockets.length > 0);
    await service.stop();
    expect(service.logs.join('\n')).not.toContain('requests are still running');
    for (const socket of sockets) socket.destroy();
    hanging.close();
  });
});
