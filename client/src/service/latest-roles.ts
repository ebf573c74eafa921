import type { Role } from '../api.gen.ts';
import type { Memberships } from './memberships.ts';
import type { Revisions } from './revisions.ts';
import { SessionReadLimit } from './session-read-limit.ts';

/** The feed is usually faster than a read, and costs Accounts nothing. */
const FEED_WAIT_MS = 100;

/** Reads a role in a state of the organization that is not older than the state that a client has seen. */
export class LatestRoles {
  private readonly readLimit = new SessionReadLimit();
  private readonly memberships: Memberships;
  private readonly revisions: Revisions;

  constructor(memberships: Memberships, revisions: Revisions) {
    this.memberships = memberships;
    this.revisions = revisions;
  }

  /** @throws Unavailable */
  async roleIn(orgId: string, userId: string, atLeast: number, sessionId: string): Promise<Role | undefined> {
    const { memberships, revisions } = this;
    if (revisions.has(orgId, atLeast) || memberships.isSince(orgId, userId, atLeast))
      return memberships.roleIn(orgId, userId);
    const arrivedAt = performance.now();
    if (await revisions.wait(orgId, atLeast, FEED_WAIT_MS)) return memberships.roleIn(orgId, userId);
    return memberships.roleSince(orgId, userId, arrivedAt, () => this.readLimit.begin(sessionId));
  }
}
