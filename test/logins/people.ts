import { Budget } from '../../client/src/budget.ts';
import { Login } from '../../client/src/login.ts';
import { timedOut } from '../../client/src/problems.ts';
import type { TokenStore } from '../../client/src/store.ts';
import { type Accounts, type Answer, type Connection, failed, type Scene } from './accounts.ts';
import type { Owner } from './world.ts';

const LOCK_LIFETIME_MS = 45_000;
const LOOK_MS = 200;
const CALL_TIMEOUT_MS = 10_000;
const REFUSED = failed('unreachable', null, Object.assign(new Error('refused'), { code: 'ECONNREFUSED' }));
const RESET = failed('unreachable', null, new Error('reset'));
const BAD_GATEWAY = failed('not_json', 502);
const REJECTED = failed('invalid_refresh_token', 401);

/** What the processes of the user share. */
export interface Computer extends Scene {
  accounts: Accounts;
  /** how many of 100 requests or their answers are lost */
  lossPercent: number;
  file: string | undefined;
  /** what the file has after a power cut */
  disk: string | undefined;
  lock: { holder: Process; since: number } | undefined;
}

/** A process with the `Login` of the client. */
export class Process implements Owner {
  isAlive = true;
  readonly name: string;
  readonly login: Login;
  private readonly computer: Computer;
  private readonly connections = new Set<Connection>();

  constructor(name: string, computer: Computer) {
    this.name = name;
    this.computer = computer;
    this.login = new Login(this.storeOf(computer), (token, budget) => {
      const shown = generationOf(token);
      computer.world.say('user shows', `${shown} (${name})`);
      return this.exchange(budget, (connection) => computer.accounts.refresh(shown, connection));
    });
  }

  kill(): void {
    this.computer.world.say('kill', this.name);
    this.isAlive = false;
    this.connections.forEach((connection) => (connection.isClosed = true));
  }

  /** Sends a request as `Calls` does: with a new access token if Accounts rejects the first. */
  async call(): Promise<void> {
    const wait = { budget: new Budget(CALL_TIMEOUT_MS), retries: 2 };
    for (const refused: string[] = []; refused.length < 2;) {
      const token = await this.login.token(wait, refused[0]);
      if (typeof token === 'object') return;
      const answer = await this.exchange(wait.budget, (connection) =>
        this.computer.accounts.use(token, connection),
      );
      if (answer.ok || answer.problem.status !== 401) return;
      refused.push(token);
    }
  }

  refresh(): Promise<Answer> {
    return this.login.refresh({ budget: new Budget(CALL_TIMEOUT_MS), retries: 2 });
  }

  /** The client closes the connection at its timeout or death, and Accounts notices it at once. */
  private exchange(budget: Budget, arrive: (connection: Connection) => void): Promise<Answer> {
    const { world, rules, lossPercent } = this.computer;
    const isLost = world.below(100) >= 100 - lossPercent;
    const isSent = !isLost || world.below(2) === 1;
    const lost = isLost ? world.of([undefined, RESET, isSent ? BAD_GATEWAY : REFUSED]) : undefined;
    if (isLost) world.say(`${isSent ? 'response' : 'request'} lost`, lost?.problem.code);
    return new Promise((done) => {
      const end = (answer: Answer): void => {
        clearTimeout(timer);
        connection.isClosed = true;
        this.connections.delete(connection);
        done(answer);
      };
      const receive = (answer: Answer | undefined): void => {
        if (answer) world.after(world.latency(), 'arrival', () => end(answer), this);
      };
      const answer = (given: Answer): void => receive(isLost ? lost : given);
      const connection: Connection = { by: 'user', isClosed: false, answer };
      const timeout: Answer = { ok: false, problem: timedOut(budget.timeoutMs) };
      const timer = setTimeout(() => end(rules.takesTimeoutForRefusal ? REJECTED : timeout), budget.leftMs);
      this.connections.add(connection);
      if (isSent) world.after(world.latency(), 'world', () => arrive(connection));
      else receive(lost);
    });
  }

  private storeOf(computer: Computer): TokenStore {
    const { world, ledger, rules } = computer;
    const wait = (ms: number): Promise<void> =>
      new Promise((done) => world.after(ms, 'awake', () => done(), this));
    return {
      load: () => wait(world.delay()).then(() => computer.file),
      save: async (token) => {
        await wait(world.delay());
        world.say('save', `${this.name} ${token}`);
        if (token === undefined) ledger.logOut(`${this.name} has no session`);
        computer.file = token;
        const syncMs = world.delay();
        // The kernel writes, also if the process dies meanwhile.
        world.after(syncMs, 'awake', () => (computer.disk = computer.file));
        if (rules.savesBeforeItSaysSo) await wait(syncMs);
      },
      lock: async (work) => {
        let looked = computer.lock;
        for (let looks = 0; ; looks += 1) {
          if (looked !== computer.lock) looks = 0;
          looked = computer.lock;
          const waitedMs = rules.locksByAge ? Date.now() - (looked?.since ?? 0) : looks * LOOK_MS;
          if (!looked?.holder.isAlive || waitedMs > LOCK_LIFETIME_MS) break;
          await wait(LOOK_MS);
        }
        if (looked?.holder.isAlive) world.say('lock taken over', this.name);
        const lock = (computer.lock = { holder: this, since: Date.now() });
        // The holder before may have died before it synced the directory.
        await wait(world.delay());
        computer.disk = computer.file;
        return work().finally(() => {
          if (computer.lock === lock) computer.lock = undefined;
        });
      },
    };
  }
}

export function generationOf(refreshToken: string): number {
  return Number(refreshToken.split('.')[1]);
}
