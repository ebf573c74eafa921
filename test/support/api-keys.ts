import { expect } from 'vitest';
import { hashApiKey, newApiKey } from '../../src/api-keys/api-key-format.js';
import { newEntityId } from '../../src/identifiers/entity-id.js';
import type { Account, Role } from './personas.js';
import { insertRow } from './rows.js';
import type { Service } from './service.js';

export interface ApiKey {
  id: string;
  key: string;
  userId: string;
  audience: string;
  role: Role;
  orgId: string | null;
}

const DAY_MS = 86_400_000;

/** Leaves the row that a route would leave. A route makes no key that has expired, or with a role above the user's. */
export async function insertApiKey(
  { db, installation }: Service,
  user: { id: string },
  audience: { name: string },
  more: { role?: Role; orgId?: string | null; expiresAt?: number } = {},
): Promise<ApiKey> {
  const { role = 'member', orgId = null, expiresAt = Date.now() + DAY_MS } = more;
  const [id, key] = [newEntityId(), newApiKey()];
  installation.secrets.note(key);
  await insertRow(db, 'api_keys', {
    id,
    hash: hashApiKey(key),
    user_id: user.id,
    org_id: orgId,
    audience: audience.name,
    role,
    name: 'nightly export',
    created_at: Date.now(),
    expires_at: expiresAt,
  });
  return { id, key, userId: user.id, audience: audience.name, role, orgId };
}

/** Makes a key of the user's own by the route. */
export async function anApiKey(
  user: Account,
  audience: { name: string },
  role: Role = 'member',
): Promise<ApiKey> {
  const wish = { name: 'nightly export', audience: audience.name, role };
  const { status, body, text } = await user.post<{ apiKey: { id: string }; key: string }>(
    '/api/me/keys',
    wish,
  );
  expect(status, text).toBe(201);
  const { apiKey, key } = body;
  return { id: apiKey.id, key, userId: user.id, audience: audience.name, role, orgId: null };
}
