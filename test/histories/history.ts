import type { Role } from '../support/personas.js';

/** `failed`: certainly not done. `unknown`: no answer, or an answer that leaves open whether it was done. */
export type Result = 'ok' | 'failed' | 'unknown';

/** When a client sent a request and when it got the answer, or gave up: milliseconds of one clock for all clients. */
export interface Timing {
  startedAt: number;
  endedAt: number;
  result: Result;
  /** undefined: no answer */
  status: number | undefined;
  /** the instance that the client sent the request to */
  instance: number;
}

export type InvitationStatus = 'pending' | 'revoked' | 'accepted' | 'declined';

/** What a change does, in the words of the audit log. A new invitation has an id once its answer has come. */
export type Effect =
  | { type: 'org.created' | 'org.renamed'; name: string }
  | { type: 'member.added' | 'member.role_changed'; userId: string; role: Role }
  | { type: 'member.removed'; userId: string }
  | { type: 'invitation.created'; role: Role; invitationId?: string }
  | { type: `invitation.${'resent' | 'revoked' | 'accepted' | 'declined'}`; invitationId: string };

export interface OrgChange {
  kind: 'change';
  orgId: string;
  actorId: string;
  effect: Effect;
  /** of the `ETag` in the answer; some changes have none */
  revision?: number;
}

export interface ListedMember {
  userId: string;
  role: string;
}

interface OrgRead {
  orgId: string;
  readerId: string;
}

/** `seen` is what an answer holds whose result is `ok`. */
export interface DetailRead extends OrgRead {
  kind: 'detail';
  seen?: { revision: number; name: string; members: ListedMember[]; body: string };
}

export interface MemberListRead extends OrgRead {
  kind: 'members';
  seen?: { members: ListedMember[] };
}

/** The first page, newest first. */
export interface InvitationListRead extends OrgRead {
  kind: 'invitations';
  limit: number;
  seen?: { invitations: { id: string; status: string }[] };
}

/** The first page of the audit log, newest first. */
export interface LogRead extends OrgRead {
  kind: 'log';
  limit: number;
  seen?: { events: { id: string; revision: number }[] };
}

/**
 * Names of sessions are paths: what a session's one-time code opens has the name of the session before its own, and ends
 * with it.
 */
export interface SessionUse {
  kind: 'use';
  session: string;
}

/** The exchange of the one-time code that opens `session`. */
export interface CodeExchange {
  kind: 'exchange';
  session: string;
}

/** The use of a refresh token, which an instance accepts once if `REFRESH_GRACE` is `0s`. */
export interface Refresh {
  kind: 'refresh';
  session: string;
  generation: number;
}

export interface SessionEnd {
  kind: 'end';
  sessions: string[];
}

export type OrgOperation = OrgChange | DetailRead | MemberListRead | InvitationListRead | LogRead;
export type SessionOperation = SessionUse | CodeExchange | Refresh | SessionEnd;

export type Timed<Description> = Description & Timing;
export type Operation = Timed<OrgOperation | SessionOperation>;

/** One event of the audit log of an organization. */
export interface LoggedEvent {
  id: string;
  type: string;
  revision: number;
  actorId: string | null;
  userId: string | null;
  data: Readonly<Record<string, unknown>>;
}

export interface History {
  operations: readonly Operation[];
  /** the whole audit log of each organization, read after all operations */
  logs: ReadonlyMap<string, readonly LoggedEvent[]>;
}

export interface Violation {
  /** a stable word, to count by */
  rule: string;
  text: string;
  operations: readonly Operation[];
}
