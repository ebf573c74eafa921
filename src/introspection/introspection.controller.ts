import { Controller, Get, HttpCode, Post, Query } from '@nestjs/common';
import { ApiBody, ApiOkResponse } from '@nestjs/swagger';
import { lowerRole, type ServicePrincipal } from '../access/principal.js';
import { mustVerifyEmail } from '../access/route-access.js';
import type { LiveKey } from '../api-keys/live-keys.js';
import { type LiveToken, LiveTokens } from '../auth/authentication.guard.js';
import { Env } from '../config/env.js';
import { timeText } from '../identifiers/text.js';
import { cutPage, encodeCursor, limitOf, positionOf } from '../http/pages.js';
import { GatedRead } from '../http/read-gate.js';
import { MembersRepository } from '../orgs/state/members.repository.js';
import { type ListedMembership, MembershipsRepository } from '../orgs/state/members.memberships.js';
import { activeRole } from '../orgs/state/policies.js';
import {
  IntrospectionForm,
  INTROSPECTIONS,
  IntrospectTokenRequest,
  ListMembershipsQuery,
  ONE_IS_NEEDED,
  TOKEN_NEEDED,
} from './introspection.requests.js';
import {
  IntrospectionResponse,
  type MembershipDto,
  MembershipsResponse,
  type OrgOfToken,
} from './introspection.responses.js';
import { AllowedServices } from '../access/access.decorators.js';
import { CurrentService } from '../http/request-origin.js';
import { FormBody } from '../http/bodies.js';
import { INTROSPECTION_PATH } from '../http/paths.js';
import { ApiPage } from '../http/fields.js';
import { ApiProblems, invalidFields } from '../openapi/decorators.js';

const INACTIVE: IntrospectionResponse = { active: false };

@Controller(INTROSPECTION_PATH)
export class IntrospectionController {
  constructor(
    private readonly tokens: LiveTokens,
    private readonly members: MembersRepository,
    private readonly env: Env,
  ) {}

  /**
   * Introspect a token
   *
   * @remarks Returns whether an access token or an API key is still valid, and its claims (RFC 7662). With `orgId`, the
   * response also contains the user's role in that organization.
   *
   * An API key is valid only for its own service, and only if that service has the scope `keys`.
   *
   * Returns `{"active": false}` for malformed, expired and revoked tokens, for tokens of a disabled user, and for tokens
   * for another service. If users must verify their email, it also does for tokens of users who have not.
   */
  @Post()
  @HttpCode(200)
  @AllowedServices('introspect')
  @FormBody()
  @ApiBody({ type: IntrospectTokenRequest, examples: INTROSPECTIONS })
  @ApiOkResponse({ type: IntrospectionResponse })
  @ApiProblems(invalidFields({ token: TOKEN_NEEDED }))
  async introspectToken(
    @CurrentService() { name }: ServicePrincipal,
    @IntrospectionForm() { token, orgId }: IntrospectionForm,
  ): Promise<IntrospectionResponse> {
    // Nobody learns of a token that is for another service.
    const found = await this.tokens.find(token, ({ aud }) => aud === this.env.jwtAudience || aud === name);
    if (found.kind === 'live_service') return { active: true, token_type: 'Bearer', ...found.claims };
    if (found.kind === 'refused' || mustVerifyEmail(found.user, this.env)) return INACTIVE;
    const answer = describe(found);
    return orgId === undefined ? answer : { ...answer, org: await this.findOrg(orgId, found) };
  }

  private async findOrg(orgId: string, found: LiveToken | LiveKey): Promise<OrgOfToken | null> {
    const key = found.kind === 'live_key' ? found.claims.key : undefined;
    if (key && key.org !== null && key.org !== orgId) return null;
    const { id, hasSecondFactor } = found.user;
    const known = found.kind === 'live_key' ? found.membership : undefined;
    const membership = known ?? (await this.members.findMembership(orgId, id));
    const role = activeRole(membership, hasSecondFactor);
    if (!membership || role === null) return null;
    return { id: orgId, role: key ? lowerRole(role, key.role) : role, revision: membership.revision };
  }
}

function describe(found: LiveToken | LiveKey): IntrospectionResponse {
  const { email: username, emailVerified: email_verified } = found.user;
  const active = { active: true, token_type: 'Bearer' } as const;
  if (found.kind === 'live_key') return { ...active, ...found.claims, username, email_verified };
  const { gen: _gen, ...claims } = found.claims;
  const { amr, epoch } = found.user;
  return { ...active, ...claims, amr: [...amr], epoch, username, email_verified };
}

@Controller('api/memberships')
export class MembershipsController {
  constructor(private readonly memberships: MembershipsRepository) {}

  /**
   * List memberships
   *
   * @remarks Returns the memberships of an organization or of a user in order of joining, in pages. With both ids, the
   * list contains at most one.
   *
   * Disabled users, deleted organizations, and members who lack a second factor that the organization requires, are left
   * out.
   */
  @Get()
  @AllowedServices('memberships')
  @ApiPage(MembershipsResponse)
  @ApiProblems(invalidFields({ orgId: ONE_IS_NEEDED }))
  @GatedRead()
  async listMemberships(@Query() query: ListMembershipsQuery): Promise<MembershipsResponse> {
    const limit = limitOf(query);
    const rows = await this.find(query, limit + 1);
    const key = query.orgId === undefined ? 'orgId' : 'userId';
    const cursorOf = (last: ListedMembership): string =>
      encodeCursor({ order: last.joinedAt, id: last[key] });
    const { page, next } = cutPage(rows, limit, cursorOf);
    return { memberships: page.map(membershipView), ...next };
  }

  private async find(query: ListMembershipsQuery, limit: number): Promise<ListedMembership[]> {
    const { orgId, userId } = query;
    if (orgId === undefined) return this.memberships.listOfUser(userId!, limit, positionOf(query));
    if (userId === undefined) return this.memberships.listOfOrg(orgId, limit, positionOf(query));
    return this.memberships.findOne(orgId, userId);
  }
}

function membershipView({
  joinedAt: _joinedAt,
  secondFactorFrom: from,
  ...membership
}: ListedMembership): MembershipDto {
  return { ...membership, ...(from !== null && { secondFactorRequiredFrom: timeText(from) }) };
}
