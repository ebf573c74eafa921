import { EncryptedSecrets, keyOf } from '../tokens/derived-keys.js';
import { KeyRing, type SigningKey, type SigningKeys } from '../tokens/signing-keys.js';
import type { SecondFactorsRepository } from './second-factors.repository.js';

/** An instance reads the file within seconds of its change, and may encrypt with the previous key until then. */
export const HANDOVER_MS = 10_000;

type Rows = Pick<SecondFactorsRepository, 'findSecrets' | 'replaceSecret'>;

/** Calls `handover`, which waits HANDOVER_MS, if there are secrets. Returns how many `leaving` can still decrypt. */
export async function reEncryptSecrets(
  factors: Rows,
  keys: SigningKeys,
  leaving: readonly SigningKey[],
  handover: () => Promise<void>,
): Promise<number> {
  const secrets = new EncryptedSecrets(new KeyRing(keys), 'second factor secrets');
  const prints = new Set(leaving.map(({ thumbprint }) => thumbprint));
  // Skips damaged secrets, which the doctor reports.
  const replaceAll = async (): Promise<void> => {
    for await (const { userId, secret } of allSecrets(factors)) {
      const decrypted = prints.has(keyOf(secret)) && secrets.decrypt(secret, userId);
      if (decrypted) await factors.replaceSecret(userId, secret, secrets.encrypt(decrypted, userId));
    }
  };
  if ((await factors.findSecrets('')).length === 0) return 0;
  await replaceAll();
  await handover();
  await replaceAll();

  let left = 0;
  for await (const { userId, secret } of allSecrets(factors)) {
    if (prints.has(keyOf(secret)) && secrets.decrypt(secret, userId) !== undefined) left += 1;
  }
  return left;
}

/** Counts the users whose secret, enabled or pending, no key decrypts. */
export async function countUnreadable(
  factors: Pick<Rows, 'findSecrets'>,
  loadKeys: () => SigningKeys,
): Promise<number> {
  let secrets: EncryptedSecrets | undefined;
  let unreadable = 0;
  for await (const { userId, secret } of allSecrets(factors)) {
    secrets ??= new EncryptedSecrets(new KeyRing(loadKeys()), 'second factor secrets');
    if (secrets.decrypt(secret, userId) === undefined) unreadable += 1;
  }
  return unreadable;
}

async function* allSecrets(
  factors: Pick<Rows, 'findSecrets'>,
): AsyncGenerator<{ userId: string; secret: string }> {
  for (let after = ''; ;) {
    const page = await factors.findSecrets(after);
    yield* page;
    const last = page.at(-1);
    if (!last) return;
    after = last.userId;
  }
}
