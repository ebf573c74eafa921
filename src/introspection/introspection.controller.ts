import { Controller, Get, HttpCode, Module, Post, Query } from '@nestjs/common';
import { ApiBody, ApiTags } from '@nestjs/swagger';
import { AllowedServices } from '../access/access.decorators.js';
import { CurrentService } from '../http/request-origin.js';
import type { ServicePrincipal } from '../access/principal.js';
import { FormBody } from '../http/bodies.js';
import { INTROSPECTION_PATH } from '../http/paths.js';
import { ApiPage } from '../http/fields.js';
import { type LinkNextPage, NextPage } from '../http/pages.js';
import { ApiProblems, ApiUnion, invalidFields } from '../openapi/decorators.js';
import {
  IntrospectionForm,
  INTROSPECTIONS,
  IntrospectTokenRequest,
  ListMembershipsQuery,
  ONE_IS_NEEDED,
  TOKEN_NEEDED,
} from './introspection.requests.js';
import { ActiveToken, InactiveToken, MembershipListResult } from './introspection.responses.js';
import { IntrospectionService } from './introspection.service.js';
import { OrgStateModule } from '../orgs/state/org-state.module.js';

@ApiTags('Services')
@Controller(INTROSPECTION_PATH)
export class IntrospectionController {
  constructor(private readonly introspection: IntrospectionService) {}

  /**
   * Ask whether an access token is valid now
   *
   * @remarks Introspection of RFC 7662. Every token that is not valid now gets the same answer: one that is malformed,
   * expired or revoked, one of a disabled user, and one that is meant for another service. With `orgId` the answer also
   * tells the user's role in that organization.
   */
  @Post()
  @HttpCode(200)
  @AllowedServices('introspect')
  @FormBody()
  @ApiBody({ type: IntrospectTokenRequest, examples: INTROSPECTIONS })
  @ApiUnion(200, 'IntrospectionResult', ActiveToken, InactiveToken)
  @ApiProblems(invalidFields({ token: TOKEN_NEEDED }))
  introspectToken(
    @CurrentService() asker: ServicePrincipal,
    @IntrospectionForm() form: IntrospectionForm,
  ): Promise<ActiveToken | InactiveToken> {
    return this.introspection.introspect(asker, form);
  }
}

@ApiTags('Services')
@Controller('api/memberships')
export class MembershipsController {
  constructor(private readonly introspection: IntrospectionService) {}

  /**
   * List memberships
   *
   * @remarks Lists the memberships in an organization or of a user in order of joining, in pages. With both ids the
   * list has at most one. It leaves out disabled users and deleted organizations.
   */
  @Get()
  @AllowedServices('memberships')
  @ApiPage(MembershipListResult)
  @ApiProblems(invalidFields({ orgId: ONE_IS_NEEDED }))
  listMemberships(
    @Query() query: ListMembershipsQuery,
    @NextPage() linkNextPage: LinkNextPage,
  ): Promise<MembershipListResult> {
    return this.introspection.listMemberships(query, linkNextPage);
  }
}

@Module({
  imports: [OrgStateModule],
  controllers: [IntrospectionController, MembershipsController],
  providers: [IntrospectionService],
})
export class IntrospectionModule {}
