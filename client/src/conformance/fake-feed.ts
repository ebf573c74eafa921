import { type Answer, problem } from './deliveries.ts';
import type { World } from './world.ts';

const DEFAULT_LIMIT = 100;

/** The event feed of the fake: pages, cursors, and the wait for an event. */
export class FakeFeed {
  /** Cursors of an earlier generation have expired. */
  private generation = 0;
  private readUntil = -1;
  private readonly waiting = new Set<() => void>();
  private readonly world: World;

  constructor(world: World) {
    this.world = world;
  }

  /** Whether the guard has asked for the page after the last event, and so acknowledged all events. */
  get isRead(): boolean {
    return this.readUntil >= this.world.events.length;
  }

  get cursor(): string {
    return this.cursorAt(this.world.events.length);
  }

  expire(): void {
    this.generation += 1;
    this.readUntil = -1;
    this.wake();
  }

  wake(): void {
    const waiting = [...this.waiting];
    this.waiting.clear();
    for (const wake of waiting) wake();
  }

  /** @param isInterrupted whether the request waits for no further event */
  async page(query: URLSearchParams, isInterrupted: () => boolean): Promise<Answer> {
    const after = query.get('after');
    if (after === null) return { status: 200, body: { events: [], next: this.cursor } };
    const deadline = performance.now() + Number(query.get('wait') ?? 0) * 1000;
    const index = after === 'start' ? 0 : Number.parseInt(after.slice(-12), 16);
    for (;;) {
      const { events } = this.world;
      const isKept = after === 'start' || Number.parseInt(after.slice(0, 8), 16) === this.generation;
      if (!isKept) return problem(410, 'cursor_expired');
      this.readUntil = Math.max(this.readUntil, index);
      const leftMs = deadline - performance.now();
      if (index < events.length || leftMs <= 0 || isInterrupted()) {
        const page = events.slice(index, index + Number(query.get('limit') ?? DEFAULT_LIMIT));
        return { status: 200, body: { events: page, next: this.cursorAt(index + page.length) } };
      }
      await new Promise<void>((woken) => {
        const timer = setTimeout(woken, leftMs);
        this.waiting.add(() => {
          clearTimeout(timer);
          woken();
        });
      });
    }
  }

  private cursorAt(index: number): string {
    const [generation, place] = [this.generation, index].map((part) => part.toString(16));
    return `${generation!.padStart(8, '0')}-0000-7000-8000-${place!.padStart(12, '0')}`;
  }
}
