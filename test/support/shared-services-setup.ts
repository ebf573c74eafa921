import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import type { TestProject } from 'vitest/node';
import type { InstallationPlace } from './installation.js';
import { type SharedPlace, SharedServices } from './shared-services.js';

/** Keeps the services that the files of one project share, and tells each worker where its own is. */
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

/** GET finds, POST starts one on the installation in its body; the path is the worker. */
async function answer(services: SharedServices, request: IncomingMessage): Promise<SharedPlace | undefined> {
  const worker = request.url ?? '';
  if (request.method === 'GET') return services.find(worker);
  return services.start(worker, (await json(request)) as InstallationPlace);
}
