import type { Role } from '../support/personas.js';

/** `failed`: certainly not done. `unknown`: no answer, or an answer that leaves open whether it was done. */
export type Result = 'ok' | 'failed' | 'unknown';

/** When a client sent a request and when it got the answer, or gave up: milliseconds of one clock for all clients. */
export interface Timing extends Span {
  result: Result;
  status: number | undefined;
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

export type ListedInvitations = { id: string; status: string }[];

/** `seen` is what an answer holds whose result is `ok`. */
interface OrgRead<Kind extends string, Seen> {
  kind: Kind;
  orgId: string;
  readerId: string;
  seen?: Seen;
}

/** The first page, newest first. */
interface PageRead<Kind extends string, Seen> extends OrgRead<Kind, Seen> {
  limit: number;
}

interface Detail {
  revision: number;
  name: string;
  members: ListedMember[];
  body: string;
}

export type DetailRead = OrgRead<'detail', Detail>;
export type MemberListRead = OrgRead<'members', { members: ListedMember[] }>;
export type InvitationListRead = PageRead<'invitations', { invitations: ListedInvitations }>;
export type LogRead = PageRead<'log', { events: { id: string; revision: number }[] }>;

/**
 * Names of sessions are paths: what a session's one-time code opens has the name of the session before its own, and ends
 * with it. An exchange is of the code that opens `session`.
 */
interface SessionUse {
  kind: 'use' | 'exchange';
  session: string;
}

/** The use of a refresh token, which an instance accepts once if `REFRESH_GRACE` is `0s`. */
interface Refresh {
  kind: 'refresh';
  session: string;
  generation: number;
}

export interface SessionEnd {
  kind: 'end';
  sessions: string[];
}

/** Of one clock for everything in a history. */
export interface Span {
  startedAt: number;
  endedAt: number;
}

/** What a token depends on, in the words `kind name`, and when the request was under way since which the token did. */
export interface Link extends Span {
  name: string;
}

/** The use of a token at a guard, which may decide by what it knows. */
export interface Admission {
  kind: 'admission';
  guard: string;
  links: readonly Link[];
}

export interface Introspection {
  kind: 'introspection';
  links: readonly Link[];
  /** undefined without an answer */
  isActive?: boolean;
}

/** The end of a link. */
export interface Cut {
  kind: 'cut';
  link: string;
}

export type DelegationOperation = Admission | Introspection | Cut;

/** A complete answer of the feed. It ends when the guard has applied it. */
export interface Poll extends Span {
  guard: string;
}

export type OrgOperation = OrgChange | DetailRead | MemberListRead | InvitationListRead | LogRead;
/** What needs a live session, or what opens one. */
export type SessionProof = SessionUse | Refresh;
export type SessionOperation = SessionProof | SessionEnd;

export type Timed<Description> = Description & Timing;
export type Operation = Timed<OrgOperation | SessionOperation | DelegationOperation>;

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
  /** in the order of time */
  polls: readonly Poll[];
  /** when this process, with its guards, got no processor; in the order of time */
  stalls: readonly Span[];
  /** the name of each fault that struck */
  faults: readonly string[];
}

export interface Violation {
  rule: string;
  text: string;
  operations: readonly Operation[];
}
