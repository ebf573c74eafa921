import { requireKnown } from '../known-members.ts';
import type { Result } from '../results.ts';
import { pause } from '../waiting.ts';
import type { ServiceClient } from './client.ts';
import { isMistake, type ServiceProblem, type Reasons } from './reasons.ts';
import type { Wait } from './requirement.ts';
import type { Expected } from './tokens.ts';

const TIMEOUT_MS = 30_000;
const ATTEMPT_TIMEOUT_MS = 5_000;
const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 2_000;
/** The id of no user and no organization. */
const UNKNOWN_ID = '00000000-0000-7000-8000-000000000000';

export interface ReadyOptions extends Wait {
  /** How long to retry if Accounts cannot be reached, in milliseconds; 30 seconds by default. */
  timeoutMs?: number | undefined;
}
const OPTIONS: readonly string[] = ['signal', 'timeoutMs'] satisfies (keyof ReadyOptions)[];

/** The guard cannot admit users now. */
export class GuardNotReadyError extends Error {
  /** One sentence for each reason. */
  readonly reasons: readonly string[];

  constructor(reasons: readonly string[]) {
    super(`The guard is not ready:\n${reasons.map((reason) => `- ${reason}`).join('\n')}`);
    this.name = 'GuardNotReadyError';
    this.reasons = reasons;
  }
}

interface Checked extends Expected {
  /** Returns whether the guard follows the feed. */
  isCurrent: () => boolean;
}

/**
 * Sends each request that a guard needs, and collects all reasons for failures.
 *
 * @throws GuardNotReadyError
 */
export async function requireReady(
  client: ServiceClient,
  checked: Checked,
  reasons: Reasons,
  options: ReadyOptions,
): Promise<void> {
  requireKnown('The options of ready do', options, OPTIONS);
  const { timeoutMs = TIMEOUT_MS, signal } = options;
  const deadline = new Deadline(timeoutMs, signal);
  const found = new Set<string>();
  const read = async <Data>(
    call: (options: object) => Promise<Result<Data, ServiceProblem>>,
  ): Promise<Data | undefined> => {
    const answer = await deadline.repeat(call);
    if (answer.ok) return answer.data;
    found.add(reasons.of(answer.problem));
    return undefined;
  };
  const [config] = await Promise.all([
    read((call) => client.getAuthConfig(undefined, call)),
    read((call) => client.introspectToken({ token: UNKNOWN_ID }, call)),
    read((call) => client.listMemberships({ userId: UNKNOWN_ID, orgId: UNKNOWN_ID }, call)),
    read((call) => client.listEvents({}, call)),
  ]);
  if (config) for (const reason of differences(checked, config)) found.add(reason);
  if (found.size === 0 && !(await deadline.wait(checked.isCurrent))) found.add('the feed is silent');
  if (found.size > 0) throw new GuardNotReadyError([...found]);
}

function differences(
  { issuer, audience, service }: Checked,
  config: { issuer: string; tokenAudience: string },
): string[] {
  const wrong = [audience].flat().filter((one) => one !== service && one !== config.tokenAudience);
  const names = `${JSON.stringify(service)} or ${JSON.stringify(config.tokenAudience)}`;
  return [
    ...(issuer === config.issuer
      ? []
      : [`the issuer is ${JSON.stringify(issuer)}, and JWT_ISSUER is ${JSON.stringify(config.issuer)}`]),
    ...wrong.map((one) => `no token has the audience ${JSON.stringify(one)}: it must be ${names}`),
  ];
}

class Deadline {
  private readonly endsAt: number;
  private readonly signal: AbortSignal | undefined;

  constructor(timeoutMs: number, signal: AbortSignal | undefined) {
    this.endsAt = performance.now() + timeoutMs;
    this.signal = signal;
  }

  /** Repeats the call until it succeeds, fails because of a mistake, or the time is over. */
  async repeat<Data>(
    call: (options: object) => Promise<Result<Data, ServiceProblem>>,
  ): Promise<Result<Data, ServiceProblem>> {
    let earlier: Result<Data, ServiceProblem> | undefined;
    for (let attempt = 0; ; attempt += 1) {
      const timeoutMs = Math.max(1, Math.ceil(Math.min(ATTEMPT_TIMEOUT_MS, this.leftMs)));
      const answer = await call({ timeoutMs, retries: 0, signal: this.signal });
      if (answer.ok || isMistake(answer.problem)) return answer;
      // The last attempt has little time, so an earlier failure is a better reason than its timeout.
      if (answer.problem.code !== 'timed_out') earlier = answer;
      const pauseMs = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** attempt);
      const waitMs = Math.max(pauseMs, (answer.problem.retryAfter ?? 0) * 1000);
      if (waitMs > this.leftMs || !(await pause(waitMs, this.signal))) return earlier ?? answer;
    }
  }

  async wait(until: () => boolean): Promise<boolean> {
    while (!until()) {
      if (this.leftMs <= 0 || !(await pause(FIRST_PAUSE_MS, this.signal))) return false;
    }
    return true;
  }

  private get leftMs(): number {
    return this.endsAt - performance.now();
  }
}
