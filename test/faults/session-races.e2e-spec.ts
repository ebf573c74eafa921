import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import type { Answer } from '../support/answer.js';
import { atOnce, times } from '../support/at-once.js';
import { type Account, aCode, anAccount, aPassword } from '../support/personas.js';
import { aRefreshableLogin, partsOf, refresh, refreshed, type Tokens } from '../support/refreshing.js';
import type { Instance } from '../support/service.js';
import { report } from './support/figures.js';
import { GaleraService } from './support/galera-service.js';

const NO_LIMITS = { RATE_LIMIT_LOGIN: 'off', RATE_LIMIT_REGISTER: 'off' };

let galera: GaleraService;

beforeAll(async () => {
  galera = await GaleraService.start({ ownNode: 2, env: NO_LIMITS });
});
afterAll(() => galera.stop());
afterEach(() => galera.cluster.waitUntilEqual());

const on = (turn: number): Instance => galera.on(turn);

/** The statuses of a token at every instance. */
async function everywhere(token: string): Promise<number[]> {
  const answers = await Promise.all(
    galera.instances.map(({ anyone }) => anyone.withToken(token).get('/api/me')),
  );
  return answers.map(({ status }) => status);
}

it('leaves no session of the old password alive when a login races the change on another node', async () => {
  const rounds = 200;
  const wrong: string[] = [];
  let late = 0;
  const ada = await anAccount(on(0), 'ada');
  let password = ada.password;
  for (let round = 0; round < rounds; round += 1) {
    const newPassword = aPassword();
    const change = (): Promise<Answer> =>
      ada.at(on(round)).sendJson('PUT', '/api/me/password', { currentPassword: password, newPassword });
    const login = (): Promise<Answer<Tokens>> =>
      on(round + 1).anyone.post<Tokens>('/api/auth/login', { email: ada.email, password, refresh: true });
    const [changed, ...logins] = (await atOnce<Answer>([change, login, login])) as [
      Answer,
      ...Answer<Tokens>[],
    ];

    if (changed.status !== 200) wrong.push(`${round}: changed ${changed.status}`);
    for (const { status, body } of logins) {
      if (![200, 401].includes(status)) wrong.push(`${round}: logged in ${status}`);
      if (status !== 200) continue;
      late += 1;
      const statuses = await everywhere(body.token);
      if (statuses.some((one) => one !== 401)) wrong.push(`${round}: alive ${statuses.join(' ')}`);
      const again = await refresh(on(round + 2), body.refreshToken);
      if (again.status !== 401) wrong.push(`${round}: refreshed ${again.status}`);
    }
    password = newPassword;
  }
  report({ faults: rounds, requests: 3 * rounds, wrong: wrong.length });
  expect(wrong).toEqual([]);
  // Rounds in which no login came before or between would prove nothing.
  expect(late).toBeGreaterThan(rounds / 10);
  expect(await everywhere(ada.token)).toEqual([200, 200, 200]);
});

it('takes one step for 50 refreshes at once on three nodes, and each answer is usable', async () => {
  const rounds = 10;
  const windows = 50;
  const ada = await anAccount(on(0), 'ada');
  let { refreshToken } = await aRefreshableLogin(on(0), ada);
  const wrong: string[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const { sessionId, generation } = partsOf(refreshToken);
    const answers = await atOnce(times(windows, (window) => () => refresh(on(window), refreshToken)));
    const [row] = await galera.installation.db.query('SELECT refresh_generation FROM sessions WHERE id = ?', [
      sessionId,
    ]);
    if (Number(row!['refresh_generation']) !== generation + 1) wrong.push(`${round}: not one step`);
    for (const [place, { status, body }] of answers.entries()) {
      // A node may be too busy with conflicts to answer; it must not be wrong.
      if (status !== 200) wrong.push(`${round}: ${status}`);
      else if (partsOf(body.refreshToken).generation !== generation + 1) wrong.push(`${round}: another step`);
      else if (
        (
          await on(place + 1)
            .anyone.withToken(body.token)
            .get('/api/me')
        ).status !== 200
      )
        wrong.push(`${round}: not usable`);
    }
    refreshToken = answers.find(({ status }) => status === 200)!.body.refreshToken;
  }
  report({ faults: rounds, requests: 2 * rounds * windows, wrong: wrong.length });
  expect(wrong).toEqual([]);
});

it('leaves no session alive that a code opens while the login that issued it is ended on another node', async () => {
  const rounds = 60;
  const wrong: string[] = [];
  let opened = 0;
  const ada = await anAccount(on(0), 'ada');
  const endings: ((login: Account, round: number) => Promise<Answer>)[] = [
    (login, round) => login.at(on(round)).post('/api/auth/logout'),
    (login, round) => ada.at(on(round)).delete(`/api/me/sessions/${idOf(login)}`),
    (_login, round) => ada.at(on(round)).delete('/api/me/sessions'),
  ];
  for (let round = 0; round < rounds; round += 1) {
    const tokens = await aRefreshableLogin(on(round), ada);
    const login = ada.as(tokens.token);
    const codes = await Promise.all(times(3, (i) => aCode(login.at(on(round + i)))));
    const end = endings[round % endings.length]!;
    const [ended, ...exchanged] = (await atOnce<Answer>([
      () => end(login, round),
      ...codes.map((code, i) => () => on(round + i).anyone.post('/api/auth/code/exchange', { code })),
    ])) as [Answer, ...Answer<Tokens>[]];

    if (ended.status !== 200) wrong.push(`${round}: ended ${ended.status}`);
    for (const { status, body } of exchanged) {
      if (![200, 400].includes(status)) wrong.push(`${round}: exchanged ${status}`);
      if (status !== 200) continue;
      opened += 1;
      const statuses = await everywhere(body.token);
      if (statuses.some((one) => one !== 401)) wrong.push(`${round}: alive ${statuses.join(' ')}`);
    }
    if ((await refresh(on(round + 1), tokens.refreshToken)).status !== 401) wrong.push(`${round}: refreshed`);
  }
  report({ faults: rounds, requests: 4 * rounds, wrong: wrong.length });
  expect(wrong).toEqual([]);
  expect(opened).toBeGreaterThan(0);
  expect(await everywhere(ada.token)).toEqual([200, 200, 200]);
});

it('leaves one session where two end all others at once on two nodes', async () => {
  const rounds = 40;
  const wrong: string[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const ada = await anAccount(on(round), 'ada');
    const other = ada.as(
      (await refreshed(on(round), (await aRefreshableLogin(on(round), ada)).refreshToken)).token,
    );
    const answers = await atOnce(
      [ada, other].map((who, i) => () => who.at(on(round + i)).delete('/api/me/sessions')),
    );
    const statuses = answers.map(({ status }) => status);
    const alive = await Promise.all(
      [ada, other].map(async ({ token }) => (await everywhere(token)).join(' ')),
    );
    // The client that got the last 200 is the one that stays.
    if (alive.filter((text) => text === '200 200 200').length !== 1)
      wrong.push(`${round}: ${alive.join(', ')}`);
    if (!statuses.includes(200) || statuses.some((one) => ![200, 401].includes(one)))
      wrong.push(`${round}: ${statuses.join(' ')}`);
  }
  report({ faults: rounds, requests: 2 * rounds, wrong: wrong.length });
  expect(wrong).toEqual([]);
});

const idOf = ({ token }: Account): string =>
  (JSON.parse(Buffer.from(token.split('.')[1]!, 'base64url').toString()) as { sid: string }).sid;
