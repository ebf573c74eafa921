import { EncryptedSecrets, keyOf, type SecretPurpose } from './derived-keys.js';
import { KeyRing, type SigningKey, type SigningKeys } from './signing-keys.js';

/** An instance reads the file within seconds of its change, and may encrypt with the previous key until then. */
export const HANDOVER_MS = 10_000;

/** The id of a row is the row key of its secret. */
interface SecretRow {
  id: string;
  secret: string;
}

/** A table with encrypted secrets. Pages are in the order of the ids. */
export interface SecretStore {
  purpose: SecretPurpose;
  rows: {
    findSecrets: (afterId: string) => Promise<SecretRow[]>;
    replaceSecret: (id: string, secret: string, replacement: string) => Promise<void>;
  };
}

/** Calls `handover`, which waits HANDOVER_MS, if there are secrets. Returns how many `leaving` can still decrypt. */
export async function reEncryptSecrets(
  stores: readonly SecretStore[],
  keys: SigningKeys,
  leaving: readonly SigningKey[],
  handover: () => Promise<void>,
): Promise<number> {
  const ring = new KeyRing(keys);
  const prints = new Set(leaving.map(({ thumbprint }) => thumbprint));
  // Skips damaged secrets, which the doctor reports.
  const visitLeaving = async (
    visit: (store: SecretStore, row: SecretRow, replacement: string) => unknown,
  ): Promise<void> => {
    for (const store of stores) {
      const secrets = new EncryptedSecrets(ring, store.purpose);
      for await (const row of allSecrets(store)) {
        const decrypted = prints.has(keyOf(row.secret)) && secrets.decrypt(row.secret, row.id);
        if (decrypted) await visit(store, row, secrets.encrypt(decrypted, row.id));
      }
    }
  };
  const replaceAll = (): Promise<void> =>
    visitLeaving(({ rows }, { id, secret }, replacement) => rows.replaceSecret(id, secret, replacement));

  const first = await Promise.all(stores.map(({ rows }) => rows.findSecrets('')));
  if (first.every((page) => page.length === 0)) return 0;
  await replaceAll();
  await handover();
  await replaceAll();

  let left = 0;
  await visitLeaving(() => (left += 1));
  return left;
}

/** Counts the secrets that no key decrypts. */
export async function countUnreadable(store: SecretStore, loadKeys: () => SigningKeys): Promise<number> {
  let secrets: EncryptedSecrets | undefined;
  let unreadable = 0;
  for await (const { id, secret } of allSecrets(store)) {
    secrets ??= new EncryptedSecrets(new KeyRing(loadKeys()), store.purpose);
    if (secrets.decrypt(secret, id) === undefined) unreadable += 1;
  }
  return unreadable;
}

async function* allSecrets({ rows }: SecretStore): AsyncGenerator<SecretRow> {
  for (let after = ''; ;) {
    const page = await rows.findSecrets(after);
    yield* page;
    const last = page.at(-1);
    if (!last) return;
    after = last.id;
  }
}
