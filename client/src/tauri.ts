import type { Slot, TokenStore } from './store.ts';

export interface KeyringOptions {
  /** The function of `@tauri-apps/api/core`. */
  invoke: (command: string, parameters: Record<string, unknown>) => Promise<unknown>;
  /** Names the entries of the keyring, `name` and `name.logouts`: `accounts` by default. */
  name?: string | undefined;
}

/**
 * Creates a store in the keyring of the operating system, over the commands `accounts_load` and `accounts_save` of your program.
 * Windows of the program share it. The web view has the tokens in memory, and the last user is in `localStorage`.
 */
export function keyringStore({ invoke, name = 'accounts' }: KeyringOptions): TokenStore {
  const entry = (of: string): Slot => ({
    load: async () => (await invoke('accounts_load', { name: of })) as string | null,
    save: async (text) => void (await invoke('accounts_save', { name: of, value: text ?? null })),
  });
  const me = `${name}.me`;
  return {
    ...entry(name),
    lock: (work) => navigator.locks.request(name, work),
    logOuts: entry(`${name}.logouts`),
    me: {
      load: () => localStorage.getItem(me),
      save: (text) => (text === undefined ? localStorage.removeItem(me) : localStorage.setItem(me, text)),
    },
  };
}
