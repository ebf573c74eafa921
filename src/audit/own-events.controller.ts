import { Controller, Get, Query } from '@nestjs/common';
import { ApiOkResponse, ApiTags } from '@nestjs/swagger';
import { SignedInByPassword } from '../access/access.decorators.js';
import { CurrentUser } from '../access/current-user.decorator.js';
import { type LinkNextPage, NextPage } from '../pagination/next-page.decorator.js';
import { ApiProblems, invalidFields } from '../openapi/api-problems.decorator.js';
import { LINK_HEADER } from '../openapi/response-headers.js';
import { AuditService } from './audit.service.js';
import { OwnEventsResult } from './dto/event.responses.js';
import { ListEventsQuery } from './dto/list-events.query.js';

@ApiTags('Me')
@Controller('api/me/events')
export class OwnEventsController {
  constructor(private readonly audit: AuditService) {}

  /**
   * Read the record of the current user
   *
   * @remarks What happened to the account, its logins and its memberships, the latest first. Needs a token of a
   * login by password.
   */
  @Get()
  @SignedInByPassword()
  @ApiOkResponse({ type: OwnEventsResult, headers: LINK_HEADER })
  @ApiProblems(
    invalidFields({ limit: 'must be a whole number from 1 to 1000' }),
    'unauthorized',
    'invalid_token',
    'password_session_required',
  )
  listOwnEvents(
    @CurrentUser() { id }: CurrentUser,
    @Query() query: ListEventsQuery,
    @NextPage() linkNextPage: LinkNextPage,
  ): Promise<OwnEventsResult> {
    return this.audit.listOfUser(id, query, linkNextPage);
  }
}
