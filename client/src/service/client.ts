import type { ServiceOperationId } from '../api.gen.ts';
import { Calls } from '../calls.ts';
import { idsOf, type Methods, methodsOf } from '../client.ts';
import { type Credentials, requireCredentials } from '../credentials.ts';
import { requireKnown } from '../known-members.ts';
import type { ClientOptions } from '../options.ts';
import { memoryStore } from '../store.ts';

export interface ServiceClientOptions extends Omit<ClientOptions, 'store'> {
  /** Name and secret of the service. */
  credentials: Credentials;
}
const OPTIONS: readonly string[] = [
  'baseUrl',
  'credentials',
  'fetch',
  'timeoutMs',
  'retries',
] satisfies (keyof ServiceClientOptions)[];

const DISCOVERY = ['getAuthConfig', 'getKeySet', 'getServerMetadata', 'getOpenidConfiguration'] as const;

export type ServiceClient = Methods<ServiceOperationId | (typeof DISCOVERY)[number]>;

/**
 * The operations of services: exchange, introspection, memberships, event feed and keys.
 *
 * @throws TypeError for an unknown option, an invalid base URL, and invalid credentials
 */
export function createServiceClient(options: ServiceClientOptions): ServiceClient {
  return serviceClientOf(callsOf(options));
}

/** @throws TypeError, as `createServiceClient` does */
export function callsOf(options: ServiceClientOptions): Calls {
  requireKnown('createServiceClient does', options, OPTIONS);
  requireCredentials(options.credentials);
  return new Calls({ ...options, store: memoryStore() });
}

export function serviceClientOf(calls: Calls): ServiceClient {
  return methodsOf(calls, [...DISCOVERY, ...idsOf('service')]) as ServiceClient;
}
