import type { ServiceOperationId } from '../api.gen.ts';
import { Calls } from '../calls.ts';
import { idsOf, type Methods, methodsOf } from '../client.ts';
import { type Credentials, requireCredentials } from '../credentials.ts';
import { requireKnown } from '../known-members.ts';
import type { ClientOptions } from '../options.ts';
import { memoryStore } from '../store.ts';

export interface ServiceClientOptions extends Omit<ClientOptions, 'store'> {
  /** name and secret of the service */
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
 * @throws TypeError for an unknown option, a base URL that is none, and credentials that no service can have
 */
export function createServiceClient(options: ServiceClientOptions): ServiceClient {
  requireKnown('createServiceClient does', options, OPTIONS);
  requireCredentials(options.credentials);
  const calls = new Calls({ ...options, store: memoryStore() });
  return methodsOf(calls, [...DISCOVERY, ...idsOf('service')]) as ServiceClient;
}
