import type { OperatorActor } from '../../access/actor.js';
import { lockKeyFile, type LockedKeyFile } from '../../auth/tokens/key-file-change.js';
import type { Jwk } from '../../auth/tokens/signing-keys.js';
import { Transactions } from '../../database/transactions.js';
import { EventsRepository } from '../../events/events.repository.js';
import { type Services, withServices } from '../services.js';

export interface KeyChange<Result> {
  /** the file's new keys; undefined leaves it unchanged */
  keys: readonly Jwk[] | undefined;
  /** ids of the keys that were added or removed */
  kids: string[];
  result: Result;
}

// Changes the key file and records it. The file is replaced just before COMMIT: whatever ends the command, the file
// holds the old keys or the new ones, and no change is recorded that was not made.
export function changeKeys<Result>(
  type: 'keys.rotated' | 'keys.pruned',
  actor: OperatorActor,
  decide: (file: LockedKeyFile, services: Services) => Promise<KeyChange<Result>>,
): Promise<Result> {
  return withServices(async (services) => {
    const file = lockKeyFile(services.env.jwtKeysFile);
    try {
      const { keys, kids, result } = await decide(file, services);
      if (keys) {
        await services.get(Transactions).run(async (transaction) => {
          await services
            .get(EventsRepository)
            .record(transaction, ...kids.map((kid) => ({ type, actor, data: { kid } })));
          file.replace(keys);
        });
      }
      return result;
    } finally {
      file.unlock();
    }
  });
}
