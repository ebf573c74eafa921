import { asString } from '../../support/service-client.js';
import { basic } from '../../support/services.js';
import { Request, type RealService, SessionRequest } from './model-request.js';
import type { Shown } from './model-services.js';
import type { ReferenceModel } from './reference-model.js';

const MAX_LIVE_SECRETS = 2;

export class AddService extends Request {
  constructor(readonly name: string) {
    super();
  }

  override check(model: Readonly<ReferenceModel>): boolean {
    return !model.services.all.has(this.name);
  }

  async run(model: ReferenceModel, real: RealService): Promise<void> {
    model.services.add(this.name);
    real.secrets.push(await real.addService(this.name));
  }

  toString(): string {
    return `addService(${this.name})`;
  }
}

export type Change = 'rotate' | 'revoke' | 'revoke and end' | 'disable' | 'enable';

/** What an operator does to a service; it acts at the next request. */
export class ChangeService extends Request {
  constructor(
    readonly name: string,
    readonly change: Change,
  ) {
    super();
  }

  override check({ services }: Readonly<ReferenceModel>): boolean {
    const live = services.live(this.name).length;
    if (this.change === 'rotate') return live < MAX_LIVE_SECRETS;
    return live > 0 || !this.change.startsWith('revoke');
  }

  async run({ services }: ReferenceModel, real: RealService): Promise<void> {
    const { name, change } = this;
    const service = real.service(name);
    if (change === 'rotate') {
      services.rotate(name);
      real.secrets.push(await service.rotate());
    } else if (change === 'disable' || change === 'enable') {
      services[change](name);
      await service[change]();
    } else {
      const [oldest = 0] = services.live(name);
      services.revoke(oldest, change === 'revoke and end');
      await service.revoke(real.secrets[oldest] ?? '');
      if (change === 'revoke and end') await service.endSessions();
    }
  }

  toString(): string {
    return `changeService(${this.name}, ${this.change})`;
  }
}

export class IssueBoundCode extends SessionRequest {
  constructor(
    pick: number,
    readonly audience: string,
  ) {
    super(pick);
  }

  async run(model: ReferenceModel, real: RealService): Promise<void> {
    const session = this.session(model);
    const reply = await real.send('POST', '/api/auth/code', {
      token: real.tokens[session],
      body: { audience: real.serviceName(this.audience) },
    });
    this.demand(reply, model.issueCode(session, this.audience));
    if (reply.status === 201) real.codes.push(asString(reply.body['code']));
  }

  toString(): string {
    return `issueBoundCode(#${this.pick}, ${this.audience})`;
  }
}

/** By one of the secrets, mostly under the name of the service that has it. */
export class ExchangeAsService extends Request {
  constructor(
    readonly pick: number,
    readonly secretPick: number,
    readonly otherName: string | undefined,
  ) {
    super();
  }

  override check(model: Readonly<ReferenceModel>): boolean {
    return model.codes.length > 0 && model.services.secrets.length > 0;
  }

  async run(model: ReferenceModel, real: RealService): Promise<void> {
    const index = this.pick % model.codes.length;
    const secret = this.secretPick % model.services.secrets.length;
    const by: Shown = { service: this.otherName ?? model.services.secrets[secret]!.service, secret };
    const reply = await real.send('POST', '/api/auth/code/exchange', {
      headers: { authorization: basic(real.serviceName(by.service), real.secrets[secret] ?? '') },
      body: { code: real.codes[index] },
    });
    this.demand(reply, model.exchange(index, by));
    if (reply.status === 200) real.tokens.push(asString(reply.body['token']));
  }

  toString(): string {
    return `exchangeAsService(#${this.pick}, secret #${this.secretPick}${this.otherName ? ` as ${this.otherName}` : ''})`;
  }
}
