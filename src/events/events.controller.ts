import { Controller, Get, Param, Query } from '@nestjs/common';
import { ApiOkResponse } from '@nestjs/swagger';
import { AllowedServices, MinRole } from '../access/access.decorators.js';
import { CurrentService } from '../http/request-origin.js';
import type { ServicePrincipal } from '../access/principal.js';
import { ApiProblems, invalidFields } from '../openapi/decorators.js';
import { ApiPage, OnlyParameters } from '../http/fields.js';
import { type LinkNextPage, NextPage } from '../http/pages.js';
import { Patience } from '../http/deadline.js';
import { FeedService, TOO_MANY_WAIT } from './feed.service.js';
import { FeedQuery, INVALID_CURSOR, ListOrgEventsQuery } from './events.query.js';
import { FeedResponse, OrgEventsResponse } from './events.responses.js';
import { EventsService, orgEvent } from './events.service.js';

@Controller('api/orgs/:orgId/events')
export class OrgEventsController {
  constructor(private readonly events: EventsService) {}

  /**
   * Read the record of an organization
   *
   * @remarks Lists who changed what, latest first. Requires the role admin or owner.
   */
  @Get()
  @MinRole('admin')
  @ApiPage(OrgEventsResponse)
  async listOrgAuditEvents(
    @Param('orgId') orgId: string,
    @Query() query: ListOrgEventsQuery,
    @NextPage() linkNextPage: LinkNextPage,
  ): Promise<OrgEventsResponse> {
    const { userId, type } = query;
    const { events, next } = await this.events.list({ orgId, userId, type }, query, linkNextPage);
    return { events: events.map(orgEvent), ...next };
  }
}

@Controller('api/events')
export class FeedController {
  constructor(private readonly feed: FeedService) {}

  /**
   * Follow the feed
   *
   * @remarks Lists what has changed, in one order: events of an organization by its revision, events of an account by its
   * own. Without `after` the answer has no events but the cursor of now: take it first, then read the state that you keep,
   * then follow. A page that is not full has everything that was committed before the request. Nothing is missing, and
   * nothing comes twice. At most 20 requests of a service wait at one process.
   */
  @Get()
  @AllowedServices('events')
  @OnlyParameters('after', 'wait', 'limit')
  @ApiOkResponse({ type: FeedResponse })
  @ApiProblems(invalidFields({ after: INVALID_CURSOR }), 'cursor_expired', {
    code: 'rate_limited',
    detail: TOO_MANY_WAIT,
  })
  listEvents(
    @CurrentService() reader: ServicePrincipal,
    @Query() query: FeedQuery,
    @Patience() patience: Patience,
  ): Promise<FeedResponse> {
    return this.feed.follow(reader, query, patience);
  }
}
