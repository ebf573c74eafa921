import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import type { TestProject } from 'vitest/node';
import type { InstallationPlace } from './installation.js';
import { type SharedKind, type SharedPlace, SharedServices } from './shared-services.js';

/** Keeps the services that the files of one project share, and tells each file which it may use. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const services = new SharedServices();
  const server = createServer((request, response) => {
    answer(services, request).then(
      (place) => response.writeHead(place ? 200 : 404).end(JSON.stringify(place)),
      (error: unknown) => response.writeHead(500).end(String(error)),
    );
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  project.provide('sharedServices', `http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  return async () => {
    server.close();
    server.closeAllConnections();
    await services.stop();
  };
}

/** What the path asks for, about what the body says. */
async function answer(services: SharedServices, request: IncomingMessage): Promise<SharedPlace | undefined> {
  const body = await json(request);
  if (request.url === '/take') return services.take((body as SharedKind).name);
  if (request.url === '/start') {
    const { kind, installation } = body as { kind: SharedKind; installation: InstallationPlace };
    return services.start(kind, installation);
  }
  services.giveBack(body as SharedPlace);
  return undefined;
}
