import type { Answered, Data, Failed } from './exchange.ts';
import { aborted, notLoggedIn, storeFailed } from './problems.ts';
import type { TokenStore } from './store.ts';
import { pause, unlessAborted } from './waiting.ts';

/** An access token is replaced when this much of its life is left, or a quarter of it. */
const RENEWED_BEFORE_MS = 30_000;

/**
 * A refresh whose answer was lost is repeated at once: the service answers it again for 30 seconds and then takes it for
 * theft.
 */
const REPEATED_FOR_MS = 15_000;
const REPEATED_AFTER_MS = 250;

type Refresh = (refreshToken: string) => Promise<Answered | Failed>;

interface AccessToken {
  text: string;
  renewAt: number;
}

/** The login of one client: the access token in memory, the refresh token in the store. */
export class Login {
  private access: AccessToken | undefined;
  private refreshing: Promise<Answered | Failed> | undefined;
  private queue: Promise<unknown> = Promise.resolve();
  /** a token that the store would not take, and the one that it replaces there */
  private unsaved: { token: string; replaces: string } | undefined;

  private readonly store: TokenStore;
  private readonly sendRefresh: Refresh;

  constructor(store: TokenStore, sendRefresh: Refresh) {
    this.store = store;
    this.sendRefresh = sendRefresh;
  }

  /** @param refused a token that the service has just refused */
  async token(signal?: AbortSignal, refused?: string): Promise<string | Failed> {
    const { access } = this;
    if (access && access.text !== refused && Date.now() < access.renewAt) return access.text;
    const refreshed = await this.refresh(signal);
    return refreshed.ok ? textOf(refreshed.data, 'token') : refreshed;
  }

  /** One for all that wait for it. */
  async refresh(signal?: AbortSignal): Promise<Answered | Failed> {
    this.refreshing ??= this.alone(() => this.rotate()).finally(() => (this.refreshing = undefined));
    return (await unlessAborted(this.refreshing, signal)) ?? { ok: false, problem: aborted };
  }

  /** Takes the tokens of a new login in place of those of the last. */
  begin(data: Data): Promise<Failed | undefined> {
    return this.alone(async () => {
      this.unsaved = undefined;
      this.access = accessOf(data);
      await this.store.save(typeof data['refreshToken'] === 'string' ? data['refreshToken'] : undefined);
      return undefined;
    });
  }

  /** @returns the refresh token that was stored */
  forget(): Promise<string | Failed | undefined> {
    return this.alone(async () => {
      const stored = (await this.newest()) ?? undefined;
      this.access = undefined;
      this.unsaved = undefined;
      await this.store.save(undefined);
      return stored;
    });
  }

  async isStored(): Promise<boolean | Failed> {
    return this.alone(async () => Boolean(await this.newest()));
  }

  private async rotate(): Promise<Answered | Failed> {
    for (let shown = await this.newest(); ;) {
      if (!shown) return { ok: false, problem: notLoggedIn };
      const answer = await this.repeated(shown);
      if (answer.ok) {
        await this.keep(answer.data, shown);
        return answer;
      }
      if (answer.problem.code !== 'invalid_refresh_token') return answer;
      // A process that shares the store without a lock may have been faster.
      const stored = await this.newest();
      if (stored === shown) {
        this.access = undefined;
        await this.store.save(undefined);
        return answer;
      }
      shown = stored;
    }
  }

  private async repeated(shown: string): Promise<Answered | Failed> {
    const end = Date.now() + REPEATED_FOR_MS;
    for (let wait = REPEATED_AFTER_MS; ; wait *= 2) {
      const answer = await this.sendRefresh(shown);
      const isOpen = !answer.ok && (answer.problem.status === null || answer.problem.status >= 500);
      if (!isOpen || Date.now() + wait > end) return answer;
      await pause(wait);
    }
  }

  /** The login goes on where the store fails: the next refresh tries to save again. */
  private async keep(data: Data, replaces: string): Promise<void> {
    const token = textOf(data, 'refreshToken');
    this.access = accessOf(data);
    try {
      await this.store.save(token);
      this.unsaved = undefined;
    } catch {
      this.unsaved = { token, replaces: this.unsaved?.replaces ?? replaces };
    }
  }

  private async newest(): Promise<string | null | undefined> {
    const stored = await this.store.load();
    return this.unsaved && stored === this.unsaved.replaces ? this.unsaved.token : stored;
  }

  private alone<T>(work: () => Promise<T>): Promise<T | Failed> {
    const run = this.queue
      .then(() => (this.store.lock ? this.store.lock(work) : work()))
      .catch((cause: unknown): Failed => ({ ok: false, problem: storeFailed(cause) }));
    this.queue = run;
    return run;
  }
}

function accessOf(data: Data): AccessToken {
  const text = textOf(data, 'token');
  const life = lifeMs(text) ?? Date.parse(textOf(data, 'expiresAt')) - Date.now();
  return { text, renewAt: Date.now() + life - Math.min(RENEWED_BEFORE_MS, life / 4) };
}

/** By the clock of the service alone, since that of this computer may be wrong. */
function lifeMs(token: string): number | undefined {
  try {
    const payload = token.split('.')[1]!.replaceAll('-', '+').replaceAll('_', '/');
    const { iat, exp } = JSON.parse(atob(payload)) as { iat: number; exp: number };
    return Number.isFinite(exp - iat) ? (exp - iat) * 1000 : undefined;
  } catch {
    return undefined;
  }
}

function textOf(data: Data, name: string): string {
  return String(data[name]);
}
