import { Controller, Get, Query, type StreamableFile } from '@nestjs/common';
import { ApiOkResponse, ApiTags } from '@nestjs/swagger';
import { SignedIn } from '../access/access.decorators.js';
import { CurrentUser } from '../http/request-origin.js';
import type { UserPrincipal } from '../access/principal.js';
import { ApiIncluded, Included, ListOwnOrgsQuery } from './me.requests.js';
import { MeView, OwnOrgsService } from './own-orgs.service.js';
import { AccountResult, DeletedOrgsResult, MeResult, OwnOrgsResult } from './me.responses.js';
import { AccountView } from './views.js';
import { ApiPage } from '../http/fields.js';
import { type LinkNextPage, NextPage } from '../http/pages.js';

@ApiTags('Me')
@Controller('api/me')
export class MeController {
  constructor(
    private readonly me: MeView,
    private readonly accounts: AccountView,
  ) {}

  /**
   * Read the current user
   *
   * @remarks Returns the user and their organizations in order of joining. `?include=roles,account` adds their roles,
   * and whether their email is verified.
   */
  @Get()
  @SignedIn({ boundTokens: true })
  @ApiIncluded()
  @ApiOkResponse({ type: MeResult })
  getMe(
    @CurrentUser() caller: UserPrincipal,
    @Included() included: Included,
  ): Promise<MeResult | StreamableFile> {
    return this.me.of(caller, included);
  }

  /**
   * Read the account of the current user
   *
   * @remarks Tells whether the email is verified, and when the password was last changed.
   */
  @Get('account')
  @SignedIn()
  getAccount(@CurrentUser() caller: UserPrincipal): Promise<AccountResult> {
    return this.accounts.of(caller.id);
  }
}

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
