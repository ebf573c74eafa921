import { afterEach, describe, expect, it } from 'vitest';
import { times } from '../support/at-once.js';
import { AuthenticatorApp, SECOND_FACTOR } from '../support/second-factor.js';
import { anEmail, aPassword } from '../support/personas.js';
import { asString, clientOf, type Reply, type Send } from '../support/service-client.js';
import { report } from './support/figures.js';
import { killDuring } from './support/kill-during.js';
import { Random, seedOfRun } from './support/random.js';
import { ENGINES, RestartableService, Storage, UNLIMITED } from './support/deployment.js';

const KILLS = 8;
const WORKERS = 8;

/** A code of the step after the one of the moment is good for a minute at least. */
const CODE_LASTS_MS = 55_000;

type Change = 'confirm' | 'renew' | 'log in' | 'remove';

/** Knows what it was told of its second factor, and what it had asked for when the service died. */
class Client {
  private readonly email = anEmail('client');
  private readonly password = aPassword();
  private token = '';
  private app = new AuthenticatorApp('');
  /** those shown last, and not used; none while there is no second factor */
  shown: string[] = [];
  /** asked for, and not answered */
  unknown: Change | undefined;
  acknowledged = 0;
  private login = { code: '', at: 0 };

  constructor(private readonly send: Send) {}

  async register(): Promise<void> {
    const body = { email: this.email, password: this.password };
    const answer = await this.send('POST', '/api/auth/register', { body });
    requireStatus(answer, 201);
    this.token = asString(answer.body['token']);
  }

  /** Sets a second factor up, makes new recovery codes, logs in and removes it again. */
  async goRound(): Promise<void> {
    if (this.shown.length === 0) {
      const begun = await this.post('', { password: this.password });
      requireStatus(begun, 201);
      this.app = new AuthenticatorApp(asString(begun.body['secret']));
      this.shown = codesOf(await this.change('confirm', { code: this.app.at() }));
    }
    this.shown = codesOf(await this.change('renew', this.proofs(this.shown[0]!)));
    // The step of the moment has confirmed the second factor.
    this.login = { code: this.app.at(1), at: Date.now() };
    this.unknown = 'log in';
    requireStatus(await this.logIn(), 200);
    this.unknown = undefined;
    this.acknowledged += 1;
    await this.change('remove', this.proofs(this.shown[0]!));
    this.shown = [];
  }

  /** Compares what the client was told with what holds now, and leaves no second factor behind. */
  async check(): Promise<void> {
    const state = await this.send('GET', SECOND_FACTOR, { token: this.token });
    requireStatus(state, 200);
    const isEnabled = state.body['enabled'] === true;
    const left = state.body['recoveryCodesLeft'];
    if (this.unknown === undefined)
      demand(isEnabled === this.shown.length > 0, 'what was answered does not hold');
    const body = { email: this.email, password: this.password };
    requireStatus(await this.send('POST', '/api/auth/login', { body }), isEnabled ? 403 : 200);
    if (this.unknown === 'log in') await this.checkLogin();
    if (!isEnabled) demand(this.unknown !== 'renew' && left === 0, 'a second factor is lost, or half there');
    else if (this.unknown === 'confirm') await this.removeByApp();
    else await this.removeByRecoveryCode(left);
    this.shown = [];
    this.unknown = undefined;
  }

  /** The code is used up if it has opened a session, and only then. */
  private async checkLogin(): Promise<void> {
    const { body } = await this.send('GET', '/api/me/sessions', { token: this.token });
    const isOpen = (body['sessions'] as object[]).length > 1;
    const isGood = Date.now() < this.login.at + CODE_LASTS_MS;
    if (isOpen || isGood) requireStatus(await this.logIn(), isOpen ? 400 : 200);
  }

  private async logIn(): Promise<Reply> {
    const body = { email: this.email, password: this.password };
    const first = await this.send('POST', '/api/auth/login', { body });
    requireStatus(first, 403);
    const { challenge } = first.body;
    const second = { challenge, code: this.login.code };
    return this.send('POST', '/api/auth/login/second-factor', { body: second });
  }

  /** Nobody has seen the recovery codes. The step of the code that confirmed is used, the next one is not. */
  private async removeByApp(): Promise<void> {
    requireStatus(await this.post('/remove', this.proofs(this.app.at(1))), 200);
  }

