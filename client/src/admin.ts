import type { AdminOperationId } from './api.gen.ts';
import { Calls } from './calls.ts';
import { idsOf, type LoginMethods, loginMethodsOf, type Methods, methodsOf } from './client.ts';
import { requireKnown } from './known-members.ts';
import { CLIENT_OPTIONS, type ClientOptions } from './options.ts';
import { requireStore } from './store.ts';

export type * from './api.gen.ts';
export type { CallOptions, ClientOptions } from './options.ts';
export { pages } from './pages.ts';
export { unwrap } from './results.ts';
export { memoryStore, type Slot, type TokenStore } from './store.ts';

const LOGINS = ['login', 'completeLogin'] as const;

export type AdminClient = Methods<AdminOperationId | (typeof LOGINS)[number]> & LoginMethods;

/**
 * The operations of operators, who log in with two-factor authentication.
 *
 * @throws TypeError for an unknown option, an invalid base URL, and a missing store
 */
export function createAdminClient(options: ClientOptions): AdminClient {
  requireKnown('createAdminClient does', options, CLIENT_OPTIONS);
  requireStore(options.store);
  const calls = new Calls(options);
  return { ...(methodsOf(calls, [...LOGINS, ...idsOf('admin')]) as AdminClient), ...loginMethodsOf(calls) };
}
