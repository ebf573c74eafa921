import { Controller, Delete, Get, Param, Query } from '@nestjs/common';
import { ApiParam, ApiTags } from '@nestjs/swagger';
import { SignedIn, SignedInByPassword } from '../access/access.decorators.js';
import type { UserActor, UserPrincipal } from '../access/principal.js';
import { CurrentActor, CurrentUser } from '../http/request-origin.js';
import { EntityIdPipe, OK, OkResult } from '../http/fields.js';
import { ApiProblems, invalidFields } from '../openapi/decorators.js';
import { WriteRoute } from '../requests/write-route.decorator.js';
import { EndSessionsQuery } from './me.requests.js';
import { OwnSessionsResult } from './own-account.responses.js';
import { listOf } from './views.js';
import { SessionRevocation } from '../auth/sessions/session-revocation.js';
import { UserSessionsRepository } from '../auth/sessions/sessions.of-user.js';
import { SessionsService } from '../auth/sessions/sessions.service.js';

@ApiTags('Me')
@Controller('api/me/sessions')
export class OwnSessionsController {
  constructor(
    private readonly ofUsers: UserSessionsRepository,
    private readonly sessions: SessionsService,
    private readonly revocation: SessionRevocation,
  ) {}

  /**
   * List the sessions of the current user
   *
   * @remarks Lists the active sessions, latest first.
   */
  @Get()
  @SignedIn()
  async listOwnSessions(@CurrentUser() { id, sessionId }: UserPrincipal): Promise<OwnSessionsResult> {
    return { sessions: listOf(await this.ofUsers.listAlive(id), sessionId) };
  }

  /**
   * End a session of the current user
   *
   * @remarks Ends the session and every session that its codes opened. A session that a code opened ends with its whole
   * login hand-off: the first session that a code of the login opened, and every session below it. The login stays.
   * Requires a token from a login by password.
   */
  @Delete(':sessionId')
  @SignedInByPassword()
  @ApiParam({
    name: 'sessionId',
    type: String,
    format: 'uuid',
    description: 'id of the session, from the list of sessions',
  })
  @ApiProblems('session_not_found')
  endOwnSession(
    @CurrentActor() actor: UserActor,
    @Param('sessionId', EntityIdPipe) id: string,
  ): Promise<OkResult> {
    return this.sessions.end(actor, id).then(() => OK);
  }

  /**
   * End the other sessions of the current user, or all sessions
   *
   * @remarks Unless `all` is true, the session of the token stays; the sessions that its codes opened end. Requires a
   * token from a login by password.
   */
  @Delete()
  @SignedInByPassword()
  @WriteRoute({ query: ['all'] })
  @ApiProblems(invalidFields({ all: 'must be true or false' }))
  endOwnSessions(@CurrentActor() actor: UserActor, @Query() { all }: EndSessionsQuery): Promise<OkResult> {
    return this.revocation.revokeAll(actor, { exceptActing: all !== 'true' }).then(() => OK);
  }
}
