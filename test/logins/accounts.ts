import { decideRefresh, isFirstUse, isReplaced } from '../../src/auth/sessions/refresh-rules.ts';
import type { Answered, Failed } from '../../client/src/send-request.ts';
import type { Ledger, Side } from './ledger.ts';
import type { World } from './world.ts';

const ACCESS_TOKEN_SECONDS = 15 * 60;
const FIRST = { refreshGeneration: 1, reissues: 0, seenGeneration: 0, rotatedAt: 0, isRevoked: false };

/** How Accounts and the client work. `known-bad.ts` has others. */
export const RULES = {
  decideRefresh,
  isFirstUse,
  isReplaced,
  /** the condition of the UPDATE that stores a first use */
  isMarked: isFirstUse,
  reissueMovesExpiry: true,
  comparesRow: true,
  stopsForGoneClients: true,
  savesBeforeItSaysSo: true,
  locksByAge: false,
  takesTimeoutForRefusal: false,
};
export type Rules = typeof RULES;
export interface Scene {
  world: World;
  ledger: Ledger;
  rules: Rules;
}
export type Answer = Answered | Failed;
export interface Connection {
  by: Side;
  isClosed: boolean;
  answer: (given: Answer) => void;
}
export type Accounts = ReturnType<typeof openSession>;

/** One session. Each statement runs at once, others run between the statements of a refresh, each change makes a new row. */
export function openSession({ world, ledger, rules }: Scene) {
  const accounts = { row: { ...FIRST, expiresAt: ledger.expiresAt }, refresh, use, tokens };
  const isEnded = (): boolean => accounts.row.isRevoked || accounts.row.expiresAt <= ledger.now;
  return accounts;

  function refresh(shown: number, connection: Connection): void {
    const { row } = accounts;
    if (isEnded()) return refuse('ended', shown, connection);
    const state = { ...row, rotatedForMs: ledger.now - row.rotatedAt };
    const decision = rules.decideRefresh(state, shown, ledger.graceMs);
    if (decision.kind === 'newer') return refuse('newer', shown, connection);
    if (decision.kind === 'repeat') return give('repeat', row.refreshGeneration, shown, connection);
    const write = (): void => {
      if (decision.kind !== 'rotate' && decision.kind !== 'reissue') {
        accounts.row = { ...accounts.row, isRevoked: true };
        return refuse('reused', shown, connection);
      }
      if (isEnded() || (rules.comparesRow && accounts.row !== row)) return refresh(shown, connection);
      const { kind, ...numbers } = decision;
      give(kind, numbers.refreshGeneration, shown, connection);
      const expiresAt = kind === 'rotate' || rules.reissueMovesExpiry ? ledger.expiresAt : row.expiresAt;
      accounts.row = { ...accounts.row, ...numbers, rotatedAt: ledger.now, expiresAt };
    };
    world.after(world.latency(), 'world', () => {
      if (rules.stopsForGoneClients && connection.isClosed) world.say('client has gone');
      else world.after(world.delay(), 'world', write);
    });
  }

  function give(kind: string, generation: number, shown: number, { by, answer }: Connection): void {
    world.say(kind, `${shown} of the ${by} gives ${generation}`);
    ledger.give(by, shown, generation, kind === 'repeat');
    answer(tokens(generation));
  }

  function refuse(reason: string, shown: number, { by, answer }: Connection): void {
    world.say(reason, `${shown} of the ${by}`);
    ledger.refuse(by, shown, isEnded());
    answer(failed('invalid_refresh_token', 401));
  }

  function use(token: string, { by, answer }: Connection): void {
    const { gen, exp } = JSON.parse(atob(token.split('.')[1]!)) as { gen: number; exp: number };
    if (isEnded() || exp * 1000 <= ledger.now || rules.isReplaced(accounts.row, gen))
      return answer(failed('invalid_token', 401));
    world.say(`${by} uses`, `${gen}`);
    ledger.accept(gen);
    const isLost = world.below(10) === 9;
    if (rules.isFirstUse(accounts.row, gen) && !isLost)
      world.after(world.below(3_000), 'world', () => mark(by, gen));
    answer(tokens(gen));
  }

  function mark(by: Side, gen: number): void {
    ledger.storeUse(by, gen);
    if (!rules.isMarked(accounts.row, gen)) return;
    world.say('mark', `${gen}`);
    const seenGeneration = accounts.row.refreshGeneration;
    accounts.row = { ...accounts.row, seenGeneration, rotatedAt: ledger.now };
  }

  function tokens(gen: number): Answered {
    const iat = Math.floor(ledger.now / 1000);
    const token = `.${btoa(JSON.stringify({ iat, exp: iat + ACCESS_TOKEN_SECONDS, gen }))}.`;
    return { ok: true, status: 200, data: { token, refreshToken: `session.${gen}` }, headers: new Headers() };
  }
}

export function failed(code: string, status: number | null, cause?: Error): Failed {
  const problem = { code, status, detail: code, cause };
  return { ok: false, problem };
}
