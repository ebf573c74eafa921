import type * as fc from 'fast-check';
import type { Expected, ReferenceModel } from './reference-model.js';
import type { AuthenticatorApp } from '../../support/second-factor.js';
import type { Database } from '../../support/database.js';
import type { Reply, Send } from '../../support/service-client.js';
import { aServiceClient, type ServiceClient } from '../../support/services.js';

/** The service beside the model: maps the model's numbers to the service's ids. */
export class RealService {
  readonly tokens: string[] = [];
  readonly codes: string[] = [];
  readonly orgIds: string[] = [];
  readonly invitations: { id: string; code: string }[] = [];
  readonly secrets: string[] = [];
  readonly recoveryCodes: string[] = [];
  readonly challenges: string[] = [];
  /** of each person, the app that was set up last */
  readonly apps = new Map<string, AuthenticatorApp>();
  readonly userIds = new Map<string, string>();
  private readonly services = new Map<string, ServiceClient>();

  /** @param run makes the emails and the services of one run its own */
  constructor(
    readonly send: Send,
    readonly run: string,
    private readonly db: Database,
  ) {}

  email(person: string): string {
    return `${person}.${this.run}@example.com`;
  }

  /** An id; of no user if the person is not registered. */
  userId(person: string): string {
    return this.userIds.get(person) ?? 'nobody';
  }

  serviceName(service: string): string {
    return `${service}-${this.run.replaceAll('.', '-')}`;
  }

  /** Gives its first secret. */
  async addService(service: string): Promise<string> {
    const added = await aServiceClient(this.db, [], this.serviceName(service));
    this.services.set(service, added);
    return added.secret;
  }

  service(name: string): ServiceClient {
    const service = this.services.get(name);
    if (!service) throw new Error(`there is no service ${name}`);
    return service;
  }
}

/** One request, answered exactly as the model says. */
export abstract class Request implements fc.AsyncCommand<ReferenceModel, RealService> {
  /** Whether the request is possible so far. */
  check(_model: Readonly<ReferenceModel>): boolean {
    return true;
  }

  abstract run(model: ReferenceModel, real: RealService): Promise<void>;
  abstract toString(): string;

  protected demand(reply: Reply, expected: Expected): void {
    const right = reply.status === expected.status && (!expected.code || reply.code === expected.code);
    if (right) return;
    const wanted = `${expected.status} ${expected.code ?? ''}`.trim();
    throw new Error(`${String(this)}: ${reply.status} ${reply.code ?? ''} instead of ${wanted}`);
  }
}

/** A request of one of the sessions opened so far; `pick` chooses it whatever their number is. */
export abstract class SessionRequest extends Request {
  constructor(readonly pick: number) {
    super();
  }

  override check(model: Readonly<ReferenceModel>): boolean {
    return model.sessions.length > 0;
  }

  protected session(model: Readonly<ReferenceModel>): number {
    return this.pick % model.sessions.length;
  }
}

export function sameElements(left: readonly string[], right: readonly string[]): boolean {
  return left.toSorted().join('\n') === right.toSorted().join('\n');
}
