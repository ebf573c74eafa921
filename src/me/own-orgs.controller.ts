import { Controller, Get, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { SignedIn } from '../access/access.decorators.js';
import { CurrentUser } from '../http/request-origin.js';
import type { UserPrincipal } from '../access/principal.js';
import { ApiPage } from '../http/fields.js';
import { type LinkNextPage, NextPage } from '../http/pages.js';
import { ListOwnOrgsQuery } from './me.requests.js';
import { DeletedOrgsResult, OwnOrgsResult } from './own-account.responses.js';
import { OwnOrgsService } from './own-orgs.service.js';

@ApiTags('Me')
@Controller('api/me')
export class OwnOrgsController {
  constructor(private readonly orgs: OwnOrgsService) {}

  /**
   * List the organizations of the current user
   *
   * @remarks Lists the organizations in order of joining, in pages.
   */
  @Get('orgs')
  @SignedIn({ boundTokens: true })
  @ApiPage(OwnOrgsResult)
  listOwnOrgs(
    @CurrentUser() { id }: UserPrincipal,
    @Query() query: ListOwnOrgsQuery,
    @NextPage() linkNextPage: LinkNextPage,
  ): Promise<OwnOrgsResult> {
    return this.orgs.list(id, query, linkNextPage);
  }

  /**
   * List the deleted organizations that the current user can restore
   *
   * @remarks Lists the deleted organizations that the user owns, in order of joining, in pages.
   */
  @Get('deleted-orgs')
  @SignedIn()
  @ApiPage(DeletedOrgsResult)
  listDeletedOrgs(
    @CurrentUser() { id }: UserPrincipal,
    @Query() query: ListOwnOrgsQuery,
    @NextPage() linkNextPage: LinkNextPage,
  ): Promise<DeletedOrgsResult> {
    return this.orgs.listDeleted(id, query, linkNextPage);
  }
}
