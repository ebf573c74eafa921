import { Controller, Get } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { SignedIn } from '../access/access.decorators.js';
import { CurrentUser } from '../access/current-user.decorator.js';
import { OrgsService } from '../orgs/orgs.service.js';
import { AccountResult, MeResult } from './me.responses.js';
import { AccountView } from './account-view.js';

@ApiTags('Me')
@Controller('api/me')
export class MeController {
  constructor(
    private readonly orgs: OrgsService,
    private readonly accounts: AccountView,
  ) {}

  /**
   * Read the current user
   *
   * @remarks With the organizations of the user, in order of joining.
   */
  @Get()
  @SignedIn()
  async getMe(@CurrentUser() caller: CurrentUser): Promise<MeResult> {
    return { user: { id: caller.id, email: caller.email }, orgs: await this.orgs.listOf(caller.id) };
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
