import { inject } from 'vitest';
import { hangTimeoutMs, waitFor } from '../../tooling/wait.js';
import type { Caller } from './caller.js';
import { aSharedInstallation, type Installation } from './installation.js';
import type { SharedKind, SharedPlace } from './shared-services.js';

/** Where instances of that kind are that no other file uses until they are given back. */
export async function takeShared(kind: SharedKind): Promise<SharedPlace> {
  const place =
    (await ask('take', kind)) ?? (await ask('start', { kind, installation: await aSharedInstallation() }));
  if (!place) throw new Error('No shared service was started');
  return place;
}

export async function giveBack(place: SharedPlace): Promise<void> {
  await ask('give-back', place);
}

async function ask(what: string, body: object): Promise<SharedPlace | undefined> {
  const url = `${inject('sharedServices')}/${what}`;
  const response = await fetch(url, { method: 'POST', body: JSON.stringify(body) });
  const text = await response.text();
  if (response.status === 404) return undefined;
  if (!response.ok) throw new Error(text);
  return JSON.parse(text) as SharedPlace;
}

/** It continues for other files, if this one left it healthy. */
export async function checkHealthy(service: {
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
