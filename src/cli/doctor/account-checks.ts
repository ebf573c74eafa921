import { ROLES } from '../../access/principal.js';
import { normalizedEmail } from '../../users/email-address.js';
import { LEEWAY_SECONDS } from '../../auth/tokens/access-token.js';
import { readKeyFile } from '../../auth/tokens/key-file.js';
import { KeyRing, readKeySet } from '../../auth/tokens/signing-keys.js';
import { areReadable } from '../../auth/providers/provider-settings.js';
import { EncryptedSecrets, type SecretPurpose } from '../../auth/tokens/derived-keys.js';
import type { Env } from '../../config/env.js';
import { foreignHashFault, readArgon2Cost } from '../../auth/passwords/hash-engines.js';
import { type Check, emptyQuery, everyValue, EXAMPLES, valuesOf } from './check.js';

const OVERDUE_AFTER_MS = 86_400_000;
const UNFINISHED_AFTER_MS = 180_000;
const LEEWAY_MS = LEEWAY_SECONDS * 1000;
const REVOKE = 'Revoke these sessions: UPDATE sessions SET revoked_at = created_at WHERE id = …';

const decryptingWith =
  (purpose: SecretPurpose) =>
  ({ jwtKeysFile }: Env): ((secret: string, rowKey: string) => boolean) => {
    const secrets = new EncryptedSecrets(new KeyRing(readKeySet(readKeyFile(jwtKeysFile))), purpose);
    return (secret, rowKey) => secrets.decrypt(secret, rowKey) !== undefined;
  };

