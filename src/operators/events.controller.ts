import { Controller, Get, Query } from '@nestjs/common';
import { Operators } from '../access/access.decorators.js';
import { ApiPage } from '../http/fields.js';
import { GatedRead } from '../http/read-gate.js';
import { EventsService, wholeEvent } from '../events/events.service.js';
import { UsersRepository } from '../users/users.repository.js';
import { ListAuditEventsQuery } from './operators.requests.js';
import { AuditEventsResponse } from './operators.responses.js';

@Controller('api/operators/events')
export class OperatorEventsController {
  constructor(
    private readonly events: EventsService,
    private readonly users: UsersRepository,
  ) {}

  /**
   * List the audit log
   *
   * @remarks Returns all events, latest first, in pages, with client IP addresses and the reasons that operators gave.
   *
   * The parameter `actorId` lists what a user or an operator did.
   */
  @Get()
  @Operators()
  @ApiPage(AuditEventsResponse)
  @GatedRead()
  async adminListAuditEvents(@Query() query: ListAuditEventsQuery): Promise<AuditEventsResponse> {
    const { actorId } = query;
    const actorIds = actorId === undefined ? undefined : await this.users.findActorIds(actorId);
    return this.events.list({ ...query, actorIds }, query, wholeEvent);
  }
}
