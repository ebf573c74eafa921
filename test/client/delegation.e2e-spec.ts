import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import {
  type Admission,
  createGuard,
  type Guard,
  type GuardOptions,
  type Refusal,
} from '../../client/src/service/index.ts';
import { hangTimeoutMs, waitFor } from '../../tooling/wait.js';
import { accountsJson } from '../support/accounts-command.js';
import { times } from '../support/at-once.js';
import { anInstallation } from '../support/installation.js';
import { type Account, anAccount, byCode } from '../support/personas.js';
import { NO_LIMITS, startOwnService } from '../support/service.js';
import { aBoundToken, aServiceCaller, setCall } from '../support/services.js';
import { decodeToken, signToken } from '../support/signing-keys.js';
import { Door } from './support/door.js';

const ISSUER = 'accounts';
const TOKEN = '/api/auth/token';
const REFUSED = { status: 401, problem: { code: 'invalid_token' } };
const NOT_ALLOWED = { status: 403, problem: { code: 'caller_not_allowed' } };

const installation = await anInstallation();
const service = await startOwnService({ installation, env: NO_LIMITS });
const door = await Door.open(service.url);
const services = await Promise.all(
  times(5, () => aServiceCaller(service, 'introspect', 'memberships', 'events')),
);
const [billing, ledger, audit] = services as [
  (typeof services)[0],
  (typeof services)[0],
  (typeof services)[0],
];
for (const [place, callee] of services.slice(1).entries())
  await setCall(installation.db, services[place]!, callee);

const guards = services.map((_, place) => guardOf(place));
const [atBilling, atLedger, atAudit] = guards as [Guard, Guard, Guard];
afterAll(async () => {
  await Promise.all(guards.map((guard) => guard.close()));
  await door.close();
  await service.stop();
  await installation.remove();
});

function optionsOf(place: number): GuardOptions {
  const { name, secret } = services[place]!;
  const audience = place === 0 ? [ISSUER, name] : name;
  return { issuer: ISSUER, audience, baseUrl: door.url, credentials: { name, secret } };
}

function guardOf(place: number, more: Partial<GuardOptions> = {}): Guard {
  return createGuard({ ...optionsOf(place), ...more });
}

const command = <T>(...words: string[]) => accountsJson<T>(installation, ['services', ...words]);
const bearer = (token: string): string => `Bearer ${token}`;

async function admit(guard: Guard, token: string): Promise<Admission> {
  const answer = await guard.authorize(bearer(token));
  if (!answer.ok) throw new Error(`${answer.status} ${answer.problem.code}`);
  return answer;
}

async function tokenOf(answer: Promise<{ ok: true; token: string } | Refusal>): Promise<string> {
  const issued = await answer;
  if (!issued.ok) throw new Error(`${issued.status} ${issued.problem.code} ${String(issued.cause)}`);
  installation.secrets.noteToken(issued.token);
  return issued.token;
}

/** Hands a token of the first service on to the second, and so on. */
async function handedOn(token: string, calls: number): Promise<string[]> {
  const tokens = [token];
  for (const [place, callee] of services.slice(1, calls + 1).entries())
    tokens.push(
      await tokenOf(guards[place]!.tokenFor(callee.name, await admit(guards[place]!, tokens[place]!))),
    );
  return tokens;
}

/** A token, the guard that admits it, and the names of what it depends on. */
interface Held {
  what: string;
  at: number;
  token: string;
  links: string[];
  own?: string;
}

