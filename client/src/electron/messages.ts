import type { SessionChange } from '../session-changes.ts';

/** The channel of Electron on which pages call the main process, and on which it sends changes of the session. */
export const CHANNEL = 'accounts-client';

/** What the main process answers. Electron would turn an error that it throws into an `Error` without a class. */
export type Answer =
  | { result: unknown }
  | { failed: 'StoreError' | 'TypeError'; message: string; cause?: string };

/** What the preload script gives to pages as `accountsClient`. */
export interface Bridge {
  call(name: string, input?: unknown, options?: unknown): Promise<Answer>;
  /** The listener gets what the main process sends once the page has called `onSessionChange`. */
  listen(listener: (change: SessionChange) => void): void;
}
