import { Controller, Get, Query } from '@nestjs/common';
import { Operators } from '../access/access.decorators.js';
import { ApiPage } from '../http/fields.js';
import { GatedRead } from '../http/read-gate.js';
import { ApiIncluded, Included } from '../http/included.js';
import type { AuditEvent } from '../events/events.responses.js';
import { EventsService, wholeEvent } from '../events/events.service.js';
import { UsersRepository } from '../users/users.repository.js';
import { ListAuditEventsQuery } from './operators.requests.js';
import { AuditEventsResponse } from './operators.responses.js';

const EMAILS_ONLY = ['emails'] as const;

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
  @ApiIncluded(EMAILS_ONLY, 'If `emails`, each event has the present emails of its user and its actor.')
  @ApiPage(AuditEventsResponse)
  @GatedRead()
  async adminListAuditEvents(
    @Query() query: ListAuditEventsQuery,
    @Included(EMAILS_ONLY) included: Included,
  ): Promise<AuditEventsResponse> {
    const { actorId } = query;
    const actorIds = actorId === undefined ? undefined : await this.users.findActorIds(actorId);
    const page = await this.events.list({ ...query, actorIds }, query, wholeEvent);
    return included.has('emails') ? { ...page, events: await this.withEmails(page.events) } : page;
  }

  private async withEmails(events: readonly AuditEvent[]): Promise<AuditEvent[]> {
    const emails = await this.users.findEmailsOf(events.flatMap(({ userId, actor }) => [userId, actor.id]));
    const emailOf = (id: string | null): string | null => (id === null ? null : (emails.get(id) ?? null));
    return events.map((event) => ({
      ...event,
      userEmail: emailOf(event.userId),
      actor: { ...event.actor, userEmail: emailOf(event.actor.id) },
    }));
  }
}
