import { Injectable, type OnModuleInit } from '@nestjs/common';
import { ownEvent } from '../events/events.service.js';
import { EventsRepository } from '../events/events.repository.js';
import { type ExportedRows, UserParts } from './user-parts.js';
import type { UserProfile } from './users.repository.js';

const PAGE = 500;

/** Exports the record of a user, which outlives them. */
@Injectable()
export class EventsOfUser implements ExportedRows, OnModuleInit {
  readonly tables = ['events'];

  constructor(
    private readonly events: EventsRepository,
    private readonly parts: UserParts,
  ) {}

  onModuleInit(): void {
    this.parts.exported.register('events', this);
  }

  async *of({ id }: UserProfile): AsyncGenerator<object> {
    for (let before: string | undefined; ;) {
      const page = await this.events.findOfUser(id, PAGE, before);
      yield* page.map(ownEvent);
      if (page.length < PAGE) return;
      before = page.at(-1)!.id;
    }
  }
}
