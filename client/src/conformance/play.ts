import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pause } from '../waiting.ts';
import { ask, type Answered } from './ask.ts';
import { FakeAccounts } from './fake-accounts.ts';
import { LIMIT_MS, Tested } from './process.ts';
import { type Asked, type CheckStep, type Route, type Script, SERVICE, type Step } from './script.ts';

export interface Outcome {
  id: string;
  rule: string;
  passed: boolean;
  /** The step that failed, from 1; 0 if COMMAND did not start. */
  step?: number;
  answer?: string;
  expected?: string;
}

type Judged = Pick<CheckStep, 'answer' | 'headers'>;

const PAUSE_MS = 50;
const SECRET_MODE = 0o600;

class Failure extends Error {
  readonly answer: string;
  readonly expected: string;

  constructor(answer: string, expected: string) {
    super(answer);
    this.answer = answer;
    this.expected = expected;
  }
}

/** Plays one script against a process of its own. */
export async function play(script: Script, command: readonly string[]): Promise<Outcome> {
  const { id, rule, given = {} } = script;
  const fake = await FakeAccounts.open(given);
  const folder = mkdtempSync(join(tmpdir(), 'accounts-guard-'));
  const secretFile = join(folder, 'secret');
  const removeFolder = (): void => rmSync(folder, { recursive: true, force: true });
  process.on('exit', removeFolder);
  const tested = await Tested.of(command, {
    GUARD_ISSUER: fake.url,
    GUARD_URL: fake.url,
    GUARD_AUDIENCE: SERVICE,
    GUARD_SERVICE: SERVICE,
    GUARD_SECRET_FILE: secretFile,
    GUARD_MAX_STALENESS: String(given.maxStaleness ?? 30),
  });
  const player = new Player(fake, tested, secretFile);
  let step = 0;
  try {
    for (const [route, fault] of Object.entries(given.faults ?? {})) fake.fail(route as Route, fault);
    player.writeSecret();
    await player.start(given.faults === undefined);
    for (const one of script.steps) {
      step += 1;
      await player.run(one);
    }
    return { id, rule, passed: true };
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    const { answer, expected } = error instanceof Failure ? error : new Failure(error.message, 'an answer');
    return { id, rule, passed: false, step, answer, expected };
  } finally {
    await tested.stop();
    fake.close();
    removeFolder();
    process.off('exit', removeFolder);
  }
}

class Player {
  private readonly fake: FakeAccounts;
  private readonly tested: Tested;
  private readonly secretFile: string;
  private readonly held: (() => Promise<void>)[] = [];

  constructor(fake: FakeAccounts, tested: Tested, secretFile: string) {
    this.fake = fake;
    this.tested = tested;
    this.secretFile = secretFile;
  }

  writeSecret(): void {
    writeFileSync(this.secretFile, this.fake.secret, { mode: SECRET_MODE });
  }

  start(becomesReady: boolean): Promise<void> {
    const ready = { target: '/health/ready' };
    const isStarted = (answer: string): boolean =>
      becomesReady ? answer === '200' : /^(200|503)\b/.test(answer);
    return this.tested.start(async () => isStarted((await this.ask(ready)).text));
  }

  async run(step: Step): Promise<void> {
    const { fake } = this;
    if ('check' in step) await this.check(step);
    else if ('until' in step) await this.until(step);
    else if ('change' in step) for (let left = step.times ?? 1; left > 0; left -= 1) fake.change(step);
    else if ('read' in step)
      await this.wait(() => fake.feed.isRead, 'the guard asks for the page after the last event');
    else if ('fault' in step) {
      const { fault, as } = step;
      if (fault === 'expired') fake.feed.expire();
      else if (fault === 'restored') fake.restore();
      else fake.fail(fault, as!);
    } else if ('heal' in step) fake.deliveries.heal(step.heal);
    else if ('hold' in step) fake.deliveries.hold(step.hold);
    else if ('release' in step) {
      fake.deliveries.release(step.release);
      for (const judge of this.held.splice(0)) await judge();
    } else if ('asked' in step) this.requireAsked(step);
    else if ('secret' in step) {
      fake.rotate();
      this.writeSecret();
    } else if ('key' in step) fake.tokens.addKey();
    else {
      await this.tested.stop();
      await this.start(true);
    }
  }

  /** A held check is judged once its answer from Accounts was released. */
  private async check(step: CheckStep): Promise<void> {
    const { check, held } = step;
    const before = this.fake.deliveries.heldCount;
    const asked = Array.from({ length: check.times ?? 1 }, () => this.ask(check));
    const judge = async (): Promise<void> => {
      for (const answer of await Promise.all(asked)) this.judge(answer, step);
    };
    if (!held) return judge();
    this.held.push(judge);
    await this.wait(
      () => this.fake.deliveries.heldCount > before,
      'the guard asks Accounts, which holds the answer',
    );
  }

  private async until({ until, ...expected }: { until: Asked } & Judged): Promise<void> {
    const deadline = performance.now() + LIMIT_MS;
    for (;;) {
      const answered = await this.ask(until);
      if (isExpected(answered.text, expected) || performance.now() > deadline) {
        this.judge(answered, expected);
        return;
      }
      await pause(PAUSE_MS, undefined);
    }
  }

  private ask(asked: Asked): Promise<Answered> {
    return ask(this.fake, this.tested.port, asked);
  }

  private judge({ text: answer, headers }: Answered, expected: Judged): void {
    if (!isExpected(answer, expected)) throw new Failure(answer, [expected.answer].flat().join(' or '));
    for (const [name, value] of Object.entries(expected.headers ?? {})) {
      const sent = headers[name.toLowerCase()];
      const wanted = this.fake.world.expand(value);
      if (sent !== wanted) throw new Failure(`${answer}, ${name}: ${String(sent)}`, `${name}: ${wanted}`);
    }
  }

  private requireAsked({ asked, atMost, atLeast = 0 }: Extract<Step, { asked: Route }>): void {
    const count = this.fake.count(asked);
    if (count < atLeast) throw new Failure(`${asked}: asked ${count} times`, `at least ${atLeast}`);
    if (count > (atMost ?? count)) throw new Failure(`${asked}: asked ${count} times`, `at most ${atMost}`);
  }

  private async wait(happened: () => boolean, what: string): Promise<void> {
    const deadline = performance.now() + LIMIT_MS;
    while (!happened()) {
      if (performance.now() > deadline) throw new Failure(`not within ${LIMIT_MS / 1000} s`, what);
      await pause(PAUSE_MS / 5, undefined);
    }
  }
}

/** `401` stands for a 401 of any code, `200` for each role. */
function isExpected(answer: string, { answer: expected }: Judged): boolean {
  return [expected].flat().some((one) => answer === one || answer.startsWith(`${one} `));
}
