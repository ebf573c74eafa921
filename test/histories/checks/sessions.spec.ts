import { expect, it } from 'vitest';
import type { Operation, SessionOperation, Timing } from '../history.js';
import { violationsIn } from './check.js';
import { timing } from './handmade.js';

const LOGIN = 'login';
const OPENED = 'login/opened';

const made = (operation: SessionOperation, times: Timing): Operation => ({ ...operation, ...times });
const use = (session: string, times: Timing) => made({ kind: 'use', session }, times);
const exchange = (times: Timing) => made({ kind: 'exchange', session: OPENED }, times);
const refresh = (generation: number, times: Timing) =>
  made({ kind: 'refresh', session: LOGIN, generation }, times);
const end = (times: Timing, ...sessions: string[]) => made({ kind: 'end', sessions }, times);
const refused = (startedAt: number, endedAt: number): Timing => ({
  ...timing(startedAt, endedAt, 'failed'),
  status: 401,
});

it.each<[string, Operation[], string[]]>([
  [
    'one of two exchanges of a code is answered',
    [exchange(timing(0, 10)), exchange(timing(0, 10, 'failed'))],
    [],
  ],
  ['a code is exchanged twice', [exchange(timing(0, 10)), exchange(timing(5, 15))], ['code_twice']],
  ['refresh tokens follow one another', [refresh(0, timing(0, 10)), refresh(1, timing(20, 30))], []],
  [
    'a refresh token is accepted twice',
    [refresh(0, timing(0, 10)), refresh(0, timing(5, 15))],
    ['refresh_token_twice'],
  ],
  ['a session is used while it ends', [end(timing(0, 10), LOGIN), use(LOGIN, timing(5, 15))], []],
  [
    'a session is used after its end',
    [end(timing(0, 10), LOGIN), use(LOGIN, timing(11, 15))],
    ['dead_session'],
  ],
  [
    'a session is used after an end without an answer',
    [end(timing(0, 10, 'unknown'), LOGIN), use(LOGIN, timing(11, 15))],
    [],
  ],
  [
    'a session that a code opened is used after the end of its login',
    [end(timing(0, 10), LOGIN), use(OPENED, timing(11, 15))],
    ['dead_session'],
  ],
  [
    'a login is used after the end of a session below',
    [end(timing(0, 10), OPENED), use(LOGIN, timing(11, 15))],
    [],
  ],
  [
    'a code is exchanged after the end of its login',
    [end(timing(0, 10), LOGIN), exchange(timing(11, 15))],
    ['dead_session'],
  ],
  [
    'a login is refreshed after its end',
    [end(timing(0, 10), LOGIN), refresh(0, timing(11, 15))],
    ['dead_session'],
  ],
  ['a session is refused that no client has ended', [use(LOGIN, refused(0, 10))], ['lost_session']],
  ['a session is refused while it ends', [end(timing(5, 20), LOGIN), use(LOGIN, refused(0, 10))], []],
  [
    'a session is refused after an end without an answer',
    [end(timing(0, 10, 'unknown'), LOGIN), use(LOGIN, refused(20, 30))],
    [],
  ],
  [
    'a session is refused before its end',
    [end(timing(20, 30), LOGIN), use(LOGIN, refused(0, 10))],
    ['lost_session'],
  ],
  [
    'a session is refused after its code was sent twice',
    [exchange(timing(0, 10)), exchange(refused(20, 30)), use(OPENED, refused(40, 50))],
    [],
  ],
  [
    'a login is refused after a code of its was sent twice',
    [exchange(timing(0, 10)), exchange(refused(20, 30)), use(LOGIN, refused(40, 50))],
    ['lost_session'],
  ],
])('%s', (_, operations, rules) => {
  const found = violationsIn({ operations, logs: new Map() });
  expect(found.map(({ rule }) => rule)).toEqual(rules);
});
