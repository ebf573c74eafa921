import type { Answered, Data, Failed } from './send-request.ts';
import { notLoggedIn, storeFailed } from './problems.ts';
import { type SessionChange, SessionChanges } from './session-changes.ts';
import { type SendRefresh, SharedRefresh, type RefreshWait } from './shared-refresh.ts';
import type { TokenStore } from './store.ts';

/** The client renews an access token this long before it expires, or after three quarters of a shorter life. */
const RENEWED_BEFORE_MS = 30_000;

interface AccessToken {
  text: string;
  renewAt: number;
  /** undefined for a login without a refresh token */
  sessionId: string | undefined;
}

type LogOutReason = Extract<SessionChange, { event: 'logged_out' }>['reason'];

/** The tokens that can revoke the session at Accounts, and the failure of the store. */
export interface Forgotten {
  refreshToken: string | undefined;
  accessToken: string | undefined;
  failure: Failed | undefined;
}

/** The login of one client: the access token in memory, the refresh token in the store. */
export class Login {
  readonly changes = new SessionChanges();
  /** undefined until this process has seen a session, or that there is none */
  private hasSession: boolean | undefined;
  private access: AccessToken | undefined;
  private refreshing: { shared: SharedRefresh; end: Promise<Answered | Failed> } | undefined;
  private queue: Promise<unknown> = Promise.resolve();
  /** the token that the store failed to save, and the token that the store still has */
  private unsaved: { token: string | undefined; replaces: string | undefined } | undefined;
  /** the latest refresh token of this process, which can revoke the session if the store cannot be read */
  private known: string | undefined;

  private readonly store: TokenStore;
  private readonly sendRefresh: SendRefresh;

  constructor(store: TokenStore, sendRefresh: SendRefresh) {
    this.store = store;
    this.sendRefresh = sendRefresh;
  }

  /** @param refused a token that Accounts has just rejected */
  async token(wait: RefreshWait, refused?: string): Promise<string | Failed> {
    const { access } = this;
    if (access && access.text !== refused && Date.now() < access.renewAt) return access.text;
    const refreshed = await this.refresh(wait);
    return refreshed.ok ? textOf(refreshed.data, 'token') : refreshed;
  }

  /** Callers that need a new token at the same time share one refresh. */
  refresh(wait: RefreshWait): Promise<Answered | Failed> {
    if (!this.refreshing) {
      const shared = new SharedRefresh();
      const attempts = shared.repeat(() => this.exclusively(() => this.rotate(shared)));
      this.refreshing = { shared, end: attempts.finally(() => (this.refreshing = undefined)) };
    }
    return this.refreshing.shared.waitFor(this.refreshing.end, wait);
  }

  /** Replaces the tokens by those of a new login. If the store fails, the previous login stays. */
  begin(data: Data): Promise<Failed | undefined> {
    this.refreshing?.shared.stop();
    return this.exclusively(async () => {
      const token = typeof data['refreshToken'] === 'string' ? data['refreshToken'] : undefined;
      await this.store.save(token);
      await this.removeMe();
      this.unsaved = undefined;
      this.known = token;
      this.access = accessOf(data);
      this.hasSession = true;
      this.changes.notify({ event: 'logged_in' });
      return undefined;
    });
  }

  /**
   * Removes the login from this process, even if the store fails.
   *
   * @param beforeRemoval runs under the lock, and does not reject
   */
  async forget(
    reason: LogOutReason,
    beforeRemoval?: (refreshToken: string) => Promise<void>,
  ): Promise<Forgotten> {
    this.refreshing?.shared.stop();
    let refreshToken = this.known;
    let stored = this.unsaved ? this.unsaved.replaces : this.known;
    const failure = await this.exclusively(async () => {
      stored = (await this.store.load()) ?? undefined;
      const current = this.replaced(stored);
      this.hasSession ??= Boolean(current);
      refreshToken = current ?? stored;
      if (refreshToken) await beforeRemoval?.(refreshToken);
      await this.removeMe();
      await this.store.save(undefined);
      return undefined;
    });
    const accessToken = this.access?.text;
    this.unsaved = failure && { token: undefined, replaces: stored };
    this.known = failure && refreshToken;
    this.leave(reason);
    return { refreshToken, accessToken, failure };
  }

