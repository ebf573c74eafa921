import { Controller, Get, type StreamableFile } from '@nestjs/common';
import { ApiOkResponse, ApiTags } from '@nestjs/swagger';
import { SignedIn } from '../access/access.decorators.js';
import { CurrentUser } from '../http/request-origin.js';
import type { UserPrincipal } from '../access/principal.js';
import { ApiIncluded, Included } from './included.decorator.js';
import { MeView } from './own-orgs.service.js';
import { AccountResult, MeResult } from './me.responses.js';
import { AccountView } from './views.js';

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
