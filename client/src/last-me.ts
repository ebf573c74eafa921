import type { Login } from './login.ts';
import type { AnyResult, Success } from './results.ts';
import type { Data, Failed } from './send-request.ts';
import type { Slot } from './store.ts';

const VERSION = 1;

interface Answer {
  include: string[];
  /** By the clock of this computer (RFC 3339). */
  at: string;
  result: Success<Data>;
}
interface Stored {
  version: typeof VERSION;
  sessionId: string;
  /** The newest first. */
  answers: Answer[];
}

/** The last answers of `getMe`, for a program that starts without the network. */
export class LastMe {
  private readonly slot: Slot | undefined;
  private readonly login: Login;

  constructor(slot: Slot | undefined, login: Login) {
    this.slot = slot;
    this.login = login;
  }

  /** Stores an answer that has roles. If the store fails, the previous answer stays. */
  async keep(sessionId: string | undefined, input: Data, result: Success<Data>): Promise<void> {
    const include = namesOf(input);
    if (!this.slot || sessionId === undefined || !include.includes('roles')) return;
    const at = new Date().toISOString();
    await this.login.exclusively(async () => {
      // A logout or another login may have come first.
      if ((await this.login.sessionId()) !== sessionId) return;
      const others = (await this.load(sessionId)).filter((one) => !hasAll(include, one.include));
      const stored: Stored = { version: VERSION, sessionId, answers: [{ include, at, result }, ...others] };
      await this.slot?.save(JSON.stringify(stored));
    });
  }

  /** Returns the last answer of this session that has all of the requested `include`, or the failure. */
  async orStale(failed: Failed, input: Data): Promise<AnyResult> {
    try {
      const sessionId = await this.login.sessionId();
      const answers = sessionId === undefined ? [] : await this.load(sessionId);
      const last = answers.find(({ include }) => hasAll(include, namesOf(input)));
      return last ? { ...last.result, stale: { at: last.at, problem: failed.problem } } : failed;
    } catch {
      return failed;
    }
  }

  /** Ignores a text of another session or version, and one that is damaged. */
  private async load(sessionId: string): Promise<Answer[]> {
    const text = await this.slot?.load();
    try {
      const { version, sessionId: owner, answers } = JSON.parse(text ?? '') as Stored;
      return version === VERSION && owner === sessionId && Array.isArray(answers) ? answers : [];
    } catch {
      return [];
    }
  }
}

/** As they are sent: names, or one text with commas. */
function namesOf({ include = [] }: Data): string[] {
  return String(include).split(',');
}

function hasAll(names: string[], wanted: string[]): boolean {
  return wanted.every((name) => name === '' || names.includes(name));
}
