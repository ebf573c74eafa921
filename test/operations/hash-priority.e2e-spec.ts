import { readdirSync, readFileSync } from 'node:fs';
import { getPriority } from 'node:os';
import { expect, it } from 'vitest';
import { anInstallation } from '../support/installation.js';
import { exitCode, spawnService, untilListening } from '../support/service-process.js';

// Elsewhere threads have no priority of their own.
it.runIf(process.platform === 'linux')(
  'hashes on threads of lower priority than the event loop',
  async () => {
    const installation = await anInstallation();
    const service = spawnService(installation.directory, installation.env);
    await untilListening(service);

    const tasks = `/proc/${service.child.pid}/task`;
    const threads = readdirSync(tasks).map((id) => ({
      name: readFileSync(`${tasks}/${id}/comm`, 'utf8').trim(),
      niceness: getPriority(Number(id)),
    }));
    const own = getPriority();
    const hashing = threads.filter(({ name }) => name === 'libuv-worker');
    expect(hashing.length).toBeGreaterThan(0);
    for (const { niceness } of hashing) expect(niceness).toBeGreaterThan(own);
    for (const { name, niceness } of threads.filter((thread) => !hashing.includes(thread))) {
      expect(niceness, name).toBe(own);
    }

    service.child.kill('SIGTERM');
    await exitCode(service);
    await installation.remove();
  },
);
