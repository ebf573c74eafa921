import { Body, Controller, Get, Post, type StreamableFile } from '@nestjs/common';
import { ApiOkResponse, ApiTags } from '@nestjs/swagger';
import { MinRole, SignedIn } from '../access/access.decorators.js';
import type { Actor } from '../access/actor.js';
import { CurrentOrg } from '../access/current-org.decorator.js';
import { CurrentUser } from '../access/current-user.decorator.js';
import { CurrentActor } from '../http/current-actor.decorator.js';
import { ApiProblems } from '../openapi/api-problems.decorator.js';
import { CreateOrgDto } from './dto/create-org.dto.js';
import { CreatedOrgResponse, OrgDetailResponse } from './dto/org.responses.js';
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
  @ApiProblems('validation_failed', 'malformed_json', 'unauthorized', 'invalid_token', 'too_many_orgs')
  async createOrg(@CurrentActor() actor: Actor, @Body() dto: CreateOrgDto): Promise<CreatedOrgResponse> {
    return { org: await this.orgs.create(actor, dto.name) };
  }

  /**
   * Read an organization and its members
   *
   * @remarks For every member of the organization.
   */
  @Get(':id')
  @MinRole('member')
  @ApiOkResponse({ type: OrgDetailResponse })
  @ApiProblems('unauthorized', 'invalid_token', 'org_not_found', 'not_a_member')
  getOrg(
    @CurrentOrg() org: CurrentOrg,
    @CurrentUser() { sessionId }: CurrentUser,
  ): Promise<OrgDetailResponse | StreamableFile> {
    return this.orgs.getDetail(org, sessionId);
  }
}
