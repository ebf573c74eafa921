import { expect } from 'vitest';
import type { DataOf } from '../../client/src/index.ts';
import type { Answer } from './answer.js';
import type { Database, Row } from './database.js';
import {
  type Account,
  anAccount,
  aPassword,
  type Org,
  type Session,
  theNextMillisecond,
} from './personas.js';
import type { Service } from './service.js';

type Shown = DataOf<'listInvitations'>['invitations'][number];

export interface Invitation extends Shown {
  code?: string;
}

export type ReceivedInvitation = DataOf<'listReceivedInvitations'>['invitations'][number];

export type Invited = Answer<{ invitation: Invitation }>;

interface Wish {
  email: string;
  role?: 'member' | 'admin';
  showCode?: boolean;
}

/** With the code in the answer, unless `showCode` is false. */
export function invite(by: Account, org: Org, wish: Wish): Promise<Invited> {
  return by.post(`/api/orgs/${org.id}/invitations`, { role: 'member', showCode: true, ...wish });
}

export async function anInvitation(
  by: Account,
  org: Org,
  wish: Wish,
): Promise<Invitation & { code: string }> {
  const { status, body, text } = await invite(by, org, wish);
  expect(status, text).toBe(201);
  await theNextMillisecond();
  return body.invitation as Invitation & { code: string };
}

export function resend(by: Account, org: Org, { id }: { id: string }, showCode = true): Promise<Invited> {
  return by.post(`/api/orgs/${org.id}/invitations/${id}/resend`, { showCode });
}

export function revoke(by: Account, org: Org, { id }: { id: string }): Promise<Answer> {
  return by.delete(`/api/orgs/${org.id}/invitations/${id}`);
}

const answerBy =
  (answer: 'accept' | 'decline') =>
  (who: Account, { id }: { id: string }, code?: string): Promise<Answer> =>
    who.post(`/api/me/invitations/${id}/${answer}`, code === undefined ? undefined : { code });

export const accept = answerBy('accept');
export const decline = answerBy('decline');

export function acceptByCode(who: Account, code: string): Promise<Answer> {
  return who.post('/api/me/invitations/accept', { code });
}

export function declineByCode(who: Account, code: string): Promise<Answer> {
  return who.post('/api/me/invitations/decline', { code });
}

export async function received(who: Account): Promise<ReceivedInvitation[]> {
  const { status, body, text } = await who.get<{ invitations: ReceivedInvitation[] }>('/api/me/invitations');
  expect(status, text).toBe(200);
  return body.invitations;
}

export async function listed(by: Account, org: Org, status?: string): Promise<Invitation[]> {
  const query = status === undefined ? '' : `?status=${status}`;
  const answer = await by.get<{ invitations: Invitation[] }>(`/api/orgs/${org.id}/invitations${query}`);
  expect(answer.status, answer.text).toBe(200);
  return answer.body.invitations;
}

/** Who has proven the email, as operators can note it. */
export async function verified<Who extends { id: string }>(db: Database, who: Who): Promise<Who> {
  await db.query('UPDATE users SET email_verified_at = 1 WHERE id = ?', [who.id]);
  return who;
}

export async function aVerifiedAccount(service: Service, name?: string): Promise<Account> {
  return verified(service.db, await anAccount(service, name));
}

export function registerWith(
  service: Service,
  email: string,
  invitationCode: string,
): Promise<Answer<Session>> {
  return service.anyone.post('/api/auth/register', { email, password: aPassword(), invitationCode });
}

export async function age(db: Database, { id }: { id: string }, ms: number): Promise<void> {
  const sql = 'UPDATE invitations SET created_at = created_at - ?, expires_at = expires_at - ? WHERE id = ?';
  await db.query(sql, [ms, ms, id]);
}

export const DAY_MS = 86_400_000;

export async function rowOf(db: Database, { id }: { id: string }): Promise<Row> {
  return (await db.query('SELECT * FROM invitations WHERE id = ?', [id]))[0]!;
}

export async function roleOf(db: Database, org: Org, { id }: { id: string }): Promise<unknown> {
  const rows = await db.query('SELECT role FROM members WHERE org_id = ? AND user_id = ?', [org.id, id]);
  return rows[0]?.['role'];
}
