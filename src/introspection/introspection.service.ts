import { Injectable } from '@nestjs/common';
import type { ServicePrincipal, UserPrincipal } from '../access/principal.js';
import { type LiveToken, LiveTokens } from '../auth/authentication.guard.js';
import type { AccessTokenClaims } from '../auth/tokens/access-token.js';
import { Env } from '../config/env.js';
import { cutPage, encodeCursor, limitOf, type LinkNextPage, positionOf } from '../http/pages.js';
import { MembersRepository } from '../orgs/state/members.repository.js';
import { type ListedMembership, Memberships } from '../orgs/state/members.memberships.js';
import type { IntrospectionForm, ListMembershipsQuery } from './introspection.requests.js';
import type {
  ActiveToken,
  InactiveToken,
  MembershipListResult,
  OrgOfToken,
} from './introspection.responses.js';

const INACTIVE: InactiveToken = { active: false };

@Injectable()
export class IntrospectionService {
  constructor(
    private readonly tokens: LiveTokens,
    private readonly members: MembersRepository,
    private readonly memberships: Memberships,
    private readonly env: Env,
  ) {}

  async introspect(
    asker: ServicePrincipal,
    { token, orgId }: IntrospectionForm,
  ): Promise<ActiveToken | InactiveToken> {
    const live = await this.tokens.find(token, (claims) => this.isFor(asker, claims));
    if (typeof live === 'string') return INACTIVE;
    const answer = this.describe(live);
    return orgId === undefined ? answer : { ...answer, org: await this.findOrg(orgId, live.holder) };
  }

  async listMemberships(
    query: ListMembershipsQuery,
    linkNextPage: LinkNextPage,
  ): Promise<MembershipListResult> {
    const limit = limitOf(query);
    const rows = await this.findMemberships(query, limit + 1);
    const place = query.orgId === undefined ? 'orgId' : 'userId';
    const cursorOf = (last: ListedMembership): string =>
      encodeCursor({ order: last.joinedAt, id: last[place] });
    const { page, next } = cutPage(rows, limit, cursorOf, linkNextPage);
    return { memberships: page.map(({ joinedAt: _joinedAt, ...membership }) => membership), ...next };
  }

  /** Tells nobody about a token that is for another service. */
  private isFor({ name }: ServicePrincipal, { aud }: AccessTokenClaims): boolean {
    return aud === this.env.jwtAudience || aud === name;
  }

  private describe({ claims, holder }: LiveToken): ActiveToken {
    const { amr, epoch, email, emailVerified } = holder;
    return {
      active: true,
      token_type: 'Bearer',
      ...claims,
      amr: [...amr],
      epoch,
      username: email,
      email_verified: emailVerified,
    };
  }

  private async findOrg(orgId: string, { id: userId }: UserPrincipal): Promise<OrgOfToken | null> {
    const membership = await this.members.findMembership(orgId, userId);
    if (!membership || membership.role === null) return null;
    return { id: orgId, role: membership.role, revision: membership.revision };
  }

  private async findMemberships(query: ListMembershipsQuery, limit: number): Promise<ListedMembership[]> {
    const { orgId, userId } = query;
    if (orgId === undefined) return this.memberships.listOfUser(userId!, limit, positionOf(query));
    if (userId === undefined) return this.memberships.listOfOrg(orgId, limit, positionOf(query));
    return this.memberships.findOne(orgId, userId);
  }
}
