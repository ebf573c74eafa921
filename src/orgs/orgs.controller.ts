import { Body, Controller, Get, Post, type StreamableFile } from '@nestjs/common';
import { ApiOkResponse, ApiTags } from '@nestjs/swagger';
import { MinRole, SignedIn } from '../access/access.decorators.js';
import { CurrentOrg, CurrentUser } from '../http/request-origin.js';
import type { UserPrincipal } from '../access/principal.js';
import { ApiProblems, invalidFields } from '../openapi/decorators.js';
import { ETAG_HEADER } from '../openapi/responses.js';
import { WriteRoute } from '../requests/write-route.decorator.js';
import { CurrentWrite, type Write } from '../requests/write.js';
import { AnswerTag, type TagAnswer } from '../requests/entity-tags.js';
import { CreateOrgRequest } from './orgs.requests.js';
import { OrgDetailResult, OrgResult } from './orgs.responses.js';
import { OrgsService } from './orgs.service.js';

@ApiTags('Organizations')
@Controller('api/orgs')
export class OrgsController {
  constructor(private readonly orgs: OrgsService) {}

  /**
   * Create an organization
   *
   * @remarks The caller becomes the owner of the organization.
   */
  @Post()
  @SignedIn()
  @WriteRoute({ idempotencyKey: true })
  @ApiProblems(
    invalidFields({ name: 'must be text of 1 to 100 characters without control characters' }),
    'too_many_orgs',
  )
  createOrg(
    @CurrentWrite() write: Write,
    @AnswerTag() tagged: TagAnswer,
    @Body() { name }: CreateOrgRequest,
  ): Promise<OrgResult> {
    return tagged(this.orgs.create(write, name));
  }

  /**
   * Read an organization and its members
   *
   * @remarks Every member may do this. Send the `ETag` in `If-Match` to change the organization only if nobody else has
   * changed it.
   */
  @Get(':orgId')
  @MinRole('member', { boundTokens: true })
  @ApiOkResponse({ type: OrgDetailResult, headers: ETAG_HEADER })
  getOrg(
    @CurrentOrg() org: CurrentOrg,
    @CurrentUser() caller: UserPrincipal,
    @AnswerTag() tagged: TagAnswer,
  ): Promise<OrgDetailResult | StreamableFile> {
    return tagged(this.orgs.getDetail(org, caller));
  }
}