export const ACCOUNT_CHECKS: Check[] = [
  emptyQuery(
    'every organization has an owner',
    'Add an owner: accounts orgs add-owner …',
    `SELECT o.id AS fault FROM orgs o
      WHERE o.deleted_at IS NULL
        AND NOT EXISTS (SELECT 1 FROM members m WHERE m.org_id = o.id AND m.role = 'owner')`,
  ),
  emptyQuery(
    'every organization has an enabled owner',
    'No active user can manage its owners. Enable one of them, or add an owner: accounts orgs add-owner …',
    `SELECT CONCAT(o.id, ' ', o.name) AS fault FROM orgs o
      WHERE o.deleted_at IS NULL
        AND EXISTS (SELECT 1 FROM members m WHERE m.org_id = o.id AND m.role = 'owner')
        AND NOT EXISTS (SELECT 1 FROM members m JOIN users u ON u.id = m.user_id
          WHERE m.org_id = o.id AND m.role = 'owner' AND u.disabled_at IS NULL)`,
  ),
  emptyQuery(
    'every membership belongs to a user and an organization',
    'Restore these rows from a backup, or delete them if no user needs them.',
    `SELECT m.user_id AS fault FROM members m
      WHERE NOT EXISTS (SELECT 1 FROM users u WHERE u.id = m.user_id)
         OR NOT EXISTS (SELECT 1 FROM orgs o WHERE o.id = m.org_id)`,
  ),
  emptyQuery(
    'every membership has the email of its user',
    'Lists show a wrong email: UPDATE members SET email = (SELECT email FROM users WHERE id = user_id) WHERE user_id = …',
    `SELECT m.user_id AS fault FROM members m JOIN users u ON u.id = m.user_id WHERE m.email <> u.email`,
  ),
  emptyQuery(
    'exactly the disabled users are listed as disabled',
    'The lists of operators are wrong: UPDATE users SET disabled_email = CASE WHEN disabled_at IS NULL THEN NULL ELSE email END WHERE id = …',
    `SELECT u.id AS fault FROM users u
      WHERE COALESCE(u.disabled_email, '') <> CASE WHEN u.disabled_at IS NULL THEN '' ELSE u.email END`,
  ),
  emptyQuery(
    'exactly the deleted organizations are listed as deleted',
    'The lists of operators are wrong: UPDATE orgs SET deleted_name = CASE WHEN deleted_at IS NULL THEN NULL ELSE name END WHERE id = …',
    `SELECT o.id AS fault FROM orgs o
      WHERE COALESCE(o.deleted_name, '') <> CASE WHEN o.deleted_at IS NULL THEN '' ELSE o.name END`,
  ),
  emptyQuery(
    'every membership has a valid role',
    `Set it to one of ${ROLES.join(', ')}.`,
    `SELECT m.user_id AS fault FROM members m WHERE m.role NOT IN (${ROLES.map((role) => `'${role}'`).join(', ')})`,
  ),
  emptyQuery(
    'no session belongs to a deleted user',
    'Delete these sessions: their tokens must not work.',
    `SELECT s.id AS fault FROM sessions s WHERE NOT EXISTS (SELECT 1 FROM users u WHERE u.id = s.user_id)`,
  ),
  emptyQuery(
    'every one-time code belongs to a session',
    'Delete these codes; no service can use them.',
    `SELECT c.hash AS fault FROM authorization_codes c
      WHERE NOT EXISTS (SELECT 1 FROM sessions s WHERE s.id = c.session_id)`,
  ),
  emptyQuery(
    'every API key has a user, a service and, if it names one, an organization',
    'Accounts accepts no such API key: DELETE FROM api_keys WHERE id = …',
    `SELECT k.id AS fault FROM api_keys k
       LEFT JOIN users u ON u.id = k.user_id LEFT JOIN services v ON v.name = k.audience
       LEFT JOIN orgs o ON o.id = k.org_id
      WHERE u.id IS NULL OR v.name IS NULL OR (k.org_id IS NOT NULL AND o.id IS NULL)`,
  ),
  emptyQuery(
    'no purge of a deleted organization is overdue',
    'Start an instance: it purges them. If one is running, find the reason in its log.',
    'SELECT id AS fault FROM orgs WHERE purge_at < ?',
    () => [Date.now() - OVERDUE_AFTER_MS],
  ),
  emptyQuery(
    'every deleted organization has a purge time, and no other has one',
    'The rows were changed by hand. To restore one: UPDATE orgs SET deleted_at = NULL, purge_at = NULL WHERE id = …',
    `SELECT id AS fault FROM orgs WHERE (deleted_at IS NULL) <> (purge_at IS NULL)
      OR (purge_began_at IS NOT NULL AND purge_at IS NULL)`,
  ),
  emptyQuery(
    'no revocation is left unfinished',
    'Start an instance: it completes them within seconds. If one is running, find the reason in its log.',
    'SELECT session_id AS fault FROM pending_revocations WHERE since < ?',
    () => [Date.now() - UNFINISHED_AFTER_MS],
  ),
  emptyQuery(
    'no session expires before it begins',
    REVOKE,
    'SELECT id AS fault FROM sessions WHERE expires_at < created_at AND revoked_at IS NULL',
  ),
  emptyQuery(
    'no session begins before its login',
    `Synchronize the clocks of all instances (NTP): they differ by more than ${LEEWAY_SECONDS} s, and the sessions are valid.
       If the times are hours apart, the rows were changed by hand: revoke those sessions.`,
    'SELECT id AS fault FROM sessions WHERE auth_time > created_at + ? AND revoked_at IS NULL',
    () => [LEEWAY_MS],
  ),
  emptyQuery(
    'no session outlives SESSION_MAX_AGE after its login',
    `The setting was lowered, or the rows were changed by hand. Accounts already refuses their tokens. ${REVOKE}`,
    'SELECT id AS fault FROM sessions WHERE expires_at > auth_time + ? AND revoked_at IS NULL',
    ({ sessionMaxAge }) => [sessionMaxAge * 1000 + LEEWAY_MS],
  ),
  emptyQuery(
    'no session outlives the end that its provider set',
    REVOKE,
    'SELECT id AS fault FROM sessions WHERE expires_at > ends_at AND revoked_at IS NULL',
  ),
  emptyQuery(
    'every delegated session has its parent session and the first session of its branch',
    'Delete these sessions: their tokens do not work, and their families cannot be revoked.',
    `SELECT s.id AS fault FROM sessions s
       LEFT JOIN sessions l ON l.id = s.login_id LEFT JOIN sessions h ON h.id = s.branch_id
      WHERE (s.login_id IS NULL) <> (s.code_hash IS NULL) OR (s.login_id IS NULL) <> (s.branch_id IS NULL)
         OR (s.login_id IS NOT NULL AND (l.id IS NULL OR h.id IS NULL))`,
  ),
  emptyQuery(
    'no delegated session was refreshed',
    REVOKE,
    'SELECT id AS fault FROM sessions WHERE refresh_generation > 0 AND login_id IS NOT NULL AND revoked_at IS NULL',
  ),
  emptyQuery(
    'every session counts its refresh tokens in order',
    `The rows were changed by hand, or an older table was restored. ${REVOKE}`,
    `SELECT id AS fault FROM sessions
      WHERE refresh_generation > 0 AND (seen_generation > refresh_generation OR reissues >= refresh_generation)`,
  ),
  emptyQuery(
    'every delegated session has the user and the login time of its parent session, and the parent session of its branch',
    REVOKE,
    `SELECT s.id AS fault FROM sessions s
       JOIN sessions l ON l.id = s.login_id JOIN sessions h ON h.id = s.branch_id
      WHERE s.user_id <> l.user_id OR s.auth_time <> l.auth_time OR l.login_id IS NOT NULL
         OR h.login_id <> s.login_id OR h.branch_id <> h.id`,
  ),
  emptyQuery(
    'every trace of logins belongs to a user',
    'Delete these rows: they may hold IP addresses of deleted users. DELETE FROM login_traces WHERE user_id = …',
    `SELECT t.user_id AS fault FROM login_traces t
      WHERE NOT EXISTS (SELECT 1 FROM users u WHERE u.id = t.user_id)`,
  ),
  emptyQuery(
    'every user with an enabled second factor needs it to log in',
    'Turn two-factor authentication off and let the user set it up again: accounts users remove-second-factor …',
    `SELECT u.id AS fault FROM users u
       LEFT JOIN second_factors f ON f.user_id = u.id AND f.enabled_at IS NOT NULL
      WHERE COALESCE(u.second_factor_at, 0) <> COALESCE(f.enabled_at, 0)`,
  ),
  emptyQuery(
    'no user without two-factor authentication has recovery codes',
    'Delete them: DELETE FROM recovery_codes WHERE user_id = …',
    `SELECT DISTINCT c.user_id AS fault FROM recovery_codes c JOIN users u ON u.id = c.user_id
      WHERE u.second_factor_at IS NULL`,
  ),
  emptyQuery(
    'every second factor is either enabled or pending until a time',
    'Delete the rows without enabled_at, and set pending_until to NULL in the others.',
    'SELECT user_id AS fault FROM second_factors WHERE (enabled_at IS NULL) = (pending_until IS NULL)',
  ),
  everyValue(
    'a key of JWT_KEYS_FILE decrypts the secret of every second factor',
    'Restore the key file that belongs to this database. Without it, these users need a recovery code, or you: accounts users remove-second-factor …',
    'SELECT user_id AS id, secret AS value FROM second_factors WHERE user_id > ? ORDER BY user_id',
    decryptingWith('second factor secrets'),
  ),
  emptyQuery(
    'every identity belongs to a user and a provider',
    'No user can log in with it: DELETE FROM identities WHERE user_id = …',
    `SELECT i.user_id AS fault FROM identities i
       LEFT JOIN users u ON u.id = i.user_id LEFT JOIN providers p ON p.id = i.provider_id
      WHERE u.id IS NULL OR p.id IS NULL`,
  ),
  everyValue(
    'every provider has settings that Accounts can read',
    "Nobody can log in there. Reset them with UPDATE providers SET settings = '{}' WHERE id = …, and set them again: accounts providers change …",
    'SELECT id, settings AS value FROM providers WHERE id > ? ORDER BY id',
    () => areReadable,
    'provider',
  ),
  everyValue(
    'a key of JWT_KEYS_FILE decrypts the secret of every provider',
    'Nobody can log in there. Restore the key file that belongs to this database, or enter the secret again: accounts providers set-secret …',
    'SELECT id, secret AS value FROM providers WHERE id > ? ORDER BY id',
    decryptingWith('provider secrets'),
    'provider',
  ),
];

