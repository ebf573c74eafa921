import { Controller, Get, HttpCode, Post, Query } from '@nestjs/common';
import { ApiBody, ApiOkResponse } from '@nestjs/swagger';
import type { ServicePrincipal, UserPrincipal } from '../access/principal.js';
import { mustVerifyEmail } from '../access/route-access.js';
import { type LiveToken, LiveTokens } from '../auth/authentication.guard.js';
import { Env } from '../config/env.js';
import { timeText } from '../identifiers/text.js';
import { cutPage, encodeCursor, limitOf, positionOf } from '../http/pages.js';
import { GatedRead } from '../http/read-gate.js';
import { MembersRepository } from '../orgs/state/members.repository.js';
import { type ListedMembership, MembershipsRepository } from '../orgs/state/members.memberships.js';
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
   * @remarks Returns whether an access token is still valid, and its claims (RFC 7662). With `orgId`, the response
   * also has the user's role in that organization.
   *
   * Every other token returns `{"active": false}`: malformed, expired and revoked tokens, tokens of a disabled user,
   * and tokens for another service. If users must verify their email, so do tokens of users who have not.
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
    return orgId === undefined ? answer : { ...answer, org: await this.findOrg(orgId, found.user) };
  }

  private async findOrg(orgId: string, user: UserPrincipal): Promise<OrgOfToken | null> {
    const membership = await this.members.findMembership(orgId, user.id);
    if (!membership || membership.role === null) return null;
    if (membership.isFactorRequired && !user.hasSecondFactor) return null;
    return { id: orgId, role: membership.role, revision: membership.revision };
  }
}

function describe({ claims: { gen: _gen, ...claims }, user }: LiveToken): IntrospectionResponse {
  const { amr, epoch, email: username, emailVerified } = user;
  return {
    active: true,
    token_type: 'Bearer',
    ...claims,
    amr: [...amr],
    epoch,
    username,
    email_verified: emailVerified,
  };
}

@Controller('api/memberships')
export class MembershipsController {
  constructor(private readonly memberships: MembershipsRepository) {}

  /**
   * List memberships
   *
   * @remarks Returns the memberships of an organization or of a user in order of joining, in pages. With both ids the
   * list has at most one.
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
