/** Keeps one text, which it does not read. */
export interface Slot {
  /** Returns the text that was saved last; undefined or null if there is none. */
  load(): Promise<string | null | undefined> | string | null | undefined;
  /** @param text undefined deletes the stored text */
  save(text: string | undefined): Promise<void> | void;
}

/** Keeps a login: its refresh token, a text of at most 1,280 UTF-16 code units. */
export interface TokenStore extends Slot {
  /**
   * Runs the work while no other process runs work with this store. A store that several processes or windows share needs it.
   * In web views, use `navigator.locks.request`.
   */
  lock?<T>(work: () => Promise<T>): Promise<T>;
  /** Refresh tokens of sessions to revoke: at most 1,280 UTF-16 code units. Protect it like the refresh token. */
  logOuts?: Slot;
  /** The last answers of `getMe`: ids, emails, names and roles, but no token. The text has any length. */
  me?: Slot;
}

/** @throws TypeError for a store that cannot keep a login */
export function requireStore(store: Partial<TokenStore> | undefined): void {
  requireSlot('store', store, 'memoryStore()');
  if (store?.lock !== undefined && typeof store.lock !== 'function')
    throw new TypeError('store.lock must be a function, or left out');
  for (const name of ['logOuts', 'me'] as const)
    if (store?.[name] !== undefined) requireSlot(`store.${name}`, store[name], `memoryStore().${name}`);
}

function requireSlot(name: string, slot: Partial<Slot> | undefined, example: string): void {
  if (typeof slot?.load !== 'function' || typeof slot.save !== 'function')
    throw new TypeError(`${name} must have the functions load and save, as ${example} has`);
}

/** Creates a store that keeps the login while the process runs. */
export function memoryStore(refreshToken?: string): TokenStore {
  return { ...memorySlot(refreshToken), logOuts: memorySlot(), me: memorySlot() };
}

function memorySlot(text?: string): Slot {
  let stored = text;
  return {
    load: () => stored,
    save: (saved) => {
      stored = saved;
    },
  };
}
