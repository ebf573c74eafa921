import { setTimeout as sleep } from 'node:timers/promises';
import { hangTimeoutMs } from '../../../tooling/wait.js';
import { timed } from '../../faults/support/timed-request.js';
import type { Random } from '../../faults/support/random.js';
import type { Reply, RequestOptions, Send } from '../../support/service-client.js';
import type { Operation, OrgOperation, Result, SessionOperation } from '../history.js';

export interface Request extends RequestOptions {
  method: string;
  path: string;
}

/** A client that gets no answer leaves the processor to the instances for a moment. */
const PAUSE_MS = 20;

/** Sends the requests of all clients and keeps what came of each. */
export class Recorder {
  readonly operations: Operation[] = [];

  constructor(private readonly instances: readonly Send[]) {}

  /**
   * Sends a request to one of the instances. `see` reads what the operation has shown from an answer that is a success.
   * @returns the answer if it is a success
   */
  async record<Description extends OrgOperation | SessionOperation>(
    random: Random,
    description: Description,
    { method, path, ...options }: Request,
    see: (reply: Reply) => Partial<Description> = () => ({}),
  ): Promise<Reply | undefined> {
    const instance = random.between(0, this.instances.length - 1);
    const send = this.instances[instance]!;
    const { reply, error, answered } = await timed(send, method, path, options);
    const { startedAt, endedAt, status } = answered;
    const result = resultOf(status);
    // A refused connection has carried no request.
    if (!isRefused(error)) {
      const seen = reply && result === 'ok' ? see(reply) : {};
      this.operations.push({ ...description, ...seen, startedAt, endedAt, result, status, instance });
    }
    if (result === 'unknown') await sleep(PAUSE_MS);
    return result === 'ok' ? reply : undefined;
  }

  /** A request that leaves no operation, such as a registration. @returns the answer if it is a success */
  async ask(random: Random, { method, path, ...options }: Request): Promise<Reply | undefined> {
    const send = random.pick(this.instances);
    const { reply } = await timed(send, method, path, { timeoutMs: hangTimeoutMs(), ...options });
    if (!reply) await sleep(PAUSE_MS);
    return resultOf(reply?.status) === 'ok' ? reply : undefined;
  }
}

/** A 5xx leaves open whether a change was made: a COMMIT may have been done whose answer was lost. */
function resultOf(status: number | undefined): Result {
  if (status === undefined || status >= 500) return 'unknown';
  return status < 300 ? 'ok' : 'failed';
}

function isRefused(error: unknown): boolean {
  const cause = error instanceof Error ? error.cause : undefined;
  return cause instanceof Error && 'code' in cause && cause.code === 'ECONNREFUSED';
}
