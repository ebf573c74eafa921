import { afterEach, describe, expect, it } from 'vitest';
import { times } from '../support/at-once.js';
import { aPassword, anEmail } from '../support/personas.js';
import { asString, clientOf, type Reply, type Send } from '../support/service-client.js';
import { report } from './support/figures.js';
import { killDuring } from './support/kill-during.js';
import { Random, seedOfRun } from './support/random.js';
import { ENGINES, RestartableService, Storage, UNLIMITED } from './support/deployment.js';

const KILLS = 8;
const WORKERS = 4;

interface Login {
  token: string;
  refreshToken: string;
}

/** What one client was told, and what it had asked for when the service died. */
class Client {
  readonly email = anEmail('client');
  password = aPassword();
  /** asked for, and not answered */
  nextPassword: string | undefined;
  acknowledged = 0;
  refreshing!: Login;
  acting!: Login;
  readonly loggedOut: string[] = [];

  constructor(private readonly send: Send) {}

  async prepare(): Promise<void> {
    const body = { email: this.email, password: this.password, refresh: true };
    this.refreshing = tokensOf(await this.send('POST', '/api/auth/register', { body }), 201);
    await this.signIn();
  }

  async signIn(): Promise<Login> {
    const body = { email: this.email, password: this.password, refresh: true };
    this.acting = tokensOf(await this.send('POST', '/api/auth/login', { body }), 200);
    return this.acting;
  }

  async refreshOnce(): Promise<void> {
    const { refreshToken } = this.refreshing;
    this.refreshing = tokensOf(await this.send('POST', '/api/auth/refresh', { body: { refreshToken } }), 200);
    this.acknowledged += 1;
  }

  async logOutOnce(): Promise<void> {
    const body = { email: this.email, password: this.password };
    const { body: login } = await this.send('POST', '/api/auth/login', { body });
    const token = asString(login['token']);
    const { status } = await this.send('POST', '/api/auth/logout', { token });
    requireStatus(status, 200);
    this.loggedOut.push(token);
    this.acknowledged += 1;
  }

  async changePasswordOnce(): Promise<void> {
    this.nextPassword = aPassword();
    const body = { currentPassword: this.password, newPassword: this.nextPassword };
    const { status } = await this.send('PUT', '/api/me/password', { token: this.acting.token, body });
    requireStatus(status, 200);
    this.password = this.nextPassword;
    this.nextPassword = undefined;
    this.acknowledged += 1;
  }

  logIn(password: string): Promise<Reply> {
    return this.send('POST', '/api/auth/login', { body: { email: this.email, password } });
  }
}

function tokensOf({ status, body }: Reply, expected: number): Login {
  requireStatus(status, expected);
  return { token: asString(body['token']), refreshToken: asString(body['refreshToken']) };
}

function requireStatus(status: number, expected: number): void {
  if (status !== expected) throw new Error(`answered ${status}, not ${expected}`);
}

type Deed = 'refreshOnce' | 'logOutOnce' | 'changePasswordOnce';
const DEEDS: Deed[] = ['refreshOnce', 'logOutOnce', 'changePasswordOnce'];

describe.each(ENGINES)('kill -9 during refresh, logout and change of the password on %s', (engine) => {
  let storage: Storage;
  let service: RestartableService;

  afterEach(async () => {
    await service.kill();
    await storage.close();
  });

  it(
    'logs nobody out, lets nobody in who was out, and leaves one password',
    { timeout: 180_000 },
    async () => {
      const random = new Random(seedOfRun(`kill -9 of sessions on ${engine}`));
      storage = await Storage.on(engine);
      service = await RestartableService.on(storage, { ...UNLIMITED, REFRESH_GRACE: '10m' });
      const send = clientOf(service.url);
      await service.start();
      let acknowledged = 0;
      let unknown = 0;
      for (let kill = 0; kill < KILLS; kill += 1) {
        const clients = DEEDS.flatMap((deed) => times(WORKERS, () => ({ deed, client: new Client(send) })));
        for (const { client } of clients) await client.prepare();
        const deeds = clients.map(
          ({ deed, client }) =>
            () =>
              client[deed](),
        );
        await killDuring(service, deeds, random.between(50, 500));

        for (const { client, deed } of clients) {
          acknowledged += client.acknowledged;
          if (client.nextPassword !== undefined) unknown += 1;
          await check(client, deed);
        }
      }
      await checkRecord();
      expect(acknowledged).toBeGreaterThan(KILLS * WORKERS);
      report({ faults: KILLS, requests: acknowledged + unknown, wrong: 0, acknowledged, lost: 0 });

      async function check(client: Client, deed: Deed): Promise<void> {
        const me = async (token: string): Promise<number> => (await send('GET', '/api/me', { token })).status;
        expect(await Promise.all(client.loggedOut.map(me))).toEqual(client.loggedOut.map(() => 401));
        const passwords = [client.password, client.nextPassword].filter((one) => one !== undefined);
        const logins = await Promise.all(passwords.map((password) => client.logIn(password)));
        expect(logins.filter(({ status }) => status === 200)).toHaveLength(1);
        expect(await me(client.acting.token)).toBe(200);
        // Its refresh token, or the one that the dying process may have given for it.
        if (deed === 'refreshOnce') await client.refreshOnce();
        const { refreshToken } = client.acting;
        expect((await send('POST', '/api/auth/refresh', { body: { refreshToken } })).status).toBe(200);
      }

      async function checkRecord(): Promise<void> {
        const unequal =
          await storage.query(`SELECT u.id FROM users u WHERE u.revision - 1 <> (SELECT COUNT(*) FROM events e
        WHERE e.user_id = u.id AND e.type = 'account.password_changed')`);
        expect(unequal).toEqual([]);
        const unrecorded =
          await storage.query(`SELECT s.id FROM sessions s WHERE (s.revoked_at IS NULL) = (EXISTS (SELECT 1
        FROM events e WHERE e.session_id = s.id AND e.type = 'session.ended'))`);
        expect(unrecorded).toEqual([]);
      }
    },
  );
});
