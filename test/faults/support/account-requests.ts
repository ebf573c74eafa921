import { Request, sameElements, SessionRequest, type RealService } from './model-request.js';
import type { ReferenceModel } from './reference-model.js';
import { asRecord, asRecords, asString } from '../../support/service-client.js';

export const PASSWORD = 'correct horse battery staple';

export class Register extends Request {
  constructor(readonly person: string) {
    super();
  }

  async run(model: ReferenceModel, real: RealService): Promise<void> {
    const body = { email: real.email(this.person), password: PASSWORD };
    const reply = await real.send('POST', '/api/auth/register', { body });
    this.demand(reply, model.register(this.person, PASSWORD));
    if (reply.status !== 201) return;
    real.tokens.push(asString(reply.body['token']));
    real.userIds.set(this.person, asString(asRecord(reply.body['user'])['id']));
  }

  toString(): string {
    return `register(${this.person})`;
  }
}

export class Login extends Request {
  constructor(
    readonly person: string,
    readonly isRight: boolean,
  ) {
    super();
  }

  async run(model: ReferenceModel, real: RealService): Promise<void> {
    const password = this.isRight ? PASSWORD : 'another password';
    const reply = await real.send('POST', '/api/auth/login', {
      body: { email: real.email(this.person), password },
    });
    this.demand(reply, model.login(this.person, password));
    if (reply.status === 200) real.tokens.push(asString(reply.body['token']));
    if (reply.status === 403) real.challenges.push(asString(reply.body['challenge']));
  }

  toString(): string {
    return `login(${this.person}${this.isRight ? '' : ', wrong password'})`;
  }
}

export class Me extends SessionRequest {
  async run(model: ReferenceModel, real: RealService): Promise<void> {
    const session = this.session(model);
    const reply = await real.send('GET', '/api/me', { token: real.tokens[session] });
    this.demand(reply, model.me(session));
    if (reply.status !== 200) return;
    const person = model.userOf(session);
    const orgs = asRecords(reply.body['orgs']).map((org) => asString(org['id']));
    const wanted = model.orgsOf(person).map((org) => real.orgIds[org] ?? '');
    if (!sameElements(orgs, wanted))
      throw new Error(`${String(this)}: organizations ${orgs.join()} not ${wanted.join()}`);
  }

  toString(): string {
    return `me(#${this.pick})`;
  }
}

export class IssueCode extends SessionRequest {
  async run(model: ReferenceModel, real: RealService): Promise<void> {
    const session = this.session(model);
    const reply = await real.send('POST', '/api/auth/code', { token: real.tokens[session] });
    this.demand(reply, model.issueCode(session));
    if (reply.status === 201) real.codes.push(asString(reply.body['code']));
  }

  toString(): string {
    return `issueCode(#${this.pick})`;
  }
}

/** Ends a session that a code opened: without their logins, most requests would be refused. */
export class Logout extends SessionRequest {
  override check(model: Readonly<ReferenceModel>): boolean {
    return super.check(model) && model.sessions[this.session(model)]?.parent !== undefined;
  }

  async run(model: ReferenceModel, real: RealService): Promise<void> {
    const session = this.session(model);
    const reply = await real.send('POST', '/api/auth/logout', { token: real.tokens[session] });
    this.demand(reply, model.logout(session));
  }

  toString(): string {
    return `logout(#${this.pick})`;
  }
}

export class Exchange extends Request {
  constructor(readonly pick: number) {
    super();
  }

  override check(model: Readonly<ReferenceModel>): boolean {
    return model.codes.length > 0;
  }

  async run(model: ReferenceModel, real: RealService): Promise<void> {
    const index = this.pick % model.codes.length;
    const reply = await real.send('POST', '/api/auth/code/exchange', { body: { code: real.codes[index] } });
    this.demand(reply, model.exchange(index));
    if (reply.status === 200) real.tokens.push(asString(reply.body['token']));
  }

  toString(): string {
    return `exchange(#${this.pick})`;
  }
}