export const EMAIL_CHECK = everyValue(
  'every email is normalized',
  'Users cannot log in with these emails: change them to the normalized form, or ask the users which email is right.',
  'SELECT id, email AS value FROM users WHERE id > ? ORDER BY id',
  () => (email) => normalizedEmail(email) === email,
);

export const HASH_CHECK: Check = {
  claim: 'no password hash is costlier than an import accepts',
  isWarning: true,
  remedy: `A client that floods these hashes delays the logins of others. Each login replaces the user's hash.
       If you do not expect a user to log in, set a password: accounts users set-password …`,
  async findFaults(inspection) {
    const users = new Map<string, number>();
    const sql = 'SELECT id, password_hash AS value FROM users WHERE id > ? ORDER BY id';
    for await (const { value: hash } of valuesOf(inspection, sql)) {
      // The cost of argon2id may be the configured one.
      if (readArgon2Cost(hash) !== undefined || foreignHashFault(hash) !== 'hash_too_costly') continue;
      const kind = hash.split('$').slice(1, 3).join(' ');
      users.set(kind, (users.get(kind) ?? 0) + 1);
    }
    const most = [...users].toSorted(([, a], [, b]) => b - a);
    return most.slice(0, EXAMPLES).map(([kind, count]) => `users with ${kind}: ${count}`);
  },
};
