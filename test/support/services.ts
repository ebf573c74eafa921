import { randomBytes, randomUUIDv7 } from 'node:crypto';
import type { ServiceScope } from '../../src/access/principal.js';
import { hashSecret, newSecret } from '../../src/services/service-secrets.js';
import type { Database } from './database.js';

/** An internal service, with the rows that `accounts services` would leave. */
export interface ServiceClient {
  name: string;
  secret: string;
  /** value of the header that proves who it is */
  authorization: string;
  /** gives it another secret that is live, too */
  rotate(): Promise<string>;
  revoke(secret: string): Promise<void>;
  endSessions(): Promise<void>;
  disable(): Promise<void>;
  enable(): Promise<void>;
}

export function basic(name: string, secret: string): string {
  return `Basic ${Buffer.from(`${name}:${secret}`).toString('base64')}`;
}

export async function aServiceClient(
  db: Database,
  allow: readonly ServiceScope[] = [],
  name = `service-${randomBytes(6).toString('hex')}`,
): Promise<ServiceClient> {
  await db.query('INSERT INTO services (name, allow, created_at) VALUES (?, ?, ?)', [
    name,
    allow.join(','),
    Date.now(),
  ]);
  const rotate = async (): Promise<string> => {
    const secret = newSecret();
    await db.query('INSERT INTO service_secrets (id, service, hash, created_at) VALUES (?, ?, ?, ?)', [
      randomUUIDv7(),
      name,
      hashSecret(secret),
      Date.now(),
    ]);
    return secret;
  };
  const raise = (disabledAt: string): Promise<unknown> =>
    db.query(`UPDATE services SET epoch = epoch + 1, disabled_at = ${disabledAt} WHERE name = ?`, [name]);
  const secret = await rotate();
  return {
    name,
    secret,
    authorization: basic(name, secret),
    rotate,
    revoke: async (revoked) => {
      await db.query('UPDATE service_secrets SET revoked_at = ? WHERE hash = ?', [
        Date.now(),
        hashSecret(revoked),
      ]);
    },
    endSessions: async () => void (await raise('disabled_at')),
    disable: async () => void (await raise('created_at')),
    enable: async () => {
      await db.query('UPDATE services SET disabled_at = NULL WHERE name = ?', [name]);
    },
  };
}
