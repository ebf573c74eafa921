import { inject } from 'vitest';
import { hangTimeoutMs, waitFor } from '../../tooling/wait.js';
import type { Caller } from './caller.js';
import { aSharedInstallation, type Installation } from './installation.js';
import type { SharedPlace } from './shared-services.js';

/** Where the service of this worker is, which the first file that asks has started. */
export async function findSharedPlace(): Promise<SharedPlace> {
  const place = (await ask()) ?? (await ask(await aSharedInstallation()));
  if (!place) throw new Error('No shared service was started');
  return place;
}

/** Where the service of this worker is, which `installation` starts. */
async function ask(installation?: object): Promise<SharedPlace | undefined> {
  const response = await fetch(`${inject('sharedServices')}/${process.env['VITEST_POOL_ID']}`, {
    ...(installation && { method: 'POST', body: JSON.stringify(installation) }),
  });
  const text = await response.text();
  if (response.status === 404) return undefined;
  if (!response.ok) throw new Error(text);
  return JSON.parse(text) as SharedPlace;
}

/** It continues for other files, if this one left it healthy. */
export async function leaveShared(service: {
  anyone: Caller;
  logs: string[];
  installation: Installation;
}): Promise<void> {
  const ready = await service.anyone.get('/health/ready');
  if (ready.status !== 200) throw new Error(`The shared service is not ready any more: ${ready.text}`);

  const last = await service.anyone.get<{ requestId: string }>('/last-request');
  await waitFor('the last request is in the log', hangTimeoutMs(), () =>
    service.logs.some((line) => line.includes(last.body.requestId)),
  );
  service.installation.secrets.checkAbsentFrom(service.logs);
}
