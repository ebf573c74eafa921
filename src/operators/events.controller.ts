import { Controller, Get, Query } from '@nestjs/common';
import { Operators } from '../access/access.decorators.js';
import { ApiPage } from '../http/fields.js';
import { GatedRead } from '../http/read-gate.js';
import { EventsService, wholeEvent } from '../events/events.service.js';
import { ListRecordQuery } from './operators.requests.js';
import { AuditEventsResponse } from './operators.responses.js';

@Controller('api/operators/events')
export class OperatorEventsController {
  constructor(private readonly events: EventsService) {}

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
  adminListAuditEvents(@Query() query: ListRecordQuery): Promise<AuditEventsResponse> {
    return this.events.list(query, query, wholeEvent);
  }
}
