import { Body, Controller, HttpCode, Post } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { Public } from '../../access/access.decorators.js';
import type { Origin } from '../../access/actor.js';
import { RequestOrigin } from '../../http/request-origin.js';
import { ApiProblems, invalidFields } from '../../openapi/decorators.js';
import { RefreshResult } from '../auth.responses.js';
import { RefreshRequest } from '../auth.requests.js';
import { RefreshService } from './refresh.service.js';

@ApiTags('Auth')
@Controller('api/auth/refresh')
export class RefreshController {
  constructor(private readonly refreshes: RefreshService) {}

  /**
   * Get a new token for a refresh token
   *
   * @remarks The refresh token in the answer replaces the one that was sent. In case the answer was lost, the old one
   * can be sent again for 30 seconds, unless configured otherwise, and gets equally valid tokens. After that, using
   * the old one ends the session, because a thief may hold it.
   */
  @Post()
  @HttpCode(200)
  @Public()
  @ApiProblems(invalidFields({ refreshToken: 'must be a string' }), 'invalid_refresh_token')
  refresh(@Body() body: RefreshRequest, @RequestOrigin() origin: Origin): Promise<RefreshResult> {
    return this.refreshes.refresh(body.refreshToken, origin);
  }
}
