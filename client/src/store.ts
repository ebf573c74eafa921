/** Keeps a login: its refresh token, a text of at most 1,280 UTF-16 units, and nothing else. */
export interface TokenStore {
  /** the text that was saved last; undefined or null where there is none */
  load(): Promise<string | null | undefined> | string | null | undefined;
  /** @param refreshToken undefined removes what is stored */
  save(refreshToken: string | undefined): Promise<void> | void;
  /**
   * Runs the work while no other process runs such work. A store that several processes or windows share needs it;
   * in web views `navigator.locks.request` does it.
   */
  lock?<T>(work: () => Promise<T>): Promise<T>;
}

/** @throws TypeError for a store that could keep no login */
export function requireStore(store: Partial<TokenStore> | undefined): void {
  if (typeof store?.load !== 'function' || typeof store.save !== 'function')
    throw new TypeError('store must have the functions load and save, as memoryStore() has');
  if (store.lock !== undefined && typeof store.lock !== 'function')
    throw new TypeError('store.lock must be a function, or left out');
}

/** Keeps the login as long as the process runs. */
export function memoryStore(refreshToken?: string): TokenStore {
  let stored = refreshToken;
  return {
    load: () => stored,
    save: (token) => {
      stored = token;
    },
  };
}
