import { Injectable } from '@nestjs/common';

type Preceding = (eventIds: readonly string[]) => Promise<void>;

/** Rooms register here what has to be deleted before events are. */
@Injectable()
export class EventDeletions {
  private readonly preceding: Preceding[] = [];

  precede(work: Preceding): void {
    this.preceding.push(work);
  }

  async prepare(eventIds: readonly string[]): Promise<void> {
    for (const work of this.preceding) await work(eventIds);
  }
}
