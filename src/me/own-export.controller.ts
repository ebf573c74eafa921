import { Controller, Get, type StreamableFile } from '@nestjs/common';
import { ApiOkResponse, ApiTags } from '@nestjs/swagger';
import { SignedInByPassword } from '../access/access.decorators.js';
import { CurrentUser } from '../access/current-caller.decorators.js';
import type { UserPrincipal } from '../access/principal.js';
import { RateLimited } from '../rate-limits/rate-limited.decorator.js';
import { ExportResult } from './export.responses.js';
import { OwnExportService } from './own-export.service.js';

@ApiTags('Me')
@Controller('api/me/export')
export class OwnExportController {
  constructor(private readonly exports: OwnExportService) {}

  /**
   * Export all data about the current user
   *
   * @remarks The document holds the account, the organizations, the sessions, the record, the mails, and the
   * invitations to the e-mail if it is verified. It contains no hash, no code, no secret, and no client address of
   * anybody else. It is as long as the record is, and is streamed: without its last brace it is incomplete. Requires a
   * token from a login by password.
   */
  @Get()
  @SignedInByPassword()
  @RateLimited('export')
  @ApiOkResponse({ type: ExportResult })
  exportOwnData(@CurrentUser() caller: UserPrincipal): Promise<StreamableFile> {
    return this.exports.answer(caller);
  }
}
