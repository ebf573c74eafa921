import { SECOND_FACTOR, AuthenticatorApp } from '../../support/second-factor.js';
import type { Send } from '../../support/service-client.js';
import type { Ask } from './deployment.js';

/** A code of the step after the one of the moment is good for a minute at least. */
const CODE_LASTS_MS = 55_000;

/** Keeps the responses about its second factor, and the request that was running when the service died. */
export class SecondFactorClient {
  acknowledged = 0;
  /** asked for, and not answered */
  unknown: 'confirm' | 'recovery-codes' | 'log in' | 'remove' | undefined;
  private app = new AuthenticatorApp('');
  /** those shown last, and not used; none while there is no second factor */
  private shown: string[] = [];
  private login = { code: '', at: 0 };

  constructor(
    private readonly send: Send,
    private readonly ask: Ask,
    private readonly credentials: { email: string; password: string },
    private readonly token: string,
  ) {}

  async goRound(): Promise<void> {
    const { password } = this.credentials;
    if (this.shown.length === 0) {
      const { secret } = await this.post<{ secret: string }>(201, '', { password });
      this.app = new AuthenticatorApp(secret);
      this.shown = await this.change('confirm', { code: this.app.at() });
    }
    this.shown = await this.change('recovery-codes', { password, code: this.shown[0] });
    // The step of the moment has confirmed the second factor.
    this.login = { code: this.app.at(1), at: Date.now() };
    this.unknown = 'log in';
    await this.logIn(200);
    this.unknown = undefined;
    this.acknowledged += 1;
    await this.change('remove', { password, code: this.shown[0] });
    this.shown = [];
  }

  /** Compares what the client was told with what holds now, and leaves no second factor behind. */
  async check(): Promise<void> {
    const { token, unknown } = this;
    const state = await this.send('GET', SECOND_FACTOR, { token });
    const { enabled, recoveryCodesLeft: left } = state.body;
    if (unknown === undefined) demand(enabled === this.shown.length > 0, 'what was answered does not hold');
    await this.ask(enabled ? 403 : 200, 'POST', '/api/auth/login', this.credentials);
    if (unknown === 'log in') await this.checkLogin();
    if (!enabled)
      demand(unknown !== 'recovery-codes' && left === 0, 'a second factor is lost, or half there');
    // The step of the code that confirmed is used, the next one is not.
    else if (unknown === 'confirm') await this.remove(200, this.app.at(1));
    else if (unknown === 'recovery-codes') await this.checkRenewal(left);
    else await this.remove(200, this.shown[0]!);
    this.shown = [];
    this.unknown = undefined;
  }

  /** The code is used up if it has opened a session, and only then. */
  private async checkLogin(): Promise<void> {
    const { body } = await this.send('GET', '/api/me/sessions', { token: this.token });
    const isOpen = (body['sessions'] as object[]).length > 1;
    if (isOpen || Date.now() < this.login.at + CODE_LASTS_MS) await this.logIn(isOpen ? 400 : 200);
  }

  /** New recovery codes void those that were shown, whether or not their answer arrived. */
  private async checkRenewal(left: unknown): Promise<void> {
    const body = { password: this.credentials.password, code: this.shown[0] };
    const removed = await this.send('POST', `${SECOND_FACTOR}/remove`, { token: this.token, body });
    if (removed.status === 200) return;
    demand(left === 10, 'new recovery codes are not all there');
    for (const code of this.shown) await this.remove(400, code);
    await this.remove(200, this.app.at(1));
  }

  private async logIn(status: number): Promise<void> {
    const { challenge } = await this.ask(403, 'POST', '/api/auth/login', this.credentials);
    await this.ask(status, 'POST', '/api/auth/login/second-factor', { challenge, code: this.login.code });
  }

  private async change(change: 'confirm' | 'recovery-codes' | 'remove', body: object): Promise<string[]> {
    this.unknown = change;
    const answer = await this.post<{ recoveryCodes: string[] }>(200, `/${change}`, body);
    this.unknown = undefined;
    this.acknowledged += 1;
    return answer.recoveryCodes;
  }

  private remove(status: number, code: string): Promise<unknown> {
    return this.post(status, '/remove', { password: this.credentials.password, code });
  }

  private post<Body>(status: number, path: string, body: object): Promise<Body> {
    return this.ask<Body>(status, 'POST', SECOND_FACTOR + path, body, this.token);
  }
}

function demand(holds: boolean, what: string): void {
  if (!holds) throw new Error(what);
}
