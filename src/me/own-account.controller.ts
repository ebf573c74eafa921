import { Body, Controller, Delete } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { SignedInByPassword } from '../access/access.decorators.js';
import { Client } from '../auth/passwords/client.decorator.js';
import type { HashClient } from '../auth/passwords/hash-queue.js';
import { INVALID_SECOND_FACTOR_CODE } from '../auth/second-factor/second-factor.errors.js';
import { OkResult } from '../http/ok.responses.js';
import { ApiProblems, invalidFields } from '../openapi/decorators.js';
import { RateLimited } from '../rate-limits/rate-limited.decorator.js';
import { WriteRoute } from '../requests/write-route.decorator.js';
import { CurrentWrite, type Write } from '../requests/write.js';
import { DeleteAccountRequest } from './me.requests.js';
import { OwnAccountService } from './own-account.service.js';

const ORG_ID = '019a8f3e-6a2d-7f10-8b3c-5d7e9f1a2b3c';

@ApiTags('Me')
@Controller('api/me')
export class OwnAccountController {
  constructor(private readonly accounts: OwnAccountService) {}

  /**
   * Delete the account
   *
   * @remarks Deletes the user's memberships, sessions and codes, too; the record keeps only ids. The only owner of an
   * organization has to make somebody else owner first; the refusal names such organizations in `orgs`. A request
   * counts as a login for the limits, and requires a token from a login by password. Where the account has a second
   * factor, it needs a `code` of that, too.
   */
  @Delete()
  @SignedInByPassword()
  @WriteRoute({ dryRun: true, remedy: true })
  @RateLimited('login', 'address', 'account')
  @ApiProblems(
    invalidFields({ password: 'should not be empty' }),
    'wrong_password',
    { code: 'invalid_code', detail: INVALID_SECOND_FACTOR_CODE },
    {
      code: 'last_owner',
      extensions: { orgs: [{ id: ORG_ID, name: 'Analytical Engines', hasOtherMembers: true }] },
    },
  )
  deleteAccount(
    @CurrentWrite() write: Write,
    @Body() proof: DeleteAccountRequest,
    @Client() client: HashClient,
  ): Promise<OkResult> {
    return this.accounts.delete(write, proof, client);
  }
}
