import type { Database } from './database.js';
import { anUnknownId } from './personas.js';
import { insertRow } from './rows.js';

interface OfProvider {
  domain?: string | undefined;
  /** ids of users who have an identity there */
  users?: readonly string[];
  required?: 0 | 1;
}

/** Inserts an enabled provider that nobody can log in at. */
export async function insertProvider(
  db: Database,
  { domain, users = [], required = 0 }: OfProvider = {},
): Promise<{ id: string; name: string }> {
  const id = anUnknownId();
  const name = `acme-${id.slice(-12)}`;
  await insertRow(db, 'providers', { id, name, required });
  if (domain !== undefined) await insertRow(db, 'provider_domains', { domain, provider_id: id });
  for (const user of users) await insertRow(db, 'identities', { provider_id: id, user_id: user });
  return { id, name };
}
