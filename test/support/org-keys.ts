import type { DataOf } from '../../client/src/index.ts';
import { hashApiKey, newApiKey } from '../../src/api-keys/api-key-format.js';
import type { Answer } from './answer.js';
import { times } from './at-once.js';
import type { Caller } from './caller.js';
import type { Database } from './database.js';
import { DAY_MS } from './inviting.js';
import { anUnknownId } from './personas.js';
import { insertRows } from './rows.js';

interface Named {
  name: string;
}

export interface CreatedKey {
  apiKey: DataOf<'createOrgApiKey'>['apiKey'];
  key: string;
}

export const OWN_KEYS = '/api/me/keys';

export const keysPath = ({ id }: { id: string }): string => `/api/orgs/${id}/keys`;

export function makeKey(
  by: Caller,
  path: string,
  { name: audience }: Named,
  more: object = {},
): Promise<Answer<CreatedKey>> {
  return by.post(path, { name: 'nightly export', audience, ...more });
}

/** Rows of keys that nobody has, as if they had been made before. */
export async function insertKeys(
  db: Database,
  count: number,
  { user, audience, orgId = null }: { user: { id: string }; audience: Named; orgId?: string | null },
): Promise<void> {
  await insertRows(
    db,
    'api_keys',
    times(count, () => ({ id: anUnknownId(), hash: hashApiKey(newApiKey()) })),
    {
      user_id: user.id,
      org_id: orgId,
      audience: audience.name,
      role: 'member',
      name: 'older',
      created_at: Date.now(),
      expires_at: Date.now() + DAY_MS,
    },
  );
}