describe('the end of a link', () => {
  let ada: Account;
  let head: Account;
  let held: Held[];

  beforeEach(async () => {
    const grace = await anAccount(service, 'grace');
    ada = await anAccount(service, 'ada');
    head = await byCode(service, ada);
    const [below, second, other] = [
      await aBoundToken(billing, head),
      await aBoundToken(billing, ada),
      await aBoundToken(billing, grace),
    ];
    const way = (what: string, tokens: string[], ...links: string[]): Held[] =>
      tokens.map((token, at) => {
        const [names, calls] = [
          times(at + 1, (place) => `service ${place}`),
          times(at, (place) => `call ${place}`),
        ];
        return { what: `${what} ${at}`, at, token, links: [...links, ...names, ...calls] };
      });
    const own = async (from: number): Promise<Held> => {
      const [caller, callee] = [services[from]!, services[from + 1]!];
      const token = await tokenOf(guards[from]!.ownTokenFor(callee.name));
      const links = [`service ${from}`, `service ${from + 1}`, `call ${from}`];
      return { what: `own token of ${from}`, at: from + 1, token, links, own: caller.name };
    };
    held = [
      { what: 'login', at: 0, token: ada.token, links: ['user', 'login'] },
      { what: 'head', at: 0, token: head.token, links: ['user', 'epoch', 'login', 'head'] },
      ...way('below the head', await handedOn(below, 4), 'user', 'epoch', 'login', 'head'),
      ...way('second hand-off', await handedOn(second, 2), 'user', 'epoch', 'login', 'second'),
      ...way('another user', await handedOn(other, 1)),
      await own(0),
      await own(3),
    ];
  });

  const statusOf = async ({ at, token, own }: Held): Promise<number> => {
    const guard = guards[at]!;
    const answer =
      own === undefined
        ? await guard.authorize(bearer(token))
        : await guard.authorizeService(bearer(token), { from: [own] });
    return answer.ok ? 200 : answer.status;
  };
  const answers = () => Promise.all(held.map(async (one) => `${one.what} ${await statusOf(one)}`));

  const logOut = async (account: Account) =>
    expect((await account.post('/api/auth/logout', {})).status).toBe(200);
  const endOf = (place: number) => async (): Promise<void> => {
    const { name } = services[place]!;
    const [added] = await command<{ secretId: string }>('rotate', name);
    await command('revoke-secret', name, added!.secretId, '--end-sessions');
  };
  const revoking = (place: number) => () =>
    command('revoke-call', services[place]!.name, '--to', services[place + 1]!.name);
  const allowing = (place: number) => () =>
    command('call', services[place]!.name, '--to', services[place + 1]!.name);

  it.each<[string, () => Promise<unknown>, again?: () => Promise<unknown>]>([
    ['login', () => logOut(ada)],
    ['head', () => logOut(head)],
    ['head', () => logOut(ada.as(held.find(({ what }) => what === 'below the head 0')!.token))],
    ['second', () => logOut(ada.as(held.find(({ what }) => what === 'second hand-off 0')!.token))],
    [
      'epoch',
      () =>
        ada.put('/api/me/password', { currentPassword: ada.password, newPassword: 'a new horse battery' }),
    ],
    [
      'user',
      () => accountsJson(installation, ['users', 'disable', ada.email]),
      () => accountsJson(installation, ['users', 'enable', ada.email]),
    ],
    ...times(5, (place): [string, () => Promise<unknown>] => [`service ${place}`, endOf(place)]),
    ...times(4, (place): [string, () => Promise<unknown>, () => Promise<unknown>] => [
      `call ${place}`,
      revoking(place),
      allowing(place),
    ]),
  ])('is noticed by five guards, exactly below it: %s', async (link, end, again) => {
    const expected = held.map(({ what, links }) => `${what} ${links.includes(link) ? 401 : 200}`);
    expect(await answers()).toEqual(held.map(({ what }) => `${what} 200`));
    expect(expected.join()).toContain('401');
    expect(expected.join()).toContain('200');

    await end();

    const seen = new Set<string>();
    await waitFor('the guards refuse', hangTimeoutMs(), async () => {
      const now = await answers();
      for (const one of now) seen.add(one);
      return now.join() === expected.join();
    });
    // Each token was rejected at once or admitted before; no guard said that it could not decide.
    expect([...seen].filter((one) => !/ (200|401)$/.test(one))).toEqual([]);
    expect([...seen].filter((one) => one.endsWith('401')).toSorted()).toEqual(
      expected.filter((one) => one.endsWith('401')).toSorted(),
    );
    await again?.();
    expect(await answers()).toEqual(expected);
    for (const { at, token, own, links } of held)
      if (own !== undefined && links.includes(link))
        await waitFor('the service has another token', hangTimeoutMs(), async () => {
          const issued = await guards[at - 1]!.ownTokenFor(services[at]!.name);
          return issued.ok && issued.token !== token;
        });
  });
});

