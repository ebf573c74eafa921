import { Controller, Get, Param, Query } from '@nestjs/common';
import { ApiOkResponse } from '@nestjs/swagger';
import { AllowedServices, MinRole } from '../access/access.decorators.js';
import { CurrentService } from '../http/request-origin.js';
import { GatedRead } from '../http/read-gate.js';
import type { ServicePrincipal } from '../access/principal.js';
import { ApiProblems, invalidFields } from '../openapi/decorators.js';
import { ApiPage, OnlyParameters, OrgRead } from '../http/fields.js';
import { FEED_PATH } from '../http/paths.js';
import { LongPoll } from '../http/deadline.js';
import { FeedService, TOO_MANY_WAIT } from './feed.service.js';
import { FeedQuery, INVALID_CURSOR, ListOrgEventsQuery } from './events.query.js';
import { FeedResponse, OrgEventsResponse } from './events.responses.js';
import { EventsService, orgEvent } from './events.service.js';

@Controller('api/orgs/:orgId/events')
export class OrgEventsController {
  constructor(private readonly events: EventsService) {}

  /**
   * List the organization's audit log
   *
   * @remarks Returns the events of the organization, latest first, in pages.
   */
  @Get()
  @MinRole('admin')
  @OrgRead()
  @ApiPage(OrgEventsResponse)
  @GatedRead()
  listOrgAuditEvents(
    @Param('orgId') orgId: string,
    @Query() query: ListOrgEventsQuery,
  ): Promise<OrgEventsResponse> {
    return this.events.list({ orgId, userId: query.userId, type: query.type }, query, orgEvent);
  }
}

@Controller(FEED_PATH)
export class FeedController {
  constructor(private readonly feed: FeedService) {}

  /**
   * List events (long polling)
   *
   * @remarks Returns the events that follow the cursor `after`, in the order of the feed. Events of an organization
   * are in the order of its revisions, events of a user in the order of the user's revisions.
   *
   * Without `after`, the response contains the current cursor and no events. Get that cursor first, then read the state
   * that you keep, then follow the feed. A page that is not full contains everything that was committed before the
   * request. The feed skips no event and repeats none. There are no webhooks.
   *
   * Limit: at most 20 requests of a service wait at one process.
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
    @LongPoll() longPoll: LongPoll,
  ): Promise<FeedResponse> {
    return this.feed.follow(reader, query, longPoll);
  }
}