  /** New ones void those that were shown, whether or not their answer arrived. */
  private async removeByRecoveryCode(left: unknown): Promise<void> {
    const removed = await this.post('/remove', this.proofs(this.shown[0]!));
    if (this.unknown !== 'renew' || removed.status === 200) return requireStatus(removed, 200);
    demand(left === 10, 'new recovery codes are not all there');
    for (const code of this.shown) requireStatus(await this.post('/remove', this.proofs(code)), 400);
    return this.removeByApp();
  }

  private proofs(code: string): object {
    return { password: this.password, code };
  }

  private async change(change: Exclude<Change, 'log in'>, body: object): Promise<Reply> {
    this.unknown = change;
    const answer = await this.post(
      { confirm: '/confirm', renew: '/recovery-codes', remove: '/remove' }[change],
      body,
    );
    requireStatus(answer, 200);
    this.unknown = undefined;
    this.acknowledged += 1;
    return answer;
  }

  private post(path: string, body: object): Promise<Reply> {
    return this.send('POST', `${SECOND_FACTOR}${path}`, { token: this.token, body });
  }
}

function codesOf({ body }: Reply): string[] {
  return body['recoveryCodes'] as string[];
}

function demand(holds: boolean, what: string): void {
  if (!holds) throw new Error(what);
}

function requireStatus({ status, code }: Reply, expected: number): void {
  if (status !== expected) throw new Error(`answered ${status} ${code}, not ${expected}`);
}

describe.each(ENGINES)(
  'kill -9 while second factors are set up, renewed, shown and removed on %s',
  (engine) => {
    let storage: Storage;
    let service: RestartableService;

    afterEach(async () => {
      await service.kill();
      await storage.close();
    });

    it(
      'leaves each on or off, with the recovery codes that were shown or none that work, and a code used for a session or not',
      { timeout: 180_000 },
      async () => {
        const random = new Random(seedOfRun(`kill -9 of second factors on ${engine}`));
        storage = await Storage.on(engine);
        service = await RestartableService.on(storage, UNLIMITED);
        const send = clientOf(service.url);
        await service.start();
        const clients = times(WORKERS, () => new Client(send));
        for (const client of clients) await client.register();
        let unknown = 0;
        for (let kill = 0; kill < KILLS; kill += 1) {
          await killDuring(
            service,
            clients.map((client) => () => client.goRound()),
            random.between(300, 1200),
          );
          unknown += clients.filter((client) => client.unknown !== undefined).length;
          expect(await halves()).toEqual([]);
          for (const client of clients) await client.check();
        }
        const acknowledged = clients.reduce((sum, client) => sum + client.acknowledged, 0);
        expect(await halves()).toEqual([]);
        expect(acknowledged).toBeGreaterThan(KILLS * WORKERS);
        expect(unknown).toBeGreaterThan(0);
        report({ faults: KILLS, requests: acknowledged + unknown, wrong: 0, acknowledged, lost: 0 });

        /** Accounts whose rows and record do not all say the same. */
        function halves(): Promise<unknown[]> {
          return storage.query(`SELECT u.id FROM users u
          LEFT JOIN second_factors f ON f.user_id = u.id AND f.enabled_at IS NOT NULL
          WHERE COALESCE(u.second_factor_at, 0) <> COALESCE(f.enabled_at, 0)
            OR (u.second_factor_at IS NULL) <> ((SELECT COUNT(*) FROM recovery_codes c WHERE c.user_id = u.id) = 0)
            OR (SELECT COUNT(*) FROM sessions s WHERE s.user_id = u.id AND s.auth_epoch = u.auth_epoch
              AND (s.amr = 'pwd otp') <> (u.second_factor_at IS NOT NULL)) > 0
            OR (CASE WHEN u.second_factor_at IS NULL THEN 0 ELSE 1 END) <>
              (SELECT COUNT(*) FROM events e WHERE e.user_id = u.id AND e.type = 'account.second_factor_enabled') -
              (SELECT COUNT(*) FROM events e WHERE e.user_id = u.id AND e.type = 'account.second_factor_removed')`);
        }
      },
    );
  },
);
