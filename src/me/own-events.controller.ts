import { Controller, Get, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { SignedInByPassword } from '../access/access.decorators.js';
import { CurrentUser } from '../access/current-caller.decorators.js';
import type { UserPrincipal } from '../access/principal.js';
import { ApiPage } from '../http/page-query.decorators.js';
import { type LinkNextPage, NextPage } from '../http/pages.js';
import { EventsService } from '../events/events.service.js';
import { OwnEventsResult } from '../events/events.responses.js';
import { ListEventsQuery } from '../events/events.query.js';

@ApiTags('Me')
@Controller('api/me/events')
export class OwnEventsController {
  constructor(private readonly events: EventsService) {}

  /**
   * Read the record of the current user
   *
   * @remarks Lists what happened to the account, its logins and its memberships, latest first. Requires a token from
   * a login by password.
   */
  @Get()
  @SignedInByPassword()
  @ApiPage(OwnEventsResult)
  listOwnEvents(
    @CurrentUser() { id }: UserPrincipal,
    @Query() query: ListEventsQuery,
    @NextPage() linkNextPage: LinkNextPage,
  ): Promise<OwnEventsResult> {
    return this.events.listOfUser(id, query, linkNextPage);
  }
}
