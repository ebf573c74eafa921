import { callHook } from './hooks.ts';

/** A login or a logout in this process. */
export type SessionChange =
  | { event: 'logged_in' }
  | {
      event: 'logged_out';
      /** `session_ended`: Accounts revoked the session, it expired, or another process logged out. */
      reason: 'log_out' | 'session_ended' | 'account_deleted';
    };

type Listener = (change: SessionChange) => unknown;

/** Calls the listeners of one client. */
export class SessionChanges {
  private readonly listeners = new Set<Listener>();

  /** @throws TypeError for a listener that is not a function */
  listen(listener: Listener): () => void {
    if (typeof listener !== 'function') throw new TypeError('onSessionChange needs a function');
    // The same function may listen twice.
    const added: Listener = (change) => listener(change);
    this.listeners.add(added);
    return () => void this.listeners.delete(added);
  }

  notify(change: SessionChange): void {
    for (const listener of this.listeners) {
      void callHook(
        () => listener(change),
        () => undefined,
      );
    }
  }
}
