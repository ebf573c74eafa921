import { Body, Controller, Get, Post, type StreamableFile } from '@nestjs/common';
import { ApiOkResponse, ApiTags } from '@nestjs/swagger';
import { MinRole, SignedIn } from '../access/access.decorators.js';
import type { UserActor } from '../access/actor.js';
import { CurrentOrg } from '../access/current-org.decorator.js';
import { CurrentUser } from '../access/current-user.decorator.js';
import { CurrentActor } from '../http/current-actor.decorator.js';
import { ApiProblems, invalidFields } from '../openapi/api-problems.decorator.js';
import { CreateOrgRequest } from './dto/create-org.request.js';
import { OrgResult, OrgDetailResult } from './dto/org.responses.js';
import { OrgsService } from './orgs.service.js';

@ApiTags('Organizations')
@Controller('api/orgs')
export class OrgsController {
  constructor(private readonly orgs: OrgsService) {}

  /**
   * Create an organization
   *
   * @remarks The caller becomes its owner.
   */
  @Post()
  @SignedIn()
  @ApiProblems(
    invalidFields({ name: 'must be text of 1 to 100 characters without control characters' }),
    'malformed_json',
    'unauthorized',
    'invalid_token',
    'too_many_orgs',
  )
  async createOrg(@CurrentActor() actor: UserActor, @Body() body: CreateOrgRequest): Promise<OrgResult> {
    return { org: await this.orgs.create(actor, body.name) };
  }

  /**
   * Read an organization and its members
   *
   * @remarks For every member of the organization.
   */
  @Get(':orgId')
  @MinRole('member')
  @ApiOkResponse({ type: OrgDetailResult })
  @ApiProblems('unauthorized', 'invalid_token', 'org_not_found', 'not_a_member')
  getOrg(
    @CurrentOrg() org: CurrentOrg,
    @CurrentUser() { sessionId }: CurrentUser,
  ): Promise<OrgDetailResult | StreamableFile> {
    return this.orgs.getDetail(org, sessionId);
  }
}
