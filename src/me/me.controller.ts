import { Controller, Get } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { SignedIn } from '../access/access.decorators.js';
import { CurrentUser } from '../access/current-user.decorator.js';
import { ApiIncluded, Included } from './included.decorator.js';
import { MeView } from './me-view.js';
import { AccountResult, MeResult } from './me.responses.js';
import { AccountView } from './account-view.js';

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
   * @remarks With the organizations of the user, in order of joining. `?include=roles,account` adds the user's roles,
   * and whether the e-mail is verified.
   */
  @Get()
  @SignedIn()
  @ApiIncluded()
  getMe(@CurrentUser() caller: CurrentUser, @Included() included: Included): Promise<MeResult> {
    return this.me.of(caller, included);
  }

  /**
   * Read the account of the current user
   *
   * @remarks Whether the e-mail is verified, and when the password was changed.
   */
  @Get('account')
  @SignedIn()
  getAccount(@CurrentUser() caller: CurrentUser): Promise<AccountResult> {
    return this.accounts.of(caller.id);
  }
}
