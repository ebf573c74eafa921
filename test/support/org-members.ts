import { expect } from 'vitest';
import type { DataOf } from '../../client/src/index.ts';
import type { Answer } from './answer.js';
import type { Caller } from './caller.js';
import type { Database } from './database.js';
import type { Org } from './personas.js';

interface Id {
  id: string;
}

export const membersPath = ({ id }: Id): string => `/api/orgs/${id}/members`;

export const memberPath = (org: Id, { id }: Id): string => `${membersPath(org)}/${id}`;

export async function membersOf(by: Caller, org: Id) {
  const { status, body, text } = await by.get<DataOf<'listMembers'>>(membersPath(org));
  expect(status, text).toBe(200);
  return body.members;
}

export function addMember(
  by: Caller,
  org: Id,
  { email }: { email: string },
  role = 'member',
): Promise<Answer> {
  return by.post(membersPath(org), { email, role });
}

export function changeRole(by: Caller, org: Id, who: Id, role: string): Promise<Answer> {
  return by.patch(memberPath(org, who), { role });
}

export function removeMember(by: Caller, org: Id, who: Id): Promise<Answer> {
  return by.delete(memberPath(org, who));
}

export async function orgsOf(who: Caller): Promise<Org[]> {
  return (await who.get<{ orgs: Org[] }>('/api/me')).body.orgs;
}

export async function disable(db: Database, ...users: Id[]): Promise<void> {
  for (const { id } of users) await db.query('UPDATE users SET disabled_at = 1 WHERE id = ?', [id]);
}

export async function enable(db: Database, { id }: Id): Promise<void> {
  await db.query('UPDATE users SET disabled_at = NULL WHERE id = ?', [id]);
}
