import type { Login } from './login.ts';
import { isFromAccounts } from './retries.ts';
import type { Answered, Failed } from './send-request.ts';
import type { Slot } from './store.ts';

const MOST = 10;
const MOST_UNITS = 1_280;
const TRIED_EVERY_MS = 60_000;

type Revoke = (refreshToken: string) => Promise<Answered | Failed>;

/** The refresh tokens of logouts that Accounts has not answered. A later request revokes their sessions. */
export class LogOuts {
  /** tokens whose logout waits for its answer */
  private readonly sent = new Set<string>();
  /** Milliseconds of `performance.now()`. */
  private triedAt = -Infinity;
  private nextLookAt = -Infinity;
  private readonly slot: Slot | undefined;
  private readonly login: Login;
  private readonly revoke: Revoke;

  constructor(slot: Slot | undefined, login: Login, revoke: Revoke) {
    this.slot = slot;
    this.login = login;
    this.revoke = revoke;
  }

  /** Call it under the lock of the store, before you send the logout. The queue has the token until `settle` removes it. */
  async add(refreshToken: string): Promise<void> {
    if (!this.slot) return;
    try {
      const others = (await this.load()).filter((token) => token !== refreshToken);
      await this.save([...others, refreshToken]);
      this.sent.add(refreshToken);
    } catch {
      // The logout is not queued.
    }
  }

  /** @returns whether a later request will revoke the session */
  async settle(refreshToken: string, answer: Answered | Failed): Promise<boolean> {
    const isQueued = this.sent.delete(refreshToken);
    if (isQueued && isFinal(answer)) await this.remove([refreshToken]);
    this.nextLookAt = this.triedAt + TRIED_EVERY_MS;
    return isQueued && !isFinal(answer);
  }

  /** Call it after an answer of Accounts. Other processes and earlier starts of the program may have queued logouts, too. */
  async revokeAll(): Promise<void> {
    const now = performance.now();
    if (!this.slot || now < this.nextLookAt) return;
    this.nextLookAt = now + TRIED_EVERY_MS;
    const queued = (await this.load().catch(() => [])).filter((token) => !this.sent.has(token));
    if (queued.length === 0) return;
    this.triedAt = now;
    const answers = await Promise.all(queued.map((token) => this.revoke(token)));
    await this.remove(queued.filter((_, index) => isFinal(answers[index]!)));
  }

  private async remove(tokens: string[]): Promise<void> {
    if (tokens.length === 0) return;
    // If the store fails, the next request for the token returns 401, which removes it.
    await this.login.exclusively(async () =>
      this.save((await this.load()).filter((token) => !tokens.includes(token))),
    );
  }

  private async load(): Promise<string[]> {
    return ((await this.slot?.load()) ?? '').split(' ').filter(Boolean);
  }

  private async save(tokens: string[]): Promise<void> {
    const kept = tokens.slice(-MOST);
    while (kept.join(' ').length > MOST_UNITS) kept.shift();
    await this.slot?.save(kept.length > 0 ? kept.join(' ') : undefined);
  }
}

/** The session is revoked, or has ended before. */
function isFinal(answer: Answered | Failed): boolean {
  return answer.ok || (answer.problem.status === 401 && isFromAccounts(answer.problem));
}
