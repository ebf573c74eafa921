/** Keeps a login: its refresh token, a text of at most 1,280 UTF-16 code units. */
export interface TokenStore {
  /** Returns the text that was saved last; undefined or null if there is none. */
  load(): Promise<string | null | undefined> | string | null | undefined;
  /** @param refreshToken undefined deletes the stored token */
  save(refreshToken: string | undefined): Promise<void> | void;
  /**
   * Runs the work while no other process runs work with this store. A store that several processes or windows share needs it.
   * In web views, use `navigator.locks.request`.
   */
  lock?<T>(work: () => Promise<T>): Promise<T>;
}

/** @throws TypeError for a store that cannot keep a login */
export function requireStore(store: Partial<TokenStore> | undefined): void {
  if (typeof store?.load !== 'function' || typeof store.save !== 'function')
    throw new TypeError('store must have the functions load and save, as memoryStore() has');
  if (store.lock !== undefined && typeof store.lock !== 'function')
    throw new TypeError('store.lock must be a function, or left out');
}

/** Creates a store that keeps the login while the process runs. */
export function memoryStore(refreshToken?: string): TokenStore {
  let stored = refreshToken;
  return {
    load: () => stored,
    save: (token) => {
      stored = token;
    },
  };
}