describe('a service that was disabled', () => {
  it('has a guard that decides nothing, until it is enabled; the others refuse what it handed on', async () => {
    const tokens = await handedOn(await aBoundToken(billing, await anAccount(service)), 2);
    const own = await tokenOf(atLedger.ownTokenFor(audit.name));
    const atOthers = () =>
      Promise.all([
        atBilling.authorize(bearer(tokens[0]!)),
        atAudit.authorize(bearer(tokens[2]!)),
        atAudit.authorizeService(bearer(own), { from: [ledger.name] }),
      ]);
    expect(await atOthers()).toMatchObject([{ ok: true }, { ok: true }, { ok: true }]);
    await command('disable', ledger.name);
    await waitFor('its guard decides nothing', hangTimeoutMs(), async () => {
      const answer = await atLedger.authorize(bearer(tokens[1]!));
      return !answer.ok && answer.status === 503;
    });
    const refused = { ok: false, ...REFUSED };
    await waitFor('the others refuse', hangTimeoutMs(), async () => !(await atOthers())[1].ok);
    expect(await atOthers()).toMatchObject([{ ok: true }, refused, refused]);
    await command('enable', ledger.name);
    await waitFor('its guard decides', hangTimeoutMs(), () => atLedger.isCurrent());
    expect(await atLedger.authorize(bearer(tokens[1]!))).toMatchObject(refused);
    expect(await atOthers()).toMatchObject([{ ok: true }, refused, refused]);
  });
});

describe('a token for a call', () => {
  beforeAll(() =>
    waitFor('the guards follow', hangTimeoutMs(), () => guards.every((guard) => guard.isCurrent())),
  );

  it('is asked for once, until an event names one of its links', async () => {
    const [ada, grace] = [await anAccount(service), await anAccount(service)];
    const [admission, other] = [
      await admit(atBilling, await aBoundToken(billing, ada)),
      await admit(atBilling, await aBoundToken(billing, grace)),
    ];
    door.asked.length = 0;
    const all = await Promise.all(times(50, () => tokenOf(atBilling.tokenFor(ledger.name, admission))));
    expect(new Set(all).size).toBe(1);
    expect(door.count(TOKEN)).toBe(1);
    expect(await tokenOf(atBilling.tokenFor(ledger.name, other))).not.toBe(all[0]);
    const own = await Promise.all(times(50, () => tokenOf(atBilling.ownTokenFor(ledger.name))));
    expect(new Set(own).size).toBe(1);
    expect(door.count(TOKEN)).toBe(3);
    expect(decodeToken(all[0]!).claims).toMatchObject({
      sub: ada.id,
      aud: ledger.name,
      client_id: billing.name,
    });
    expect(decodeToken(own[0]!).claims).toMatchObject({ sub: `service:${billing.name}`, aud: ledger.name });

    await ada.patch('/api/me/profile', { name: 'Ada Lovelace' });
    await command('revoke-call', billing.name, '--to', ledger.name);
    const refused = {
      ok: false,
      status: 503,
      cause: { message: expect.stringContaining('services call') as string },
    };
    await waitFor(
      'the guard has heard',
      hangTimeoutMs(),
      async () => !(await atBilling.tokenFor(ledger.name, admission)).ok,
    );
    expect(await atBilling.tokenFor(ledger.name, admission)).toMatchObject(refused);
    expect(await atBilling.ownTokenFor(ledger.name)).toMatchObject(refused);
    await command('call', billing.name, '--to', ledger.name);
    expect(all).not.toContain(await tokenOf(atBilling.tokenFor(ledger.name, admission)));
    expect(own).not.toContain(await tokenOf(atBilling.ownTokenFor(ledger.name)));

    await ada.post('/api/auth/logout', {});
    await waitFor('the login has ended', hangTimeoutMs(), async () => {
      const answer = await atBilling.tokenFor(ledger.name, admission);
      return !answer.ok && answer.status === 401;
    });
  });

  it('is refused for a call that nobody allowed, for the service itself, and for one that is not there', async () => {
    const admission = await admit(atBilling, await aBoundToken(billing, await anAccount(service)));
    for (const to of [audit.name, billing.name, 'nowhere'])
      for (const answer of [await atBilling.tokenFor(to, admission), await atBilling.ownTokenFor(to)])
        expect(answer).toMatchObject({ ok: false, status: 503, problem: { code: 'unavailable' } });
    const full = await admit(atBilling, (await anAccount(service)).token);
    expect(await atBilling.tokenFor(ledger.name, full)).toMatchObject({ ok: false, ...REFUSED });
  });

  it('shows its way, and is admitted where the way is', async () => {
    const tokens = await handedOn(await aBoundToken(billing, await anAccount(service)), 2);
    const ways = await Promise.all(
      tokens.map(async (token, place) => (await admit(guards[place]!, token)).via),
    );
    expect(ways).toEqual([[], [billing.name], [billing.name, ledger.name]]);
    const at = (via: string[]) => atAudit.authorize(bearer(tokens[2]!), { via });
    expect([await at([ledger.name]), await at([billing.name]), await at([])]).toMatchObject([
      { ok: true },
      NOT_ALLOWED,
      NOT_ALLOWED,
    ]);
    expect(await atLedger.authorize(bearer(tokens[2]!))).toMatchObject(REFUSED);
    expect(await atAudit.logOut(bearer(tokens[2]!))).toMatchObject(NOT_ALLOWED);
    expect(await atAudit.authorizeService(bearer(tokens[2]!), { from: [ledger.name] })).toMatchObject(
      NOT_ALLOWED,
    );
    const own = bearer(await tokenOf(atLedger.ownTokenFor(audit.name)));
    expect(await atAudit.authorize(own)).toMatchObject(NOT_ALLOWED);
    expect(await atAudit.authorizeService(own, { from: [billing.name] })).toMatchObject(NOT_ALLOWED);
    expect(await atAudit.authorizeService(own, { from: [ledger.name] })).toMatchObject({
      ok: true,
      service: { name: ledger.name },
    });
  });
});

