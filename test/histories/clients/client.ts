import { setTimeout as sleep } from 'node:timers/promises';
import { hangTimeoutMs } from '../../../tooling/wait.js';
import { timed } from '../../faults/support/invariants.js';
import type { Random } from '../../faults/support/random.js';
import {
  asRecord,
  asString,
  type Reply,
  type RequestOptions,
  type Send,
} from '../../support/service-client.js';
import type { DelegationOperation, Operation, OrgOperation, Result, SessionOperation } from '../history.js';

export type Request = [method: string, path: string, options?: RequestOptions];

export interface Person {
  id: string;
  email: string;
  token: string;
}

const PASSWORD = 'correct horse battery staple';

/** A client that gets no answer leaves the processor to the instances for a moment. */
const PAUSE_MS = 20;

/** Sends its requests to any of the instances, and keeps what came of each with those of all clients. */
export class Client {
  constructor(
    readonly instances: readonly Send[],
    readonly operations: Operation[],
    readonly random: Random,
  ) {}

  /**
   * @param see reads what the operation has shown from an answer that is a success
   * @param instance otherwise any
   * @returns the answer if it is a success
   */
  async record<Description extends OrgOperation | SessionOperation | DelegationOperation>(
    description: Description,
    request: Request,
    see: (reply: Reply) => Partial<Description> = () => ({}),
    instance = this.random.between(0, this.instances.length - 1),
  ): Promise<Reply | undefined> {
    const { reply, error, answered } = await timed(this.instances[instance]!, ...request);
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
  async ask(...[method, path, options]: Request): Promise<Reply | undefined> {
    const patient = { timeoutMs: hangTimeoutMs(), ...options };
    const { reply } = await timed(this.random.pick(this.instances), method, path, patient);
    if (!reply) await sleep(PAUSE_MS);
    return resultOf(reply?.status) === 'ok' ? reply : undefined;
  }

  async register(name: string): Promise<(Person & { refreshToken: string; password: string }) | undefined> {
    const credentials = { email: `${name}@example.com`, password: PASSWORD };
    const body = { ...credentials, refresh: true };
    const reply = await this.ask('POST', '/api/auth/register', { body });
    if (!reply) return undefined;
    const { token, refreshToken, user } = reply.body;
    const tokens = { token: asString(token), refreshToken: asString(refreshToken) };
    return { id: asString(asRecord(user)['id']), ...credentials, ...tokens };
  }
}

/** A 5xx leaves open whether a change was made: a COMMIT may have been done whose answer was lost. */
export function resultOf(status: number | undefined): Result {
  if (status === undefined || status >= 500) return 'unknown';
  return status < 300 ? 'ok' : 'failed';
}

function isRefused(error: unknown): boolean {
  const cause = error instanceof Error ? error.cause : undefined;
  return cause instanceof Error && 'code' in cause && cause.code === 'ECONNREFUSED';
}
