/** A process, which takes its events along when it dies. */
export interface Owner {
  isAlive: boolean;
}
/** `arrival` waits until the computer wakes. The clock of `timer` stands still while it sleeps, on some platforms. */
type Clock = 'world' | 'arrival' | 'awake' | 'timer';
interface Event {
  at: number;
  clock: Clock;
  owner: Owner | undefined;
  run(): unknown;
}

/** The clock, the queue of events, the sleep of the user's computer, and chance. All times are milliseconds. */
export class World {
  readonly counts: Record<string, number> = {};
  readonly lines: string[] = [];
  now = 0;
  wakesAt = 0;
  /** the wall clock of the computer minus the true time */
  wallAhead = 0;
  timersCountSleep = false;
  isOver = false;
  private slept = 0;
  private running: Owner | undefined;
  private queue: Event[] = [];
  private numbers: number[] = [];
  private read = 0;

  /** Replaces the clocks and the timers of this process. */
  constructor() {
    Object.assign(Date, { now: () => this.now + this.wallAhead });
    Object.assign(performance, { now: () => this.now - (this.timersCountSleep ? 0 : this.slept) });
    Object.assign(globalThis, {
      setTimeout: (run: () => void, ms: number) => this.after(ms, 'timer', run, this.running),
      clearTimeout: (event: Event) => (this.queue = this.queue.filter((queued) => queued !== event)),
    });
  }

  draw(numbers: number[]): void {
    this.numbers = numbers;
    this.read = 0;
  }

  /** A number that is missing is 0, which is the harmless choice. */
  below(count: number): number {
    return (this.numbers[this.read++] ?? 0) % count;
  }

  of<T>(choices: readonly T[]): T {
    return choices[this.below(choices.length)]!;
  }

  /** of a network or a disk */
  delay(): number {
    return this.below(10) === 9 ? this.below(3_000) : 1 + this.below(20);
  }

  /** of a network or an instance, which may be frozen for longer than every timeout */
  latency(): number {
    return this.below(50) === 49 ? this.below(120) * 1_000 : this.delay();
  }

  /** Counts the name of what happens. */
  say(name: string, details = ''): void {
    this.counts[name] = (this.counts[name] ?? 0) + 1;
    this.lines.push(`${(this.now / 1000).toFixed(3).padStart(12)} s  ${name} ${details}`.trimEnd());
  }

  after(ms: number, clock: Clock, run: () => unknown, owner?: Owner): Event {
    const at = Math.max(this.now + ms, clock === 'world' ? 0 : this.wakesAt);
    const event = { at, clock, owner, run };
    const later = this.queue.findIndex((queued) => queued.at > at);
    this.queue.splice(later < 0 ? this.queue.length : later, 0, event);
    return event;
  }

  sleep(ms: number): void {
    this.say('sleep', `${ms / 1000} s`);
    this.slept += ms;
    this.wakesAt = this.now + ms;
    for (const event of this.queue) {
      if (event.clock === 'awake' || (event.clock === 'timer' && !this.timersCountSleep)) event.at += ms;
      else if (event.clock !== 'world') event.at = Math.max(event.at, this.wakesAt);
    }
    this.queue.sort((one, other) => one.at - other.at);
  }

  /** All promises of a process run before the next event. */
  async run(ms: number): Promise<void> {
    const until = this.now + ms;
    for (let event = this.queue[0]; event && event.at <= until && !this.isOver; event = this.queue[0]) {
      this.queue.shift();
      if (event.owner?.isAlive === false) continue;
      this.now = event.at;
      if (event.owner && this.now < this.wakesAt) throw new Error('a process runs on a computer that sleeps');
      this.running = event.owner;
      event.run();
      if (event.owner) await new Promise(setImmediate);
    }
    this.now = until;
  }
}