describe('during an upgrade', () => {
  const forged = (token: string, change: object): string => {
    const { header, claims } = decodeToken(token);
    return signToken(header, { ...claims, ...change }, installation.keys[0]!);
  };

  it('a token that names neither login nor head ends with its login as before', async () => {
    const ada = await anAccount(service);
    const token = await aBoundToken(billing, await byCode(service, ada));
    expect(decodeToken(token).claims).toMatchObject({
      login_sid: expect.any(String),
      branch_sid: expect.any(String),
    });
    const old = forged(token, { login_sid: undefined, branch_sid: undefined });
    await admit(atBilling, old);
    await ada.post('/api/auth/logout', {});
    await waitFor(
      'the token is refused',
      hangTimeoutMs(),
      async () => !(await atBilling.authorize(bearer(old))).ok,
    );
    expect(await atBilling.authorize(bearer(old))).toMatchObject(REFUSED);
  });

  describe('a guard of 0.3', () => {
    let old: Guard;
    beforeAll(async () => {
      const releases = JSON.parse(readFileSync(resolve('test/upgrade/releases.json'), 'utf8')) as Record<
        string,
        string
      >;
      const packed = execFileSync('git', ['archive', releases['0.3.0']!, 'client/src'], {
        maxBuffer: 2 ** 28,
      });
      const directory = join(installation.directory, 'guard-of-0.3');
      mkdirSync(directory);
      execFileSync('tar', ['--extract'], { cwd: directory, input: packed });
      symlinkSync(resolve('node_modules'), join(directory, 'node_modules'));
      const file = pathToFileURL(join(directory, 'client/src/service/index.ts')).href;
      const release = (await import(file)) as { createGuard: typeof createGuard };
      old = release.createGuard(optionsOf(1));
    });
    afterEach(() => void vi.useRealTimers());
    afterAll(() => old.close());

    it('refuses a token of a service, and ends one that was handed on with its session', async () => {
      const ada = await anAccount(service);
      const [, token] = await handedOn(await aBoundToken(billing, ada), 1);
      expect(await old.authorize(bearer(token!))).toMatchObject({ ok: true, user: { id: ada.id } });
      expect(await old.authorize(bearer(await tokenOf(atBilling.ownTokenFor(ledger.name))))).toMatchObject(
        REFUSED,
      );
      await ada.post('/api/auth/logout', {});
      await waitFor(
        'the token is refused',
        hangTimeoutMs(),
        async () => !(await old.authorize(bearer(token!))).ok,
      );
      expect(await old.authorize(bearer(token!))).toMatchObject(REFUSED);
    });

    it('forgets a call that was revoked when the token expires, within 5 minutes', async () => {
      const [, token] = await handedOn(await aBoundToken(billing, await anAccount(service)), 1);
      expect(await old.authorize(bearer(token!))).toMatchObject({ ok: true });
      await command('revoke-call', billing.name, '--to', ledger.name);
      await waitFor(
        'a guard of now refuses',
        hangTimeoutMs(),
        async () => !(await atLedger.authorize(bearer(token!))).ok,
      );
      await command('call', billing.name, '--to', ledger.name);
      expect(await old.authorize(bearer(token!))).toMatchObject({ ok: true });
      const { exp, iat } = decodeToken(token!).claims as { exp: number; iat: number };
      expect(exp - iat).toBeLessThanOrEqual(300);
      vi.useFakeTimers({ toFake: ['Date'], now: (exp + 31) * 1000 });
      expect(await old.authorize(bearer(token!))).toMatchObject(REFUSED);
    });
  });
});
