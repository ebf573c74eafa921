import { readKeyFile } from '../../auth/tokens/key-file.js';
import { KeyRing } from '../../auth/tokens/key-ring.js';
import { SealedSecrets } from '../../auth/tokens/sealed-secrets.js';
import { readKeySet } from '../../auth/tokens/signing-keys.js';
import { type Check, emptyQuery, EXAMPLES, type Inspection } from './check.js';

const REMOVE =
  'Remove the second factor and let the user set it up anew: accounts users remove-second-factor …';

const BATCH = 1000;

interface Sealed {
  userId: string;
  secret: string;
}

const SECRETS_CHECK: Check = {
  claim: 'a key of JWT_KEYS_FILE opens the secret of every second factor',
  remedy:
    'Restore the key file that belongs to these data. Without it these users need a recovery code, or you: accounts users remove-second-factor …',
  async findFaults(inspection) {
    const faults: string[] = [];
    let secrets: SealedSecrets | undefined;
    for (let after = ''; faults.length < EXAMPLES;) {
      const rows = await findSealed(inspection, after);
      if (rows.length === 0) break;
      secrets ??= new SealedSecrets(
        new KeyRing(readKeySet(readKeyFile(inspection.env.jwtKeysFile))),
        'second factor secrets',
      );
      for (const { userId, secret } of rows) {
        if (secrets.open(secret, userId) === undefined) faults.push(`user ${userId}`);
      }
      after = rows.at(-1)!.userId;
    }
    return faults.slice(0, EXAMPLES);
  },
};

function findSealed({ runner }: Inspection, after: string): Promise<Sealed[]> {
  return runner.query(
    `SELECT user_id AS userId, secret FROM second_factors WHERE user_id > ? ORDER BY user_id LIMIT ${BATCH}`,
    [after],
  ) as Promise<Sealed[]>;
}

export const SECOND_FACTOR_CHECKS: Check[] = [
  emptyQuery(
    'every account asks for the second factor that is enabled for it',
    REMOVE,
    `SELECT u.id AS fault FROM users u
       LEFT JOIN second_factors f ON f.user_id = u.id AND f.enabled_at IS NOT NULL
      WHERE COALESCE(u.second_factor_at, 0) <> COALESCE(f.enabled_at, 0)`,
  ),
  emptyQuery(
    'no account without a second factor has recovery codes',
    'Delete them: DELETE FROM recovery_codes WHERE user_id = …',
    `SELECT DISTINCT c.user_id AS fault FROM recovery_codes c JOIN users u ON u.id = c.user_id
      WHERE u.second_factor_at IS NULL`,
  ),
  emptyQuery(
    'every second factor is either enabled or pending for a time',
    'Delete the rows without enabled_at, and set pending_until to NULL in the others.',
    'SELECT user_id AS fault FROM second_factors WHERE (enabled_at IS NULL) = (pending_until IS NULL)',
  ),
  SECRETS_CHECK,
];
