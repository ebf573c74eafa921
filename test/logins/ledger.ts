import type { World } from './world.ts';

export type Side = 'user' | 'thief';
const MAX_AGE_MS = 90 * 24 * 3_600_000;
const HOLDS = { user: 1, thief: 2 };

/** What Accounts has promised, by what was issued and used. Checks the invariants (a) to (f), and knows no row. */
export class Ledger {
  violation: { invariant: string; text: string } | undefined;
  /** Somebody has shown a stolen or restored token, so the session may end. */
  isDisturbed = false;
  /** the clock of the database minus the true time */
  clockAhead = 0;
  /** the generation that the thief has copied */
  copied = Infinity;
  promised = { current: 1, previous: 0, replaced: [] as number[], changedAt: 0, isUsed: true, expiresAt: 0 };
  readonly graceMs: number;
  private readonly world: World;
  private readonly idleMs: number;
  private readonly holders: number[] = [];
  /** who has used the latest tokens while only this side had them */
  private readonly proved = new Set<Side>();

  constructor(world: World, graceMs: number, idleMs: number) {
    this.world = world;
    this.graceMs = graceMs;
    this.idleMs = idleMs;
    this.promised.expiresAt = this.expiresAt;
  }

  get now(): number {
    return this.world.now + this.clockAhead;
  }

  /** when the session ends if its refresh token changes now */
  get expiresAt(): number {
    return Math.min(this.now + this.idleMs, MAX_AGE_MS);
  }

  /** A backup of the database has seen less. */
  restore(promised: Ledger['promised']): void {
    this.promised = promised;
    this.proved.clear();
    this.isDisturbed = true;
  }

  /** Accounts answers a refresh. */
  give(by: Side, shown: number, given: number, isRepeat: boolean): void {
    const { current, previous, replaced, changedAt, isUsed } = this.promised;
    const isFresh = Math.abs(this.now - changedAt) < this.graceMs;
    const isOld = shown < previous || (!isFresh && (shown > previous || isUsed));
    if (shown > current) this.violate('c', `${shown} is newer than the session, and was accepted`);
    if (shown < current && isOld) this.violate('e', `${shown} was accepted, but a newer token was used`);
    const isTwice = isRepeat ? given !== current || !isFresh : given <= current;
    if (isTwice) this.violate('f', `${given} was issued twice`);
    if (!isRepeat) {
      const siblings = shown === current ? [] : [...replaced, current];
      const times = { changedAt: this.now, expiresAt: this.expiresAt };
      this.promised = { current: given, previous: shown, replaced: siblings, isUsed: false, ...times };
    }
    this.holders[given] = (this.holders[given] ?? 0) | HOLDS[by];
    // Windows that refresh at once get the same token, so the question who has it begins again.
    if (this.holders[given] === HOLDS.user + HOLDS.thief) this.proved.clear();
    else if (shown === current) this.prove(by, shown);
  }

  /** Accounts accepts an access token. */
  accept(generation: number): void {
    if (this.promised.replaced.includes(generation)) this.violate('d', `${generation} is replaced`);
  }

  /** The use of an access token is stored. */
  storeUse(by: Side, generation: number): void {
    if (generation !== this.promised.current) return;
    if (!this.promised.isUsed) this.promised = { ...this.promised, isUsed: true, changedAt: this.now };
    this.prove(by, generation);
  }

  /** Accounts rejects a refresh token whose MAC is right. */
  refuse(by: Side, shown: number, hasEnded: boolean): void {
    if (by === 'user') this.logOut(`Accounts refused ${shown}`);
    const isWrong = !hasEnded && shown <= this.promised.current;
    if (isWrong) this.violate('c', `${shown} was refused, and the session lives`);
    this.world.isOver ||= hasEnded;
  }

  /** The user is logged out. */
  logOut(text: string): void {
    if (!this.isDisturbed && this.now < this.promised.expiresAt) this.violate('a', text);
  }

  private prove(by: Side, generation: number): void {
    if (generation <= this.copied || this.holders[generation] !== HOLDS[by]) return;
    this.proved.add(by);
    if (this.proved.size === 2) this.violate('b', 'the user and the thief both continue');
  }

  private violate(invariant: string, text: string): void {
    this.violation ??= { invariant, text };
    this.world.isOver = true;
  }
}
