import { StoreError } from '../problems.ts';
import { SessionChanges } from '../session-changes.ts';
import type { Answer, Bridge } from './messages.ts';
import { PAGE_METHODS, type PageClient, requireNoSignal } from './page-methods.ts';

export type { PageClient } from './page-methods.ts';

/**
 * Creates the client of a page, whose calls the client of the main process sends. No token reaches the page.
 *
 * @throws TypeError if the preload script did not run in this page
 */
export function createPageClient(): PageClient {
  const { accountsClient: bridge } = globalThis as { accountsClient?: Bridge };
  if (!bridge) throw new TypeError('The preload script of accounts-client/electron did not run in this page');
  const methodOf = (name: string) => (input?: unknown, options?: unknown) =>
    call(bridge, name, input, options);
  const methods: object = Object.fromEntries(PAGE_METHODS.map((name) => [name, methodOf(name)]));
  const changes = new SessionChanges();
  bridge.listen((change) => changes.notify(change));
  // If the main process rejects it, each call says so.
  call(bridge, 'onSessionChange').catch(() => undefined);
  return {
    ...(methods as PageClient),
    onSessionChange: (listener) => changes.listen(listener),
  };
}

async function call(bridge: Bridge, name: string, input?: unknown, options?: unknown): Promise<unknown> {
  requireNoSignal(options);
  let answer: Answer;
  try {
    answer = await bridge.call(name, input, options);
  } catch (cause) {
    throw new TypeError(`${name} did not reach the main process, or no createMainClient is there`, { cause });
  }
  if ('result' in answer) return answer.result;
  const { failed, message, cause } = answer;
  throw failed === 'StoreError' ? new StoreError({ detail: message, cause }) : new TypeError(message);
}