  /** Does not wait for a refresh, which does not change the result. */
  async isStored(): Promise<boolean | Failed> {
    try {
      const isStored = Boolean(await this.newest());
      this.hasSession ??= isStored;
      return isStored;
    } catch (cause) {
      return { ok: false, problem: storeFailed(cause) };
    }
  }

  /** Returns the id of the session in the store. */
  async sessionId(): Promise<string | undefined> {
    return sessionIdOf(await this.newest());
  }

  /** Returns the id of the session that the access token belongs to, if this process still has the token. */
  sessionIdOf(accessToken: string): string | undefined {
    return this.access?.text === accessToken ? this.access.sessionId : undefined;
  }

  /** Runs the work while no other call, and no other process of the store, runs work with it. */
  exclusively<T>(work: () => Promise<T>): Promise<T | Failed> {
    const run = this.queue
      .then(() => (this.store.lock ? this.store.lock(work) : work()))
      .catch((cause: unknown): Failed => ({ ok: false, problem: storeFailed(cause) }));
    this.queue = run;
    return run;
  }

  private async rotate(shared: SharedRefresh): Promise<Answered | Failed> {
    for (let shown = await this.newest(); ;) {
      if (!shown) {
        // A login without a refresh token lives as long as its access token.
        if (this.known !== undefined || !this.access) this.leave('session_ended');
        return { ok: false, problem: notLoggedIn };
      }
      this.known = shown;
      this.hasSession = true;
      const answer = await this.sendRefresh(shown, shared.newBudget());
      if (answer.ok) {
        await this.keep(answer.data, shown);
        return answer;
      }
      if (answer.problem.code !== 'invalid_refresh_token' || answer.problem.status !== 401) return answer;
      // A process that shares the store without a lock may have refreshed first.
      const stored = await this.newest();
      if (stored === shown) {
        this.access = undefined;
        await this.removeMe();
        await this.store.save(undefined);
        this.leave('session_ended');
        return answer;
      }
      shown = stored;
    }
  }

  /**
   * Stores the refresh token before any call can use the access token issued with it: after its use, Accounts assumes that the
   * previous refresh token was stolen. If the store fails, the login stays in memory, and the next refresh tries to save again.
   */
  private async keep(data: Data, replaces: string): Promise<void> {
    const token = textOf(data, 'refreshToken');
    try {
      await this.store.save(token);
      this.unsaved = undefined;
    } catch {
      this.unsaved = { token, replaces: this.unsaved?.replaces ?? replaces };
    }
    this.access = accessOf(data);
    this.known = token;
  }

  private leave(reason: LogOutReason): void {
    this.access = undefined;
    if (this.hasSession) this.changes.notify({ event: 'logged_out', reason });
    this.hasSession = false;
  }

  /** A failure is not a failure of the login: another session does not use what is left. */
  private async removeMe(): Promise<void> {
    try {
      await this.store.me?.save(undefined);
    } catch {
      // The next login tries again.
    }
  }

  private async newest(): Promise<string | undefined> {
    return this.replaced((await this.store.load()) ?? undefined);
  }

  private replaced(stored: string | undefined): string | undefined {
    return this.unsaved && stored === this.unsaved.replaces ? this.unsaved.token : stored;
  }
}

function accessOf(data: Data): AccessToken {
  const text = textOf(data, 'token');
  const life = lifeMs(text) ?? Date.parse(textOf(data, 'expiresAt')) - Date.now();
  const renewAt = Date.now() + life - Math.min(RENEWED_BEFORE_MS, life / 4);
  return { text, renewAt, sessionId: sessionIdOf(data['refreshToken']) };
}

/** By the clock of Accounts alone, because the clock of this computer may be wrong. */
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

function sessionIdOf(refreshToken: unknown): string | undefined {
  return typeof refreshToken === 'string' ? refreshToken.split('.')[0] : undefined;
}
