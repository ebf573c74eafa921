import { Injectable } from '@nestjs/common';
import type { ServicePrincipal, UserPrincipal } from '../access/principal.js';
import { type LiveToken, LiveTokens } from '../auth/live-tokens.js';
import type { AccessTokenClaims } from '../auth/tokens/access-token.js';
import { Env } from '../config/env.js';
import { MembersRepository } from '../orgs/state/members.repository.js';
import type { IntrospectionForm } from './introspection-form.decorator.js';
import type { ActiveToken, InactiveToken, OrgOfToken } from './introspection.responses.js';

const INACTIVE: InactiveToken = { active: false };

@Injectable()
export class IntrospectionService {
  constructor(
    private readonly tokens: LiveTokens,
    private readonly members: MembersRepository,
    private readonly env: Env,
  ) {}

  async introspect(
    asker: ServicePrincipal,
    { token, orgId }: IntrospectionForm,
  ): Promise<ActiveToken | InactiveToken> {
    const live = await this.tokens.find(token, (claims) => this.isFor(asker, claims));
    if (!live) return INACTIVE;
    const answer = this.describe(live);
    return orgId === undefined ? answer : { ...answer, org: await this.findOrg(orgId, live.holder) };
  }

  /** Tells nobody about a token that is for another service. */
  private isFor({ name }: ServicePrincipal, { aud }: AccessTokenClaims): boolean {
    return aud === this.env.jwtAudience || aud === name;
  }

  private describe({ claims, holder }: LiveToken): ActiveToken {
    const { iss, aud, sub, sid, jti, iat, exp, auth_time, client_id } = claims;
    const { amr, epoch, email, emailVerified } = holder;
    return {
      active: true,
      token_type: 'Bearer',
      iss,
      aud,
      sub,
      sid,
      jti,
      iat,
      exp,
      auth_time,
      amr: [...amr],
      epoch,
      // An older instance signs tokens without it.
      client_id: client_id ?? aud,
      username: email,
      email_verified: emailVerified,
    };
  }

  private async findOrg(orgId: string, { id: userId }: UserPrincipal): Promise<OrgOfToken | null> {
    const membership = await this.members.findMembership(orgId, userId);
    if (!membership || membership.role === null) return null;
    return { id: orgId, role: membership.role, revision: membership.revision };
  }
}
