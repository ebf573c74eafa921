import { inject } from 'vitest';
import { Caller } from './caller.js';
import { contractOf } from './contract.js';
import { aSharedInstallation, installationAt } from './installation.js';
import { LogFile } from './log-file.js';
import type { Service } from './service.js';
import type { SharedPlace } from './shared-services.js';
import { hangTimeoutMs, waitFor } from './wait.js';

/** The service that all files of this worker use, as one file sees it: `logs` and secrets begin with this call. */
export async function sharedService(): Promise<Service> {
  const place = (await ask()) ?? (await ask(await aSharedInstallation()));
  if (!place) throw new Error('No shared service was started');
  const installation = await installationAt(place);
  const contract = contractOf(place.url);
  const log = new LogFile(place.logFile);
  const service: Service = {
    url: place.url,
    get logs() {
      return log.lines();
    },
    installation,
    db: installation.db,
    contract,
    anyone: new Caller({ url: place.url, contract, secrets: installation.secrets }),
    stop: () => leave(service),
  };
  return service;
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

/** It goes on for other files, if this one left it well. */
async function leave(service: Service): Promise<void> {
  const ready = await service.anyone.get('/health/ready');
  if (ready.status !== 200) throw new Error(`The shared service is not ready any more: ${ready.text}`);

  const last = await service.anyone.get<{ requestId: string }>('/last-request');
  await waitFor('the last request is in the log', hangTimeoutMs(), () =>
    service.logs.some((line) => line.includes(last.body.requestId)),
  );
  service.installation.secrets.checkAbsentFrom(service.logs);
}
