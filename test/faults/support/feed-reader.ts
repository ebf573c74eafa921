import { setTimeout as sleep } from 'node:timers/promises';
import { asRecords, asString, clientOf, type Send } from '../../support/service-client.js';

/** Follows the feed at some instances in turn, continues at the next one where one does not answer, and notes what it heard. */
export class FeedReader {
  readonly heard: Record<string, unknown>[] = [];
  /** answers that no reader should get */
  readonly wrong: string[] = [];
  answers = 0;
  private cursor = 'start';
  private stopping = false;
  private running: Promise<void> = Promise.resolve();
  private readonly send: Send;

  constructor(
    private readonly authorization: string,
    ...urls: string[]
  ) {
    this.send = clientOf(...urls);
  }

  get ids(): string[] {
    return this.heard.map(({ id }) => asString(id));
  }

  begin(): void {
    this.running = this.follow();
  }

  /** Ends the pages, and reads what is left. */
  async end(): Promise<void> {
    this.stopping = true;
    await this.running;
    while ((await this.page(0)) !== 0) await sleep(10);
  }

  private async follow(): Promise<void> {
    while (!this.stopping) await this.page(1);
  }

  /** Returns how many events it got, undefined if there was no answer. */
  private async page(wait: number): Promise<number | undefined> {
    const path = `/api/events?after=${this.cursor}&wait=${wait}&limit=200`;
    const headers = { authorization: this.authorization };
    try {
      const { status, body } = await this.send('GET', path, { headers, timeoutMs: 5000 });
      this.answers += 1;
      if (status !== 200) {
        // An instance may say that it cannot know.
        if (status !== 503) this.wrong.push(`${status} after ${this.cursor}`);
        await sleep(20);
        return undefined;
      }
      const events = asRecords(body['events']);
      this.heard.push(...events);
      this.cursor = asString(body['next']);
      return events.length;
    } catch {
      await sleep(20);
      return undefined;
    }
  }
}
