import type { IntrospectionResponse } from '../api.gen.ts';
import type { BoundedCalls } from './bounded-calls.ts';
import type { Changes } from './changes.ts';
import { RecentlyUsed } from './recently-used.ts';
import { SharedReads } from './shared-reads.ts';
import type { KnownToken, KnownUser, LiveSession } from './tokens.ts';
import { Unavailable } from './unavailable.ts';

/** An API key that is suspended can return. No event says so to a guard that does not know whose key it is. */
export const REFUSED_KEY_MS = 10_000;

/** Introspects each session once, and again after the feed reports a change of the session or of its user. */
export class Sessions {
  private readonly live: RecentlyUsed<LiveSession>;
  private readonly reads: SharedReads<LiveSession | undefined>;
  private readonly revocations = new Map<string, Promise<boolean>>();
  private readonly calls: BoundedCalls;
  private readonly changes: Changes;

  constructor(calls: BoundedCalls, changes: Changes, limit: number) {
    this.calls = calls;
    this.changes = changes;
    this.live = new RecentlyUsed(limit);
    this.reads = new SharedReads(changes);
  }

  /** Whether the feed has reported that a session which the token names ended. */
  hasEnded({ links, claims: { sid, sub, epoch = -1 } }: KnownToken): boolean {
    if (links.some((link) => this.changes.find(link)?.ended)) return true;
    // Only sessions have an epoch.
    if (sid === undefined) return false;
    const change = this.changes.find(sub);
    return change?.epoch !== undefined && epoch < change.epoch && sid !== change.except;
  }

  /** Returns whether Accounts rejected the token, and the feed has reported no change of its links since then. */
  isRefused({ links, refusedAt, refusedUntil }: KnownToken): boolean {
    if (refusedAt === undefined || this.changes.isVoid(refusedAt, ...links)) return false;
    return performance.now() < refusedUntil;
  }

  /** The session of a token that was live at the last change that the feed reported. */
  findUnchanged({ session, liveAt }: KnownToken): LiveSession | undefined {
    return liveAt === this.changes.position ? session : undefined;
  }

  find(known: KnownToken): LiveSession | undefined {
    const kept = this.live.get(keyOf(known));
    if (!kept || this.changes.isVoid(kept.readAt, ...known.links)) return undefined;
    known.session = kept;
    known.liveAt = this.changes.position;
    return kept;
  }

  /** @throws Unavailable */
  async read(token: string, known: KnownToken): Promise<LiveSession | undefined> {
    const { position } = this.changes;
    const session = await this.reads.read(token, known.links, (readAt) => this.introspect(token, readAt));
    if (session) this.live.set(keyOf(known), session);
    else this.noteRefusal(known, position);
    return session && (this.find(known) ?? session);
  }

  /**
   * Revokes the session of the token. Callers at the same time share one request.
   *
   * @returns false if Accounts reports that the token is not active
   * @throws Unavailable
   */
  revoke(token: string, known: KnownUser): Promise<boolean> {
    const shared = this.revocations.get(token);
    if (shared) return shared;
    const revocation = this.revokeOnce(token, known).finally(() => this.revocations.delete(token));
    this.revocations.set(token, revocation);
    return revocation;
  }

  private async revokeOnce(token: string, known: KnownUser): Promise<boolean> {
    const { position } = this.changes;
    const answer = await this.calls.revoke(token);
    if (answer.ok) this.changes.note(known.claims.sid, { ended: true });
    else if (answer.problem.code === 'invalid_token') this.noteRefusal(known, position);
    else throw new Unavailable(answer.problem);
    return answer.ok;
  }

  private noteRefusal(known: KnownToken, position: number): void {
    known.refusedAt = position;
    known.refusedUntil = known.key ? performance.now() + REFUSED_KEY_MS : Number.POSITIVE_INFINITY;
  }

  private async introspect(token: string, readAt: number): Promise<LiveSession | undefined> {
    const answer = await this.calls.read((client, options) => client.introspectToken({ token }, options));
    if (!answer.active) return undefined;
    return sessionOf(answer, readAt);
  }
}

export function sessionOf(answer: IntrospectionResponse, readAt: number): LiveSession {
  // API keys have no login, and a service's own token has none of these members.
  const { username: email = '', email_verified: emailVerified = false, amr = [], auth_time = 0 } = answer;
  return { readAt, email, emailVerified, amr, authTime: auth_time };
}

/**
 * Contains the user, because an attacker with a leaked signing key could combine a session with another user. Contains the
 * way, because a session that is live by one way says nothing of another way.
 */
function keyOf({ key, claims: { sid, sub, via_epoch }, via }: KnownToken): string {
  return JSON.stringify([sid, sub, via, via_epoch, key]);
}
